"""Plans with one change drawn at random, everything made again that follows from it: what `verify`
accepts, `run` takes. What `verify --model` accepts trains the same bits, or shows in `inspect`."""

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
            self.saved = self.train(original, folder / "saved.onnx")
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
        saved = self.train(self.plan, self.folder / "saved.onnx")
        compared = self.command("verify", self.plan, "--model", DIGITS)
        if compared.returncode != 0:
            self.assert_refused(compared, ["gives something else"])
        elif saved != self.saved:
            shown, before = (
                self.command("inspect", plan).stdout for plan in (self.plan, original)
            )
            self.assertNotEqual(shown, before, "it trains otherwise, and nothing shows it")
        return True

    def train(self, plan, saved):
        """What two steps on two ranks make of the weights."""
        words = ["--data", IMAGES, "--eval", IMAGES, "--steps", 2, "--save", saved]
        harness.syncline("run", plan, "-n", 2, *words)
        return saved.read_bytes()

    def test_sums(self):
        self.check(1)

    def test_factors(self):
        self.check(2, "--scheme", "fc.*=factors")

    def test_shards(self):
        self.check(3, "--scheme", "*=reduce-scatter")


if __name__ == "__main__":
    unittest.main()
