"""Options of training and evaluation that cannot be meant: one message, and nothing is written."""

import unittest

import numpy
import onnx
import onnx.numpy_helper

import harness
from refusal import ChangedPlanTest

DATA = harness.TOP / "samples" / "data"
TEST = f"{DATA}/digits-test-x.npy,{DATA}/digits-test-y.npy"


class TrainingFlagsTest(ChangedPlanTest):
    def refuses_run(self, words, *names, code=2):
        self.refuses(["run", self.plan, "-n", 2, *words], *names, code=code)

    def test_schedules(self):
        for words, message in (
            (["--schedule", "cosin"], "expected constant, step:EVERY,FACTOR, cosine[:MIN]"),
            (["--schedule", "step:0,0.1"], "at least 1 for EVERY, got 'step:0,0.1'"),
            (["--warmup", -1], "--warmup"),
            (["--warmup", 11], "--warmup 11: the run has 10 steps"),
            (["--schedule", "one-cycle", "--warmup", 2], "expected no warm-up"),
        ):
            with self.subTest(words=words):
                self.refuses_run(words, message)
        rates = self.write("rates.csv", "0,0.1\n0,0.2\n")
        self.refuses_run(
            ["--schedule", rates], f"'{rates}': row 2: expected a step above 0", code=1
        )
        self.refuses_run(
            ["--schedule", self.folder / "no.csv"], "no.csv': cannot open", code=1
        )

    def test_schedules_differ(self):
        """Ranks compare what their files say."""
        ranks = []
        for rank in range(2):
            rates = self.write(f"rates{rank}.csv", f"0,0.{rank + 1}\n")
            ranks.append(self.started(rank, 2, ["--schedule", rates]))
        for code, said in self.ends(ranks):
            self.assertEqual(code, 1, said)
            self.assertIn("the ranks differ in their options", said)

    def test_evaluation(self):
        self.refuses_run(["--eval-only"], "--eval-only", "--eval")
        self.refuses_run(["--eval-every", 2], "--eval-every", "--eval")
        self.refuses_run(["--eval", TEST, "--eval-every", 0], "--eval-every")
        self.refuses_run(["--eval", TEST, "--eval-only", "--steps", 3], "--eval-only", "--steps")
        self.refuses_run(["--eval", TEST, "--eval-only", "--data", TEST], "--eval-only", "--data")

    def test_evaluation_of_ranks_at_different_steps(self):
        model = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        self.plan = harness.compile_plan(
            model, self.folder, ranks=2, batch=8, extra=("--consistency", "ssp:2")
        )
        self.refuses_run(
            ["--eval", TEST, "--eval-every", 2],
            "with 'ssp:2' ranks are at different steps, expected no '--eval-every'",
            code=1,
        )

    def test_loading(self):
        """Values of another model, of none, and of a part of one."""
        model = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        words = ["--eval", TEST, "--eval-only", "--load"]
        part = self.write("part.onnx", model.read_bytes()[:-100])
        self.refuses_run([*words, part], "part.onnx': expected an ONNX model", code=1)
        missing = self.folder / "missing.onnx"
        self.refuses_run([*words, missing], "missing.onnx': cannot open", code=1)
        changed = onnx.load(str(model))
        bias = next(i for i in changed.graph.initializer if i.name == "fc.bias")
        bias.CopyFrom(onnx.numpy_helper.from_array(numpy.zeros(11, numpy.float32), "fc.bias"))
        other = self.write("other.onnx", changed.SerializeToString())
        self.refuses_run([*words, other], "'fc.bias': expected shape [10], got [11]", code=1)
        bias.name = "fc.other"
        other.write_bytes(changed.SerializeToString())
        self.refuses_run([*words, other], "expected values of 'fc.bias', got none", code=1)


if __name__ == "__main__":
    unittest.main()
