"""Plans whose messages reach into the next forward pass: which are chosen, and what reports say of
them. None is run."""

import json
import unittest

import numpy
from onnx import helper

import harness
import models
import plans
import stepcache
from test_overlap import DIGITS, Overlapped


class OverlapPlansTest(Overlapped):
    def setUp(self):
        super().setUp()
        self.enterContext(stepcache.none())

    def test_order_is_shorter(self):
        """No rule's order has a shorter predicted step, nor has the barrier; the gap to the bound
        is small, and `auto` takes the order where it saves 1 % of the barrier's step."""
        predicted = {}
        for planner in ("optimal", "p3:2KiB", "bytescheduler:4KiB", "tictac", "wfbp"):
            predicted[planner] = harness.plan_json(self.order(planner))["predicted"]
        best = predicted["optimal"]["planner"]
        for planner, other in predicted.items():
            self.assertLessEqual(best["step"], other["planner"]["step"] * (1 + 1e-9), planner)
            self.assertEqual(best["bound"], other["planner"]["bound"])
        self.assertLess(best["gap"], 0.05)
        backward = harness.plan_json(self.order("optimal", "backward"))["predicted"]["step"]
        self.assertLess(predicted["optimal"]["step"], backward)
        auto = harness.plan_json(self.order("optimal", "auto"))
        saves = predicted["optimal"]["step"] < 0.99 * backward
        self.assertEqual(auto["overlap"], "step" if saves else "backward")
        taken = predicted["optimal"]["step"] if saves else backward
        self.assertEqual(auto["predicted"]["step"], taken)

    def test_explains_an_order(self):
        """`--why` marks the buckets that bring a gradient, and says when it must arrive and what
        another priority would cost."""
        cut = [self.check_explanations(planner) for planner in ("optimal", "p3:8KiB")]
        self.assertTrue(cut[1])

    def test_says_what_late_ranks_cost(self):
        """Beside the step without them and beside the same messages in ready order."""
        plan = self.order("p3:2KiB")  # its messages overtake others
        step = harness.plan_json(plan)["predicted"]["step"]
        for words in (("--slow", "1:2"), ("--jitter", "20%", "--steps", 40)):
            simulated = json.loads(harness.syncline("simulate", plan, "--json", *words))
            late = simulated["late_ranks"]
            self.assertAlmostEqual(late["step_without"] / step, 1, delta=1e-4)
            self.assertGreater(simulated["step"], step)
            self.assertGreater(late["ready_order_without"], step)
            text = harness.syncline("simulate", plan, *words)
            self.assertIn("late ranks: step", text)
            self.assertIn("Sent as their\ngradients become ready", text)
        calm = json.loads(harness.syncline("simulate", plan, "--json"))
        self.assertIsNone(calm["late_ranks"])
        barrier = self.order("optimal", "backward")
        slow = json.loads(harness.syncline("simulate", barrier, "--slow", "1:2", "--json"))
        self.assertIsNone(slow["late_ranks"])

    def test_compares_orders(self):
        """`--diff` says what hides behind which pass, and which gradients arrive earlier."""
        said = harness.syncline(
            "inspect", self.order("optimal", "backward"), "--diff", self.order("p3:2KiB")
        )
        for line in ("overlap", "under way after it", "gap to the bound"):
            self.assertRegex(said, rf"(?m)^{line} ")
        self.assertRegex(said, r"conv2\.weight .*cut into \d+ messages")
        self.assertRegex(said, r"(?m)^conv1\.weight +[\d.]+ ms +[\d.]+ ms +[+-][\d.]+ [mu]s$")

    def test_default(self):
        """The planner 'optimal' crosses steps where that saves 1 %, and says what it compared; a
        rule of another system overlaps as that system does."""
        plan, said = self.compiled("100 Mb/s")
        self.assertEqual(plan["overlap"], "step")
        self.assertRegex(
            said,
            r"note: planned with '--overlap step': step .*s; .*s with '--overlap backward'; .*\n",
        )
        barrier, said = self.compiled("100 Mb/s", "--overlap", "backward")
        self.assertNotIn("planned with", said)
        self.assertLess(plan["predicted"]["step"], 0.99 * barrier["predicted"]["step"])
        fast, said = self.compiled("1 Tb/s", "--scheme", "*=ring", "--nodes", 1)
        self.assertEqual(fast["overlap"], "backward")
        self.assertNotIn("planned with", said)  # one rank sends nothing
        for planner, overlap in (("tictac", "step"), ("p3:2KiB", "step"), ("wfbp", "backward")):
            plan, said = self.compiled("100 Mb/s", "--planner", planner)
            self.assertEqual(plan["overlap"], overlap, planner)
            self.assertNotIn("planned with", said)

    def test_order_has_no_slack(self):
        """Where one rank is slow in some steps, waiting for messages hides a part of that. An order
        that hides the messages gains less than where no rank ever is."""
        nodes = {"/conv1/Conv": 4, "/conv2/Conv": 4, "/fc/Gemm": 1}
        times = {n: {"forward": f"{t} ms", "backward": f"{2 * t} ms"} for n, t in nodes.items()}
        profile = {"schema": 1, "operations": {**times, "loss": {"forward": "10 us"}}}
        gains = []
        for scatter in ([[1.0], [1.0]], [[1.0, 1.0, 1.0, 1.5], [1.0, 1.5, 1.0, 1.0]]):
            path = self.write("p.json", json.dumps({**profile, "scatter": scatter}))
            steps = [
                self.compiled("10 Mb/s", "--profile", path, "--overlap", overlap)[0]
                for overlap in ("backward", "step")
            ]
            barrier, order = (plan["predicted"]["step"] for plan in steps)
            gains.append(barrier / order)
        self.assertGreater(gains[0], 1.05)
        self.assertLess(gains[1], 1 + 0.9 * (gains[0] - 1))

    def late_profile(self, scatter):
        nodes = {"/conv1/Conv": 4, "/conv2/Conv": 4, "/fc/Gemm": 1}
        times = {n: {"forward": f"{t} ms", "backward": f"{2 * t} ms"} for n, t in nodes.items()}
        profile = {"schema": 1, "operations": {**times, "loss": {"forward": "10 us"}}}
        return self.write("late.json", json.dumps({**profile, **scatter}))

    def test_disturbed_steps(self):
        """Where steps scatter, the order with the least mean is kept; reports say what it and the
        barrier take, and which others lost."""
        late = {"scatter": [[1.0, 1.0, 1.2, 1.5], [1.0, 1.4, 1.0, 1.1]]}
        words = ("--profile", self.late_profile(late), "--overlap")
        plan, _ = self.compiled("10 Mb/s", *words, "step")
        folder = self.folder / "chosen.plan"
        disturbed = plan["predicted"]["disturbed"]
        kept, barrier, *others = disturbed["plans"]
        self.assertEqual((kept["overlap"], barrier["overlap"]), ("step", "backward"))
        self.assertEqual(kept["planner"], plan["planner"])
        self.assertGreaterEqual(len(others), 1)
        for other in others:
            self.assertLessEqual(kept["mean"], other["mean"] * (1 + 1e-9))
        for one in disturbed["plans"]:
            self.assertLess(one["low"], one["mean"])
            self.assertLess(one["mean"], one["high"])
        said = harness.syncline("inspect", folder)
        self.assertRegex(said, "steps drawn from the profile's scatter a step takes .* m?s in")
        self.assertRegex(said, "; with a barrier .* in the mean")
        self.assertIn("; the bound below is that of undisturbed steps\n", said)
        why = harness.syncline("inspect", folder, "--why", "fc.weight")
        self.assertIn("plans compared in 32 steps drawn from the profile's scatter", why)
        self.assertRegex(why, r"(?m)^order .* kept$")
        self.assertRegex(why, r"(?m)^barrier: a step waits for all of its messages .* %$")
        self.assertIn("bound proved", harness.syncline("verify", folder, "--model", DIGITS))
        again, _ = self.compiled("10 Mb/s", *words, "step")
        self.assertEqual(again, plan)
        auto, said = self.compiled("10 Mb/s", *words, "auto")
        self.assertEqual(auto["overlap"] == "step", kept["mean"] < barrier["mean"])
        self.assertIn("in the mean of disturbed steps", said)

    def test_disturbed_messages(self):
        """Messages that scatter by the cluster file lengthen the disturbed steps and nothing else:
        numbers that are all 1 change nothing, nor do any where computation was not measured."""
        late = {"scatter": [[1.0, 1.0, 1.2, 1.5], [1.0, 1.4, 1.0, 1.1]]}
        words = ("--profile", self.late_profile(late), "--overlap", "step")
        same, scattering = "message-scatter: [1, 1]\n", "message-scatter: [0.9, 1, 1, 1, 1, 4]\n"
        calm, _ = self.compiled("10 Mb/s", *words)
        self.assertNotIn("message_scatter", (self.folder / "chosen.plan/plan.mlir").read_text())
        one, _ = self.compiled("10 Mb/s", *words, more=same)
        self.assertEqual(one["predicted"], calm["predicted"])
        plan, _ = self.compiled("10 Mb/s", *words, more=scattering)
        folder = self.folder / "chosen.plan"
        before, after = calm["predicted"], plan["predicted"]
        self.assertEqual(after["planner"]["bound"], before["planner"]["bound"])
        means = [
            {(p["planner"], p["overlap"]): p["mean"] for p in predicted["disturbed"]["plans"]}
            for predicted in (before, after)
        ]
        both = means[0].keys() & means[1].keys()
        self.assertGreaterEqual(len(both), 2)
        for key in both:
            self.assertGreater(means[1][key], 1.01 * means[0][key])
        self.assertIn("bound proved", harness.syncline("verify", folder, "--model", DIGITS))
        text = (folder / "plan.mlir").read_text()
        listed = "cluster.message_scatter = [9.000000e-01, "
        self.assertIn(listed, text)
        plans.reseal(folder, text.replace(listed, "cluster.message_scatter = [9.100000e-01, "))
        self.refuses(["verify", folder], "P22k: expected 'mean'")
        unmeasured, _ = self.compiled("10 Mb/s", "--overlap", "step")
        also, _ = self.compiled("10 Mb/s", "--overlap", "step", more=scattering)
        self.assertEqual(also["predicted"], unmeasured["predicted"])

    def test_undisturbed_steps(self):
        """Nothing is compared where nothing was measured, or messages cannot cross."""
        for scatter, overlap in (({}, "step"), ({"scatter": [[1.0, 1.5]]}, "backward")):
            words = ("--profile", self.late_profile(scatter), "--overlap", overlap)
            plan, _ = self.compiled("10 Mb/s", *words)
            self.assertNotIn("disturbed", plan["predicted"])
            self.assertEqual(plan["planner"], "optimal")
            self.assertNotIn("drawn", harness.syncline("inspect", self.folder / "chosen.plan"))

    def test_default_near_balance(self):
        """What would save less than 1 % is not taken."""
        cluster = harness.CLUSTER.replace("20 us", "10 ns").replace("10 Gb/s", "1 Tb/s")
        plan = self.folder / "near.plan"
        words = ("compile", DIGITS, "--batch", 64, "-o", plan)
        near = self.write("near.yaml", cluster.format(ranks=2))
        said = self.command(*words, "--cluster", near).stderr
        self.assertIn("'--overlap backward': messages cost less than 1 % of the step", said)
        self.assertEqual(harness.plan_json(plan)["overlap"], "backward")

    def test_memory(self):
        """What messages gather lives for the whole step where they cross it. A plan that does not
        fit is refused by how much, and the default takes the one that fits."""
        weights, nodes, widths = {}, [], [1024, 64, 512, 512, 3]
        for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
            weights[f"fc{i}"] = numpy.full((outputs, inputs), 0.01, numpy.float32)
            names = [f"h{i}" if i else "input", f"fc{i}"], [f"h{i + 1}" if i < 3 else "output"]
            nodes.append(helper.make_node("Gemm", *names, name=f"gemm{i}", transB=1))
        model = self.folder / "mlp.onnx"
        models.save(models.model(nodes, weights, shape=("batch", 1024)), model)
        factors = ("--scheme", "*=ring", "--scheme", "fc0=factors")
        words = {"model": model, "ranks": 4}
        needs = {}
        for overlap in ("backward", "step"):
            plan, _ = self.compiled("2 Gb/s", *factors, "--overlap", overlap, **words)
            needs[overlap] = sum(plan["memory"].values()) + 64 * (4 * 1024 + 8)  # and the samples
        self.assertLess(needs["backward"], needs["step"])
        self.assertEqual(self.compiled("2 Gb/s", *factors, **words)[0]["overlap"], "step")
        words["memory"] = (needs["backward"] + needs["step"]) // 2
        plan, said = self.compiled("2 Gb/s", *factors, **words)
        self.assertEqual(plan["overlap"], "backward")
        self.assertRegex(said, "'--overlap step' is refused: the plan needs .* of memory")
        refused = ("compile", model, "--cluster", self.folder / "chosen.yaml", "--batch", 64)
        refused += (*factors, "--overlap", "step", "-o", self.folder / "no.plan", *self.backend)
        self.refuses(refused, "needs 4.34 MiB", "devices of 4.22 MiB", "'--overlap backward' needs")
        self.assertFalse((self.folder / "no.plan").exists())

    def test_refuses_what_it_cannot(self):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 4, "--loss"]
        words += ["cross-entropy", "-o", self.folder / "out.plan"]
        self.refuses([*words, "--overlap", "both"], "--overlap", code=2)
        barrier = ("--overlap", "backward", "--planner", "p3:200KB")
        self.refuses([*words, *barrier], "expected '--overlap step'")
        self.refuses([*words, "--planner", "p3", "--overlap", "step"], "needs a size", code=2)


if __name__ == "__main__":
    unittest.main()
