"""Col2Im, Scan, Einsum of one operand and bits of integers, against float64 PyTorch."""

import math
import pathlib
import tempfile
import unittest

import numpy
import torch
from onnx import TensorProto, helper

import harness
import models

BATCH, CHANNELS, SIDE = 4, 3, 6
node = helper.make_node
# image, block, strides, dilations, pads (begins, then ends)
WINDOWS = {
    "tiled": ((4, 6), (2, 3), (2, 3), (1, 1), (0, 0, 0, 0)),
    "overlapping": ((6, 5), (3, 2), (1, 2), (1, 1), (1, 0, 1, 0)),
    "dilated": ((7, 6), (2, 3), (2, 1), (3, 2), (2, 1, 0, 1)),
    "apart": ((8, 7), (2, 2), (3, 4), (1, 1), (0, 1, 0, 1)),
}


def columns_of(window):
    image, block, strides, dilations, pads = window
    counts = (
        (image[d] + pads[d] + pads[d + 2] - dilations[d] * (block[d] - 1) - 1) // strides[d] + 1
        for d in (0, 1)
    )
    return math.prod(list(counts))


def fold(x, window):
    """torch.nn.functional.fold has one pad for both ends: here pads are of the image, and cut."""
    image, block, strides, dilations, pads = window
    size = [image[d] + pads[d] + pads[d + 2] for d in (0, 1)]
    whole = torch.nn.functional.fold(x, size, block, dilations, 0, strides)
    return whole[:, :, pads[0] : pads[0] + image[0], pads[1] : pads[1] + image[1]]


class ColumnsAndBitsTest(unittest.TestCase):
    def check(self, nodes, parts, shape, weights, reference):
        """`reference` computes the logits from the input and the weights."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        path = folder / "net.onnx"
        random = numpy.random.default_rng(7)
        made = {n: random.normal(0, 0.5, s).astype(numpy.float32) for n, s in weights.items()}
        models.save(models.model(nodes, {**made, **parts}, ("batch", *shape), opset=18), path)
        x = random.standard_normal((BATCH, *shape)).astype(numpy.float32)
        data = x, random.integers(0, 5, BATCH)
        plan = harness.compile_plan(path, folder, batch=BATCH)
        dump = harness.train(plan, folder, data, steps=1, dump=(0,), settings={"lr": 0})
        values = {n: torch.tensor(v).double().requires_grad_(True) for n, v in made.items()}
        logits = reference(torch.tensor(data[0]).double(), values)
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor(data[1]))
        loss.backward()
        self.assertAlmostEqual(dump.loss(0), loss.item(), delta=1e-5 * loss.item())
        for name, value in values.items():
            wanted = value.grad.numpy()
            error = numpy.abs(dump.gradients(0)[name] - wanted).max() / numpy.abs(wanted).max()
            self.assertLess(error, 1e-5, name)

    def columns(self, kind):
        window = WINDOWS[kind]
        image, block, strides, dilations, pads = window
        rows, count = CHANNELS * math.prod(block), columns_of(window)
        parts = {"image": numpy.array(image), "block": numpy.array(block)}
        parts |= {"flat": numpy.array([0, -1])}
        names = {"strides": strides, "dilations": dilations, "pads": pads}
        nodes = [
            node("Mul", ["input", "scale"], ["x"]),
            node("Col2Im", ["x", "image", "block"], ["folded"], **names),
            node("Mul", ["folded", "folded"], ["square"]),
            node("Reshape", ["square", "flat"], ["features"]),
            node("MatMul", ["features", "w"], ["output"]),
        ]
        weights = {"scale": (rows, count), "w": (CHANNELS * math.prod(image), 5)}

        def reference(x, values):
            return (fold(x * values["scale"], window) ** 2).flatten(1) @ values["w"]

        self.check(nodes, parts, (rows, count), weights, reference)

    def test_bits(self):
        """Of places of maxima, and of negative ones: And, Or, Xor and Not of known numbers too."""
        parts = {"three": numpy.array(3), "five": numpy.array(5)}
        nodes = [
            node("ArgMax", ["input"], ["p"], axis=1, keepdims=0),
            node("ArgMin", ["input"], ["n"], axis=1, keepdims=0),
            node("Sub", ["n", "three"], ["q"]),
            node("BitwiseAnd", ["p", "q"], ["both"]),
            node("BitwiseOr", ["p", "q"], ["either"]),
            node("BitwiseXor", ["q", "five"], ["differ"]),
            node("BitwiseNot", ["differ"], ["inverse"]),
            node("Concat", ["both", "either", "differ", "inverse"], ["whole"], axis=1),
            node("Cast", ["whole"], ["real"], to=TensorProto.FLOAT),
            node("MatMul", ["real", "w"], ["h"]),
            node("Tanh", ["h"], ["t"]),
            node("MatMul", ["t", "v"], ["output"]),
        ]

        def reference(x, values):
            p, q = x.argmax(1), x.argmin(1) - 3
            bits = torch.cat([p & q, p | q, q ^ 5, ~(q ^ 5)], 1).double()
            return torch.tanh(bits @ values["w"]) @ values["v"]

        self.check(nodes, parts, (6, 7), {"w": (28, 6), "v": (6, 5)}, reference)

    def test_scan(self):
        """A recurrence from the last entry on, whose results are put behind each other in place."""
        ins = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("s", "x")]
        outs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("t", "u")]
        inner = [
            node("MatMul", ["s", "w"], ["m"]),
            node("Add", ["m", "x"], ["a"]),
            node("Tanh", ["a"], ["t"]),
            node("Mul", ["t", "t"], ["u"]),
        ]
        body = helper.make_graph(inner, "body", ins, outs)
        axes = {"scan_input_axes": [1], "scan_output_axes": [1]}
        turned = {"scan_input_directions": [1], "scan_output_directions": [1]}
        nodes = [
            node("ReduceSum", ["input", "one"], ["first"], keepdims=0),
            node("Scan", ["first", "input"], ["last", "all"], body=body, num_scan_inputs=1)
        ]
        for name, value in {**axes, **turned}.items():
            nodes[1].attribute.append(helper.make_attribute(name, value))
        nodes += [
            node("Einsum", ["all"], ["sums"], equation="btc->cb"),
            node("Transpose", ["sums"], ["back"]),
            node("Mul", ["all", "weight"], ["weighted"]),
            node("ReduceSum", ["weighted", "one"], ["steps"], keepdims=0),
            node("Sum", ["back", "steps", "last"], ["h"]),
            node("MatMul", ["h", "v"], ["output"]),
        ]

        def reference(x, values):
            state, steps = x.sum(1), []
            for t in reversed(range(x.shape[1])):
                state = torch.tanh(state @ values["w"] + x[:, t])
                steps.insert(0, state**2)
            both = torch.stack(steps, 1)
            weighted = (both * values["weight"]).sum(1)
            return (both.sum(1) + weighted + state) @ values["v"]

        parts = {"one": numpy.array([1])}
        weights = {"w": (SIDE, SIDE), "weight": (4, 1), "v": (SIDE, 5)}
        self.check(nodes, parts, (4, SIDE), weights, reference)


for name in WINDOWS:
    setattr(ColumnsAndBitsTest, f"test_{name}_columns", lambda self, kind=name: self.columns(kind))

if __name__ == "__main__":
    unittest.main()
