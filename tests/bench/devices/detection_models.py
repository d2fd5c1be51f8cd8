"""EfficientDet-D0 as NVIDIA/DeepLearningExamples (729963d) trains it
(PyTorch/Detection/Efficientdet/effdet): five levels of 64 channels, three cells of weighted sums,
heads of three separable convolutions, 9 anchors and 90 classes. Each level has batch norms of its
own in the heads."""

import torch
from torch import nn

WIDTH, LEVELS, CELLS, REPEATS, ANCHORS, CLASSES = 64, 5, 3, 3, 9, 90


def separable(inputs, outputs, bias):
    depthwise = nn.Conv2d(inputs, inputs, 3, padding=1, groups=inputs, bias=False)
    return nn.Sequential(depthwise, nn.Conv2d(inputs, outputs, 1, bias=bias))


def normed(inputs):
    return nn.Sequential(nn.Conv2d(inputs, WIDTH, 1), nn.BatchNorm2d(WIDTH, 1e-3))


class Sum(nn.Module):
    """A weighted sum of maps, then swish, a separable convolution and a batch norm."""

    def __init__(self, inputs):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(inputs))
        self.conv, self.norm = separable(WIDTH, WIDTH, True), nn.BatchNorm2d(WIDTH, 1e-3)

    def forward(self, *maps):
        weights = torch.relu(self.weights)
        total = weights.sum() + 0.0001
        x = sum(map_ * weights[i] / total for i, map_ in enumerate(maps))
        return self.norm(self.conv(nn.functional.silu(x)))


class Cell(nn.Module):
    """Passes maps down from coarse to fine, and up again."""

    def __init__(self):
        super().__init__()
        self.downward = nn.ModuleList(Sum(2) for _ in range(LEVELS - 1))
        self.upward = nn.ModuleList(Sum(3) for _ in range(LEVELS - 2))
        self.last = Sum(2)
        self.halved = nn.MaxPool2d(3, 2, 1)

    def forward(self, maps):
        middle = [maps[-1]]
        for i, node in enumerate(self.downward):
            finer = nn.functional.interpolate(middle[0], scale_factor=2, mode="nearest")
            middle.insert(0, node(maps[-2 - i], finer))
        out = [middle[0]]
        for i, node in enumerate(self.upward, 1):
            out.append(node(maps[i], middle[i], self.halved(out[-1])))
        return [*out, self.last(maps[-1], self.halved(out[-1]))]


class Head(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.outputs = outputs
        self.convs = nn.ModuleList(separable(WIDTH, WIDTH, True) for _ in range(REPEATS))
        self.norms = nn.ModuleList(
            nn.ModuleList(nn.BatchNorm2d(WIDTH, 1e-3) for _ in range(LEVELS))
            for _ in range(REPEATS)
        )
        self.predict = separable(WIDTH, ANCHORS * outputs, True)

    def forward(self, maps):
        made = []
        for level, x in enumerate(maps):
            for conv, norms in zip(self.convs, self.norms):
                x = nn.functional.silu(norms[level](conv(x)))
            x = self.predict(x).permute(0, 2, 3, 1).flatten(1)
            made.append(x.unflatten(1, (-1, self.outputs)))
        return torch.cat(made, dim=1)


class EfficientDet(nn.Module):
    def __init__(self):
        super().__init__()
        import timm

        self.backbone = timm.create_model(
            "efficientnet_b0", features_only=True, out_indices=(2, 3, 4)
        )
        widths = self.backbone.feature_info.channels()
        self.into = nn.ModuleList(normed(width) for width in widths)
        self.coarse = normed(widths[-1])
        self.cells = nn.ModuleList(Cell() for _ in range(CELLS))
        self.classes, self.boxes = Head(CLASSES), Head(4)
        self.halved = nn.MaxPool2d(3, 2, 1)

    def forward(self, image):
        features = self.backbone(image)
        maps = [into(x) for into, x in zip(self.into, features)]
        maps.append(self.halved(self.coarse(features[-1])))
        maps.append(self.halved(maps[-1]))
        for cell in self.cells:
            maps = cell(maps)
        return torch.cat((self.classes(maps), self.boxes(maps)), dim=2)


def efficientdet_d0():
    return EfficientDet().train(), {"image": torch.zeros(2, 3, 512, 512)}


MODELS = {"efficientdet_d0": efficientdet_d0}
