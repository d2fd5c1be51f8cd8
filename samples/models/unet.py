"""A small U-Net for the class of every pixel; see export.py and samples/data/shapes.py."""

import torch
from torch import nn


class Twice(nn.Sequential):
    """Two convolutions, each with a normalization and a ReLU behind it."""

    def __init__(self, inputs, outputs):
        super().__init__()
        for channels in (inputs, outputs):
            self.append(nn.Conv2d(channels, outputs, 3, padding=1, bias=False))
            self.append(nn.BatchNorm2d(outputs))
            self.append(nn.ReLU())


class UNet(nn.Module):
    """Images [batch, channels, height, width] to logits [batch, classes, height, width]. Each level
    has half the height and width of the one above it; on the way up a transposed convolution
    doubles them again, and what the way down had there is put beside its result."""

    def __init__(self, channels, classes, widths):
        super().__init__()
        down = zip((channels, *widths), widths)
        self.down = nn.ModuleList(Twice(inputs, outputs) for inputs, outputs in down)
        self.pool = nn.MaxPool2d(2)
        up = list(zip(widths[1:], widths))[::-1]
        self.grow = nn.ModuleList(nn.ConvTranspose2d(deep, width, 2, 2) for deep, width in up)
        self.up = nn.ModuleList(Twice(2 * width, width) for _, width in up)
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skipped = []
        for level, block in enumerate(self.down):
            x = block(self.pool(x) if level else x)
            skipped.append(x)
        skipped.pop()
        for grow, block in zip(self.grow, self.up):
            x = block(torch.cat((skipped.pop(), grow(x)), 1))
        return self.head(x)


def shapes():
    """Three levels, 19,000 parameters, and an example of its input."""
    return UNet(channels=1, classes=3, widths=(8, 16, 16)), torch.zeros(2, 1, 32, 32)


def photographs():
    """Three levels for 64 x 64 pixels in color, 468,000 parameters, and an example of its input."""
    return UNet(channels=3, classes=21, widths=(32, 64, 128)), torch.zeros(2, 3, 64, 64)
