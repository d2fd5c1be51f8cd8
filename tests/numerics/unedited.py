"""Forms that exports of Hugging Face's transformers hold beside those of stock.py, in small."""

import math

import torch
from torch import nn

import language
from stock import CLASSES, PLACES, WORDS

PADDING = 1


class Roberta(language.Bert):
    """Places are counted without padding, from its number on."""

    def places(self, ids):
        kept = ids.ne(PADDING).int()
        return (torch.cumsum(kept, dim=1).type_as(kept) * kept).long() + PADDING


class Rotary(language.Llama):
    """The inverse frequencies are a buffer, and their products with places one of matrices. What
    a token may not attend to is minus infinity."""

    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        powers = torch.arange(0, self.size, 2).float() / self.size
        self.register_buffer("inv_freq", 1.0 / (10000.0**powers))

    def angles(self, length, dtype):
        places = torch.arange(length)[None, None, :].to(dtype)
        angles = (self.inv_freq[None, :, None] @ places).transpose(1, 2)
        both = torch.cat((angles, angles), dim=-1)
        return both.cos()[:, None], both.sin()[:, None]

    def mask(self, length, dtype):
        past = torch.ones((length, length), dtype=dtype).tril()
        zero, none = torch.zeros((), dtype=dtype), torch.full([], -math.inf, dtype=dtype)
        return torch.where(past == 0, none, zero)


def bucket(distance, buckets=8, farthest=6):
    """T5's number of a relative position: exact where near, logarithmic where far."""
    half, exact = buckets // 2, buckets // 4
    far = torch.log(distance.abs().float() / exact) / math.log(farthest / exact) * (half - exact)
    far = torch.min(exact + far.to(torch.long), torch.full_like(distance, half - 1))
    near = distance.abs() < exact
    return (distance > 0).to(torch.long) * half + torch.where(near, distance.abs(), far)


class T5Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        linear = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.q, self.k, self.v, self.o = linear
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)
        self.first, self.second = language.RmsNorm(width), language.RmsNorm(width)

    def forward(self, x, bias):
        y = self.first(x)
        q, k, v = (language.heads_of(part(y), self.heads) for part in (self.q, self.k, self.v))
        weights = (torch.matmul(q, k.transpose(3, 2)) + bias).softmax(-1)
        x = x + self.o(language.joined(torch.matmul(weights, v)))
        return x + self.down(torch.relu(self.up(self.second(x))))


class T5(nn.Module):
    """An encoder whose scores have a number for each head and relative position."""

    def __init__(self, width=32, heads=4, inner=64, layers=2):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.relative = nn.Embedding(8, heads)
        self.layers = nn.ModuleList(T5Layer(width, heads, inner) for _ in range(layers))
        self.head = nn.Linear(width, CLASSES)

    def forward(self, ids):
        places = torch.arange(ids.size(1))
        bias = self.relative(bucket(places[None, :] - places[:, None])).permute(2, 0, 1)[None]
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, bias)
        return self.head(x.mean(1))


def safe_softmax(scores, kept):
    """Softmax over the places that are kept, and zeros where none is: as PyTorch computes
    attention with truth values, and as it exports it."""
    if torch.onnx.is_in_onnx_export():
        none = torch.full([], -math.inf)
        weights = (scores + torch.where(kept, torch.zeros(()), none)).softmax(-1)
        return torch.where(torch.isnan(weights), torch.zeros(()), weights)
    hidden = ~kept.any(-1, keepdim=True)
    weights = scores.masked_fill(~(kept | hidden), -math.inf).softmax(-1)
    return weights.masked_fill(hidden, 0)


class Masked(nn.Module):
    """Attention over the tokens that a mask keeps; some samples have none."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.words = heads, nn.Embedding(WORDS, width)
        linear = (nn.Linear(width, width) for _ in range(4))
        self.q, self.k, self.v, self.o = linear
        self.head = nn.Linear(width, CLASSES)

    def forward(self, ids, mask):
        x = self.words(ids)
        q, k, v = (language.heads_of(part(x), self.heads) for part in (self.q, self.k, self.v))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
        weights = safe_softmax(scores, mask[:, None, None, :] > 0)
        return self.head((x + self.o(language.joined(torch.matmul(weights, v)))).mean(1))


def roberta():
    return Roberta(WORDS, PLACES, width=32, heads=4, inner=64, layers=2, classes=CLASSES)


def rotary():
    return Rotary(WORDS, width=32, heads=4, groups=2, inner=64, blocks=2)

