"""NaN in one sample: where PyTorch's loss, gradients and parameters are NaN, ours are, and
nowhere else."""

import pathlib
import tempfile
import unittest

import numpy
import torch
from torch import nn

import export
import harness
import reference

BATCH = 4
SHAPE = (3, 12, 12)


def activations():
    """Every ReLU that is fused with what stands before it, and clips and pools behind them."""
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.ReLU6(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(144, 12), nn.ReLU(), nn.Linear(12, 5)),
    )


def normalised():
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(16, 8, 1), nn.LeakyReLU(0.1), nn.Flatten(), nn.Linear(128, 5)),
    )


def of_each_sample():
    """Squared errors: the gradients of samples stay apart until they are summed."""
    return nn.Sequential(
        *(
            nn.Flatten(),
            nn.Linear(432, 8),
            nn.ReLU(),
            nn.Linear(8, 8),
            nn.Hardswish(),
            nn.Linear(8, 5),
        )
    )


class NotFiniteTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(1)

    def check(self, build, loss="cross-entropy"):
        model = build()
        path = self.folder / f"{build.__name__}.onnx"
        export.write(model, torch.zeros(BATCH, *SHAPE), path)
        plan = harness.compile_plan(path, self.folder, batch=BATCH, loss=loss)
        random = numpy.random.RandomState(3)
        inputs = random.standard_normal((BATCH, *SHAPE)).astype(numpy.float32)
        inputs[1, 2, 5, 6] = numpy.nan
        classes = random.randint(0, 5, BATCH)
        wanted = random.standard_normal((BATCH, 5)).astype(numpy.float32)
        data = inputs, classes if loss == "cross-entropy" else wanted
        dump = harness.train(plan, self.folder, data, extra=("--allow-nonfinite",))
        truth = reference.train(model, data, loss=loss, double=False)
        self.assertTrue(numpy.isnan(truth.losses[0]))
        self.assertTrue(numpy.isnan(dump.loss(0)))
        places = 0
        for ours, theirs in (
            (dump.gradients(0), truth.gradients),
            (dump.parameters(2), truth.parameters),
        ):
            for name, values in theirs.items():
                places += numpy.isnan(values).sum()
                same = numpy.isnan(ours[name]) == numpy.isnan(values)
                self.assertTrue(same.all(), f"{name}: {same.sum()} of {same.size} places alike")
        self.assertGreater(places, 0)

    def test_activations(self):
        self.check(activations)

    def test_normalised(self):
        self.check(normalised)

    def test_squared_errors(self):
        self.check(of_each_sample, loss="mse")


if __name__ == "__main__":
    unittest.main()
