"""Small networks that together use every operator the importer knows from PyTorch."""

import torch
from torch import nn
import torch.nn.functional as functional

import enlarging


class Lrn(torch.autograd.Function):
    """Writes ONNX's LRN node, which PyTorch itself exports as a dozen others."""

    @staticmethod
    def forward(context, x):
        return x

    @staticmethod
    def symbolic(graph, x):
        return graph.op("LRN", x, size_i=5, alpha_f=0.02, beta_f=0.75, bias_f=1.5)


class Cells(torch.autograd.Function):
    """Cells of x by constant indices, as GatherND has them; PyTorch 1.13 exports Flatten and
    Gather."""

    @staticmethod
    def forward(context, x, indices):
        return x[indices.unbind(-1)]

    @staticmethod
    def symbolic(graph, x, indices):
        return graph.op("GatherND", x, indices)


class Perceptron(nn.Module):
    """Gemm, Tanh, Sigmoid and BatchNormalization of vectors."""

    shape = (12,)

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(12, 24),
            nn.Tanh(),
            nn.Linear(24, 20),
            nn.BatchNorm1d(20),
            nn.Sigmoid(),
            nn.Linear(20, 5),
        )

    def forward(self, x):
        return self.body(x)


class Convolutions(nn.Module):
    """Groups, dilations, strides, uneven windows, LRN, LeakyRelu, PRelu, a bias before a norm."""

    shape = (6, 17, 13)

    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(6, 12, 3, groups=3, padding=(2, 1))
        self.norm = nn.BatchNorm2d(12)
        self.dilated = nn.Conv2d(12, 16, (3, 2), stride=(2, 1), dilation=(2, 3))
        self.slope = nn.PReLU(16)
        self.depthwise = nn.Conv2d(16, 16, 3, groups=16)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = functional.leaky_relu(self.norm(self.grouped(x)), 0.1)
        x = self.slope(self.dilated(functional.pad(x, (0, 1, 2, 0))))
        if torch.onnx.is_in_onnx_export():
            x = Lrn.apply(x)
        else:
            x = functional.local_response_norm(x, 5, alpha=0.02, beta=0.75, k=1.5)
        return self.head(self.depthwise(x).mean((2, 3)))


class Pools(nn.Module):
    """Max and average pooling, padded, counted and not, rounded up; global pooling."""

    shape = (3, 19, 15)

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = functional.max_pool2d(self.first(x), (3, 2), (2, 1), (1, 1), ceil_mode=True)
        x = functional.avg_pool2d(self.second(x), 3, 2, 1, count_include_pad=False)
        x = functional.avg_pool2d(x, (2, 3), 1, (1, 1), count_include_pad=True)
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Activations(nn.Module):
    """HardSigmoid, HardSwish, Elu, Clip, Relu."""

    shape = (10,)

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(10, 10) for _ in range(6))

    def forward(self, x):
        kinds = (functional.hardsigmoid, functional.hardswish, functional.elu, functional.relu6)
        for layer, kind in zip(self.layers, kinds):
            x = kind(4 * layer(x))
        x = torch.clamp(self.layers[4](x), -0.4, 0.7)
        return self.layers[5](functional.relu(x))


class Functions(nn.Module):
    """Softplus, Mish, Swish and Softsign as exported, Selu, Celu, Sin, Cos, Tan, Atan, and what is
    rounded."""

    shape = (10,)
    opsets = (12, 17)  # Celu is a node from 12

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(10, 10) for _ in range(8))
        self.angles = nn.Parameter(torch.randn(10))

    def forward(self, x):
        kinds = (functional.mish, functional.silu, functional.softsign, functional.selu)
        for layer, kind in zip(self.layers, kinds):
            x = kind(3 * layer(x))
        x = functional.celu(3 * self.layers[4](x), 0.7)
        x = functional.softplus(self.layers[5](x), 2.0, 9.0)
        x = torch.sin(self.layers[6](x)) + torch.cos(x * self.angles) * torch.tan(0.1 * x)
        x = torch.atan(x) * (torch.round(4 * x) + torch.sign(x)) + torch.floor(x) - torch.ceil(x)
        return self.layers[7](x)[:, :5]


class Extremes(nn.Module):
    """Max and Min of values, parameters and numbers, and triangles."""

    shape = (4, 6)
    opsets = (14, 17)  # Trilu is a node from 14

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 8)
        self.floor = nn.Parameter(torch.randn(4, 1))
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        x = self.inner(x)
        x = torch.maximum(x, self.floor) + torch.minimum(x, 0.3 * x * x)
        x = torch.minimum(x, torch.tensor(1.2)) + x.tril(1) - 0.5 * x.triu(-1)
        return self.head(torch.max(x, torch.linspace(-2, 1, 8)).flatten(1))


class Shapes(nn.Module):
    """Concat, Split, Slice, Pad, Transpose, Reshape, Squeeze, Unsqueeze, ReduceMean, ReduceSum, and
    GatherND of cells, one of which is taken twice."""

    shape = (4, 6)
    opsets = (11, 13, 17)  # PyTorch exports no strided slices before

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 8)
        self.head = nn.Linear(25, 5)

    def forward(self, x):
        x = self.inner(x)  # MatMul: three dimensions
        left, right = x.split((3, 5), 2)
        padded = functional.pad(left, (0, 1))
        both = torch.cat((right.transpose(1, 2), padded.transpose(1, 2)), 1)
        flat = both[:, 1:8:2].unsqueeze(1).squeeze(1).reshape(x.shape[0], 16)
        cells = [[(sample, 7, 3), (sample, 0, 1), (sample, 7, 3)] for sample in range(len(x))]
        cells = torch.tensor(cells)
        if torch.onnx.is_in_onnx_export():
            cells = Cells.apply(both, cells)
        else:
            cells = both[cells.unbind(-1)]
        return self.head(torch.cat((flat, x.mean(1)[:, :4], x.sum((1,))[:, -2:], cells), 1))


