"""Transformers: every gradient loses no more than twice what PyTorch's own in float32 loses, both
against float64, whether the exporter writes layer normalization as one operator or as nine."""

import functools
import unittest

import torch
import torchvision
from torch import nn

import export
import harness
from gpt import Attention
from gradients import BATCH, OPSETS, GradientsTest, draw, tokens

CLASSES = 10


def vision():
    """An image transformer: patches by a convolution, a class token, embeddings of places."""
    model = torchvision.models.VisionTransformer(
        image_size=32,
        patch_size=8,
        num_layers=2,
        num_heads=3,
        hidden_dim=48,
        mlp_dim=96,
        num_classes=CLASSES,
    )
    nn.init.normal_(model.heads.head.weight, std=0.1)  # torchvision's is zero, and hides the rest
    return model, functools.partial(draw, (3, 32, 32), CLASSES)


class Encoder(nn.Module):
    """nn.TransformerEncoder behind a linear layer, and a classifier of the tokens' mean."""

    def __init__(self, **options):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True, **options)
        self.embed = nn.Linear(6, 32)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)).mean(1))


class Language(nn.Module):
    """A GPT: token ids to the logits of the next token, [batch, words, length], as PyTorch's
    cross-entropy expects them. One table embeds the tokens and gives the logits."""

    words, length = 11, 7

    def __init__(self, width=24):
        super().__init__()
        self.tokens = nn.Embedding(self.words, width)
        self.places = nn.Embedding(self.length, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = Attention(width, 3, self.length)
        self.inner = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(self.length))
        x = x + self.attention(self.norms[0](x))
        x = x + self.inner(self.norms[1](x))
        return (self.norms[2](x) @ self.tokens.weight.t()).transpose(1, 2)


def encoder(**options):
    return Encoder(**options), functools.partial(draw, (9, 6), CLASSES)


MODELS = {
    "vision": vision,
    "encoder": encoder,
    "encoder that normalizes first": lambda: encoder(activation="gelu", norm_first=True),
    "language": lambda: (
        Language(),
        functools.partial(tokens, Language.words, Language.length),
    ),
}


class TransformersTest(GradientsTest):
    models = MODELS

    def test_on_one_rank(self):
        self.check_on_one_rank()

    def test_on_four_ranks(self):
        self.check_on_four_ranks()

    def test_layer_normalization_is_one_operation_in_every_opset(self):
        model, _ = MODELS["encoder that normalizes first"]()
        counts = []
        for opset in OPSETS:
            path = self.folder / f"{opset}.onnx"
            export.write(model, torch.zeros(2, 9, 6), path, opset)
            plan = harness.compile_plan(path, self.folder, batch=BATCH)
            text = (plan / "step.cpp").read_text()
            counts.append((text.count("Op::layerNorm,"), text.count("Op::layerNormBackward,")))
        self.assertEqual(counts, [(4, 4), (4, 4)])


if __name__ == "__main__":
    unittest.main()
