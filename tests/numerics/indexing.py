"""Small networks that take and place elements by indices: known, given, or computed in the step."""

import torch
from torch import nn
import torch.nn.functional as functional

TOKENS, LENGTH = 10, 6


class ScatterElements(torch.autograd.Function):
    """ONNX's node with a reduction, which PyTorch 1.13 does not export."""

    @staticmethod
    def forward(context, x, indices, updates, reduction):
        return x.clone()

    @staticmethod
    def symbolic(graph, x, indices, updates, reduction):
        return graph.op(
            "ScatterElements", x, indices, updates, axis_i=1, reduction_s=reduction
        )


class ScatterNd(torch.autograd.Function):
    """ONNX's ScatterND that adds."""

    @staticmethod
    def forward(context, x, indices, updates):
        return x.clone()

    @staticmethod
    def symbolic(graph, x, indices, updates):
        return graph.op("ScatterND", x, indices, updates, reduction_s="add")


class CumSum(torch.autograd.Function):
    """ONNX's CumSum of the elements behind, or before."""

    @staticmethod
    def forward(context, x, exclusive, reverse):
        return x.clone()

    @staticmethod
    def symbolic(graph, x, exclusive, reverse):
        axis = graph.op("Constant", value_t=torch.tensor(1))
        return graph.op("CumSum", x, axis, exclusive_i=exclusive, reverse_i=reverse)


def exporting():
    """Whether the old exporter runs, which writes nodes by `symbolic`."""
    return torch.onnx.is_in_onnx_export() and torch.jit.is_tracing()


class Experts(nn.Module):
    """A mixture: the router's two best experts of each token are weighted by its softmax."""

    shape = (LENGTH, 8)

    def __init__(self, experts=4):
        super().__init__()
        self.router = nn.Linear(8, experts)
        self.up = nn.Parameter(torch.randn(experts, 8, 12) / 3)
        self.down = nn.Parameter(torch.randn(experts, 12, 8) / 3)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        weights, chosen = torch.topk(scores, 2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        gates = torch.zeros_like(scores).scatter(-1, chosen, weights)
        y = torch.tanh(x.unsqueeze(1) @ self.up) @ self.down
        y = (y * gates.transpose(1, 2).unsqueeze(-1)).sum(1)
        load = functional.one_hot(chosen, scores.shape[-1]).to(x.dtype).sum(2)
        balance = (load * scores).sum(-1, keepdim=True)
        return self.head((x + y * balance).mean(1))


class Gathers(nn.Module):
    """Parts along every axis by indices that are uneven, repeat, or are computed."""

    shape = (LENGTH, 8)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.table = nn.Parameter(torch.randn(8))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.inner(x)
        rows = x[:, [3, 0, 0, -1, 2]]
        columns = x.index_select(2, torch.tensor([7, 1, 1, 0, 2, 2, 5, 6]))
        square = x[:, torch.tensor([[5, 0], [0, 3]])].sum(2)
        cells = x[:, [0, 4, 4], [1, 7, 7]]
        best, places = torch.topk(x, 3, dim=1, largest=False)
        own = torch.gather(x, 1, places.flip(1))
        few = torch.gather(x[:, :, :4], 1, places[:, :2, :4]).sum((1, 2))
        y = rows.mean(1) + columns.mean(1) + square.mean(1) + (own * best).mean(1)
        first = torch.topk(x.sum(1), 2, sorted=False)[1]
        y = y + self.table[first].sum(-1, keepdim=True)
        y = y + self.table[first - LENGTH].mean(-1, keepdim=True)
        y = y + torch.gather(x.mean(1), 1, first).mean(1, keepdim=True)
        return self.head(y * cells.sum(-1, keepdim=True)) + few.unsqueeze(-1)


class Scatters(nn.Module):
    """Elements and rows that are placed, and added, by computed and by known indices."""

    shape = (LENGTH, 8)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.updates = nn.Parameter(torch.randn(2, 8))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.inner(x)
        best, places = torch.topk(x, 2, dim=1)
        y = x.scatter(1, places, best * best)
        y = y + torch.zeros_like(x).scatter_add(1, places * 0 + 3, best)
        y = y + x.scatter(1, places[:, :1, :5], best[:, :1, :5].exp())
        z = y.transpose(0, 1)
        rows = torch.tensor([[4], [1]])
        if exporting():
            z = ScatterNd.apply(z, rows, self.updates.unsqueeze(1).expand(2, x.shape[0], 8))
        else:
            z = z.index_put((rows[:, 0],), self.updates.unsqueeze(1), accumulate=True)
        y = z.transpose(0, 1).clone()
        y[:, 2] = x[:, 1] * self.updates[0]
        y[:, 3:5, 1:6:2] = x[:, 0:2, 1:6:2]
        return self.head(y.mean(1))


class Reductions(nn.Module):
    """Updates that multiply and bound what stands in their places; zeros and equal ones too."""

    shape = (LENGTH, 8)
    kinds = {"mul": "prod", "max": "amax", "min": "amin"}

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.inner(x)
        updates, y = torch.relu(x[:, 1:4]), torch.relu(x - 0.2)
        places = torch.tensor([0, 2, 2]).view(1, 3, 1).expand(x.shape[0], 3, 8)
        for onnx, name in self.kinds.items():
            if exporting():
                y = y + ScatterElements.apply(y, places, updates, onnx)
            else:
                y = y + y.scatter_reduce(1, places, updates, name)
        return self.head(y.mean(1))


class Sums(nn.Module):
    """Running sums from both ends, with and without the element itself."""

    shape = (LENGTH, 8)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.inner(x)
        y = x.cumsum(1) + x.flip(1).cumsum(1).flip(1) * x.cumsum(-1)
        if exporting():
            y = y + CumSum.apply(x, 1, 0) * CumSum.apply(x, 0, 1) - CumSum.apply(x, 1, 1)
        else:
            behind = x.flip(1).cumsum(1).flip(1)
            y = y + (x.cumsum(1) - x) * behind - (behind - x)
        return self.head(y.mean(1))


class Windows(nn.Module):
    """Swin's shifted windows with a bias by relative positions."""

    shape = (4, 4, 8)

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)
        self.bias = nn.Parameter(torch.randn(9, 2))
        self.head = nn.Linear(8, 5)
        places = torch.stack(torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij"))
        apart = places.flatten(1)[:, :, None] - places.flatten(1)[:, None, :] + 1
        self.register_buffer("apart", apart[0] * 3 + apart[1], persistent=False)

    def heads(self, x):
        return x.view(-1, 4, 2, 4).transpose(1, 2)

    def forward(self, x):
        batch = x.shape[0]
        y = torch.roll(x, (-1, -1), (1, 2)).view(batch, 2, 2, 2, 2, 8)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 8)
        scores = self.heads(self.query(y)) @ self.heads(self.key(y)).transpose(-1, -2)
        scores = scores + self.bias[self.apart.view(-1)].view(4, 4, 2).permute(2, 0, 1)
        y = (scores.softmax(-1) @ self.heads(y)).transpose(1, 2).reshape(-1, 4, 8)
        y = y.view(batch, 2, 2, 2, 2, 8).permute(0, 1, 3, 2, 4, 5).reshape(batch, 4, 4, 8)
        return self.head(torch.roll(y, (1, 1), (1, 2)).mean((1, 2)))


