"""Files as torch.onnx.export writes them, without samples/models/export.py: every gradient loses no
more than twice what PyTorch's own in float32 loses, both against float64."""

import functools
import unittest
import warnings

import numpy
import torch

import gradients
import stock
import unedited
from gradients import GradientsTest


def kept(batch, seed, least):
    """Which tokens count: the first of each sample, `least` or more."""
    counts = numpy.random.RandomState(seed).randint(least, stock.LENGTH + 1, (batch, 1))
    return numpy.arange(stock.LENGTH) < counts


def roberta():
    """Samples end with padding."""

    def data(batch, seed):
        ids, labels = tokens(batch, seed)
        return numpy.where(kept(batch, seed, 2), ids, unedited.PADDING), labels

    tokens = functools.partial(
        gradients.tokens, stock.WORDS, stock.LENGTH, classes=stock.CLASSES
    )
    return unedited.roberta(), data


def masked():
    """The first sample has no token that counts."""

    def data(batch, seed):
        ids, labels = gradients.tokens(
            stock.WORDS, stock.LENGTH, batch, seed, classes=stock.CLASSES
        )
        mask = kept(batch, seed, 1)
        mask[0] = False
        return {"ids": ids, "mask": mask.astype("i8")}, labels

    return unedited.Masked(), data


def rotary():
    return unedited.rotary(), functools.partial(gradients.tokens, stock.WORDS, stock.LENGTH)


def t5():
    return unedited.T5(), functools.partial(
        gradients.tokens, stock.WORDS, stock.LENGTH, classes=stock.CLASSES
    )


class UneditedTest(GradientsTest):
    models = {"RoBERTa": roberta, "Rotary": rotary, "T5": t5, "Masked": masked}

    def export(self, model, sample, path, opset):
        samples = sample if isinstance(sample, dict) else {"input": sample}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                model,
                tuple(samples.values()),
                str(path),
                opset_version=opset,
                training=torch.onnx.TrainingMode.TRAINING,
                do_constant_folding=False,
                input_names=list(samples),
                output_names=["output"],
                dynamic_axes={name: {0: "batch"} for name in (*samples, "output")},
            )

    def test_on_one_rank(self):
        self.check_on_one_rank()

    def test_on_four_ranks(self):
        self.check_on_four_ranks()


if __name__ == "__main__":
    unittest.main()
