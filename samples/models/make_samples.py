#!/usr/bin/python3
"""Writes the committed samples again: the light models, the digits CNN and the digits data.

Needs python3-torch, python3-torchvision, python3-onnx and, for the data, python3-sklearn.
"""

import pathlib

import numpy
import torch

import export
import fashion
import language
import light

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data"
LIGHT = {
    "resnet50": "resnet-50",
    "vgg19": "vgg-19",
    "googlenet": "googlenet",
    "inception_v3": "inception-v3",
    "alexnet": "alexnet",
    "vit_b_16": "vit-b-16",
}
TEXT = {"gpt2": "gpt-2", "bert_base": "bert-base", "llama": "llama-100m"}
TRAINING = 1437  # of 1797 images; the rest is the test set


class Digits(torch.nn.Module):
    """Two convolutions and one linear layer, for 8x8 images of one channel."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.fc = torch.nn.Linear(128, 10)

    def forward(self, image):
        x = torch.max_pool2d(torch.relu(self.conv1(image)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


def write_models():
    for name, file in LIGHT.items():
        path = HERE / f"{file}.onnx"
        size = export.SIZE.get(name, 224)
        model = export.build(name)
        export.write(model, torch.zeros(2, 3, size, size), path)
        light.strip(path, set(model.state_dict()))
    for name, file in TEXT.items():
        torch.manual_seed(0)
        model, sample = getattr(language, name)()
        path = HERE / f"{file}.onnx"
        export.write(model.train(), sample, path)
        light.strip(path, set(model.state_dict()))
    for make in (fashion.cnn, fashion.convolutions):
        model, path = make().train(), HERE / f"fashion-{make.__name__}.onnx"
        export.write(model, torch.zeros(2, 1, 28, 28), path)
        light.strip(path, set(model.state_dict()))
    torch.manual_seed(0)
    export.write(Digits().train(), torch.zeros(2, 1, 8, 8), HERE / "digits-cnn.onnx")


def write_data():
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = numpy.random.RandomState(0).permutation(len(digits.target))
    images = (digits.images[order] / 16.0).astype(numpy.float32)[:, None]
    labels = digits.target[order].astype(numpy.int64)
    for name, part in (("train", slice(TRAINING)), ("test", slice(TRAINING, None))):
        numpy.save(DATA / f"digits-{name}-x.npy", images[part])
        numpy.save(DATA / f"digits-{name}-y.npy", labels[part])


if __name__ == "__main__":
    write_models()
    write_data()
