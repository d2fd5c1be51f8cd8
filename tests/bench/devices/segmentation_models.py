"""Segmentation after NVIDIA/DeepLearningExamples (729963d), whose files the comments name."""

import functools

import torch
from torch import nn


class NnUnet(nn.Module):
    """PyTorch/Segmentation/nnUNet/nnunet/nn_unet.py for Task01 with its defaults: MONAI's DynUNet
    of five halvings, two convolutions, instance norms and leaky ReLUs a level."""

    CONVOLUTIONS = {2: nn.Conv2d, 3: nn.Conv3d}
    TRANSPOSED = {2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
    NORMS = {2: nn.InstanceNorm2d, 3: nn.InstanceNorm3d}

    def __init__(self, dimensions, strides, channels=4, classes=4):
        super().__init__()
        self.dimensions = dimensions
        widths = [min(32 << i, 512 if dimensions == 2 else 320) for i in range(len(strides))]
        inputs = [channels, *widths]
        self.down = nn.ModuleList(
            self.level(a, b, stride) for a, b, stride in zip(inputs, widths, strides)
        )
        self.up, self.joined = nn.ModuleList(), nn.ModuleList()
        for a, b, stride in zip(widths[:0:-1], widths[-2::-1], strides[:0:-1]):
            self.up.append(self.TRANSPOSED[dimensions](a, b, stride, stride))
            self.joined.append(self.level(2 * b, b, 1))
        self.output = self.CONVOLUTIONS[dimensions](widths[0], classes, 1)

    def level(self, before, width, stride):
        convolution, norm = self.CONVOLUTIONS[self.dimensions], self.NORMS[self.dimensions]
        parts = []
        for a, s in ((before, stride), (width, 1)):
            parts += [convolution(a, width, 3, s, 1, bias=False), norm(width, affine=True)]
            parts.append(nn.LeakyReLU(0.01))
        return nn.Sequential(*parts)

    def forward(self, image):
        skipped, x = [], image
        for level in self.down:
            x = level(x)
            skipped.append(x)
        for up, joined, skip in zip(self.up, self.joined, skipped[-2::-1]):
            x = joined(torch.cat((up(x), skip), dim=1))
        return self.output(x)


def nnunet(dimensions, size):
    strides = [1, 2, 2, 2, 2, 2]
    return NnUnet(dimensions, strides).train(), {"image": torch.zeros(2, 4, *size)}


class Unet(nn.Module):
    """TensorFlow2/Segmentation/UNet_Medical/model: convolutions without padding, so that the maps
    that are joined are cropped."""

    WIDTHS = (64, 128, 256, 512, 1024)

    def __init__(self):
        super().__init__()
        inputs = (1, *self.WIDTHS)
        self.down = nn.ModuleList(map(self.level, inputs, self.WIDTHS))
        pairs = list(zip(self.WIDTHS[:0:-1], self.WIDTHS[-2::-1]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 3, 2, 1, 1) for a, b in pairs)
        self.joined = nn.ModuleList(self.level(a, b) for a, b in pairs)
        self.output = nn.Conv2d(self.WIDTHS[0], 2, 1)
        self.drop = nn.Dropout(0.5)

    def level(self, before, width):
        first, second = nn.Conv2d(before, width, 3), nn.Conv2d(width, width, 3)
        return nn.Sequential(first, nn.ReLU(), second, nn.ReLU())

    def forward(self, image):
        skipped, x = [], image
        for i, level in enumerate(self.down):
            x = level(nn.functional.max_pool2d(x, 2) if i else x)
            skipped.append(x)
        x = self.drop(x)
        for up, joined, skip in zip(self.up, self.joined, skipped[-2::-1]):
            x = torch.relu(up(x))
            edge = (skip.shape[2] - x.shape[2]) // 2
            skip = skip[:, :, edge : edge + x.shape[2], edge : edge + x.shape[3]]
            x = joined(torch.cat((x, skip), dim=1))
        return self.output(x)


def unet_medical():
    return Unet().train(), {"image": torch.zeros(2, 1, 572, 572)}


MODELS = {
    "nnunet_2d": functools.partial(nnunet, 2, (192, 160)),
    "nnunet_3d": functools.partial(nnunet, 3, (128, 128, 128)),
    "unet_medical": unet_medical,
}
