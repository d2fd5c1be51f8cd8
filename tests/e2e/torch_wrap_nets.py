"""Small nets of test_torch_wrap.py. Older versions of PyTorch export them."""

import torch
from torch.utils.checkpoint import checkpoint


def mlp():
    widths = [24, 40, 56, 32, 10]
    layers = []
    for pair in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(*pair), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class Mixed(torch.nn.Module):
    """A table that two layers share, parameters that another module's forward pass uses, one that
    is used before its own module runs, and buffers."""

    def __init__(self, checkpoints=None, scales=True):
        super().__init__()
        self.checkpoints, self.scales = checkpoints, scales  # None, or use_reentrant
        self.table = torch.nn.Embedding(50, 24)
        self.attention = torch.nn.MultiheadAttention(24, 2, batch_first=True)
        self.norm = torch.nn.BatchNorm1d(24)
        self.wide, self.narrow = torch.nn.Linear(24, 48), torch.nn.Linear(48, 24)
        self.head = torch.nn.Linear(24, 50, bias=False)
        self.head.weight = self.table.weight

    def block(self, x):
        return self.narrow(torch.relu(self.wide(x)))

    def forward(self, tokens):
        scale = 1 + self.narrow.bias.square().mean() if self.scales else 1
        x = self.table(tokens)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        x = self.norm(x.flatten(0, 1)).view(x.shape)
        if self.checkpoints is None:
            x = self.block(x)
        else:
            x = checkpoint(self.block, x, use_reentrant=self.checkpoints)
        return {"logits": self.head(x) * scale}


class Branches(torch.nn.Module):
    """One of two layers is used, by its module or without it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(24, 10), torch.nn.Linear(24, 10)
        self.at, self.by_module = "first", True

    def forward(self, x):
        layer = getattr(self, self.at)
        if self.by_module:
            return layer(x)
        return torch.nn.functional.linear(x, layer.weight, layer.bias)


class Both(Branches):
    def forward(self, x):
        return self.first(x) + self.second(x)


class Twin(Mixed):
    """Has Mixed's parameters, and operations for which Syncline can make a step."""

    def forward(self, x):
        attention, norm = self.attention, self.norm
        x = (x + attention.in_proj_bias) @ attention.in_proj_weight
        x = attention.out_proj(x) * norm.weight + norm.bias
        return self.head(self.block(x))


class Positions(torch.nn.Module):
    """Linear layers of sequences, one of them without bias, behind a convolution of these."""

    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Conv1d(5, 5, 3, padding=1)
        self.wide, self.narrow = torch.nn.Linear(24, 48), torch.nn.Linear(48, 10, bias=False)
        self.activation = torch.nn.ReLU(inplace=True)

    def forward(self, x):
        return self.narrow(self.activation(self.wide(self.mix(x))))


def pictures():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(128, 10)
    )


NETS = {
    "mlp": mlp,
    "mixed": Mixed,
    "branches": Branches,
    "positions": Positions,
    "pictures": pictures,
}


def batch(net, generator):
    if isinstance(net, Mixed) or isinstance(getattr(net, "module", None), Mixed):
        return torch.randint(50, (3, 5), generator=generator)
    if isinstance(getattr(net, "module", net), Positions):
        return torch.randn(4, 5, 24, generator=generator)
    if isinstance(first_of(net), torch.nn.Conv2d):
        return torch.randn(4, 3, 6, 6, generator=generator)
    return torch.randn(4, 24, generator=generator)


def first_of(net):
    return next(iter(getattr(net, "module", net).children()))


def loss_of(outputs):
    if isinstance(outputs, dict):
        outputs = outputs["logits"]
    return outputs.float().square().mean()
