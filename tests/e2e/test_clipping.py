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
        sharded = harness.compile_plan(
            DIGITS, self.folder, 2, label="-s", extra=("--scheme", "fc*=reduce-scatter")
        )
        bucket = next(
            bucket["id"]
            for bucket in harness.plan_json(sharded)["buckets"]
            if bucket["scheme"] == "reduce-scatter"
        )
        self.refuse(
            sharded,
            f"bucket {bucket} travels by 'reduce-scatter', which updates parameters on the way",
        )
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
