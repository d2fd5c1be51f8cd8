"""Normalizations in both modes, by frozen statistics and over groups, against PyTorch."""

import pathlib
import tempfile
import unittest

import numpy
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional

import harness
import models

CHANNELS, BATCH = 4, 4
STATISTICS = [f"{name}.{of}" for name in ("first", "second") for of in ("mean", "var")]


def weights():
    random = numpy.random.default_rng(2)
    values = {"conv.weight": random.normal(0, 0.3, (CHANNELS, 3, 3, 3))}
    for name in ("first", "second"):
        values[f"{name}.scale"] = random.uniform(0.5, 1.5, CHANNELS)
        values[f"{name}.shift"] = random.normal(0, 0.5, CHANNELS)
        values[f"{name}.mean"] = random.normal(0, 0.5, CHANNELS)
        values[f"{name}.var"] = numpy.full(CHANNELS, 2.0)
    values["last.weight"] = random.normal(0, 0.5, (CHANNELS, 5))
    return {name: value.astype(numpy.float32) for name, value in values.items()}


def norm(name, x, training):
    """A BatchNormalization; `training` None for an InstanceNormalization."""
    scales = [x, f"{name}.scale", f"{name}.shift"]
    if training is None:
        return helper.make_node("InstanceNormalization", scales, [name])
    names = [*scales, f"{name}.mean", f"{name}.var"]
    results = [name, f"{name}.m", f"{name}.v"] if training else [name]
    return helper.make_node("BatchNormalization", names, results, training_mode=int(training))


def network(path, first, second):
    nodes = [
        helper.make_node("Conv", ["input", "conv.weight"], ["c"], pads=[1] * 4),
        norm("first", "c", first),
        helper.make_node("Relu", ["first"], ["r"]),
        norm("second", "r", second),
        helper.make_node("Relu", ["second"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "last.weight"], ["output"]),
    ]
    return models.save(models.model(nodes, weights(), ("batch", 3, 8, 8), opset=15), path)


def reference(x, y, first, second):
    """Loss and gradients in float64."""
    values = {name: torch.tensor(value).double() for name, value in weights().items()}
    for name in values.keys() - set(STATISTICS):
        values[name].requires_grad_(True)

    def normalized(name, x, training):
        scales = values[f"{name}.scale"], values[f"{name}.shift"]
        if training is None:
            return functional.instance_norm(x, weight=scales[0], bias=scales[1])
        return functional.batch_norm(
            x, values[f"{name}.mean"].clone(), values[f"{name}.var"].clone(), *scales, training
        )

    x = functional.conv2d(torch.tensor(x).double(), values["conv.weight"], padding=1)
    x = functional.relu(normalized("first", x, first))
    x = functional.relu(normalized("second", x, second))
    loss = functional.cross_entropy(x.mean((2, 3)) @ values["last.weight"], torch.tensor(y))
    loss.backward()
    return loss.item(), {n: v.grad.numpy() for n, v in values.items() if v.grad is not None}


class FrozenStatisticsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        random = numpy.random.default_rng(3)
        x = random.standard_normal((BATCH, 3, 8, 8)).astype(numpy.float32)
        self.data = x, random.integers(0, 5, BATCH)

    def check(self, path, first, second, extra=(), save=()):
        """Compares one step's loss and gradients."""
        plan = harness.compile_plan(path, self.folder, batch=BATCH, extra=extra)
        dump = harness.train(
            plan, self.folder, self.data, steps=1, dump=(0,), settings={"lr": 0}, extra=save
        )
        loss, gradients = reference(*self.data, first, second)
        self.assertAlmostEqual(dump.loss(0), loss, delta=1e-5 * loss)
        for name, wanted in gradients.items():
            error = numpy.abs(dump.gradients(0)[name] - wanted).max() / numpy.abs(wanted).max()
            self.assertLess(error, 1e-4, name)

    def test_mixed_modes(self):
        """Frozen statistics stay, and the saved model trains like the original."""
        path = network(self.folder / "mixed.onnx", False, True)
        saved = self.folder / "saved.onnx"
        self.check(path, False, True, save=["--save", saved])
        before = weights()
        after = {i.name: numpy_helper.to_array(i) for i in onnx.load(saved).graph.initializer}
        for name in ("first.mean", "first.var"):
            numpy.testing.assert_array_equal(after[name], before[name])
        self.assertGreater(numpy.abs(after["second.var"] - before["second.var"]).max(), 0.01)
        self.check(saved, False, True)

    def test_frozen_by_name(self):
        path = network(self.folder / "both.onnx", True, True)
        frozen = ("--freeze", "first.mean", "--freeze", "first.var")
        self.check(path, False, True, extra=frozen)

    def test_instances(self):
        path = network(self.folder / "instances.onnx", None, None)
        self.check(path, None, None)


if __name__ == "__main__":
    unittest.main()
