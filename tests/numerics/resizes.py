"""Networks whose images are resized in every way that PyTorch knows."""

import onnx
import torch
from torch import nn
import torch.nn.functional as functional


class Node(torch.autograd.Function):
    """Writes a Resize by its attributes, for what PyTorch 1.13 computes but does not export."""

    @staticmethod
    def forward(context, x, settings, attributes):
        return functional.interpolate(x, **settings)

    @staticmethod
    def symbolic(graph, x, settings, attributes):
        image = graph.op("Constant", value_t=torch.tensor(settings["size"]))
        zero, two = (graph.op("Constant", value_t=torch.tensor([n])) for n in (0, 2))
        first = graph.op("Slice", graph.op("Shape", x), zero, two)
        sizes = graph.op("Concat", first, image, axis_i=0)
        none = graph.op("Constant", value_t=torch.tensor([], dtype=torch.float32))
        return graph.op("Resize", x, none, none, sizes, **attributes)


def written(attributes, **settings):
    """functional.interpolate with these settings, and the attributes that say the same in ONNX."""

    def resize(x):
        if torch.onnx.is_in_onnx_export():
            return Node.apply(x, settings, attributes)
        return functional.interpolate(x, **settings)

    return resize


def by_torch(**settings):
    return lambda x: functional.interpolate(x, **settings)


def antialias(path):
    """Makes the file one of opset 18, whose Resize nodes have the attribute that PyTorch 1.13 does
    not know: those that exclude the outside."""
    model = onnx.load(str(path))
    model.opset_import[0].version = 18
    for node in model.graph.node:
        if node.op_type == "ReduceMean":  # its axes are an operand now
            (axes,) = (one for one in node.attribute if one.name == "axes")
            values = onnx.helper.make_tensor(f"{node.name}/axes", 7, [len(axes.ints)], axes.ints)
            model.graph.initializer.append(values)
            node.input.append(values.name)
            node.attribute.remove(axes)
        if any(one.name == "exclude_outside" for one in node.attribute):
            node.attribute.append(onnx.helper.make_attribute("antialias", 1))
    onnx.save(model, str(path))


HALF = {"coordinate_transformation_mode_s": "half_pixel"}
# PyTorch's stretched filters do not reach beyond the image.
ANTIALIAS = {**HALF, "exclude_outside_i": 1}
IMAGES = {  # from 7 x 6
    "nearest": by_torch(size=(13, 5)),
    "nearest doubled": by_torch(scale_factor=2),
    "nearest scaled": by_torch(scale_factor=(1.5, 0.6)),
    "nearest exact": written(
        {**HALF, "mode_s": "nearest", "nearest_mode_s": "round_prefer_ceil"},
        size=(10, 9),
        mode="nearest-exact",
    ),
    "linear": by_torch(size=(13, 5), mode="bilinear"),
    "linear doubled": by_torch(scale_factor=2, mode="bilinear"),
    "linear scaled": by_torch(scale_factor=(2.5, 0.7), mode="bilinear"),
    "linear to one": by_torch(size=(1, 1), mode="bilinear"),
    "corners": by_torch(size=(13, 5), mode="bilinear", align_corners=True),
    "corners doubled": by_torch(scale_factor=2, mode="bilinear", align_corners=True),
    "corners scaled": by_torch(scale_factor=(1.4, 0.7), mode="bilinear", align_corners=True),
    "cubic": by_torch(size=(13, 5), mode="bicubic"),
    "cubic scaled": by_torch(scale_factor=(2.5, 0.7), mode="bicubic"),
    "cubic corners": by_torch(size=(13, 5), mode="bicubic", align_corners=True),
}
NEWER = {
    "linear antialias": written(
        {**ANTIALIAS, "mode_s": "linear"}, size=(3, 8), mode="bilinear", antialias=True
    ),
    "cubic antialias": written(
        {**ANTIALIAS, "mode_s": "cubic", "cubic_coeff_a_f": -0.5},
        size=(3, 4),
        mode="bicubic",
        antialias=True,
    ),
}
FORMER = ("nearest doubled",)  # all that PyTorch exports alike before opset 11


