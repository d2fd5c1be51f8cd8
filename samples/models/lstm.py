"""A small recurrent network for characters; see export.py and samples/data/mirrors.py."""

import torch
from torch import nn

CHARACTERS, LENGTH = 8, 32


class Language(nn.Module):
    """Ids of characters [batch, LENGTH] to the logits of each one's successor [batch, LENGTH,
    CHARACTERS]."""

    def __init__(self, width, size):
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, width)
        self.layers = nn.LSTM(width, size, num_layers=2, batch_first=True)
        self.head = nn.Linear(size, CHARACTERS)

    def forward(self, ids):
        return self.head(self.layers(self.characters(ids))[0])


def characters():
    """Two layers of 64, 55,000 parameters, and an example of its input."""
    return Language(width=16, size=64), torch.zeros(2, LENGTH, dtype=torch.int64)
