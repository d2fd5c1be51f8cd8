"""--precision and --wire on CPUs: what processors without bfloat16 do, and who refuses what."""

import json
import os
import pathlib
import tempfile
import unittest

import numpy

import harness
import processor
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
HAS_BF16 = processor.has_bf16()
OLDER = {"ONEDNN_MAX_CPU_ISA": "AVX2"}  # a processor without bfloat16, to oneDNN
LACKS = "this processor has no bfloat16 arithmetic"


class PrecisionTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plan = harness.compile_plan(DIGITS, path, ranks=2, cluster=harness.RING)

    def weights(self, plan):
        """What two steps leave."""
        out = self.folder / f"{plan.stem}.dump"
        harness.syncline("run", plan, "-n", 2, "--steps", 2, "--dump", out, "--dump-steps", "1")
        tensors = harness.Dump(out).parameters(1)
        return {key: tensors[key] for key in tensors.names()}

    @unittest.skipUnless(HAS_BF16, "this processor has no bfloat16 arithmetic")
    def test_bf16_changes_little_and_something(self):
        plain = self.weights(self.plan)
        rounded = self.weights(self.planned("rounded", "--precision", "bf16")[0])
        self.assertTrue(any(not numpy.array_equal(plain[n], rounded[n]) for n in plain))
        for name, values in plain.items():
            error = numpy.linalg.norm(values - rounded[name])
            self.assertLessEqual(error, 0.02 * numpy.linalg.norm(values), name)

    @unittest.skipUnless(HAS_BF16, "this processor has no bfloat16 arithmetic")
    def test_ranks_on_different_processors_are_refused(self):
        plan, _ = self.planned("ranks", "--precision", "bf16")
        words = ["--steps", "2"]
        processes = [self.started(0, 2, words, plan), self.started(1, 2, words, plan, **OLDER)]
        for code, errors in self.ends(processes):
            self.assertEqual(code, 1, errors)
            self.assertIn("the ranks differ in their bfloat16 arithmetic", errors)

    def test_calibrate_refuses_older_processors(self):
        done = self.command(
            *("calibrate", "-n", 2, "--precision", "bf16", "-o", self.folder / "c.yaml"),
            environment={**os.environ, **OLDER},
        )
        self.assert_refused(done, ["--precision bf16", LACKS])
        self.assertFalse((self.folder / "c.yaml").exists())

    def test_tf32_is_for_gpus(self):
        words = ["calibrate", "-n", 2, "--precision", "tf32"]
        self.refuses(words, "--precision tf32 needs --backend", code=2)

    def test_runs_leave_types_to_the_plan(self):
        for option, value in (("--precision", "bf16"), ("--wire", "fp16"), ("--backend", "cuda")):
            words = ["run", self.plan, "--steps", 1, option, value]
            self.refuses(words, "the plan decides", f"'syncline compile {option}'", code=2)
            self.refuses(words[:-1], "the plan decides", option, code=2)  # without a value, too

    def planned(self, label, *extra):
        plan = harness.compile_plan(
            DIGITS, self.folder, 2, extra=extra, label=label, cluster=harness.RING
        )
        return plan, harness.plan_json(plan)

    @unittest.skipUnless(HAS_BF16, "this processor has no bfloat16 arithmetic")
    def test_runs_take_precision_and_wire_from_the_plan(self):
        plan, stated = self.planned("both", "--precision", "bf16", "--wire", "fp16")
        self.assertEqual((stated["precision"], stated["wire"]), ("bf16", "fp16"))
        head = harness.syncline("inspect", plan).splitlines()[0]
        self.assertIn("computes in bf16, gradients travel as fp16", head)
        done = self.command("run", plan, "-n", 2, "--steps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("its predictions do not hold", done.stderr)
        # Each of the two changes the bits.
        both = self.weights(plan)
        for label, words in (("bf16", ("--precision", "bf16")), ("fp16", ("--wire", "fp16"))):
            one = self.weights(self.planned(label, *words)[0])
            self.assertTrue(any(not numpy.array_equal(both[n], one[n]) for n in both), label)

    @unittest.skipUnless(HAS_BF16, "this processor has no bfloat16 arithmetic")
    def test_a_plan_has_its_profiles_precision(self):
        profile = self.folder / "p.json"
        plan, _ = self.planned("unprofiled", "--precision", "bf16")
        harness.syncline("profile", plan, "-n", 1, "-o", profile)
        self.assertEqual(json.loads(profile.read_text())["precision"], "bf16")
        _, stated = self.planned("profiled", "--profile", profile)
        self.assertEqual(stated["precision"], "bf16")
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 4, "--profile", profile)
        done = self.command(*words, "--precision", "fp32", "-o", self.folder / "other.plan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was measured in bf16, the plan computes in fp32", done.stderr)
        self.assertEqual(harness.plan_json(self.folder / "other.plan")["precision"], "fp32")

    def test_compile_refuses_what_does_not_go_together(self):
        words = ["compile", DIGITS, "--cluster", self.cluster, "-o", self.folder / "no.plan"]
        tf32 = [*words, "--precision", "tf32"]
        self.refuses(tf32, "'--precision tf32' and '--backend cpu'", code=2)
        self.refuses([*words, "--precision", "fp8"], "--precision", code=2)
        self.refuses([*words, "--wire", "fp8"], "--wire", code=2)
        local = [*words, "--consistency", "local:2", "--wire", "bf16"]
        self.refuses(local, "weights travel in float32", code=2)
        self.refuses([*words, "--precision", "fp16"], "expected --plan-only beside it")

    def test_plans_compare_their_types(self):
        narrow, _ = self.planned("narrow", "--wire", "bf16")
        said = harness.syncline("inspect", self.plan, "--diff", narrow)
        self.assertRegex(said, r"(?m)^wire +fp32 +bf16$")


if __name__ == "__main__":
    unittest.main()
