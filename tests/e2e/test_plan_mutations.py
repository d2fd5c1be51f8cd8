"""Plans with one change drawn at random, everything made again that follows from it: what `verify`
accepts, `run` takes."""

import pathlib
import shutil
import tempfile
import unittest

import harness
import plans
from depth import repeat
from mutations import mutations
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
IMAGES = f"{DATA / 'digits-train-x.npy'},{DATA / 'digits-train-y.npy'}"
COUNT = repeat(12, 400)  # changes a plan, of each of six kinds as many


class PlanMutationTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.plan = self.folder / "copy.plan"

    def check(self, seed, *words, cluster=harness.CLUSTER):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            original = harness.compile_plan(
                DIGITS, folder, ranks=2, batch=8, extra=words, cluster=cluster
            )
            accepted = 0
            for what, text in mutations((original / "plan.mlir").read_text(), seed, COUNT):
                with self.subTest(what=what, seed=seed):
                    accepted += self.is_accepted(original, text)
            self.assertLess(accepted, COUNT / 2, "too little is refused for a test of what is")

    def is_accepted(self, original, text):
        shutil.rmtree(self.plan, ignore_errors=True)
        shutil.copytree(original, self.plan)
        plans.reseal(self.plan, text)
        done = self.command("verify", self.plan)
        if done.returncode != 0:
            self.assert_refused(done, [])
            return False
        plans.build_step(self.plan)
        words = ["--data", IMAGES, "--eval", IMAGES, "--steps", 1]
        harness.syncline("run", self.plan, "-n", 2, *words)
        return True

    def test_sums(self):
        self.check(1)

    def test_factors(self):
        self.check(2, "--scheme", "fc.*=factors")

    def test_shards(self):
        self.check(3, "--scheme", "*=reduce-scatter")


if __name__ == "__main__":
    unittest.main()
