"""Networks that take and place elements by indices, against float64 PyTorch."""

import pathlib
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
import indexing
import reference

BATCH, OPSET = 4, 16
SETTINGS = {"lr": 0.01}


def images(kind):
    random = numpy.random.RandomState(3)
    inputs = random.standard_normal((BATCH, *kind.shape)).astype(numpy.float32)
    return inputs, random.randint(0, 5, BATCH)


def texts(_):
    """Tokens with between none and all but one of padding, which is behind the others."""
    random = numpy.random.RandomState(5)
    tokens = random.randint(1, indexing.TOKENS, (BATCH, indexing.LENGTH))
    kept = random.randint(1, indexing.LENGTH + 1, BATCH)
    tokens[numpy.arange(indexing.LENGTH) >= kept[:, None]] = 0
    return tokens, random.randint(0, 5, BATCH)


class IndexingTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(1)

    def check(self, kind, data, is_open):
        """The file leaves the batch open, or has it."""
        model, path = kind(), self.folder / "net.onnx"
        sample = torch.from_numpy(data[0][: 2 if is_open else BATCH])
        export.write(model, sample, path, OPSET, dynamic=is_open)
        plan = harness.compile_plan(path, self.folder, batch=BATCH)
        dump = harness.train(plan, self.folder, data, settings=SETTINGS)
        truth = reference.train(model, data, settings=SETTINGS)
        self.assertEqual(dump.gradients(0).names(), set(truth.gradients))
        first = compare.gradients(dump.gradients(0), truth.gradients)
        last = compare.parameters(dump.parameters(2), truth.parameters)
        print(f"\n  {kind.__name__}: gradients {first}, parameters {last}")
        self.assertLessEqual(abs(dump.loss(2) - truth.losses[2]) / truth.losses[2], compare.LIMIT)
        self.assertLessEqual(first.error, compare.LIMIT)
        self.assertLessEqual(last.error, compare.LIMIT)


def add_tests(kinds, data):
    for kind in kinds:
        for is_open in (True, False):

            def test(self, kind=kind, is_open=is_open):
                self.check(kind, data(kind), is_open)

            batch = "open" if is_open else "fixed"
            setattr(IndexingTest, f"test_{kind.__name__.lower()}_{batch}_batch", test)


add_tests(indexing.IMAGES, images)
add_tests(indexing.TEXTS, texts)

if __name__ == "__main__":
    unittest.main()
