"""A batch has the mean of the losses and of the gradients that its samples have alone: every model
that the tests of this folder export and every sample, but networks that draw noise. Networks with
batch statistics run by frozen ones."""

import collections
import pathlib
import tempfile
import unittest

import agreement
import exported
from depth import long

SHORT = ("Activations", "Perceptron", "test_sparse.Words")
# Files that hold on to the batch that they were exported with, and what is refused of each.
REFUSED = {"Shapes": "node '/GatherND' (GatherND)"}
FREEZE = ("--freeze", "*running_mean", "--freeze", "*running_var")
STATISTICS = {
    *("Perceptron", "Convolutions", "Volume"),
    *("test_not_finite.normalised", "test_accumulation.Normalized"),
    *("test_bfloat16.Residual", "test_recompute.Residual", "normalization"),
    *("convolution, normalization", "convolution, normalization, ReLU"),
    *("resnet18", "resnet50", "googlenet", "inception_v3", "densenet121", "mobilenet_v2"),
    *("googlenet.onnx", "inception-v3.onnx", "resnet-50.onnx"),
}


class BatchesTest(unittest.TestCase):
    def judge(self, name, make):
        """Compares a model's batches; what came of it."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            path, data, words = make(folder)
            isolated = not agreement.has_statistics(path)
            found = agreement.agreement(path, folder, data, words if isolated else words + FREEZE)
        print(f"\n  {name}: {found}", end="", flush=True)
        if found.refusal:
            self.assertIn(REFUSED.get(name, "no refusal"), found.refusal)
            return "refused"
        self.assertTrue(found.holds(), found)
        return "compared" if isolated else "compared by frozen statistics"

    def judge_all(self, models):
        outcomes = collections.defaultdict(list)
        for name, make in models:
            with self.subTest(model=name):
                outcomes[self.judge(name, make)].append(name)
        for what, names in outcomes.items():
            print(f"\n{len(names)} {what}: {', '.join(names)}")
        return outcomes

    def test_three(self):
        self.judge_all((name, make) for name, make in exported.models() if name in SHORT)

    @long("three of them; unit-onnx BatchAgreement over random graphs")
    def test_all(self):
        outcomes = self.judge_all(exported.models())
        self.assertEqual(set(outcomes["compared by frozen statistics"]), STATISTICS)
        self.assertEqual(set(outcomes["refused"]), set(REFUSED))


if __name__ == "__main__":
    unittest.main()
