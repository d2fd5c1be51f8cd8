"""A U-Net and a network for super-resolution: every gradient is PyTorch's."""

import functools
import unittest

import numpy
import torch
from torch import nn
import torch.nn.functional as functional

from gradients import GradientsTest
from unet import UNet

CLASSES = 5


class SuperResolution(nn.Module):
    """Twice as high and wide by PixelShuffle, with a class for each pixel."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 5, padding=2)
        self.second = nn.Conv2d(16, 12, 3, padding=1)
        self.last = nn.Conv2d(12, 4 * CLASSES, 3, padding=1)

    def forward(self, x):
        x = torch.tanh(self.second(torch.tanh(self.first(x))))
        return functional.pixel_shuffle(self.last(x), 2)


def smooth_unet():
    """Behind a normalization one ReLU that rounding turns changes gradients by 1e-2, PyTorch's in
    float32 too, so tanh stands in its place."""
    model = UNet(3, CLASSES, (8, 12, 16))
    for block in (*model.down, *model.up):
        for place, layer in enumerate(block):
            if isinstance(layer, nn.ReLU):
                block[place] = nn.Tanh()
    return model


def pixels(size, result, batch, seed):
    """Square images and the class of each pixel of the result."""
    random = numpy.random.RandomState(seed)
    images = random.standard_normal((batch, 3, size, size)).astype(numpy.float32)
    return images, random.randint(0, CLASSES, (batch, result, result))


class UpsamplingTest(GradientsTest):
    models = {
        "SuperResolution": lambda: (SuperResolution(), functools.partial(pixels, 12, 24)),
        "UNet": lambda: (smooth_unet(), functools.partial(pixels, 64, 64)),
    }

    def test_on_one_rank(self):
        self.check_on_one_rank()

    def test_on_four_ranks(self):
        self.check_on_four_ranks()


if __name__ == "__main__":
    unittest.main()
