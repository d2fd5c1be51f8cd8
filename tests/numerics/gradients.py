"""Compares every gradient of a step with PyTorch's in float64, by the error that PyTorch's own in
float32 has: a test case to derive from."""

import pathlib
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
import reference
from depth import repeat

BATCH = 4
# Sums of errors over the seeds are compared: one seed's rounding may be lucky.
SEEDS = range(3)
RATIO = 2
# The rounding of a result itself, below which an error says nothing about how it was computed.
ROUNDING = 1e-7
OPSETS = (14, 17)  # Gelu and layer normalization as elementary operators; LayerNormalization


def draw(shape, classes, batch, seed):
    """Images or vectors of this shape and a label for each."""
    random = numpy.random.RandomState(seed)
    values = random.standard_normal((batch, *shape)).astype(numpy.float32)
    return values, random.randint(0, classes, batch)


def tokens(words, length, batch, seed, classes=None):
    """Token ids, and as labels the tokens that follow or, of so many classes, one each."""
    random = numpy.random.RandomState(seed)
    ids = random.randint(0, words, (batch, length + 1))
    labels = ids[:, 1:].copy() if classes is None else random.randint(0, classes, batch)
    return ids[:, :-1].copy(), labels


def spread(model):
    """Biases and normalizations that are not zero and one, so that all of them matter."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn(parameter.shape))


def sample_of(inputs):
    """Two samples of one input, or of several by name, as tensors."""
    if isinstance(inputs, dict):
        return {name: torch.from_numpy(array[:2]) for name, array in inputs.items()}
    return torch.from_numpy(inputs[:2])


class GradientsTest(unittest.TestCase):
    """`models` has a function for each name, which returns a model and draw(batch, seed)."""

    models = {}

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def export(self, model, sample, path, opset):
        export.write(model, sample, path, opset)

    def name_in_file(self, parameter):
        """What the exported file calls a parameter of the model."""
        return parameter

    def errors(self, name, opset, ranks, seed):
        """Of each gradient: our error, and that of PyTorch in float32."""
        torch.manual_seed(seed)
        model, data_of = self.models[name]()
        spread(model)
        path = self.folder / f"{name.split()[-1]}-{opset}-{ranks}-{seed}.onnx"
        data = data_of(ranks * BATCH, seed)
        self.export(model, sample_of(data[0]), path, opset)
        plan = harness.compile_plan(path, self.folder, ranks=ranks, batch=BATCH)
        dump = harness.train(plan, self.folder, data, ranks=ranks, steps=1, dump=(0,))
        truth = reference.train(model, data, steps=1, shards=ranks)
        single = reference.train(model, data, steps=1, shards=ranks, double=False)
        ours = dump.gradients(0)
        names = {key: self.name_in_file(key) for key in truth.gradients}
        self.assertEqual(ours.names(), set(names.values()))
        self.assertLess(abs(dump.loss(0) - truth.losses[0]), 1e-6 * truth.losses[0])
        scale = 1.0
        for key, value in truth.gradients.items():
            own = compare.norm(value)
            scale = own if value.ndim > 1 else scale
            # A bias that a softmax takes out again has no gradient but rounding.
            own = scale if own <= compare.ZERO * scale else own
            both = ours[names[key]], single.gradients[key]
            yield key, *(compare.norm(gradient - value) / own for gradient in both)

    def check(self, name, opset, ranks):
        sums = {}
        for seed in SEEDS:
            for key, *pair in self.errors(name, opset, ranks, seed):
                sums[key] = numpy.add(sums.get(key, 0), pair)
        worst = max(sums, key=lambda key: sums[key][0] / max(sums[key][1], ROUNDING))
        ours, theirs = sums[worst] / len(SEEDS)
        print(
            f"\n  {name}, opset {opset}, {ranks} ranks: {ours:.1e}, PyTorch {theirs:.1e} ({worst})"
        )
        for key, (ours, theirs) in sums.items():
            with self.subTest(parameter=key):
                self.assertLessEqual(ours, max(RATIO * theirs, len(SEEDS) * ROUNDING))

    def check_on_one_rank(self):
        """In the short run every model by one opset, in turn."""
        for number, name in enumerate(self.models):
            for opset in repeat(OPSETS[number % 2 :][:1], OPSETS):
                with self.subTest(model=name, opset=opset):
                    self.check(name, opset, 1)

    def check_on_four_ranks(self):
        """In the short run one model."""
        for name in repeat(list(self.models)[-1:], self.models):
            with self.subTest(model=name):
                self.check(name, 17, 4)
