"""The weighted sum of losses on several outputs trains as PyTorch's; the first one is evaluated."""

import json
import unittest

import numpy
import onnx
import torch

import compare
import export
import harness
import processor
import reference
import test_losses
from refusal import RefusalTest
from test_losses import BATCH, OUT, PROBABLE, SAME, SOFT, WEIGHED, WIDTH

WEIGHT = 0.4


class Heads(torch.nn.Module):
    """A classifier with an auxiliary one of `other` classes behind its first layer."""

    softmax = False

    def __init__(self, other=OUT):
        super().__init__()
        self.first, self.second = torch.nn.Linear(WIDTH, 9), torch.nn.Linear(9, 7)
        self.main, self.aux = torch.nn.Linear(7, OUT), torch.nn.Linear(9, other)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        aux, main = self.aux(x), self.main(torch.tanh(self.second(x)))
        return main, aux.softmax(1) if self.softmax else aux


class Positions(torch.nn.Module):
    """The auxiliary output has a position more."""

    def __init__(self):
        super().__init__()
        self.main, self.aux = torch.nn.Conv1d(WIDTH, OUT, 2), torch.nn.Conv1d(WIDTH, OUT, 1)

    def forward(self, x):
        return self.main(x), self.aux(x)


class AuxiliaryHeadsTest(RefusalTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model = Heads()
        self.random = numpy.random.RandomState(4)
        self.inputs = self.random.standard_normal((BATCH, WIDTH)).astype(numpy.float32)

    def exported(self, model, shape=(WIDTH,)):
        """The file and the name of its second output."""
        path = self.folder / "net.onnx"
        export.write(model, torch.zeros(2, *shape), path)
        return path, onnx.load(path).graph.output[1].name

    def compiled(self, loss, ranks=1, batch=BATCH, extra=()):
        path, aux = self.exported(self.model)
        extra = ("--loss-on", f"output,{aux}={WEIGHT}", *extra)
        weights = self.folder / "w.npy"
        numpy.save(weights, reference.CLASS_WEIGHTS.numpy())
        loss = loss.replace("w.npy", str(weights))
        return harness.compile_plan(path, self.folder, ranks, batch, loss=loss, extra=extra)

    def wanted(self, loss, count=BATCH):
        if loss != "cross-entropy":
            return test_losses.wanted(loss, self.random, (count, OUT))
        labels = self.random.randint(0, OUT, count)
        labels[[0, 1, 5]] = -100  # so that ranks and batches have different numbers of labels
        return labels

    def check(self, plan, data, loss, weights, ranks=1, extra=(), model=None):
        dump = harness.train(plan, self.folder, data, ranks=ranks, extra=extra)
        truth = reference.train(model or self.model, data, loss=loss, weights=weights)
        for step in (0, 2):
            self.assertLessEqual(abs(dump.loss(step) / truth.losses[step] - 1), SAME)
        for found, true in (
            (dump.gradients(0), truth.gradients),
            (dump.parameters(2), truth.parameters),
        ):
            self.assertEqual(found.names(), set(true))
            for name, array in true.items():
                error = compare.norm(found[name] - array)
                self.assertLessEqual(error, SAME * compare.norm(array), name)

    def test_training(self):
        """On one rank, on two, and in several batches of different numbers of labels."""
        for loss in ("cross-entropy", SOFT, "mse", "l1", *WEIGHED, PROBABLE[-1]):
            data = self.inputs, self.wanted(loss)
            for ranks, batch, extra in ((1, 8, ()), (2, 4, ()), (2, 2, ("--accumulate", 2))):
                with self.subTest(loss=loss, ranks=ranks, batch=batch):
                    plan = self.compiled(loss, ranks, batch)
                    self.check(plan, data, loss, (1, WEIGHT), ranks, extra)

    def test_weights_of_all(self):
        """The other output first, each with a weight, and a softmax whose logits are taken."""
        self.model.softmax = True
        path, aux = self.exported(self.model)
        self.model.softmax = False
        plan = harness.compile_plan(
            path, self.folder, 1, BATCH, extra=("--loss-on", f"{aux}=2,output=0.5")
        )
        self.check(plan, (self.inputs, self.wanted("cross-entropy")), "cross-entropy", (0.5, 2))

    @unittest.skipUnless(processor.has_bf16(), "this processor has no bfloat16 arithmetic")
    def test_bfloat16(self):
        data = self.inputs, self.wanted("cross-entropy")
        plan = self.compiled("cross-entropy", extra=("--precision", "bf16"))
        dump = harness.train(plan, self.folder, data)
        truth = reference.train(self.model, data, weights=(1, WEIGHT))
        self.assertLess(abs(dump.loss(0) / truth.losses[0] - 1), 1e-2)

    def test_evaluation(self):
        """The test loss is the first output's, without the others'."""
        inputs = self.random.standard_normal((11, WIDTH)).astype(numpy.float32)
        outputs = self.model(torch.from_numpy(inputs))[0].detach().numpy()
        for loss in ("cross-entropy", "mse"):
            with self.subTest(loss=loss):
                targets = self.wanted(loss, 11)
                plan = self.compiled(loss, 2, 4)
                files = harness.save(self.folder, inputs, targets)
                words = ("run", plan, "-n", 2, "--log", "json", "--eval-only", "--eval", files)
                line = json.loads(harness.syncline(*words))
                double = [reference.in_double(torch.from_numpy(a)) for a in (outputs, targets)]
                truth = reference.LOSSES[loss](*double).item()
                self.assertLess(abs(line["test_loss"] / truth - 1), SAME)

    def test_what_does_not_fit(self):
        words = ("--cluster", self.cluster, "--batch", 4, "-o", self.folder / "out.plan")
        path, aux = self.exported(self.model)
        weight = f"output '{aux}': expected a weight from 1e-30 to 1e30, got"
        for on, said in (
            ("output,nope=0.4", f"no output 'nope'; it has 'output', '{aux}'"),
            ("nope", "no output 'nope'"),
            ("output,", "no output ''"),
            (f"output,{aux}=0", f"{weight} '0'"),
            (f"output,{aux}=-1", f"{weight} '-1'"),
            (f"output,{aux}=nan", f"{weight} 'nan'"),
            (f"output,{aux}=1e31", f"{weight} '1e31'"),
            (f"output,{aux}=", f"{weight} ''"),
            (f"output,{aux},{aux}=0.4", f"output '{aux}' is there twice"),
        ):
            with self.subTest(on=on):
                self.refuses(["compile", path, *words, "--loss-on", on], "net.onnx", said)
        for model, shape in ((Heads(OUT + 1), (WIDTH,)), (Positions(), (WIDTH, 5))):
            for loss in ("cross-entropy", SOFT, "mse"):
                with self.subTest(model=model, loss=loss):
                    path, aux = self.exported(model, shape)
                    told = ("--loss", loss, "--loss-on", f"output,{aux}=0.4")
                    said = f"output '{aux}' of shape", "does not fit the targets of output 'output'"
                    self.refuses(["compile", path, *words, *told], *said)


if __name__ == "__main__":
    unittest.main()
