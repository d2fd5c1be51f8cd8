"""Models that read a mask and types of tokens beside the tokens, and models that make masks of the
tokens: every gradient loses no more than twice what PyTorch's own in float32 loses, both against
float64."""

import unittest

import numpy
import torch
from torch import nn

import gradients
import stock
from gradients import GradientsTest

WORDS, LENGTH, WIDTH = stock.WORDS, stock.LENGTH, 32


def padded(batch, seed, classes=stock.CLASSES):
    """Token ids, a mask that keeps between one and all tokens of a sample, and types of tokens."""
    random = numpy.random.RandomState(seed)
    ids, labels = gradients.tokens(WORDS, LENGTH, batch, seed, classes)
    kept = random.randint(1, LENGTH + 1, batch)
    mask = (numpy.arange(LENGTH) < kept[:, None]).astype("i8")
    kinds = random.randint(0, 2, (batch, LENGTH))
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}, labels


def bert():
    """The mask is added to the scores."""
    return stock.bert(), padded


class Chosen(nn.Module):
    """A BERT whose mask is of truth values; a token of type 1 in the second half is masked too."""

    def __init__(self):
        super().__init__()
        self.bert = stock.bert()

    def forward(self, ids, mask, kinds):
        late = torch.arange(LENGTH) > LENGTH // 2
        hidden = ~mask | ((kinds == 1) & late)
        return self.bert(ids, hidden.to(torch.long) * -1 + 1, kinds)


def chosen():
    def data(batch, seed):
        inputs, labels = padded(batch, seed)
        inputs["attention_mask"] = inputs["attention_mask"] > 0
        return inputs, labels

    return Chosen(), data


class Padding(nn.Module):
    """A decoder whose mask is made of the tokens: token 0 fills up a sample. Its scores are filled
    by -inf, and the output is the mean over the tokens that are none."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.value, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, stock.CLASSES)

    def forward(self, ids, weights):
        x = self.embed(ids)
        filler = ids == 0
        scores = self.query(x) @ self.key(x).transpose(-1, -2) / WIDTH**0.5
        future = torch.ones(LENGTH, LENGTH).triu(1).bool()
        scores = scores.masked_fill(filler[:, None, :] | future, float("-inf"))
        x = x + scores.softmax(-1) @ self.value(x)
        kept = ((ids > 0) * weights).to(x.dtype)[:, :, None]
        return self.head((x * kept).sum(1) / kept.sum(1))


def padding():
    def data(batch, seed):
        inputs, labels = padded(batch, seed)
        ids = numpy.where(inputs["attention_mask"] == 1, inputs["input_ids"], 0)
        ids[:, 0] = 1  # a row of scores has an element that counts
        return {"ids": ids, "weights": inputs["token_type_ids"] + 1}, labels

    return Padding(), data


class SeveralInputsTest(GradientsTest):
    models = {"BERT with a mask": bert, "chosen scores": chosen, "padding": padding}

    def test_on_one_rank(self):
        self.check_on_one_rank()

    def test_on_four_ranks(self):
        self.check_on_four_ranks()


if __name__ == "__main__":
    unittest.main()
