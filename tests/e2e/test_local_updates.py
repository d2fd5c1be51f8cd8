"""Plans whose gradients stay on their rank: what they move, what they say, what ends them."""

import json
import re

import numpy

import harness
import stepcache
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
TEST = f"{DATA}/digits-test-x.npy,{DATA}/digits-test-y.npy"
LOSS = 64  # bytes of the loss's message, both directions, at least


class LocalUpdatesTest(RefusalTest):
    def plan(self, form, ranks=4, label="", extra=()):
        return harness.compile_plan(
            DIGITS,
            self.folder,
            ranks=ranks,
            label=label or re.sub(r"\W", "-", form),
            extra=("--consistency", form, *extra),
        )

    def train(self, plan, steps, ranks=4, extra=()):
        said = harness.syncline(
            *("run", plan, "-n", ranks, "--data", PAIR, "--steps", steps, "--lr", 0.05),
            *("--log", "json", *extra),
        )
        return [json.loads(line) for line in said.splitlines()]

    def test_local_1_is_bsp(self):
        """A mean after every step is the step along the mean gradient, without momentum."""
        dumps = []
        for form in ("local:1", "bsp"):
            out = self.folder / f"{form}.dump"
            self.train(self.plan(form), 20, extra=("--dump", out, "--dump-steps", "19"))
            dumps.append(harness.Dump(out).parameters(19))
        for name in dumps[1].names():
            distance = numpy.linalg.norm(dumps[0][name] - dumps[1][name])
            self.assertLessEqual(distance, 1e-6 * numpy.linalg.norm(dumps[1][name]), name)

    def test_moves_what_the_plan_says(self):
        traffic = {}
        for form in ("bsp", "local:16", "diloco:16,2,3,0.5"):
            plan = self.plan(form, extra=("--scheme", "*=ring"))
            summary = self.train(plan, 32)[-1]
            moved = summary["median_bytes_sent"] + summary["median_bytes_received"]
            self.assertEqual(
                summary["predicted_traffic_bytes"], harness.plan_json(plan)["predicted"]["traffic"]
            )
            self.assertAlmostEqual(moved, summary["predicted_traffic_bytes"], delta=8 * LOSS)
            traffic[form] = moved
        self.assertGreaterEqual(traffic["bsp"], 10 * traffic["local:16"])
        self.assertGreaterEqual(traffic["bsp"], 10 * traffic["diloco:16,2,3,0.5"])

    def test_loss_is_the_mean_of_the_ranks(self):
        """The first step's loss is bsp's: it does not depend on what travels."""
        first = [self.train(self.plan(form), 1)[0]["loss"] for form in ("local:4", "bsp")]
        self.assertAlmostEqual(*first, delta=1e-6)

    def test_fragments_are_under_way_over_steps(self):
        plan, trace = self.plan("diloco:8,2,2,0.5"), self.folder / "trace.json"
        self.train(plan, 16, extra=("--trace", trace, "--trace-steps", 16))
        events = json.loads(trace.read_text())["traceEvents"]
        issued = {
            (e["args"]["fragment"], e["args"]["step"])
            for e in events
            if e.get("cat") == "message" and "fragment" in e["args"] and e["pid"] == 0
        }
        self.assertEqual(issued, {(0, 1), (1, 5), (0, 9), (1, 13)})
        self.assertFalse([e for e in events if e.get("cat") == "message" and "bucket" in e["args"]])

    def test_ranks_end_with_equal_weights(self):
        """Ranks differ within a period; evaluation and the saved model have the common weights."""
        for form in ("local:8", "diloco:8,2,1,0.5"):
            plan, out = self.plan(form), self.folder / f"{form}.dump"
            last = self.train(
                *(plan, 10, 4, ("--dump", out, "--dump-steps", "6")),
            )[-1]
            self.assertEqual(last["steps"], 10)
            first, second = (dump.parameters(6) for dump in harness.dumps(out, 2))
            self.assertTrue(any((first[n] != second[n]).any() for n in first.names()))

    def test_learns(self):
        plan = self.plan("diloco:10,2,1,0")
        summary = self.train(plan, 300, extra=("--eval", TEST))[-1]
        self.assertGreater(summary["test_accuracy"], 0.8)

    def test_killed_rank(self):
        """The others say who was lost, and in which fragment or loss of which step."""
        plan = self.plan("diloco:4,2,1,0.5", ranks=3)
        for said in self.said_when_killed(plan, PAIR):
            where = r"rank 1.* in the all-reduce of (the loss|fragment [01]) in step \d+; "
            self.assertRegex(said, where)

    def test_reports(self):
        self.enterContext(stepcache.none())
        plan, bsp = self.plan("diloco:8,2,1,0.5"), self.plan("bsp")
        shown = harness.syncline("inspect", plan)
        for words in (
            "consistency diloco:8,2,1,0.5,0.7,0.9",
            "gradients stay on their rank",
            "8 times as much",
            "keeps 50.00 % of its own weights",
        ):
            self.assertIn(words, shown)
        self.assertIn("fragment", harness.syncline("inspect", plan, "--why", "fc.weight"))
        self.assertIn("consistency", harness.syncline("inspect", plan, "--diff", bsp))
        harness.syncline("inspect", bsp, "--diff", plan)
        harness.syncline("inspect", plan, "--plot", self.folder / "plot.svg")

    def test_memory_is_counted(self):
        """The plan counts the common weights, their velocity and a difference; a device that lacks
        them is refused."""
        self.enterContext(stepcache.none())
        memory = {}
        for form in ("bsp", "local:4", "diloco:4,1,0,0", "diloco:4,1,0,0,0.7,0"):
            memory[form] = harness.plan_json(self.plan(form))["memory"]
        weights = memory["bsp"]["parameters"]
        self.assertEqual(memory["bsp"]["exchange"], 0)
        self.assertEqual(memory["local:4"]["exchange"], 0)
        self.assertEqual(memory["diloco:4,1,0,0"]["exchange"], 3 * weights)
        self.assertEqual(memory["diloco:4,1,0,0,0.7,0"]["exchange"], 2 * weights)
        least = sum(memory["bsp"].values()) + 16 * 1024  # samples and labels
        sized = f"GB/s, memory-size: {least} B}}"
        text = harness.CLUSTER.format(ranks=4).replace("GB/s}", sized, 1)
        words = ("compile", DIGITS, "--cluster", self.write("small.yaml", text), "--batch", 4)
        harness.syncline(*words, "-o", self.folder / "s.plan")
        words += ("--consistency", "diloco:4,1,0,0", "-o", self.folder / "t.plan")
        self.refuses(words, "of memory on every device")

    def test_refuses(self):
        self.enterContext(stepcache.none())
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 4)
        words += ("-o", self.folder / "new.plan", "--consistency")
        for form, said in (
            ("local:0", "a period of at least 1 step, got 0"),
            ("local", "expected local:H, got 'local'"),
            ("local:4,2", "expected local:H, got 'local:4,2'"),
            ("diloco:4", "expected diloco:H,Q,TAU,ALPHA[,RATE,MOMENTUM], got 'diloco:4'"),
            ("diloco:9,2,0,0", "fragments that divide the period of 9 steps, got 2"),
            ("diloco:8,0,0,0", "fragments that divide"),
            ("diloco:8,2,4,0", "a delay from 0 to below the 4 steps of a window, got 4"),
            ("diloco:8,2,-1,0", "a delay from 0"),
            ("diloco:8,2,1,1.5", "a mix from 0 to 1, got 1.5"),
            ("diloco:8,2,1,nan", "a mix from 0 to 1, got nan"),
            ("diloco:8,2,1,0,0,0", "a rate above 0, got 0"),
            ("diloco:8,2,1,0,1,1", "a momentum from 0 to below 1, got 1"),
        ):
            self.refuses((*words, form), "--consistency", said, code=2)
        self.refuses((*words, "diloco:70,7,1,0"), "P31", "at most as many fragments as the 6 param")
        local = (*words, "local:4")
        self.refuses((*local, "--overlap", "step"), "have nothing to hide", code=2)
        self.refuses((*local, "--channels", 2), "one channel of their own", code=2)
        self.refuses((*local, "--planner", "ddp:25MiB"), "no planner has", code=2)
        self.refuses((*local, "--plan-only"), "--consistency", code=2)
        for scheme in ("factors", "reduce-scatter", "parameter-server"):
            self.refuses((*local, "--scheme", f"*={scheme}"), "P31", f"'{scheme}' cannot carry")
        self.refuses((*local, "--scheme", "fc*=tree"), "P31", "expected one scheme for both")

    def test_refuses_what_it_cannot_simulate(self):
        plan = self.plan("local:4")
        words = ("simulate", plan, "--sweep", "ranks=2,4")
        self.refuses(words, "whose gradients travel", "local:4")
        self.refuses(("inspect", plan, "--advise", "ddp"), "whose gradients travel")
        trace = self.folder / "trace.json"
        self.train(plan, 8, extra=("--trace", trace))
        self.refuses(("inspect", plan, "--measured", trace), "whose gradients travel")
