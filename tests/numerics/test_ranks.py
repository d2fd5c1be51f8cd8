"""Several ranks against one: without BatchNormalization the gradients of one rank with the whole
batch, with it PyTorch DDP's, where every rank has batch statistics of its own."""

import pathlib
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
import reference
import test_torchvision

RANKS = (2, 4)
SAME = 1e-5  # the same sums in another order
EACH = 4  # samples per rank


class RanksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def train(self, path, data, ranks):
        each = len(data[0]) // ranks
        plan = harness.compile_plan(path, self.folder, ranks=ranks, batch=each)
        return harness.train(plan, self.folder, data, ranks=ranks)

    def check_whole_batch(self, path, shape, classes, ranks):
        random = numpy.random.RandomState(7)
        images = random.standard_normal((ranks * EACH, *shape)).astype(numpy.float32)
        data = images, random.randint(0, classes, ranks * EACH)
        one, many = self.train(path, data, 1), self.train(path, data, ranks)
        names = sorted(one.gradients(0).names())
        self.assertEqual(names, sorted(many.gradients(0).names()))
        alone = {name: one.gradients(0)[name] for name in names}
        first = compare.gradients(many.gradients(0), alone)
        after = {name: one.parameters(2)[name] for name in names}
        last = compare.parameters(many.parameters(2), after)
        print(f"\n  {path.stem}, {ranks} ranks: gradients {first}, parameters {last}")
        self.assertLessEqual(first.error, SAME)
        self.assertLessEqual(last.error, SAME)
        self.assertAlmostEqual(one.loss(0), many.loss(0), delta=SAME * one.loss(0))

    def test_digits(self):
        path = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                self.check_whole_batch(path, (1, 8, 8), 10, ranks)

    def test_squeezenet(self):
        path = self.folder / "squeezenet.onnx"
        export.write(export.build("squeezenet1_1"), torch.zeros(2, 3, 64, 64), path)
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                self.check_whole_batch(path, (3, 64, 64), 1000, ranks)

    def test_resnet_as_distributed_data_parallel(self):
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                self.check_distributed(ranks)

    def check_distributed(self, ranks):
        case = test_torchvision.Case("resnet18", ranks * EACH, 64, (0.5, 2.0))
        model, data, truth, own = test_torchvision.choose(case, shards=ranks)
        path = self.folder / "resnet18.onnx"
        export.write(model, torch.zeros(2, 3, case.size, case.size), path)
        dump = self.train(path, data, ranks)
        first = compare.gradients(dump.gradients(0), truth.gradients)
        last = compare.parameters(dump.parameters(2), truth.parameters)
        print(f"\n  resnet18, {ranks} ranks: gradients {first}, parameters {last}; PyTorch {own:.1e}")
        self.assertLessEqual(first.error, compare.LIMIT)
        self.assertLessEqual(last.error, compare.LIMIT)


if __name__ == "__main__":
    unittest.main()
