"""ConvNeXt V2 (Woo et al., "ConvNeXt V2: Co-designing and Scaling ConvNets with Masked
Autoencoders", CVPR 2023), which torchvision does not have, in its smallest size."""

import torch
from torch import nn

DEPTHS, WIDTHS = (2, 2, 6, 2), (40, 80, 160, 320)  # atto
SIZE = 64  # pixels
CLASSES = 10


class GlobalResponseNorm(nn.Module):
    """Channels last: each channel by its norm over the image, relative to the mean norm."""

    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        norm = x.norm(p=2, dim=(1, 2), keepdim=True)
        relative = norm / (norm.mean(dim=-1, keepdim=True) + 1e-6)
        return x + self.weight * (x * relative) + self.bias


class LayerNorm2d(nn.LayerNorm):
    """Over the channels of images with channels second."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.up = nn.Linear(channels, 4 * channels)
        self.response = GlobalResponseNorm(4 * channels)
        self.down = nn.Linear(4 * channels, channels)

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.down(self.response(nn.functional.gelu(self.up(y))))
        return x + y.permute(0, 3, 1, 2)


class ConvNeXtV2(nn.Module):
    def __init__(self, depths=DEPTHS, widths=WIDTHS, classes=CLASSES):
        super().__init__()
        stages, before = [], 3
        for stage, (depth, width) in enumerate(zip(depths, widths)):
            if stage == 0:
                stages += [nn.Conv2d(before, width, 4, 4), LayerNorm2d(width, eps=1e-6)]
            else:
                stages += [LayerNorm2d(before, eps=1e-6), nn.Conv2d(before, width, 2, 2)]
            stages += [Block(width) for _ in range(depth)]
            before = width
        self.features = nn.Sequential(*stages)
        self.norm = nn.LayerNorm(before, eps=1e-6)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.norm(self.features(x).mean((2, 3))))


def atto():
    return ConvNeXtV2(), torch.zeros(2, 3, SIZE, SIZE)
