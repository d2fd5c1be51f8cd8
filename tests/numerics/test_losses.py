"""Losses in loops train as PyTorch's, at their kinks too, and are evaluated as they train."""

import json
import unittest

import numpy
import torch

import compare
import export
import harness
import processor
import reference
from refusal import RefusalTest

BATCH, WIDTH, OUT = 8, 6, 4
SOFT = "cross-entropy:targets=probabilities"
SMOOTH = ("smooth-l1", "smooth-l1:beta=0.25")
SMOOTHED = "cross-entropy:smoothing=0.1"
WEIGHTS = "weights=w.npy"
WEIGHED = (f"cross-entropy:{WEIGHTS}", f"{SMOOTHED},{WEIGHTS}")
LABELLED = (SMOOTHED, *WEIGHED)
PROBABLE = (SOFT, f"{SOFT},smoothing=0.1", f"{SOFT},{WEIGHTS}", f"{SOFT},smoothing=0.1,{WEIGHTS}")
ALL = ("l1", *SMOOTH, "bce-with-logits", *PROBABLE, *LABELLED)
SAME = 1e-6
EXACT = 1e-7


def wanted(loss, random, shape):
    """Targets as the loss is used with them."""
    if loss == "bce-with-logits":
        return random.uniform(0, 1, shape).astype(numpy.float32)
    if loss in LABELLED:
        labels = random.randint(0, shape[1], (shape[0], *shape[2:]))
        labels[[0, 1, 5]] = -100  # so that ranks and batches have different numbers of labels
        return labels
    drawn = random.standard_normal(shape).astype(numpy.float32)
    if loss not in PROBABLE:
        return drawn
    powers = numpy.exp(drawn)
    return powers / powers.sum(1, keepdims=True)


def value(loss, outputs, targets):
    """PyTorch's, in float64."""
    double = [reference.in_double(torch.from_numpy(array)) for array in (outputs, targets)]
    return reference.LOSSES[loss](*double).item()


class Scale(torch.nn.Module):
    """One product for each element, so that outputs and gradients are exact."""

    def __init__(self, factors):
        super().__init__()
        self.factors = torch.nn.Parameter(torch.tensor(factors))

    def forward(self, x):
        return x * self.factors