class LastToken(nn.Module):
    """Classifies by the last token before the padding, as sequence classifiers do."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, 8)
        self.inner, self.head = nn.Linear(8, 8), nn.Linear(8, 5)

    def forward(self, tokens):
        y = self.head(torch.tanh(self.inner(self.embed(tokens))).cumsum(1))
        last = tokens.ne(0).to(torch.long).cumsum(-1)[:, -1] - 1
        return y[torch.arange(tokens.shape[0]), last]


class Alibi(nn.Module):
    """BLOOM's bias, which counts the tokens before each that are no padding."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, 8)
        self.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)
        self.slopes = nn.Parameter(torch.tensor([0.5, 0.25]))
        self.head = nn.Linear(8, 5)

    def forward(self, tokens):
        x, mask = self.embed(tokens), tokens.ne(0).to(torch.long)
        places = ((mask.cumsum(-1) - 1) * mask).to(x.dtype)
        bias = self.slopes[None, :, None, None] * places[:, None, None, :]
        both = (self.query(x), self.key(x))
        query, key = (y.view(-1, LENGTH, 2, 4).transpose(1, 2) for y in both)
        scores = query @ key.transpose(-1, -2) + bias
        y = scores.softmax(-1) @ x.view(-1, LENGTH, 2, 4).transpose(1, 2)
        return self.head(y.transpose(1, 2).reshape(-1, LENGTH, 8).mean(1))


class Given(nn.Module):
    """Token ids as indices of everything: elements, rows along an axis, places of updates, ones."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, 8)
        self.scale = nn.Parameter(torch.randn(TOKENS))
        self.wide = nn.Parameter(torch.randn(3, TOKENS, 8))
        self.ones = nn.Parameter(torch.randn(TOKENS, 8))
        self.head = nn.Linear(8, 5)

    def forward(self, tokens):
        x = self.embed(tokens)
        y = x * self.scale[tokens].unsqueeze(-1)
        y = y + functional.one_hot(tokens, TOKENS).to(x.dtype) @ self.ones
        y = y + self.wide[:, tokens].sum(0)
        weights = torch.tanh(y.mean(-1))
        counts = torch.zeros(tokens.shape[0], TOKENS, dtype=x.dtype)
        counts = counts.scatter_add(1, tokens, weights)
        y = y.mean(1) + counts @ self.ones
        own = torch.gather(counts, 1, tokens)
        return self.head(y * own.sum(1, keepdim=True))


IMAGES = [Experts, Gathers, Scatters, Reductions, Sums, Windows]
TEXTS = [LastToken, Alibi, Given]
