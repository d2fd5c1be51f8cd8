"""`compile --recompute`: a step that computes activations again has the bits of one that keeps
them, running statistics and dropout's masks among them, in less memory."""

import pathlib
import tempfile
import unittest

import numpy
import torch
from torch import nn
import torch.nn.functional as functional

import export
import harness
from gpt import Gpt

BATCH = 32  # the least for which linear layers are computed in bf16
CLASSES = 10
HAS_BF16 = any(
    flag in pathlib.Path("/proc/cpuinfo").read_text() for flag in ("avx512_bf16", "amx_bf16")
)


class Bottleneck(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, channels, 1, bias=False)
        self.last = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = functional.relu(self.norm(self.first(x)))
        return functional.relu(x + self.last(self.second(y)))


class Residual(nn.Module):
    """A small ResNet."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, 1, 1)
        self.blocks = nn.Sequential(*(Bottleneck(24, 40) for _ in range(4)))
        self.head = nn.Linear(24, CLASSES)

    def forward(self, x):
        x = self.blocks(functional.max_pool2d(functional.relu(self.stem(x)), 3, 2, 1))
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Droppings(nn.Module):
    """nn.TransformerEncoder, with its dropout."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.2, batch_first=True)
        self.embed = nn.Linear(6, 32)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.head = nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)).mean(1))


def images(count):
    return torch.randn(count, 3, 16, 16), torch.randint(CLASSES, (count,))


def texts(count):
    return torch.randint(96, (count, 64)), torch.randint(96, (count, 64))


def sequences(count):
    return torch.randn(count, 9, 6), torch.randint(CLASSES, (count,))


# Each model with its blocks' names, what draws its data, and the share of the arena that is left.
MODELS = {
    "residual": (Residual, "/blocks/blocks.*", images, 0.7),
    "gpt": (lambda: Gpt(48, 3, 3), "/blocks/blocks.*/*", texts, 0.7),
    "dropout": (Droppings, "/encoder/layers.*", sequences, 0.7),
}


class RecomputeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def outcome(self, model, data, ranks, label, extra):
        """The plan, the dump of three steps, and the bytes of the model that they leave."""
        plan = harness.compile_plan(model, self.folder, ranks, BATCH, extra=extra, label=label)
        saved = self.folder / f"{plan.stem}.onnx"
        dump = harness.train(plan, self.folder, data, ranks, extra=("--save", saved))
        return plan, dump, saved.read_bytes()

    def same_bits(self, name, ranks, precision):
        make, blocks, draw, share = MODELS[name]
        torch.manual_seed(5)
        model = self.folder / f"{name}.onnx"
        export.write(make().train(), draw(2)[0], model)
        data = [part.numpy() for part in draw(ranks * BATCH)]
        words = ("--precision", precision)
        kept, one, before = self.outcome(model, data, ranks, "kept", words)
        again, other, after = self.outcome(
            *(model, data, ranks, "again", (*words, "--recompute", blocks))
        )
        for step in (0, 2):
            self.assertEqual(one.loss(step), other.loss(step))
            for wanted, got in (
                (one.gradients(step), other.gradients(step)),
                (one.parameters(step), other.parameters(step)),
            ):
                self.assertGreater(len(wanted.names()), 5)
                for tensor in wanted.names():
                    self.assertTrue(numpy.array_equal(wanted[tensor], got[tensor]), tensor)
        self.assertEqual(before, after)  # has the running statistics, too
        plans = [harness.plan_json(plan) for plan in (kept, again)]
        arenas = [plan["memory"]["arena"] for plan in plans]
        self.assertLess(arenas[1], share * arenas[0])
        told = plans[1]["recomputed"]
        self.assertEqual(told["freed"], arenas[0] - arenas[1])
        ends = [plan["predicted"]["backward_end"] for plan in plans]
        self.assertGreater(told["seconds"], 0)
        self.assertAlmostEqual(told["seconds"], ends[1] - ends[0], delta=1e-9)

    def test_the_same_bits(self):
        for name in MODELS:
            for ranks in (1, 2):
                with self.subTest(model=name, ranks=ranks):
                    self.same_bits(name, ranks, "fp32")

    @unittest.skipUnless(HAS_BF16, "this processor has no bfloat16 arithmetic")
    def test_the_same_bits_in_bf16(self):
        for name in MODELS:
            for ranks in (1, 2):
                with self.subTest(model=name, ranks=ranks):
                    self.same_bits(name, ranks, "bf16")


if __name__ == "__main__":
    unittest.main()
