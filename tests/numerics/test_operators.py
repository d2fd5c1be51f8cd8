"""Every operator's forward and backward, in small networks, against float64 PyTorch."""

import pathlib
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
import modules
import reference

BATCH = 4
SETTINGS = {"lr": 0.01}
# HardSwish is a node from opset 14, Clip has inputs from 11, Squeeze and ReduceSum from 13.
OPSETS = (9, 11, 13, 17)


def batch_for(kind, classes=5, seed=3):
    random = numpy.random.RandomState(seed)
    inputs = random.standard_normal((BATCH, *kind.shape)).astype(numpy.float32)
    return inputs, random.randint(0, classes, BATCH)


class OperatorsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(1)

    def export(self, model, kind, opset=17):
        path = self.folder / f"{kind.__name__.lower()}-{opset}.onnx"
        export.write(model, torch.zeros(BATCH, *kind.shape), path, opset)
        return path

    def check(self, kind, opset, loss="cross-entropy", data=None):
        model, data = kind(), data or batch_for(kind)
        plan = harness.compile_plan(
            self.export(model, kind, opset), self.folder, batch=BATCH, loss=loss
        )
        dump = harness.train(plan, self.folder, data, settings=SETTINGS)
        truth = reference.train(model, data, loss=loss, settings=SETTINGS)
        self.assertEqual(dump.gradients(0).names(), set(truth.gradients))
        first = compare.gradients(dump.gradients(0), truth.gradients)
        last = compare.parameters(dump.parameters(2), truth.parameters)
        print(f"\n  {kind.__name__}, opset {opset}: gradients {first}, parameters {last}")
        self.assertLessEqual(abs(dump.loss(2) - truth.losses[2]) / truth.losses[2], compare.LIMIT)
        self.assertLessEqual(first.error, compare.LIMIT)
        self.assertLessEqual(last.error, compare.LIMIT)

    def test_mean_squared_error(self):
        inputs, _ = batch_for(modules.Perceptron)
        wanted = numpy.random.RandomState(4).standard_normal((BATCH, 5)).astype(numpy.float32)
        self.check(modules.Perceptron, 13, "mse", (inputs, wanted))

    def test_nesterov(self):
        """Momentum, Nesterov's form, follows PyTorch's update."""
        model, data = modules.Perceptron(), batch_for(modules.Perceptron)
        plan = harness.compile_plan(
            self.export(model, modules.Perceptron), self.folder, batch=BATCH
        )
        dump = harness.train(plan, self.folder, data, settings=SETTINGS, extra=["--nesterov"])
        truth = reference.train(model, data, settings=SETTINGS, nesterov=True)
        worst = compare.parameters(dump.parameters(2), truth.parameters)
        self.assertLessEqual(worst.error, compare.LIMIT)

    def test_frozen_parameters_do_not_change(self):
        """A frozen parameter has no gradient, no bucket and keeps its value; the others train."""
        model, data = modules.Perceptron(), batch_for(modules.Perceptron)
        path = self.export(model, modules.Perceptron)
        plan = harness.compile_plan(path, self.folder, batch=BATCH, extra=["--freeze", "body.0.*"])
        model.body[0].requires_grad_(False)
        truth = reference.train(model, data, settings=SETTINGS)
        dump = harness.train(plan, self.folder, data, settings=SETTINGS)
        self.assertEqual(dump.gradients(0).names(), set(truth.gradients))
        buckets = harness.plan_json(plan)["buckets"]
        self.assertEqual({name for b in buckets for name in b["members"]}, set(truth.gradients))
        worst = compare.parameters(dump.parameters(2), truth.parameters)
        self.assertLessEqual(worst.error, compare.LIMIT)


def add_tests():
    for kind in modules.ALL:
        for opset in getattr(kind, "opsets", OPSETS):
            setattr(
                OperatorsTest,
                f"test_{kind.__name__.lower()}_opset{opset}",
                lambda self, kind=kind, opset=opset: self.check(kind, opset),
            )


add_tests()

if __name__ == "__main__":
    unittest.main()
