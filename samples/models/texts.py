"""A small classifier of texts of any length; see export.py and samples/data/texts.py."""

import torch
from torch import nn

WORDS, CLASSES = 40, 4


class Classifier(nn.Module):
    """Ids of words [batch, seq], 0 where a text has ended, to logits [batch, CLASSES]: a
    convolution over neighbouring words and its maximum over the text (Kim, 2014, "Convolutional
    Neural Networks for Sentence Classification")."""

    def __init__(self, width, features):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.neighbours = nn.Conv1d(width, features, 3, padding=1)
        self.head = nn.Linear(features, CLASSES)

    def forward(self, ids):
        text = (ids != 0).float().unsqueeze(1)
        rows = self.words(ids).transpose(1, 2) * text
        found = torch.relu(self.neighbours(rows)) * text
        return self.head(found.amax(2))


def classifier():
    """5,000 parameters, and an example of its input."""
    return Classifier(width=16, features=64), torch.ones(2, 16, dtype=torch.int64)