class LossesTest(RefusalTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, 9), torch.nn.Tanh(), torch.nn.Linear(9, OUT)
        )
        self.random = numpy.random.RandomState(3)
        numpy.save(self.folder / "w.npy", reference.CLASS_WEIGHTS.numpy())

    def compiled(self, model, shape, loss, ranks=1, batch=BATCH, extra=()):
        path = self.folder / "net.onnx"
        export.write(model, torch.zeros(2, *shape), path)
        loss = loss.replace("w.npy", str(self.folder / "w.npy"))
        return harness.compile_plan(
            path, self.folder, ranks=ranks, batch=batch, loss=loss, extra=extra
        )

    def check(self, plan, model, data, loss, ranks=1, extra=(), exact=False):
        dump = harness.train(plan, self.folder, data, ranks=ranks, extra=extra)
        truth = reference.train(model, data, loss=loss)
        for step in (0, 2):
            error = abs(dump.loss(step) - truth.losses[step])
            self.assertLessEqual(error, SAME * max(1, truth.losses[step]))
        for found, true, limit in (
            (dump.gradients(0), truth.gradients, EXACT if exact else SAME),
            (dump.parameters(2), truth.parameters, SAME),
        ):
            self.assertEqual(found.names(), set(true))
            for name, array in true.items():
                error = compare.norm(found[name] - array)
                self.assertLessEqual(error, limit * compare.norm(array), name)

    def test_training(self):
        """On one rank, on two, and in several batches: the mean over the whole batch."""
        for loss in ALL:
            inputs = self.random.standard_normal((BATCH, WIDTH)).astype(numpy.float32)
            data = inputs, wanted(loss, self.random, (BATCH, OUT))
            for ranks, batch, extra in ((1, 8, ()), (2, 4, ()), (2, 2, ("--accumulate", 2))):
                with self.subTest(loss=loss, ranks=ranks, batch=batch):
                    plan = self.compiled(self.model, (WIDTH,), loss, ranks, batch)
                    self.check(plan, self.model, data, loss, ranks, extra)

    def test_positions(self):
        model = torch.nn.Conv1d(3, OUT, 2)
        inputs = self.random.standard_normal((BATCH, 3, 6)).astype(numpy.float32)
        for loss in (*PROBABLE, *LABELLED):
            with self.subTest(loss=loss):
                plan = self.compiled(model, (3, 6), loss, extra=("--classes-in", 1))
                data = inputs, wanted(loss, self.random, (BATCH, OUT, 5))
                self.check(plan, model, data, loss)

    def test_kinks(self):
        """Outputs that meet their targets, or miss them by beta exactly."""
        factors = [1.0, 2.0, -1.0, 0.5]
        inputs = numpy.ones((BATCH, OUT), numpy.float32)
        misses = numpy.array([0, 1, -1, 0.25, -0.25, 0, 3, -3], numpy.float32)
        targets = numpy.array(factors, numpy.float32) + misses[:, None]
        for loss in ("l1", *SMOOTH):
            for rows in (slice(None), slice(0, 1), slice(0, 2), slice(3, 5)):
                with self.subTest(loss=loss, rows=rows):
                    model, data = Scale(factors), (inputs[rows], targets[rows])
                    plan = self.compiled(model, (OUT,), loss, batch=len(data[0]))
                    self.check(plan, model, data, loss, exact=True)

    def test_large_logits(self):
        """Of 100 and of 1e4, right and wrong ones, and zero."""
        inputs = numpy.array([[1], [-1], [100], [-100], [0], [0.2], [-0.2], [1]], numpy.float32)
        inputs = numpy.repeat(inputs, OUT, 1)
        model = Scale([100.0, 100.0, 100.0, 100.0])
        hard = numpy.tile(numpy.array([0, 1, 0.5, 1], numpy.float32), (BATCH, 1))
        right = (inputs > 0).astype(numpy.float32)
        probabilities = numpy.tile(numpy.array([0.5, 0, 0.25, 0.25], numpy.float32), (BATCH, 1))
        for loss, targets in (
            ("bce-with-logits", hard),
            ("bce-with-logits", right),
            (SOFT, probabilities),
            (SOFT, numpy.eye(OUT, dtype=numpy.float32)[[0, 1, 2, 3, 0, 1, 2, 3]]),
        ):
            with self.subTest(loss=loss, first=targets[0]):
                model = Scale([100.0, -100.0, 100.0, 50.0]) if loss == SOFT else model
                plan = self.compiled(model, (OUT,), loss)
                self.check(plan, model, (inputs, targets), loss)

    def test_small_losses_of_large_logits(self):
        """A loss far below the logits' rounding keeps its digits."""
        model = Scale([1.0] * OUT)
        inputs = numpy.full((BATCH, OUT), 18, numpy.float32)
        data = inputs, numpy.ones((BATCH, OUT), numpy.float32)
        plan = self.compiled(model, (OUT,), "bce-with-logits")
        dump = harness.train(plan, self.folder, data)
        truth = value("bce-with-logits", *data)
        self.assertLess(abs(dump.loss(0) / truth - 1), 1e-5)

    @unittest.skipUnless(processor.has_bf16(), "this processor has no bfloat16 arithmetic")
    def test_bfloat16(self):
        """The loss of what is float32 is computed in float32."""
        inputs = self.random.standard_normal((BATCH, OUT)).astype(numpy.float32)
        for loss in ALL:
            with self.subTest(loss=loss):
                model = Scale([1.0, 2.0, -1.0, 0.5])
                data = inputs, wanted(loss, self.random, (BATCH, OUT))
                plan = self.compiled(model, (OUT,), loss, extra=("--precision", "bf16"))
                dump = harness.train(plan, self.folder, data)
                truth = value(loss, model(torch.from_numpy(inputs)).detach().numpy(), data[1])
                self.assertLess(abs(dump.loss(0) / truth - 1), SAME)

    def test_evaluation(self):
        """On two ranks with a test set that fills no number of batches, as PyTorch finds it."""
        inputs = self.random.standard_normal((11, WIDTH)).astype(numpy.float32)
        outputs = self.model(torch.from_numpy(inputs)).detach().numpy()
        for loss in ALL:
            with self.subTest(loss=loss):
                targets = wanted(loss, self.random, (11, OUT))
                plan = self.compiled(self.model, (WIDTH,), loss, 2, 4)
                files = harness.save(self.folder, inputs, targets)
                words = ("run", plan, "-n", 2, "--log", "json", "--eval-only", "--eval", files)
                line = json.loads(harness.syncline(*words))
                self.assertEqual("test_accuracy" in line, loss in LABELLED)
                self.assertLess(abs(line["test_loss"] / value(loss, outputs, targets) - 1), SAME)

    def test_compile_says_what_is_known(self):
        words = ["compile", "m.onnx", "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        for loss, said in (
            ("hinge", "smooth-l1:beta=B, bce-with-logits or output:NAME, got 'hinge'"),
            ("l1:beta=1", "loss 'l1': expected no parameters, got 'beta=1'"),
            ("cross-entropy:smoothing=2", "'smoothing=S' with S from 0 to below 1, 'weights=FILE'"),
            ("cross-entropy:smoothing=-0.1", "got 'smoothing=-0.1'"),
            ("l1:smoothing=0.1", "expected no parameters, got 'smoothing=0.1'"),
            ("mse:weights=w.npy", "expected no parameters, got 'weights=w.npy'"),
            ("cross-entropy:weights=", "'weights=FILE' with a file's name without a comma"),
            ("smooth-l1:beta=0", "expected 'beta=B' with B from 1e-30 to 1e30, got 'beta=0'"),
            ("smooth-l1:beta=-1", "got 'beta=-1'"),
        ):
            with self.subTest(loss=loss):
                self.refuses([*words, "--loss", loss], "--loss", said, code=2)

    def test_run_says_what_does_not_fit(self):
        for loss in ("l1", "bce-with-logits", SOFT):
            plan = self.compiled(self.model, (WIDTH,), loss)
            inputs = numpy.zeros((BATCH, WIDTH), numpy.float32)
            labels = numpy.zeros(BATCH, numpy.int64)
            files = harness.save(self.folder, inputs, labels)
            words = ("run", plan, "--steps", 1, "--data")
            self.refuses((*words, files), "y.npy", f"{OUT}")
            files = harness.save(self.folder, inputs, numpy.zeros((BATCH, OUT + 1), numpy.float32))
            self.refuses((*words, files), "y.npy", f"{OUT}")
            files = harness.save(self.folder, inputs, numpy.zeros((BATCH, OUT), numpy.float32))
            refused = "'--loss-scale' is for a cross-entropy of classes and for mse"
            self.refuses((*words, files, "--loss-scale", 8), refused, f"'{loss}'")


if __name__ == "__main__":
    unittest.main()
