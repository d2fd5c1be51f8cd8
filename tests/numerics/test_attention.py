"""Attention, RotaryEmbedding and RMSNormalization as single nodes of opset 23: every gradient loses
no more than twice what PyTorch's own in float32 loses, both against float64."""

import functools
import math
import unittest

import numpy
import onnx
import torch
from torch import nn

import export
import gradients
import language
from gradients import GradientsTest

WORDS, LENGTH, WIDTH = 13, 7, 32


class OneNode(torch.autograd.Function):
    """`result`, which an export writes as one node on the tensors."""

    @staticmethod
    def forward(context, operator, attributes, result, *tensors):
        return result.clone()

    @staticmethod
    def symbolic(graph, operator, attributes, result, *tensors):
        return graph.op(operator, *tensors, **attributes).setType(result.type())


def as_node(operator, result, *tensors, domain="test", **attributes):
    if not torch.onnx.is_in_onnx_export():
        return result
    return OneNode.apply(f"{domain}::{operator}", attributes, result, *tensors)


def attention(q, k, v, mask=None, causal=False, scale=None, softcap=0.0, heads=()):
    """As PyTorch's scaled_dot_product_attention, of [batch, heads, length, size] or, with numbers
    of heads of queries and of keys, [batch, length, hidden]."""
    parts = q, k, v
    if heads:
        counts = heads[0], heads[1], heads[1]
        q, k, v = (language.heads_of(part, count) for part, count in zip(parts, counts))
    k, v = (part.repeat_interleave(q.size(1) // part.size(1), 1) for part in (k, v))
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.size(-1)))
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if causal:
        past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~past, float("-inf"))
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, float("-inf"))
    elif mask is not None:
        scores = scores + mask
    y = scores.softmax(-1) @ v
    names = dict(is_causal_i=int(causal), softcap_f=softcap)
    names |= dict(scale_f=scale) if scale else {}
    names |= dict(q_num_heads_i=heads[0], kv_num_heads_i=heads[1]) if heads else {}
    masks = () if mask is None else (mask,)
    return as_node("Attention", language.joined(y) if heads else y, *parts, *masks, **names)


class RmsNorm(language.RmsNorm):
    def forward(self, x):
        return as_node(
            "RMSNormalization", super().forward(x), x, self.weight, epsilon_f=1e-6, axis_i=-1
        )


def turned(x, cos, sin, places, interleaved=False, part=None, foreign=False):
    """x [batch, heads, length, size] with pairs of its first `part` features turned; `foreign`
    exports com.microsoft's operator, which has its operands in another order."""
    part = part or x.size(-1)
    first, rest = x[..., :part], x[..., part:]
    c, s = (table[places][:, None] for table in (cos, sin))
    a, b = (first[..., 0::2], first[..., 1::2]) if interleaved else first.chunk(2, -1)
    pair = a * c - b * s, a * s + b * c
    y = torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)
    return as_node(
        "RotaryEmbedding",
        torch.cat((y, rest), -1),
        *((x, places, cos, sin) if foreign else (x, cos, sin, places)),
        domain="com.microsoft" if foreign else "test",
        interleaved_i=int(interleaved),
        rotary_embedding_dim_i=part,
        **(dict(num_heads_i=x.size(1)) if foreign else {}),
    )


class Llama(nn.Module):
    """One block with four heads of queries on two of keys; `interleaved` turns neighbours, and
    half of each head's features; `foreign` as in turned()."""

    def __init__(self, interleaved=False, foreign=False):
        super().__init__()
        self.foreign = foreign
        self.interleaved, self.part = interleaved, 4 if interleaved else 8
        self.tokens, self.norm = nn.Embedding(WORDS, WIDTH), RmsNorm(WIDTH)
        self.q, self.k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH // 2)
        self.v, self.o = nn.Linear(WIDTH, WIDTH // 2), nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)
        angles = torch.arange(16.0)[:, None] / 100 ** torch.linspace(0, 1, self.part // 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, ids):
        x = self.tokens(ids)
        y = self.norm(x)
        places = torch.arange(3, 3 + LENGTH)[None].expand(ids.size(0), LENGTH)
        parts = (self.q, 4), (self.k, 2), (self.v, 2)
        q, k, v = (language.heads_of(part(y), heads) for part, heads in parts)
        q, k = (
            turned(
                *(part, self.cosines, self.sines, places),
                *(self.interleaved, self.part, self.foreign),
            )
            for part in (q, k)
        )
        return self.head(x + self.o(language.joined(attention(q, k, v, causal=True))))


class Masked(nn.Module):
    """Joined heads and a mask from an input: of truth values, or added to the scores."""

    def __init__(self, adds=False):
        super().__init__()
        self.adds, self.tokens = adds, nn.Embedding(WORDS, WIDTH)
        self.q, self.k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.v, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, ids, mask):
        x = self.tokens(ids)
        mask = mask[:, None, None, :]
        mask = (1 - mask.to(x.dtype)) * -1e4 if self.adds else mask > 0
        y = attention(
            *(self.q(x), self.k(x), self.v(x), mask), scale=0.3, softcap=2.0, heads=(4, 4)
        )
        return self.head(x + y)


def tokens(make):
    return make(), functools.partial(gradients.tokens, WORDS, LENGTH)


def masked(adds):
    def data(batch, seed):
        ids, labels = gradients.tokens(WORDS, LENGTH, batch, seed)
        kept = numpy.random.RandomState(seed).randint(1, LENGTH + 1, batch)
        mask = numpy.arange(LENGTH) < kept[:, None]
        return {"ids": ids, "mask": mask.astype("i8")}, labels

    return Masked(adds), data


class AttentionTest(GradientsTest):
    models = {
        "grouped heads": functools.partial(tokens, Llama),
        "interleaved pairs": functools.partial(tokens, functools.partial(Llama, True)),
        "pairs of com.microsoft": functools.partial(
            tokens, functools.partial(Llama, True, foreign=True)
        ),
        "mask of truth values": functools.partial(masked, False),
        "added mask": functools.partial(masked, True),
    }

    def export(self, model, sample, path, opset):
        export.write(model, sample, path, 17)
        proto = onnx.load(str(path))
        for node in proto.graph.node:
            node.domain = "" if node.domain == "test" else node.domain
        proto.opset_import[0].version = opset
        onnx.save(proto, str(path))

    def test_single_nodes(self):
        for name in self.models:
            with self.subTest(model=name):
                self.check(name, 23, 1)


if __name__ == "__main__":
    unittest.main()
