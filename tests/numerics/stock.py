"""Networks as libraries write them, in small: torchvision's image transformers, and transformers of
text by the operators that Hugging Face's exports hold."""

import torch
import torchvision
from torchvision.models.convnext import CNBlockConfig

from language import Bert, Gpt, Llama

CLASSES = 10
WORDS, LENGTH, PLACES = 13, 7, 16


def swin():
    """Windows that do not fill the image, shifted in the second block of either stage."""
    model = torchvision.models.SwinTransformer(
        patch_size=[4, 4],
        embed_dim=24,
        depths=[2, 2],
        num_heads=[2, 4],
        window_size=[4, 4],
        stochastic_depth_prob=0.0,
        num_classes=CLASSES,
    )
    return model, (3, 36, 36)


def convnext():
    model = torchvision.models.ConvNeXt(
        [CNBlockConfig(16, 32, 2), CNBlockConfig(32, None, 2)],
        stochastic_depth_prob=0.0,
        layer_scale=0.5,
        num_classes=CLASSES,
    )
    return model, (3, 32, 32)


class BufferedGpt(Gpt):
    """The library's GPT-2 keeps which tokens come first in a buffer."""

    def __init__(self, words, places, **sizes):
        super().__init__(words, places, **sizes)
        past = torch.tril(torch.ones((places, places), dtype=torch.bool))
        self.register_buffer("bias", past.view(1, 1, places, places))

    def past(self, length):
        return self.bias[:, :, :length, :length]


def gpt():
    return BufferedGpt(WORDS, PLACES, width=32, heads=4, blocks=2, std=0.2, residual=0.2)


def bert():
    return Bert(WORDS, PLACES, width=32, heads=4, inner=64, layers=2, classes=CLASSES)


def llama():
    return Llama(WORDS, width=32, heads=4, groups=2, inner=64, blocks=2)
