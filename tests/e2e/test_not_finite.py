"""Values that are not finite: the run ends, says where they began, and saves none."""

import json
import pathlib
import tempfile
import unittest

import numpy
import onnx
from onnx import numpy_helper

import harness
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
BATCH = 4


class NotFiniteTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.path = path
        cls.plans = {
            name: harness.compile_plan(DIGITS, path, ranks=ranks, label=name, **more)
            for name, ranks, more in (
                ("alone", 1, {}),
                ("ring", 2, {"cluster": harness.RING}),
                ("sharded", 2, {"extra": ("--scheme", "*=reduce-scatter")}),
                ("factors", 2, {"extra": ("--scheme", "fc*=factors")}),
                ("servers", 2, harness.BY_SERVERS),
            )
        }

    def samples(self, change=None):
        x = numpy.load(DATA / "digits-train-x.npy").astype("float32")
        if change:
            change(x)
        numpy.save(self.folder / "x.npy", x)
        return f"{self.folder}/x.npy,{DATA}/digits-train-y.npy"

    def run_words(self, name, *more, change=None):
        return ["run", self.plans[name], "--data", self.samples(change), "--steps", 12, *more]

    @staticmethod
    def poison(sample):
        def change(x):
            x.reshape(len(x), -1)[sample, 5] = numpy.nan

        return change

    def test_a_sample(self):
        """Of step 3, rank 1's second sample, whatever carries gradients."""
        for name in ("ring", "sharded", "factors", "servers"):
            with self.subTest(plan=name):
                sample = 3 * 2 * BATCH + BATCH + 1
                words = self.run_words(name, change=self.poison(sample))
                self.refuses(
                    words,
                    *("step 3: the loss is not finite", "rank 1: element 5 of sample", f"{sample}"),
                    *("'--allow-nonfinite'", "is nan"),
                )

    def test_the_last_step_and_one_rank(self):
        words = self.run_words("alone", change=self.poison(11 * BATCH))
        self.refuses(words, "step 11: the loss is not finite", f"sample {11 * BATCH} ")

    def test_divergence_names_an_operation(self):
        """Momentum and a rate that no weight survives: finite weights, too large for their sums."""
        words = self.run_words("ring", "--lr", 1e20, "--save", self.folder / "out.onnx")
        said = self.refuses(words, "is not finite", "rank ", "operation ")
        self.assertIn("makes it of finite values", said)

    def test_a_weight(self):
        model = onnx.load(DIGITS)
        tensor = model.graph.initializer[0]
        values = numpy_helper.to_array(tensor).copy()
        values.reshape(-1)[7] = numpy.inf
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        onnx.save(model, self.folder / "m.onnx")
        plan = harness.compile_plan(self.folder / "m.onnx", self.folder, ranks=1)
        words = ["run", plan, "--steps", 2, "--save", self.folder / "out.onnx"]
        self.refuses(words, "step 0", f"'{tensor.name}': element 7 is inf")
        words = ["run", plan, "--steps", 0, "--save", self.folder / "out.onnx"]
        self.refuses(words, f"'{tensor.name}'", "element 7", "not saved")

    def test_save_keeps_an_older_file(self):
        old = self.write("out.onnx", "old")
        words = self.run_words("ring", "--save", old, change=self.poison(0))
        self.assertEqual(self.command(*words).returncode, 1)
        self.assertEqual(old.read_text(), "old")

    def test_allowed(self):
        """As PyTorch goes on: the loss is NaN from then on, and so are the weights."""
        words = self.run_words("ring", "--allow-nonfinite", "--log", "json", change=self.poison(8))
        done = self.command(*words, "--save", self.folder / "out.onnx")
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = [json.loads(line)["loss"] for line in done.stdout.splitlines()[:-1]]
        self.assertIsInstance(losses[0], float)
        self.assertTrue(all("nan" in str(loss) for loss in losses[1:]), losses)
        saved = onnx.load(self.folder / "out.onnx")
        for tensor in saved.graph.initializer:
            values = numpy_helper.to_array(tensor)
            if values.dtype == numpy.float32 and values.size > 0:
                self.assertTrue(numpy.isnan(values).all(), tensor.name)

    def test_finite_runs_are_as_they_were(self):
        """Checking changes no number."""
        for name in ("ring", "sharded"):
            runs = []
            for extra in ((), ("--allow-nonfinite",)):
                words = self.run_words(name, "--log", "json", "--momentum", 0.9, *extra)
                lines = harness.syncline(*words).splitlines()[:-1]
                runs.append([json.loads(line)["loss"] for line in lines])
            self.assertEqual(*runs)


if __name__ == "__main__":
    unittest.main()
