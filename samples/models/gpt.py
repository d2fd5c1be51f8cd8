"""A small GPT for characters; see export.py and samples/data/text.py."""

import torch
from torch import nn

CHARACTERS, LENGTH = 96, 64


class Attention(nn.Module):
    """Attention of every character to itself and to those before it, as minimal GPTs write it."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(split).transpose(1, 2) for part in self.attend(x).chunk(3, 2))
        scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5
        y = torch.softmax(scores.masked_fill(self.future, float("-inf")), 3) @ v
        return self.project(y.transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    """Attention and two linear layers, each behind a normalization and added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads, LENGTH)
        self.norm2 = nn.LayerNorm(width)
        self.inner = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.inner(self.norm2(x))


class Gpt(nn.Module):
    """Ids of characters [batch, LENGTH] to the logits of each one's successor [batch, CHARACTERS,
    LENGTH]. One table embeds the characters and gives the logits."""

    def __init__(self, width, heads, blocks):
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, width)
        self.places = nn.Embedding(LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        for table in (self.characters, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, ids):
        x = self.blocks(self.characters(ids) + self.places(torch.arange(LENGTH)))
        return (self.norm(x) @ self.characters.weight.t()).transpose(1, 2)


def characters():
    """Four blocks, 810,000 parameters, and an example of its input."""
    return Gpt(width=128, heads=4, blocks=4), torch.zeros(2, LENGTH, dtype=torch.int64)
