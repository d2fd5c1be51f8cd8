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
import processor
from gpt import Gpt

BATCH = 32  # the least for which linear layers are computed in bf16
CLASSES = 10
SIZED = harness.CLUSTER.replace("10 GB/s", "10 GB/s, memory-size: SIZE B")


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

    def exported(self, name, ranks):
        """The model's file, and a global batch."""
        make, _, draw, _ = MODELS[name]
        torch.manual_seed(5)
        model = self.folder / f"{name}.onnx"
        export.write(make().train(), draw(2)[0], model)
        return model, [part.numpy() for part in draw(ranks * BATCH)]

    def same_bits(self, name, ranks, words):
        _, blocks, _, share = MODELS[name]
        model, data = self.exported(name, ranks)
        kept, one, before = self.outcome(model, data, ranks, "kept", words)
        again, other, after = self.outcome(
            *(model, data, ranks, "again", (*words, "--recompute", blocks))
        )
        self.compare(one, other)
        self.assertEqual(before, after)  # has the running statistics, too
        if "--overlap" not in words:  # else the backward pass ends when the step has waited
            self.judge(*(harness.plan_json(plan) for plan in (kept, again)), share)

    def compare(self, one, other):
        for step in (0, 2):
            self.assertEqual(one.loss(step), other.loss(step))
            for wanted, got in (
                (one.gradients(step), other.gradients(step)),
                (one.parameters(step), other.parameters(step)),
            ):
                self.assertGreater(len(wanted.names()), 5)
                for tensor in wanted.names():
                    self.assertTrue(numpy.array_equal(wanted[tensor], got[tensor]), tensor)

    def judge(self, kept, again, share):
        """What plan.json says of both plans."""
        arenas = [plan["memory"]["arena"] for plan in (kept, again)]
        self.assertLess(arenas[1], share * arenas[0])
        told = again["recomputed"]
        self.assertEqual(told["freed"], arenas[0] - arenas[1])
        ends = [plan["predicted"]["backward_end"] for plan in (kept, again)]
        self.assertGreater(told["seconds"], 0)
        self.assertAlmostEqual(told["seconds"], ends[1] - ends[0], delta=1e-9)

    def test_the_same_bits(self):
        for name in MODELS:
            for ranks in (1, 2):
                with self.subTest(model=name, ranks=ranks):
                    self.same_bits(name, ranks, ())

    @unittest.skipUnless(processor.has_bf16(), "this processor has no bfloat16 arithmetic")
    def test_the_same_bits_in_bf16(self):
        for name in MODELS:
            for ranks in (1, 2):
                with self.subTest(model=name, ranks=ranks):
                    self.same_bits(name, ranks, ("--precision", "bf16"))

    def test_messages_that_update_or_reach_into_the_next_step(self):
        for words in (("--scheme", "*=reduce-scatter"), ("--overlap", "step")):
            with self.subTest(words=words):
                self.same_bits("residual", 2, words)

    def test_auto_fits_the_devices_memory(self):
        """As much as the memory wants, not more: with enough memory nothing."""
        for name in MODELS:
            model, data = self.exported(name, 1)
            plan, one, before = self.outcome(model, data, 1, "kept", ())
            memory = harness.plan_json(plan)["memory"]
            whole = sum(memory.values()) + 2**17  # and some for the samples
            for share, isEnough in ((0.0, True), (0.3, False)):
                size = whole - int(share * memory["arena"])
                cluster = SIZED.replace("SIZE", str(size))
                words = ("--recompute", "auto")
                with self.subTest(model=name, size=size):
                    plan = harness.compile_plan(
                        *(model, self.folder, 1, BATCH),
                        extra=words, cluster=cluster, label=f"auto{share}",
                    )
                    told = harness.plan_json(plan)
                    self.assertEqual("recomputed" not in told, isEnough)
                    self.assertLessEqual(sum(told["memory"].values()), size)
                    saved = self.folder / "auto.onnx"
                    other = harness.train(plan, self.folder, data, extra=("--save", saved))
                    self.compare(one, other)
                    self.assertEqual(before, saved.read_bytes())

    def test_what_auto_refuses(self):
        model, _ = self.exported("dropout", 1)
        for cluster, message in (
            (SIZED.replace("SIZE", "4096"), r"with recomputation, .* \d+ bytes too few"),
            (harness.CLUSTER, "does not state its devices' 'memory-size'"),
        ):
            with self.assertRaisesRegex(AssertionError, f"(?s)exit code 1\n.*{message}"):
                harness.compile_plan(
                    *(model, self.folder, 1, BATCH), extra=("--recompute", "auto"), cluster=cluster
                )


if __name__ == "__main__":
    unittest.main()
