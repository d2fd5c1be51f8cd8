"""DFT along any axis against PyTorch in float64: real and complex numbers, one side of a spectrum,
the inverse, and lengths that cut off or pad."""

import pathlib
import tempfile
import unittest

import harness
import models
import numpy
import torch
from onnx import helper

BATCH, SHAPE = 3, (5, 6, 2)
pair, fft = torch.view_as_complex, torch.fft


def real(x):
    return torch.view_as_real(x.resolve_conj())


# Attributes, length, axis, whether numbers have two parts, and what PyTorch computes.
CASES = {
    "real": ({}, None, 2, False, lambda x: real(fft.fft(x, dim=2))),
    "complex": ({}, None, 2, True, lambda x: real(fft.fft(x, dim=2))),
    "inner axis": ({}, None, 1, True, lambda x: real(fft.fft(x, dim=1))),
    "cut": ({}, 4, 2, True, lambda x: real(fft.fft(x, 4, dim=2))),
    "padded": ({}, 9, 1, False, lambda x: real(fft.fft(x, 9, dim=1))),
    "one side": ({"onesided": 1}, None, 2, False, lambda x: real(fft.rfft(x, dim=2))),
    "one side of odd": ({"onesided": 1}, 7, 2, False, lambda x: real(fft.rfft(x, 7, dim=2))),
    "inverse": ({"inverse": 1}, None, 2, True, lambda x: real(fft.ifft(x, dim=2))),
    "inverse of real": ({"inverse": 1}, 8, 2, False, lambda x: real(fft.ifft(x, 8, dim=2))),
    "back": ({"inverse": 1, "onesided": 1}, None, 2, True, lambda x: fft.irfft(x, dim=2)),
    "back to odd": ({"inverse": 1, "onesided": 1}, 9, 1, True, lambda x: fft.irfft(x, 9, dim=1)),
    "back of less": ({"inverse": 1, "onesided": 1}, 6, 2, True, lambda x: fft.irfft(x, 6, dim=2)),
    "back of one": ({"inverse": 1, "onesided": 1}, 1, 2, True, lambda x: fft.irfft(x, 1, dim=2)),
}


class FourierTest(unittest.TestCase):
    def check(self, nodes, weights, opset, truth):
        """`truth` computes the output, of one row a sample, from the input and the weights."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        random = numpy.random.default_rng(3)
        made = {n: random.standard_normal(SHAPE).astype("f4") for n in weights}
        x = random.standard_normal((BATCH, *SHAPE)).astype("f4")
        values = {n: torch.tensor(v).double().requires_grad_(True) for n, v in made.items()}
        output = truth(torch.tensor(x).double(), values)
        y = random.standard_normal(output.shape).astype("f4")
        loss = torch.nn.functional.mse_loss(output, torch.tensor(y).double())
        loss.backward()
        proto = models.model(nodes, made, ("batch", *SHAPE), opset=opset)
        path = models.save(proto, folder / "net.onnx")
        plan = harness.compile_plan(path, folder, batch=BATCH, loss="mse")
        dump = harness.train(plan, folder, (x, y), steps=1, dump=(0,), settings={"lr": 0})
        self.assertAlmostEqual(dump.loss(0), loss.item(), delta=1e-5 * loss.item())
        for name, value in values.items():
            wanted = value.grad.numpy()
            error = numpy.abs(dump.gradients(0)[name] - wanted).max() / numpy.abs(wanted).max()
            self.assertLess(error, 1e-6, name)

    def cases(self, opset):
        """Every case on a sum of the input and a weight of its own, side by side."""
        nodes, weights, functions = [], [], []

        def add(op, *inputs, **attributes):
            nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
            return f"v{len(nodes) - 1}"

        rows = []
        for number, (attributes, length, axis, isPair, function) in enumerate(CASES.values()):
            weights.append(f"w{number}")
            value = add("Add", "input", weights[-1])
            if not isPair:  # the first part of each number
                ends = (add("Constant", value_ints=[at]) for at in (0, 1, -1))
                value = add("Slice", value, *ends)
            given = [value, "" if length is None else add("Constant", value_int=length)]
            if opset < 20:
                attributes = {**attributes, "axis": axis}
            else:
                given.append(add("Constant", value_int=axis))
            rows.append(add("Flatten", add("DFT", *given, **attributes)))
            functions.append((isPair, function))
        nodes.append(helper.make_node("Concat", rows, ["output"], axis=1))

        def truth(x, values):
            parts = []
            for (isPair, function), name in zip(functions, weights):
                z = x + values[name]
                parts.append(function(pair(z) if isPair else z[..., 0]).flatten(1))
            return torch.cat(parts, 1)

        self.check(nodes, weights, opset, truth)

    def test_axis_as_operand(self):
        self.cases(20)

    def test_axis_as_attribute(self):
        self.cases(17)

    def test_both_axes(self):
        """As PyTorch exports FNet's: along the words of a text and their features."""
        make, constant = helper.make_node, helper.make_node
        nodes = [
            make("Add", ["input", "w"], ["z"]),
            constant("Constant", [], ["features"], value_int=2),
            constant("Constant", [], ["words"], value_int=1),
            make("DFT", ["z", "", "features"], ["first"]),
            make("DFT", ["first", "", "words"], ["second"]),
            constant("Constant", [], ["none"], value_int=0),
            make("Gather", ["second", "none"], ["part"], axis=3),
            make("Flatten", ["part"], ["output"]),
        ]
        truth = lambda x, w: fft.fftn(pair(x + w["w"]), dim=(1, 2)).real.flatten(1)  # noqa: E731
        self.check(nodes, ["w"], 20, truth)


if __name__ == "__main__":
    unittest.main()
