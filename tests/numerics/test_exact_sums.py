"""Sums over batch and space lose no more than PyTorch's own: default weights, sizes of training."""

import pathlib
import tempfile
import unittest

import torch
from torch import nn

import compare
import export
import harness
import reference
from depth import repeat

BATCH = 8
# A gradient's error is at most so many times PyTorch's in float32, both against float64.
RATIO = 2
# The rounding of a result itself, below which an error says nothing about its sum.
ROUNDING = 1e-7


class Normalized(nn.Module):
    """A convolution whose gradient the normalization behind it makes small."""

    def __init__(self, inner):
        super().__init__()
        self.convolution = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(32)
        self.inner = inner

    def forward(self, x):
        return self.inner(self.norm(self.convolution(x)))


LAYERS = {
    "1x1 convolution": lambda: nn.Conv2d(16, 32, 1),
    "3x3 convolution": lambda: nn.Conv2d(16, 32, 3, padding=1),
    "channels without vectors": lambda: nn.Conv2d(16, 5, 3, padding=1),
    "grouped convolution": lambda: nn.Conv2d(16, 32, 3, padding=1, groups=16),
    "depthwise convolution": lambda: nn.Conv2d(16, 16, 7, padding=3, groups=16),
    "normalization": lambda: nn.BatchNorm2d(16),
    "convolution, normalization": lambda: Normalized(nn.Identity()),
    "convolution, normalization, ReLU": lambda: Normalized(nn.ReLU()),
    "global pooling": lambda: nn.Sequential(nn.Conv2d(16, 32, 1), nn.AdaptiveAvgPool2d(1)),
}


class ExactSumsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def errors(self, name, seed):
        """Of each gradient: our error, and that of PyTorch in float32."""
        torch.manual_seed(seed)
        model = LAYERS[name]()
        x = torch.randn(BATCH, 16, 56, 56)
        wanted = torch.randn(model(x).shape)
        path = self.folder / f"{seed}.onnx"
        export.write(model, x, path, 13)
        plan = harness.compile_plan(path, self.folder, batch=BATCH, loss="mse")
        data = (x.numpy(), wanted.numpy())
        ours = harness.train(plan, self.folder, data, steps=1, dump=(0,)).gradients(0)
        theirs = reference.train(model, data, steps=1, loss="mse", double=False).gradients
        truth = reference.train(model, data, steps=1, loss="mse").gradients
        for key, value in truth.items():
            yield key, *(compare.norm(g[key] - value) / compare.norm(value) for g in (ours, theirs))

    def test_layers(self):
        for name in LAYERS:
            for seed in range(repeat(1, 10)):
                for key, ours, theirs in self.errors(name, seed):
                    with self.subTest(layer=name, seed=seed, parameter=key):
                        print(f"\n  {name}, {key}: {ours:.1e}, PyTorch {theirs:.1e}", end="")
                        self.assertLessEqual(ours, max(RATIO * theirs, ROUNDING))


if __name__ == "__main__":
    unittest.main()
