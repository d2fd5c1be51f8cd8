"""InstanceNormalization and GroupNormalization in the forms that exporters write, for tensors of
any rank and another batch than the exported one, against PyTorch in float64."""

import pathlib
import tempfile
import unittest

import numpy
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional

import harness
import models

BATCH, CHANNELS = 4, 8
SHAPES = ((CHANNELS, 3, 4), (CHANNELS, 5), (CHANNELS,))


def constant(name, values, kind):
    array = numpy_helper.from_array(numpy.array(values, kind), name)
    return helper.make_node("Constant", [], [name], value=array)


def by_reshapes(groups, shape, batch):
    """PyTorch's form up to opset 20. The second Reshape is by the input's shape, or by a constant
    one, as an export for one batch has it."""
    back = [constant("back", [batch, *shape], "i8")]
    if not batch:
        back = [helper.make_node("Shape", ["h"], ["back"])]
    return [
        constant("apart", [0, groups, -1], "i8"),
        constant("ones", [1] * groups, "f4"),
        constant("zeros", [0] * groups, "f4"),
        helper.make_node("Reshape", ["h", "apart"], ["g"]),
        helper.make_node("InstanceNormalization", ["g", "ones", "zeros"], ["n"], epsilon=1e-3),
        *back,
        helper.make_node("Reshape", ["n", "back"], ["r"]),
        helper.make_node("Mul", ["r", "scale"], ["s"]),
        helper.make_node("Add", ["s", "shift"], ["output"]),
    ]


def by_node(groups):
    given, more = ["h", "scale", "shift"], {"epsilon": 1e-3, "num_groups": groups}
    return [helper.make_node("GroupNormalization", given, ["output"], **more)]


class GroupsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, nodes, shape, groups, opset, dims, batch="batch"):
        """`dims` is the shape of scale and shift."""
        random = numpy.random.default_rng(groups)
        values = {
            "factor": random.uniform(0.5, 1.5, shape),
            "scale": random.uniform(0.5, 1.5, dims),
            "shift": random.normal(0, 1, dims),
        }
        values = {name: value.astype("f4") for name, value in values.items()}
        x, y = (random.normal(1, 2, (BATCH, *shape)).astype("f4") for _ in range(2))
        given = {n: torch.tensor(v).double().requires_grad_(True) for n, v in values.items()}
        scale, shift = (
            given[name].reshape(-1, 1).expand(-1, CHANNELS // numpy.prod(dims)).reshape(CHANNELS)
            for name in ("scale", "shift")
        )
        h = torch.tensor(x).double() * given["factor"]
        output = functional.group_norm(h, groups, scale, shift, 1e-3)
        loss = functional.mse_loss(output, torch.tensor(y).double())
        loss.backward()
        nodes = [helper.make_node("Mul", ["input", "factor"], ["h"]), *nodes]
        model = models.model(nodes, values, (batch, *shape), TensorProto.FLOAT, opset)
        path = models.save(model, self.folder / "model.onnx")
        plan = harness.compile_plan(path, self.folder, batch=BATCH, loss="mse")
        dump = harness.train(plan, self.folder, (x, y), steps=1, dump=(0,), settings={"lr": 0})
        self.assertAlmostEqual(dump.loss(0), loss.item(), delta=1e-5 * loss.item())
        for name, parameter in given.items():
            right = parameter.grad.numpy()
            error = numpy.abs(dump.gradients(0)[name] - right).max() / numpy.abs(right).max()
            self.assertLess(error, 1e-5, name)

    def test_instances_between_reshapes(self):
        for shape, groups, batch in ((SHAPES[0], 4, 0), (SHAPES[0], 1, 2), (SHAPES[1], 2, 2)):
            with self.subTest(shape=shape, groups=groups):
                dims = (CHANNELS, *[1] * (len(shape) - 1))
                nodes = by_reshapes(groups, shape, batch)
                self.check(nodes, shape, groups, 17, dims, batch or "batch")

    def test_of_vectors(self):
        nodes = by_reshapes(2, SHAPES[2], 0)
        self.check(nodes, SHAPES[2], 2, 17, (CHANNELS,))

    def test_a_scale_for_each_channel(self):
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.check(by_node(2), shape, 2, 21, (CHANNELS,))
        self.check(by_node(1), SHAPES[0], 1, 21, (CHANNELS,), batch=2)
        self.check(by_node(CHANNELS), SHAPES[0], CHANNELS, 21, (CHANNELS,))

    def test_a_scale_for_each_group(self):
        for groups in (1, 4):
            self.check(by_node(groups), SHAPES[0], groups, 18, (groups,))

    def test_instances_of_their_own(self):
        """Each channel is a group."""
        node = helper.make_node("InstanceNormalization", ["h", "scale", "shift"], ["output"])
        node.attribute.append(helper.make_attribute("epsilon", 1e-3))
        self.check([node], SHAPES[0], CHANNELS, 17, (CHANNELS,))


if __name__ == "__main__":
    unittest.main()
