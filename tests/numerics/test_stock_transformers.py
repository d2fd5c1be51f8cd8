"""Networks as torchvision and Hugging Face's transformers write them: every gradient loses no more
than twice what PyTorch's own in float32 loses, both against float64."""

import functools
import unittest

import gradients
import stock
from gradients import GradientsTest


def image(make):
    model, shape = make()
    return model, functools.partial(gradients.draw, shape, stock.CLASSES)


def gpt():
    """Every fourth label is ignored."""

    def data(batch, seed):
        ids, labels = gradients.tokens(stock.WORDS, stock.LENGTH, batch, seed)
        labels.ravel()[::4] = -100
        return ids, labels

    return stock.gpt(), data


def bert():
    return stock.bert(), functools.partial(
        gradients.tokens, stock.WORDS, stock.LENGTH, classes=stock.CLASSES
    )


def llama():
    return stock.llama(), functools.partial(gradients.tokens, stock.WORDS, stock.LENGTH)


class StockTransformersTest(GradientsTest):
    models = {
        "Swin": functools.partial(image, stock.swin),
        "ConvNeXt": functools.partial(image, stock.convnext),
        "GPT-2": gpt,
        "BERT": bert,
        "LLaMA": llama,
    }

    def test_on_one_rank(self):
        self.check_on_one_rank()

    def test_on_four_ranks(self):
        self.check_on_four_ranks()


if __name__ == "__main__":
    unittest.main()
