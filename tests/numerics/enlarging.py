"""Small networks that make images larger or smaller: transposed convolutions with each of their
options, and blocks of pixels that become channels and back."""

import torch
from torch import nn
import torch.nn.functional as functional


class DepthToSpace(torch.autograd.Function):
    """In the mode that PyTorch does not export."""

    @staticmethod
    def forward(context, x):
        n, c, h, w = x.shape
        apart = x.reshape(n, 2, 2, c // 4, h, w).permute(0, 3, 4, 1, 5, 2)
        return apart.reshape(n, c // 4, 2 * h, 2 * w)

    @staticmethod
    def backward(context, gradient):
        return SpaceToDepth.forward(context, gradient)

    @staticmethod
    def symbolic(graph, x):
        return graph.op("DepthToSpace", x, blocksize_i=2)


class SpaceToDepth(torch.autograd.Function):
    """PyTorch exports a Reshape and a Transpose."""

    @staticmethod
    def forward(context, x):
        n, c, h, w = x.shape
        apart = x.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 1, 2, 4)
        return apart.reshape(n, 4 * c, h // 2, w // 2)

    @staticmethod
    def backward(context, gradient):
        return DepthToSpace.forward(context, gradient)

    @staticmethod
    def symbolic(graph, x):
        return graph.op("SpaceToDepth", x, blocksize_i=2)


class Rearranged(nn.Module):
    """Blocks of pixels as channels, and channels as blocks in both orders."""

    shape = (3, 8, 8)
    opsets = (11, 17)  # the mode of DepthToSpace is of opset 11

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(12, 16, 3, padding=1)
        self.second = nn.Conv2d(4, 8, 3, padding=1)
        self.last = nn.Conv2d(2, 5, 5)

    def forward(self, x):
        x = DepthToSpace.apply(torch.tanh(self.first(SpaceToDepth.apply(x))))
        x = functional.pixel_shuffle(torch.tanh(self.second(x)), 2)
        return torch.tanh(self.last(x)).mean((2, 3))


class Transposed(nn.Module):
    """Transposed convolutions with each of their options; an output padding beyond the stride."""

    shape = (6, 5, 4)

    def __init__(self):
        super().__init__()
        self.grouped = nn.ConvTranspose2d(6, 8, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.uneven = nn.ConvTranspose2d(8, 10, (2, 3), stride=(3, 1), padding=(0, 2), bias=False)
        self.dilated = nn.ConvTranspose2d(10, 6, 3, padding=(0, 1), output_padding=2, dilation=3)
        self.depthwise = nn.ConvTranspose2d(6, 6, 2, stride=2, groups=6)
        self.head = nn.ConvTranspose2d(6, 5, 1)

    def forward(self, x):
        x = torch.tanh(self.uneven(torch.tanh(self.grouped(x))))
        x = torch.tanh(self.depthwise(torch.tanh(self.dilated(x))))
        return torch.tanh(self.head(x)).mean((2, 3))


class TransposedInOtherRanks(nn.Module):
    """Transposed convolutions over one and over three dimensions."""

    shape = (4, 4)

    def __init__(self):
        super().__init__()
        self.line = nn.ConvTranspose1d(4, 6, 4, stride=2, padding=1, output_padding=1)
        self.space = nn.ConvTranspose3d(2, 5, (2, 3, 1), stride=(2, 1, 1), padding=(0, 1, 0))

    def forward(self, x):
        x = torch.tanh(self.line(x))
        return torch.tanh(self.space(x.reshape(-1, 2, 3, 3, 3))).mean((2, 3, 4))


ALL = [Rearranged, Transposed, TransposedInOtherRanks]
