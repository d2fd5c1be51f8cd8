"""`verify --with-z3`: the bound of a plan, proved again by Z3 from the problem alone."""

import signal
import subprocess
import time
import unittest

import harness
from refusal import RefusalTest

SAMPLES = harness.TOP / "samples"
HAS_Z3 = "this build has no Z3" not in harness.syncline("verify", "--help")


class Z3Test(RefusalTest):
    def plan(self, model="digits-cnn", cluster=None, *extra):
        """A plan of the model's shapes."""
        folder = self.folder / "only.plan"
        words = ["compile", SAMPLES / "models" / f"{model}.onnx", "--cluster"]
        words += [cluster or self.cluster, "--batch", 8, "--plan-only", "-o", folder, *extra]
        harness.syncline(*words)
        return folder

    def hard_plan(self):
        """One that Z3 needs far longer than a second for."""
        return self.plan("googlenet", SAMPLES / "clusters" / "poseidon-titanx-10gbe.yaml")

    @unittest.skipIf(HAS_Z3, "this build has Z3")
    def test_build_without_z3(self):
        self.refuses(["verify", self.plan(), "--with-z3"], "built without Z3", "libz3-dev")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_optimal_plan(self):
        said = harness.syncline("verify", self.plan(), "--with-z3")
        self.assertRegex(said, r"\nZ3: no plan finishes before [0-9.]+ [mu]s \(proved in .*s\)\n$")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_worse_plan(self):
        """Of a plan that is not the best Z3 proves the bound, and finds a better one."""
        plan = self.plan("digits-cnn", None, "--planner", "wfbp")
        said = harness.syncline("verify", plan, "--with-z3")
        self.assertIn("Z3: no plan finishes before", said)
        self.assertRegex(said, r"does not claim to be optimal; one that finishes at .*s exists\n$")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_time_runs_out(self):
        """No answer is an error: the proof that was requested was not made."""
        words = ["verify", self.hard_plan(), "--with-z3", "--z3-seconds", 0.1]
        self.refuses(words, "Z3 gave no answer within 100 ms for 173 gradients", "--z3-seconds")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_interruption(self):
        """Ctrl-C ends the command while Z3 searches."""
        words = [harness.SYNCLINE, "verify", self.hard_plan(), "--with-z3", "--z3-seconds", "600"]
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertIn("bound proved", process.stdout.readline())
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        process.stdout.close()

    def test_seconds_need_z3(self):
        self.refuses(["verify", "x.plan", "--z3-seconds", 1], "--with-z3", code=2)


if __name__ == "__main__":
    unittest.main()