class Branches(nn.Module):
    """Each resizing between two weights, whose gradients show its forward and its backward."""

    shape = (4, 7, 6)

    def __init__(self, resizes):
        super().__init__()
        self.resizes = resizes
        self.before, self.after = nn.ParameterList(), nn.ParameterList()
        image = torch.zeros(1, *self.shape)
        for resize in resizes:
            self.before.append(nn.Parameter(torch.rand(*self.shape) + 0.5))
            self.after.append(nn.Parameter(torch.randn(*resize(image).shape[1:])))
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = torch.tanh(x)
        branches = zip(self.before, self.resizes, self.after, strict=True)
        return self.head(sum((resize(x * w) * v).mean((2, 3)) for w, resize, v in branches))


class OtherRanks(nn.Module):
    """Signals and volumes."""

    shape = (4, 7, 6)

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(4, 7, 6) + 0.5)
        self.signal = nn.Parameter(torch.randn(4, 97))
        self.volume = nn.Parameter(torch.randn(2, 9, 5, 11))
        self.corners = nn.Parameter(torch.randn(1, 8, 14, 12))
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = x * self.scale
        signal = functional.interpolate(x.flatten(2), size=97, mode="linear")
        volume = torch.stack((x, x * x), 1)
        volume = functional.interpolate(volume, size=(9, 5, 11), mode="trilinear")
        corners = functional.interpolate(
            x.unsqueeze(1), scale_factor=2, mode="trilinear", align_corners=True
        )
        features = [(volume * self.volume).mean((2, 3, 4)), (signal * self.signal).mean(2)[:, :1]]
        features.append((corners * self.corners).mean((2, 3, 4)))
        return self.head(torch.cat(features, 1))


class Unet(nn.Module):
    """Down by convolutions, up by bilinear and nearest doubling, joined with what was before."""

    shape = (3, 16, 24)

    def __init__(self, width=8, classes=5):
        super().__init__()
        self.first = self.block(3, width)
        self.second = self.block(width, 2 * width, 2)
        self.third = self.block(2 * width, 4 * width, 2)
        self.fourth = self.block(6 * width, 2 * width)
        self.fifth = self.block(3 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    @staticmethod
    def block(inputs, outputs, stride=1):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.Tanh(),
        )

    def forward(self, x):
        first = self.first(x)
        second = self.second(first)
        x = self.third(second)
        x = functional.interpolate(x, scale_factor=2, mode="bilinear")
        x = self.fourth(torch.cat((x, second), 1))
        x = functional.interpolate(x, scale_factor=2, mode="nearest")
        return self.head(self.fifth(torch.cat((x, first), 1)))


class Segformer(nn.Module):
    """SegFormer's head: images of four sizes by linear layers, resized to the first's and joined,
    then to the input's, by sizes that the exporter computes from shapes."""

    shape = (3, 16, 32)

    def __init__(self, width=8, classes=5):
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Conv2d(3 if i == 0 else width, width, 3, 2, 1) for i in range(3)
        )
        self.projections = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.fuse = nn.Conv2d(3 * width, width, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        images, y = [], x
        for stage, projection in zip(self.stages, self.projections, strict=True):
            y = torch.tanh(stage(y))
            tokens = projection(y.flatten(2).transpose(1, 2)).transpose(1, 2)
            image = tokens.reshape(x.shape[0], -1, y.shape[2], y.shape[3])
            size = images[0].shape[2:] if images else image.shape[2:]
            images.append(functional.interpolate(image, size, mode="bilinear"))
        y = torch.tanh(self.norm(self.fuse(torch.cat(images[::-1], 1))))
        return functional.interpolate(self.head(y), x.shape[2:], mode="bilinear")
