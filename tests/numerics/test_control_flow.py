"""Branches, loops, functions and sequences that are known at import, against float64 PyTorch."""

import pathlib
import tempfile
import unittest

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import harness
import models

BATCH, WIDTH, TRIPS = 4, 6, 3
node = helper.make_node


def value(name, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, None)


def weights():
    random = numpy.random.default_rng(5)
    shapes = {"w": (WIDTH, WIDTH), "b": (WIDTH,), "v": (WIDTH, 5)}
    return {n: random.normal(0, 0.4, s).astype(numpy.float32) for n, s in shapes.items()}


def body():
    """h ← tanh(h·w + i·b), and its square."""
    nodes = [
        node("Identity", ["go"], ["on"]),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["b", "f"], ["bias"]),
        node("MatMul", ["h", "w"], ["m"]),
        node("Add", ["m", "bias"], ["a"]),
        node("Tanh", ["a"], ["next"]),
        node("Mul", ["next", "next"], ["square"]),
    ]
    ins = [value("i", TensorProto.INT64), value("go", TensorProto.BOOL), value("h")]
    outs = [value("on", TensorProto.BOOL), value("next"), value("square")]
    return helper.make_graph(nodes, "body", ins, outs)


def branch(name, nodes):
    return helper.make_graph(nodes, name, [], [value(name)])


def network(path):
    """A loop; the sum of its squares; a branch by a shape; a function; a sequence."""
    parts = {
        "trips": numpy.array(TRIPS),
        "axes": numpy.array([0]),
        "last": numpy.array(1),
        "width": numpy.array(WIDTH),
        "minus": numpy.array(-1),
    }
    then = branch("then", [node("Sigmoid", ["end"], ["then"])])
    other = branch("other", [node("Neg", ["end"], ["other"])])
    nodes = [
        node("Loop", ["trips", "", "input"], ["end", "squares"], body=body()),
        node("ReduceSum", ["squares", "axes"], ["sum"], keepdims=0),
        node("Shape", ["end"], ["shape"]),
        node("Gather", ["shape", "last"], ["size"]),
        node("Equal", ["size", "width"], ["is_wide"]),
        node("If", ["is_wide"], ["chosen"], then_branch=then, else_branch=other),
        node("twice", ["chosen"], ["doubled"], domain="mine", factor=2.0),
        node("SequenceConstruct", ["doubled", "sum"], ["both"]),
        node("SequenceAt", ["both", "minus"], ["taken"]),
        node("ConcatFromSequence", ["both"], ["joined"], axis=0, new_axis=1),
        node("ReduceSum", ["joined", "axes"], ["total"], keepdims=0),
        node("Add", ["total", "taken"], ["all"]),
        node("MatMul", ["all", "v"], ["output"]),
    ]
    model = models.model(nodes, {**weights(), **parts}, ("batch", WIDTH), opset=15)
    factor = node("Constant", [], ["f"])
    reference = factor.attribute.add()
    reference.name, reference.ref_attr_name = "value_float", "factor"
    reference.type = onnx.AttributeProto.FLOAT
    function = helper.make_function(
        *("mine", "twice", ["x"], ["y"], [factor, node("Mul", ["x", "f"], ["y"])]),
        *([helper.make_opsetid("", 15)], ["factor"]),
    )
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("mine", 1))
    return models.save(model, path)


def reference(x, y):
    values = {n: torch.tensor(v).double().requires_grad_(True) for n, v in weights().items()}
    h, total = torch.tensor(x).double(), 0
    for i in range(TRIPS):
        h = torch.tanh(h @ values["w"] + i * values["b"])
        total = total + h * h
    logits = (2 * torch.sigmoid(h) + 2 * total) @ values["v"]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(y))
    loss.backward()
    return loss.item(), {name: v.grad.numpy() for name, v in values.items()}


class ControlFlowTest(unittest.TestCase):
    def check(self, path, save=()):
        plan = harness.compile_plan(path, self.folder, batch=BATCH)
        dump = harness.train(
            plan, self.folder, self.data, steps=1, dump=(0,), settings={"lr": 0}, extra=save
        )
        loss, gradients = reference(*self.data)
        self.assertAlmostEqual(dump.loss(0), loss, delta=1e-5 * loss)
        for name, wanted in gradients.items():
            error = numpy.abs(dump.gradients(0)[name] - wanted).max() / numpy.abs(wanted).max()
            self.assertLess(error, 1e-5, name)

    def test_gradients(self):
        """The saved model has the loop, the branches and the function, and trains like the file."""
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        random = numpy.random.default_rng(6)
        x = random.standard_normal((BATCH, WIDTH)).astype(numpy.float32)
        self.data = x, random.integers(0, 5, BATCH)
        path, saved = network(self.folder / "flow.onnx"), self.folder / "saved.onnx"
        self.check(path, save=["--save", saved])
        before, after = onnx.load(path), onnx.load(saved)
        self.assertEqual(
            [n.op_type for n in after.graph.node], [n.op_type for n in before.graph.node]
        )
        self.assertEqual(len(after.functions), 1)
        trained = {t.name: numpy_helper.to_array(t) for t in after.graph.initializer}
        for name, kept in weights().items():
            numpy.testing.assert_array_equal(trained[name], kept)
        self.check(saved)


if __name__ == "__main__":
    unittest.main()
