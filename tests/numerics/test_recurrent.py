"""LSTM, GRU and RNN in every direction: every gradient loses no more than twice what PyTorch's own
in float32 loses, both against float64."""

import unittest

import numpy
import torch
from torch import nn

import gradients
from gradients import GradientsTest

CLASSES, LENGTH, WIDTH, SIZE = 5, 7, 6, 9


class Layers(nn.Module):
    """Recurrent layers; the head reads the last states and the mean of the outputs."""

    def __init__(self, kind, batch_first=True, states=False, **options):
        super().__init__()
        self.is_first, self.is_lstm = batch_first, kind is nn.LSTM
        self.body = kind(WIDTH, SIZE, batch_first=batch_first, **options)
        directions = 2 if self.body.bidirectional else 1
        count = self.body.num_layers * directions
        self.states = None
        if states:
            shapes = ((count, 1, SIZE),) * (2 if self.is_lstm else 1)
            self.states = nn.ParameterList(torch.randn(shape) for shape in shapes)
        self.head = nn.Linear(SIZE * (2 * directions if self.is_lstm else directions) * 2, CLASSES)

    def forward(self, x):
        samples = x.shape[0]
        if not self.is_first:
            x = x.transpose(0, 1)
        initial = None
        if self.states is not None:
            initial = [state.expand(-1, samples, -1).contiguous() for state in self.states]
            initial = tuple(initial) if self.is_lstm else initial[0]
        y, last = self.body(x, initial)
        last = last if self.is_lstm else (last,)
        directions = 2 if self.body.bidirectional else 1
        read = [state[-d] for state in last for d in range(1, directions + 1)]
        mean = y.mean(1 if self.is_first else 0)
        return self.head(torch.cat([*read, *[mean] * len(last)], 1))


class Padded(nn.Module):
    """A sample's outputs behind its length are zero, and its states are those at its length."""

    def __init__(self, kind, **options):
        super().__init__()
        self.body = kind(WIDTH, SIZE, batch_first=True, **options)
        self.head = nn.Linear(2 * SIZE, CLASSES)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        y, last = self.body(packed)
        y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=LENGTH)
        last = last[0] if isinstance(last, tuple) else last
        return self.head(torch.cat((y.mean(1), last[-1]), 1))


def draw(batch, seed):
    return gradients.draw((LENGTH, WIDTH), CLASSES, batch, seed)


def padded(batch, seed):
    """The longest samples first, as PyTorch wants them."""
    values, labels = draw(batch, seed)
    lengths = numpy.random.RandomState(seed).randint(1, LENGTH + 1, batch)
    lengths[0] = LENGTH
    return {"x": values, "lengths": -numpy.sort(-lengths)}, labels


def model(kind, **options):
    return lambda: (Layers(kind, **options), draw)


def lengths(kind, **options):
    return lambda: (Padded(kind, **options), padded)


class RecurrentTest(GradientsTest):
    models = {
        "LSTM in two-layers": model(nn.LSTM, num_layers=2),
        "LSTM in both-directions": model(nn.LSTM, num_layers=2, bidirectional=True),
        "LSTM with learned-states": model(nn.LSTM, batch_first=False, states=True),
        "LSTM without-biases": model(nn.LSTM, bias=False),
        "GRU in two-GRU-layers": model(nn.GRU, num_layers=2),
        "GRU in both-GRU-directions": model(nn.GRU, bidirectional=True, states=True),
        "two layers of RNN": model(nn.RNN, num_layers=2),
        "RNN of relu": model(nn.RNN, nonlinearity="relu", bidirectional=True, states=True),
    }

    def test_on_one_rank(self):
        self.check_on_one_rank()

    def test_on_four_ranks(self):
        self.check_on_four_ranks()


class LengthsTest(GradientsTest):
    def export(self, model, sample, path, opset):
        """With the batch that is trained: PyTorch writes first states for that of the sample."""
        sample = {name: tensor.repeat_interleave(2, 0) for name, tensor in sample.items()}
        super().export(model, sample, path, opset)

    models = {
        "LSTM of short-samples": lengths(nn.LSTM, num_layers=2),
        "GRU of short-GRU-samples": lengths(nn.GRU),
    }

    def test_on_one_rank(self):
        self.check_on_one_rank()


if __name__ == "__main__":
    unittest.main()
