"""Clipping: which limits and which plans are refused, and what a run reports."""

import json

import harness
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"


class ClippingTest(RefusalTest):
    def test_limits_that_are_none(self):
        plan = harness.compile_plan(DIGITS, self.folder)
        for flag in ("--clip-norm", "--clip-value"):
            for limit in ("0", "-1", "nan", "inf", "1e99", "x"):
                with self.subTest(flag=flag, limit=limit):
                    done = self.command("run", plan, "--steps", 1, f"{flag}={limit}")
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"{flag}: expected a number from 1e-30 to 1e30", done.stderr)

    def refuse(self, plan, why):
        done = self.command("run", plan, "--steps", 1, "--clip-norm", 1)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(
            f"'{plan}': '--clip-norm' needs the norm of all gradients before the first update, "
            f"but {why}",
            done.stderr,
        )

    def test_plans_whose_updates_cannot_wait_for_the_norm(self):
        carrying = harness.compile_plan(
            DIGITS, self.folder, 2, label="-c", extra=("--overlap", "step")
        )
        self.refuse(
            carrying,
            "messages reach into the next step; expected a plan of 'syncline compile --overlap "
            "backward'",
        )

    def log(self, plan, *extra):
        said = harness.syncline("run", plan, "-n", 2, "--steps", 3, "--log", "json", *extra)
        return [json.loads(line) for line in said.splitlines()]

    def test_run_reports_the_norm(self):
        plan = harness.compile_plan(DIGITS, self.folder, 2)
        for line in self.log(plan):
            self.assertNotIn("gradient_norm", line)
            self.assertNotIn("clipped_steps", line)
        for limit, clipped in ((1e-3, 3), (1e6, 0)):
            with self.subTest(limit=limit):
                *steps, summary = self.log(plan, "--clip-norm", limit)
                self.assertEqual(summary["clipped_steps"], clipped)
                self.assertTrue(all(step["gradient_norm"] > 1e-3 for step in steps), steps)
        done = self.command("run", plan, "-n", 2, "--steps", 3, "--clip-norm", 0.001)
        self.assertIn("the gradients' norm exceeded 0.001 in 3 of 3 steps", done.stderr)

    def test_ranks_that_update_parts_report_one_norm(self):
        """By reduce-scatter, too, all ranks clip by the norm that one scheme for all gives."""
        norms = []
        for scheme in ("ring", "reduce-scatter"):
            plan = harness.compile_plan(
                DIGITS, self.folder, 2, label=scheme, extra=("--scheme", f"*={scheme}")
            )
            *steps, summary = self.log(plan, "--clip-norm", 1e-3)
            self.assertEqual(summary["clipped_steps"], 3)
            norms.append([step["gradient_norm"] for step in steps])
        for ring, parts in zip(*norms):
            self.assertAlmostEqual(parts, ring, delta=1e-6 * ring)

    def compile_clipping(self, *extra, label="-clip", **how):
        extra = ("--clip-norm", 0.01, *extra)
        return harness.compile_plan(DIGITS, self.folder, 2, extra=extra, label=label, **how)

    def trained(self, plan, *extra):
        """The bytes of what a run saves, and its log."""
        saved = self.folder / "trained.onnx"
        *steps, summary = self.log(plan, "--save", saved, *extra)
        return saved.read_bytes(), steps, summary

    def test_plan_that_clips(self):
        """It trains the same bits as another plan with the flag, which may set another norm."""
        for scheme in ("*=ring", "fc*.weight=factors", "*=reduce-scatter", "fc.*=reduce-scatter"):
            with self.subTest(scheme=scheme):
                extra = ("--scheme", scheme)
                plain = harness.compile_plan(
                    DIGITS, self.folder, 2, extra=extra, label=f"-plain-{scheme[:4]}"
                )
                plan = self.compile_clipping(*extra, label=f"-clip-{scheme[:4]}")
                wanted, _, _ = self.trained(plain, "--clip-norm", 0.01)
                found, steps, summary = self.trained(plan)
                self.assertEqual(found, wanted)
                self.assertEqual(summary["clipped_steps"], 3)
                self.assertTrue(all(step["gradient_norm"] > 0.01 for step in steps), steps)
                other, _, _ = self.trained(plan, "--clip-norm", 0.02)
                self.assertNotEqual(other, wanted)
                self.assertEqual(other, self.trained(plain, "--clip-norm", 0.02)[0])

    def test_plan_says_what_clipping_costs(self):
        plan, plain = self.compile_clipping(), harness.compile_plan(DIGITS, self.folder, 2)
        document, without = harness.plan_json(plan), harness.plan_json(plain)
        self.assertEqual((document["clip_norm"], without["clip_norm"]), (0.01, None))
        predicted = document["predicted"]
        self.assertIsNone(without["predicted"]["unclipped"])
        self.assertEqual(predicted["unclipped"], without["predicted"]["step"])
        self.assertGreater(predicted["step"], predicted["unclipped"])
        # Squares of the last message and updates follow its end; 32 bytes of the loss fit beside.
        self.assertGreater(predicted["step"], predicted["communication_end"] + predicted["updates"])
        # What is decided, and its certificate, do not depend on what follows the last message.
        self.assertEqual(document["optimal"], without["optimal"])
        self.assertEqual(document["certificate"], without["certificate"])
        self.assertIn("clipped to a norm of 0.01", (plan / "step.cpp").read_text())
        said = harness.syncline("inspect", plan)
        self.assertIn("gradients are clipped to a norm of 0.01, so that all updates follow", said)
        self.assertIn("without clipping the step would be", said)
        self.assertNotIn("clip", harness.syncline("inspect", plain))
        self.assertIn("clip-norm", harness.syncline("inspect", plan, "--diff", plain))
        simulated = json.loads(harness.syncline("simulate", plan, "--json"))
        self.assertAlmostEqual(simulated["step"], predicted["step"], delta=1e-9 * predicted["step"])
        self.assertIn("square", [part["kind"] for part in simulated["critical_path"]])

    def test_parts_are_gathered_behind_the_norm(self):
        """By reduce-scatter parameters travel once all gradients have, and nothing hides them."""
        extra = ("--scheme", "*=reduce-scatter")
        plan = self.compile_clipping(*extra, label="-parts")
        predicted = harness.plan_json(plan)["predicted"]
        plain = harness.compile_plan(DIGITS, self.folder, 2, extra=extra, label="-whole")
        self.assertEqual(predicted["unclipped"], harness.plan_json(plain)["predicted"]["step"])
        self.assertGreater(predicted["step"], predicted["unclipped"])
        self.assertIn("plan valid", harness.syncline("verify", plan))
        trace = self.folder / "simulated.json"
        harness.syncline("simulate", plan, "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        begun = {}
        for event in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
            begun.setdefault(event["name"], event["ts"])
        norm = begun["norm"]
        buckets = range(len(harness.plan_json(plan)["buckets"]))
        for bucket in buckets:
            self.assertLess(begun[f"bucket {bucket} reduce-scatter"], norm)
            self.assertGreater(begun[f"bucket {bucket} all-gather"], norm)

    def test_auto_overlap_offers_what_can_be_clipped(self):
        slow = harness.CLUSTER.replace("10 Gb/s", "200 Mb/s")
        how = {"cluster": slow, "batch": 64}
        carrying = harness.compile_plan(
            DIGITS, self.folder, 2, extra=("--overlap", "auto"), label="-auto", **how
        )
        self.assertEqual(harness.plan_json(carrying)["overlap"], "step")
        plan = self.compile_clipping("--overlap", "auto", label="-clip-auto", **how)
        self.assertEqual(harness.plan_json(plan)["overlap"], "backward")

    def test_plans_that_cannot_clip(self):
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 4)
        words += ("-o", self.folder / "x.plan")
        clip = ("--clip-norm", 1)
        for extra, said in (
            (("--overlap", "step"), ("'--overlap step' and '--clip-norm' exclude each other",)),
            (("--planner", "tictac"), ("'--planner tictac' and '--clip-norm'",)),
            (("--consistency", "local:4"), ("'--clip-norm'", "each rank clips its own")),
            (("--plan-only",), ("'--plan-only' and '--clip-norm' exclude each other",)),
        ):
            with self.subTest(extra=extra):
                self.refuses((*words, *clip, *extra), *said, code=2)
        for limit in ("0", "-1", "nan", "1e99"):
            said = "--clip-norm: expected a number from 1e-30 to 1e30"
            self.refuses((*words, f"--clip-norm={limit}"), said, code=2)

    def test_not_a_number_is_not_clipped_away(self):
        """A rate that overflows in the first steps ends the run as it does without clipping."""
        plan = harness.compile_plan(DIGITS, self.folder, 2)
        for flag in ("--clip-norm", "--clip-value"):
            with self.subTest(flag=flag):
                done = self.command(
                    *("run", plan, "-n", 2, "--steps", 20, "--lr", 1e30, flag, 1e20)
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("not finite", done.stderr)
