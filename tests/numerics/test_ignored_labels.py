"""Labels that are ignored: a step takes the mean over all labels that count, on any number of ranks
and of batches, as PyTorch's loss of the whole batch does. Errors are |a - b| / |b|."""

import unittest

import numpy
import torch

import compare
import export
import harness
import reference
from refusal import RefusalTest

SAMPLES, LENGTH, WIDTH, CLASSES = 8, 6, 8, 5
SAME = 1e-6


def labels(ignored):
    """Labels of which `ignored`, an index, do not count."""
    drawn = numpy.random.RandomState(1).randint(0, CLASSES, (SAMPLES, LENGTH))
    drawn[ignored] = -100
    return drawn


UNEVEN = labels((slice(0, 4), slice(1, None)))  # the first rank has 4 labels, the second 24
HALF = labels((slice(4, 8),))  # the second rank has none
EVEN = labels((slice(None), 0))  # both have 20


class IgnoredLabelsTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.model = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, 7), torch.nn.Tanh(), torch.nn.Linear(7, CLASSES)
        )
        cls.inputs = torch.randn(SAMPLES, LENGTH, WIDTH)

    def compiled(self, ranks, batch, *extra):
        path = self.folder / "tokens.onnx"
        export.write(self.model, self.inputs[:2], path)
        return harness.compile_plan(path, self.folder, ranks=ranks, batch=batch, extra=extra)

    def check(self, plan, ranks, targets, *extra):
        data = self.inputs.numpy(), targets
        dump = harness.train(
            plan, self.folder, data, ranks=ranks, steps=2, extra=extra, dump=(0, 1)
        )
        truth = reference.train(self.model, data, steps=2)
        for step in (0, 1):
            self.assertLess(abs(dump.loss(step) / truth.losses[step] - 1), SAME)
        for found, wanted in (
            (dump.gradients(0), truth.gradients),
            (dump.parameters(1), truth.parameters),
        ):
            for name, value in wanted.items():
                error = compare.norm(found[name] - value) / compare.norm(value)
                self.assertLess(error, SAME, name)

    def test_on_ranks(self):
        plan = self.compiled(2, 4, "--overlap", "step")
        for targets in (UNEVEN, HALF, EVEN):
            self.check(plan, 2, targets)

    def test_in_several_batches(self):
        plan = self.compiled(2, 2)
        for targets in (UNEVEN, HALF):
            self.check(plan, 2, targets, "--accumulate", 2)
        self.check(self.compiled(1, 2), 1, HALF, "--accumulate", 4)

    def test_where_no_label_counts(self):
        plan = self.compiled(2, 4)
        files = harness.save(self.folder, self.inputs.numpy(), labels((slice(None),)))
        words = ("run", plan, "-n", 2, "--data", files, "--steps", 1)
        self.refuses(words, "step 0", "nan", code=1)

    def test_where_weights_travel(self):
        """Each rank keeps its own mean, and the run says so."""
        plan = self.compiled(2, 4, "--consistency", "local:2")
        files = harness.save(self.folder, self.inputs.numpy(), UNEVEN)
        done = self.command("run", plan, "-n", 2, "--data", files, "--steps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("each rank takes the mean over its own labels", done.stderr)


if __name__ == "__main__":
    unittest.main()
