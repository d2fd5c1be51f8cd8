"""--precision bf16 on CPUs: gradients are no worse than twice PyTorch's under CPU autocast, and the
loss falls as in float32."""

import copy
import pathlib
import tempfile
import unittest

import numpy
import torch
from torch import nn
import torch.nn.functional as functional

import compare
import export
import harness
import processor
import reference

BATCH = 32  # the least for which linear layers are computed in bf16
CLASSES = 10
# A gradient's error is at most so many times PyTorch's under autocast, both against float64.
RATIO = 2
# Rounding of a value to bf16; an error of half of it says nothing about sums.
ROUNDING = 2**-9
CURVE = 0.05  # relative distance of the losses' means


class Block(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.last = nn.BatchNorm2d(width)
        self.short = nn.Sequential(
            nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width)
        )

    def forward(self, x):
        y = self.last(self.second(functional.relu(self.norm(self.first(x)))))
        return functional.relu(y + self.short(x))


class Residual(nn.Module):
    """A small ResNet."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.blocks = nn.Sequential(Block(16, 32, 2), Block(32, 64, 2))
        self.head = nn.Linear(64, CLASSES)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(functional.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class Plain(nn.Module):
    """Convolutions with biases, concatenated branches, channels that fill no vector, a wide linear
    layer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 20, 5, 2, 2)
        self.left = nn.Conv2d(20, 32, 3, 1, 1)
        self.right = nn.Conv2d(20, 16, 1)
        self.grouped = nn.Conv2d(48, 48, 3, 2, 1, groups=4)
        self.wide = nn.Linear(48 * 16, 96)
        self.head = nn.Linear(96, CLASSES)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.first(x)), 2)
        x = torch.cat((functional.relu(self.left(x)), torch.tanh(self.right(x))), 1)
        x = functional.relu(self.grouped(x)).flatten(1)
        return self.head(functional.relu(self.wide(x)))


class Recurrent(nn.Module):
    """Two layers of LSTM over the rows of an image."""

    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(96, 64, 2, batch_first=True)
        self.head = nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.head(self.layers(x.transpose(1, 2).flatten(2))[0][:, -1])


MODELS = (Residual, Plain, Recurrent)


def draw(seed, batch=BATCH, size=32):
    random = numpy.random.RandomState(seed)
    images = random.standard_normal((batch, 3, size, size)).astype(numpy.float32)
    return images, random.randint(0, CLASSES, batch)


def autocast(model, data):
    """PyTorch's gradients under autocast on CPUs."""
    model = copy.deepcopy(model).train()
    images, labels = map(torch.from_numpy, data)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(images)
    functional.cross_entropy(logits.float(), labels).backward()
    return {name: p.grad.numpy() for name, p in model.named_parameters()}


@unittest.skipUnless(processor.has_bf16(), "this processor has no bfloat16 arithmetic")
class BFloat16Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def plan(self, kind, seed, batch=BATCH, precision="bf16"):
        torch.manual_seed(seed)
        model = kind()
        path = self.folder / f"{kind.__name__.lower()}{seed}.onnx"
        export.write(model, torch.from_numpy(draw(seed, 2)[0]), path)
        words, label = ("--precision", precision), f"-{precision}"
        return model, harness.compile_plan(
            path, self.folder, batch=batch, extra=words, label=label
        )

    def train(self, plan, data, **how):
        return harness.train(plan, self.folder, data, **how)

    def test_gradients(self):
        for kind in MODELS:
            for seed in range(3):
                model, plan = self.plan(kind, seed)
                data = draw(seed)
                rounded = self.train(plan, data, steps=1, dump=(0,))
                ours, theirs = rounded.gradients(0), autocast(model, data)
                truth = reference.train(model, data, steps=1).gradients
                largest = 0.0
                for name, value in truth.items():
                    errors = [
                        compare.norm(g[name] - value) / compare.norm(value) for g in (ours, theirs)
                    ]
                    largest = max(largest, errors[0])
                    what = f"{kind.__name__}, seed {seed}, {name}"
                    print(f"\n  {what}: {errors[0]:.1e}, PyTorch {errors[1]:.1e}", end="")
                    with self.subTest(what):
                        self.assertLessEqual(errors[0], max(RATIO * errors[1], ROUNDING))
                self.assertGreater(largest, 1e-3, "nothing was computed in bf16")

    def test_loss_falls_as_in_float32(self):
        """A hundred steps on one batch of 32: the means of ten losses, one after the other."""
        data = draw(5, 32)
        how = {"steps": 100, "dump": range(0, 100), "settings": {"lr": 0.02, "momentum": 0.9}}
        curves = []
        for precision in ("fp32", "bf16"):
            _, plan = self.plan(Residual, 1, 32, precision)
            dump = self.train(plan, data, **how)
            losses = numpy.array([dump.loss(step) for step in range(100)])
            curves.append(losses.reshape(10, 10).mean(axis=1))
        print("\n  float32:", *(f"{x:.4f}" for x in curves[0]))
        print("  bf16:   ", *(f"{x:.4f}" for x in curves[1]))
        self.assertLess(curves[0][-1], 0.2 * curves[0][0])
        distance = numpy.abs(curves[1] - curves[0]) / curves[0][0]
        self.assertLessEqual(distance.max(), CURVE)
        self.assertGreater(distance.max(), 0)


if __name__ == "__main__":
    unittest.main()