class Arithmetic(nn.Module):
    """Add, Sub, Mul and Div of parameters and values of different shapes, both ways round."""

    shape = (5, 4, 4)

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(5, 1, 1) + 0.5)
        self.shift = nn.Parameter(torch.randn(4))
        self.share = nn.Parameter(torch.rand(1, 5, 4, 1) + 1.0)
        self.head = nn.Linear(80, 5)

    def forward(self, x):
        x = x * self.scale - self.shift
        x = (1.0 - x) / self.share + x * torch.sigmoid(x)
        return self.head((self.shift / (2.0 + x * x)).flatten(1))


class Tied(nn.Module):
    """One weight used by two layers, LogSoftmax and Softmax in the middle."""

    shape = (8,)

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8) * 0.4)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.tanh(x @ self.weight)
        x = torch.log_softmax(x @ self.weight, 1)
        return self.head(torch.softmax(x @ self.weight.t(), 1))


class Choices(nn.Module):
    """Where, and factors of zero and one, by comparisons of trained values."""

    shape = (8,)
    opsets = (17,)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 10)
        self.head = nn.Linear(10, 5)

    def forward(self, x):
        x = self.inner(x)
        kept = functional.relu(x) * (functional.relu(x) > 0).to(x.dtype)
        return self.head(torch.where(x > 0.1, kept, torch.where(x <= -0.5, x * 0.3, -x)))


class Signal(nn.Module):
    """Convolution and pooling of one spatial dimension."""

    shape = (3, 31)

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(3, 8, 5, padding=2),
            nn.ELU(),
            nn.MaxPool1d(2),
            nn.Conv1d(8, 6, 3),
            nn.Flatten(),
        )
        self.head = nn.Linear(6 * 13, 5)

    def forward(self, x):
        return self.head(self.body(x))


class Borders(nn.Module):
    """Images that go on behind their borders: mirrored, and by their last pixels. PyTorch 1.13
    exports circular padding wrongly."""

    shape = (3, 6, 5)
    opsets = (11, 17)

    def __init__(self):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(3, 3, 3, padding=1, padding_mode=mode)
            for mode in ("reflect", "replicate")
        )
        self.head = nn.Linear(3, 5)

    def forward(self, x):
        for convolution in self.convolutions:
            x = torch.tanh(convolution(x))
        x = functional.pad(x, (4, 2, 0, -1), mode="reflect")
        return self.head(x.mean((2, 3)))


class Volume(nn.Module):
    """Convolution and pooling of three spatial dimensions."""

    shape = (2, 6, 7, 8)

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv3d(2, 6, 3, padding=1),
            nn.BatchNorm3d(6),
            nn.Tanh(),
            nn.AvgPool3d(2),
            nn.Flatten(),
        )
        self.head = nn.Linear(6 * 3 * 3 * 4, 5)

    def forward(self, x):
        return self.head(self.body(x))


class Reductions(nn.Module):
    """Extremes, norms, products and others over dimensions, behind a GroupNorm."""

    shape = (6, 5, 4)

    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(3, 6)
        self.scale = nn.Parameter(torch.rand(6, 5, 4) + 0.5)
        self.head = nn.Linear(36, 5)

    def forward(self, x):
        x = self.norm(x) * self.scale
        extremes = [x.amax((2, 3)), x.amin(3).mean(2)]
        norms = [torch.norm(x, p, (2, 3)) for p in (1, 2)]
        others = [torch.logsumexp(x, (2, 3)), x.prod(3).sum(2)]
        return self.head(torch.cat([*extremes, *norms, *others], 1))


class Standardised(nn.Module):
    """A convolution whose weight is normalized in each step, as NFNets have it, and a linear layer
    whose rows have a trained length."""

    shape = (3, 9, 9)
    opsets = (14, 17)

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 3, 3, 3))
        self.gain = nn.Parameter(torch.rand(6) + 0.5)
        self.bias = nn.Parameter(torch.randn(6))
        self.direction = nn.Parameter(torch.randn(5, 6))
        self.length = nn.Parameter(torch.rand(5, 1) + 0.5)

    def forward(self, x):
        rows = self.weight.reshape(1, 6, -1)
        scale = 0.3 * self.gain
        rows = functional.batch_norm(rows, None, None, scale, None, True, 0.0, 1e-6)
        x = functional.relu(functional.conv2d(x, rows.reshape_as(self.weight), self.bias))
        norm = (self.direction * self.direction).sum(1, keepdim=True).sqrt()
        return functional.linear(x.mean((2, 3)), self.length * self.direction / norm)


class SpectralNorm(nn.Module):
    """A linear layer whose weight is divided by its largest singular value, by vectors that stay as
    they are."""

    shape = (7,)
    opsets = (11, 17)

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 7))
        self.head = nn.Linear(6, 5)
        self.left, self.right = torch.rand(6), torch.rand(7)

    def forward(self, x):
        left, right = self.left.to(x.dtype), self.right.to(x.dtype)
        sigma = torch.dot(left, torch.mv(self.weight, right))
        return self.head(torch.tanh(functional.linear(x, self.weight / sigma)))


ALL = [
    *(Perceptron, Convolutions, Pools, Activations, Shapes, Arithmetic, Tied, Choices, Signal),
    *(Volume, Borders, Functions, Extremes, Reductions, Standardised, SpectralNorm),
    *enlarging.ALL,
]
