"""The networks that are measured, each by the name that export.py takes: torchvision's, or
MODULE:FUNCTION such as language:gpt2."""

import importlib
import pathlib
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "samples" / "models"))


def make(name, seed=0):
    """The network in training mode and an example of its input."""
    module, _, function = name.partition(":")
    if function:
        torch.manual_seed(seed)
        model, sample = getattr(importlib.import_module(module), function)()
        return model.train(), sample
    import export  # needs the package 'onnx'

    size = export.SIZE.get(name, 224)
    return export.build(name, seed), torch.zeros(2, 3, size, size)


def noise(model, sample, batch, seed=0):
    """Inputs and their classes, as NumPy arrays: normal, or ids below the first table's length."""
    random = numpy.random.RandomState(seed)
    shape = (batch, *sample.shape[1:])
    if sample.is_floating_point():
        inputs = random.standard_normal(shape).astype(numpy.float32)
    else:
        tables = (m for m in model.modules() if isinstance(m, torch.nn.Embedding))
        inputs = random.randint(0, next(tables).num_embeddings, shape)
    with torch.no_grad():
        logits = model.eval()(sample)  # in training it would move statistics
    model.train()
    *places, classes = classes_last(logits).shape
    return inputs, random.randint(0, classes, (batch, *places[1:]))


def classes_last(logits):
    """Those of images have their classes second."""
    return logits.movedim(1, -1) if logits.dim() == 4 else logits
