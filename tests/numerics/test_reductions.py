"""Reductions over dimensions and places of extremes against PyTorch in float64, with ties, zeros,
negative rows and dimensions of one."""

import pathlib
import tempfile
import unittest

import numpy
import torch
from onnx import TensorProto, helper, numpy_helper

import harness
import models

BATCH, SHAPE = 4, (3, 4, 5, 1)
# The elements that a reduction of h = input + weight has are whole numbers, so that they are equal
# often, and no rounding tells them apart. The gradients of extremes and products depend on that.
AXES = ((-1,), (2,), (1, 3), (4,), (1, 2, 3, 4))
SUMS = ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare")
OTHERS = ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp", "ReduceLogSum")


def reduced(op, x, axes, keep):
    """What PyTorch computes."""
    if op == "ReduceProd":
        for axis in sorted((axis % x.dim() for axis in axes), reverse=True):
            x = x.prod(axis, keepdim=keep)
        return x
    return {
        "ReduceSum": lambda: x.sum(axes, keepdim=keep),
        "ReduceMean": lambda: x.mean(axes, keepdim=keep),
        "ReduceMax": lambda: x.amax(axes, keepdim=keep),
        "ReduceMin": lambda: x.amin(axes, keepdim=keep),
        "ReduceL1": lambda: torch.linalg.vector_norm(x, 1, axes, keepdim=keep),
        "ReduceL2": lambda: torch.linalg.vector_norm(x, 2, axes, keepdim=keep),
        "ReduceSumSquare": lambda: (x * x).sum(axes, keepdim=keep),
        "ReduceLogSum": lambda: x.sum(axes, keepdim=keep).log(),
        "ReduceLogSumExp": lambda: torch.logsumexp(x, axes, keepdim=keep),
    }[op]()


def values(op):
    """A sample that is zero and others, and a weight with rows of zeros and negative ones."""
    random = numpy.random.default_rng(5)
    x = random.integers(-1, 2, (BATCH, *SHAPE)).astype("f4")
    weight = random.integers(-2, 3, SHAPE).astype("f4")
    x[0], weight[0, 0], weight[1, 1] = 0, 0, -2
    weight[0, 2, :, 0] = 0, 1, 2, 0, 1
    if op == "ReduceLogSum":
        weight = weight + 4
    if op == "ReduceLogSumExp":  # powers of these would overflow
        weight = weight + 100
    return x, weight


class ReductionsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def step(self, model, x, y, name="model", loss="mse"):
        path = models.save(model, self.folder / f"{name}.onnx")
        plan = harness.compile_plan(path, self.folder, batch=len(x), loss=loss)
        return harness.train(plan, self.folder, (x, y), steps=1, dump=(0,), settings={"lr": 0})

    def compare(self, dump, loss, parameters):
        self.assertAlmostEqual(dump.loss(0), loss.item(), delta=1e-5 * abs(loss.item()))
        for name, parameter in parameters.items():
            found, right = dump.gradients(0)[name], parameter.grad.numpy()
            error = numpy.abs(found - right).max() / max(numpy.abs(right).max(), 1e-30)
            self.assertLess(error, 1e-5, f"{name}: {found} and {right}")

    def check(self, op, opset):
        """Every list of axes reduces a sum of the input and a weight of its own; the results side
        by side are the output."""
        x, weight = values(op)
        nodes, weights, ends, parameters = [], {}, [], {}
        for i, axes in enumerate(AXES):
            name, keep = f"w{i}", (i + 1) % 2
            weights[name] = weight + numpy.float32(i % 2)
            parameters[name] = torch.tensor(weights[name]).double().requires_grad_(True)
            nodes.append(helper.make_node("Add", ["input", name], [f"h{i}"]))
            given, more = [f"h{i}"], {"axes": axes}
            if opset >= 18 or (op == "ReduceSum" and opset >= 13):
                array = numpy_helper.from_array(numpy.array(axes, "i8"))
                nodes.append(helper.make_node("Constant", [], [f"a{i}"], value=array))
                given, more = [f"h{i}", f"a{i}"], {}
            nodes.append(helper.make_node(op, given, [f"r{i}"], keepdims=keep, **more))
            nodes.append(helper.make_node("Flatten", [f"r{i}"], [f"f{i}"], axis=1))
            given = torch.tensor(x).double() + parameters[name]
            ends.append(reduced(op, given, axes, bool(keep)).flatten(1))
        nodes.append(
            helper.make_node("Concat", [f"f{i}" for i in range(len(AXES))], ["output"], axis=1)
        )
        output = torch.cat(ends, 1)
        random = numpy.random.default_rng(6)
        y = (output.detach().numpy() + random.normal(0, 1, output.shape)).astype("f4")
        loss = torch.nn.functional.mse_loss(output, torch.tensor(y).double())
        loss.backward()
        model = models.model(nodes, weights, ("batch", *SHAPE), opset=opset)
        self.compare(self.step(model, x, y, f"{op}-{opset}"), loss, parameters)

    def test_sums(self):
        for op in SUMS:
            with self.subTest(op):
                self.check(op, 18)

    def test_others(self):
        for op in OTHERS:
            with self.subTest(op):
                self.check(op, 18)

    def test_axes_as_attributes(self):
        for op in ("ReduceSum", "ReduceMax", "ReduceProd"):
            with self.subTest(op):
                self.check(op, 13)
        self.check("ReduceSum", 11)

    def test_products_of_any_count(self):
        """One to seven factors, of which none, one, two or all are zero."""
        x = numpy.zeros((2, 4, 7), "f4")
        x[1] = 1
        nodes, weights, ends, parameters = [], {}, [], {}
        for count in range(1, 8):
            rows = numpy.random.default_rng(count).integers(1, 4, (4, count)).astype("f4")
            rows[1, count // 2], rows[2, : (count + 1) // 2 + 1], rows[3] = 0, 0, 0
            weights[f"w{count}"] = rows
            weight = torch.tensor(rows).double().requires_grad_(True)
            parameters[f"w{count}"] = weight
            nodes += [
                helper.make_node("Slice", ["input", "none", f"n{count}", "last"], [f"x{count}"]),
                helper.make_node("Constant", [], [f"n{count}"], value_ints=[count]),
                helper.make_node("Add", [f"x{count}", f"w{count}"], [f"h{count}"]),
                helper.make_node("ReduceProd", [f"h{count}"], [f"r{count}"], axes=[-1]),
            ]
            ends.append((torch.tensor(x[..., :count]).double() + weight).prod(-1, keepdim=True))
        for name, value in (("none", 0), ("last", -1)):
            nodes.append(helper.make_node("Constant", [], [name], value_ints=[value]))
        results = [f"r{count}" for count in range(1, 8)]
        nodes.append(helper.make_node("Concat", results, ["output"], axis=-1))
        output = torch.cat(ends, -1)
        y = numpy.random.default_rng(1).normal(0, 5, output.shape).astype("f4")
        loss = torch.nn.functional.mse_loss(output, torch.tensor(y).double())
        loss.backward()
        nodes.sort(key=lambda node: node.op_type != "Constant")
        model = models.model(nodes, weights, ("batch", 4, 7))
        self.compare(self.step(model, x, y), loss, parameters)

    def test_places(self):
        """Rows of tables by the places of extremes, the first or the last of equal ones."""
        random = numpy.random.default_rng(7)
        ids = random.integers(0, 4, (BATCH, 6))
        ids[0], ids[1] = 3, (0, 9, 2, 9, 0, 9)
        nodes, weights, ends, parameters = [], {}, [], {}
        for op, last in (("ArgMax", 0), ("ArgMax", 1), ("ArgMin", 0), ("ArgMin", 1)):
            name = f"{op}{last}"
            weights[name] = random.normal(0, 1, (6, 3)).astype("f4")
            parameters[name] = torch.tensor(weights[name]).double().requires_grad_(True)
            attributes = {"axis": -1, "keepdims": last, "select_last_index": last}
            nodes += [
                helper.make_node(op, ["input"], [f"place {name}"], **attributes),
                helper.make_node("Gather", [name, f"place {name}"], [f"g {name}"]),
                helper.make_node("Flatten", [f"g {name}"], [f"r {name}"]),
            ]
            signed = ids if op == "ArgMax" else -ids
            place = 5 - signed[:, ::-1].argmax(1) if last else signed.argmax(1)
            ends.append(parameters[name][torch.tensor(place.copy())])
        nodes.append(
            helper.make_node("Concat", [f"r {name}" for name in weights], ["output"], axis=1)
        )
        output = torch.cat(ends, 1)
        y = random.normal(0, 1, output.shape).astype("f4")
        loss = torch.nn.functional.mse_loss(output, torch.tensor(y).double())
        loss.backward()
        for kind, x in ((TensorProto.INT64, ids), (TensorProto.FLOAT, ids.astype("f4"))):
            model = models.model(nodes, weights, ("batch", 6), kind, opset=13)
            self.compare(self.step(model, x, y, f"places{kind}"), loss, parameters)

    def test_pooled_by_places(self):
        """The row at the largest token, as CLIP takes it, and by a mask."""
        random = numpy.random.default_rng(8)
        ids = random.permuted(numpy.tile(numpy.arange(10), (BATCH, 1)), axis=1)[:, :6]
        table = random.normal(0, 1, (10, 3)).astype("f4")
        numbers = numpy_helper.from_array(numpy.arange(6))
        nodes = [
            helper.make_node("Gather", ["table", "input"], ["e"]),
            helper.make_node("ArgMax", ["input"], ["place"], axis=1),
            helper.make_node("Constant", [], ["numbers"], value=numbers),
            helper.make_node("Constant", [], ["last"], value_ints=[2]),
            helper.make_node("Constant", [], ["middle"], value_ints=[1]),
            helper.make_node("Equal", ["place", "numbers"], ["same"]),
            helper.make_node("Cast", ["same"], ["chosen"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["chosen", "last"], ["mask"]),
            helper.make_node("Mul", ["e", "mask"], ["masked"]),
            helper.make_node("ReduceSum", ["masked", "middle"], ["output"], keepdims=0),
        ]
        weight = torch.tensor(table).double().requires_grad_(True)
        y = random.normal(0, 1, (BATCH, 3)).astype("f4")
        output = weight[torch.tensor(ids)][torch.arange(BATCH), torch.tensor(ids).argmax(1)]
        loss = torch.nn.functional.mse_loss(output, torch.tensor(y).double())
        loss.backward()
        model = models.model(nodes, {"table": table}, ("batch", 6), TensorProto.INT64, 13)
        self.compare(self.step(model, ids, y), loss, {"table": weight})


if __name__ == "__main__":
    unittest.main()
