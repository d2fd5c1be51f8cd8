"""Heads of language models behind whose linear layer more follows: every gradient is PyTorch's,
with as many words as positions too."""

import functools
import unittest

import torch
from torch import nn

import gradients
from depth import repeat
from gradients import GradientsTest

WIDTH = 12


class SoftCap(nn.Module):
    """Gemma-2's head: a tied table, and logits within a cap."""

    def __init__(self, words):
        super().__init__()
        self.table = nn.Embedding(words, WIDTH)
        self.dense = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids):
        logits = torch.tanh(self.dense(self.table(ids))) @ self.table.weight.t()
        return torch.tanh(logits / 3.0) * 3.0


class JoinedTables(nn.Module):
    """MobileBERT's head: a narrow tied table, completed by a dense one, and a bias."""

    def __init__(self, words, narrow=5):
        super().__init__()
        self.table = nn.Embedding(words, narrow)
        self.dense = nn.Linear(narrow, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.rest = nn.Parameter(0.3 * torch.randn(WIDTH - narrow, words))
        self.bias = nn.Parameter(torch.zeros(words))

    def forward(self, ids):
        x = self.norm(torch.relu(self.dense(self.table(ids))))
        return x @ torch.cat((self.table.weight.t(), self.rest), 0) + self.bias


def head(kind, words, length):
    return kind(words), functools.partial(gradients.tokens, words, length)


BOTH = [(SoftCap, 9, 6), (JoinedTables, 7, 7)]
ALL = [*BOTH, (SoftCap, 7, 7), (JoinedTables, 9, 6)]


class ClassesTest(GradientsTest):
    models = {
        f"{kind.__name__}-{words}-{length}": functools.partial(head, kind, words, length)
        for kind, words, length in repeat(BOTH, ALL)
    }

    def test_on_one_rank(self):
        self.check_on_one_rank()


if __name__ == "__main__":
    unittest.main()
