"""Elementwise operators as single nodes: the gradient of each element is PyTorch's in float64, at
kinks and ties, far out, at infinities and NaN too."""

import pathlib
import tempfile
import unittest

import harness
import numpy
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional

INF, NAN = numpy.inf, numpy.nan
POINTS = numpy.array(
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, 19.5, 20.0, 20.5, -20.0, 100.0]
    + [-100.0, 1e-30, 3e38, -3e38, INF, -INF, NAN],
    "f4",
)
LIMIT = 1e-5  # of a gradient, or of the least normal number
ROUNDED = ("Floor", "Ceil", "Round", "Sign")


def swish(x, alpha=1.0):
    return x * torch.sigmoid(alpha * x)


# Operator, attributes, PyTorch's function.
UNARY = [
    ("Softplus", {}, functional.softplus),
    ("Softsign", {}, functional.softsign),
    ("Mish", {}, functional.mish),
    ("Swish", {}, functional.silu),
    ("Swish", {"alpha": 2.5}, lambda x: swish(x, 2.5)),
    ("Swish", {"alpha": -1.0}, lambda x: swish(x, -1.0)),
    ("ThresholdedRelu", {}, lambda x: functional.threshold(x, 1.0, 0.0)),
    ("ThresholdedRelu", {"alpha": -1.5}, lambda x: functional.threshold(x, -1.5, 0.0)),
    ("Selu", {}, functional.selu),
    ("Celu", {}, functional.celu),
    ("Celu", {"alpha": 0.5}, lambda x: functional.celu(x, 0.5)),
    ("Celu", {"alpha": -0.5}, lambda x: functional.celu(x, -0.5)),
    ("Sin", {}, torch.sin),
    ("Cos", {}, torch.cos),
    ("Tan", {}, torch.tan),
    ("Atan", {}, torch.atan),
    ("Acos", {}, torch.acos),
    ("Asin", {}, torch.asin),
    ("Sinh", {}, torch.sinh),
    ("Cosh", {}, torch.cosh),
    ("Asinh", {}, torch.asinh),
    ("Acosh", {}, torch.acosh),
    ("Atanh", {}, torch.atanh),
    ("Floor", {}, torch.floor),
    ("Ceil", {}, torch.ceil),
    ("Round", {}, torch.round),
    ("Sign", {}, torch.sign),
]
# Ours, by point, where it is another number than PyTorch's.
KNOWN = {
    "Mish": {INF: INF},  # PyTorch's formula multiplies zero by infinity; the derivative is 1
    "Selu": {-20.0: 0.0},  # computed from the result, which is its limit to the last place
}
ENDS = (0.0, 0.5, -1.0, INF, -INF, NAN)
PAIRS = numpy.array([(x, y) for x in ENDS for y in ENDS], "f4").T


class Net:
    """Parts of one row, each computed from parameters of its own, in ONNX and in PyTorch."""

    def __init__(self):
        self.nodes, self.weights, self.leaves, self.parts, self.names = [], {}, {}, [], []

    def constant(self, values):
        tensor = numpy_helper.from_array(numpy.asarray(values))
        return self.add("Constant", value=tensor)

    def add(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def parameter(self, name, values):
        """The sum of the parameter and the input, which is zero; the parameter in PyTorch."""
        self.weights[name] = numpy.asarray(values, "f4")
        leaf = torch.tensor(self.weights[name], dtype=torch.float64, requires_grad=True)
        self.leaves[name] = leaf
        return self.add("Add", "x", name), leaf

    def end(self, name, part):
        self.names.append(name)
        self.parts.append(part.reshape(-1))

    def write(self, path):
        width = sum(len(part) for part in self.parts)
        self.nodes.append(helper.make_node("Concat", self.names, ["y"], axis=1))
        graph = helper.make_graph(
            self.nodes,
            "elementwise",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("N", 1))],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("N", width))],
            [numpy_helper.from_array(values, name) for name, values in self.weights.items()],
        )
        opsets = [helper.make_opsetid("", 18)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        path.write_bytes(model.SerializeToString())
        return width


class ElementwiseTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.net = Net()

    def gradients(self):
        """Ours by parameter; PyTorch's are in the net's leaves."""
        path = self.folder / "net.onnx"
        width = self.net.write(path)
        wanted = numpy.random.RandomState(3).standard_normal((1, width)).astype("f4")
        plan = harness.compile_plan(path, self.folder, batch=1, loss="mse")
        data = numpy.zeros((1, 1), "f4"), wanted
        dump = harness.train(
            plan, self.folder, data, steps=1, dump=(0,), extra=("--allow-nonfinite",)
        )
        row = torch.cat(self.net.parts)
        functional.mse_loss(row, torch.from_numpy(wanted[0]).double()).backward()
        return dump.gradients(0)

    def check(self, others=None):
        """Every element of every gradient is PyTorch's, but `others`, by parameter and point."""
        found, wrong = self.gradients(), []
        for name, leaf in self.net.leaves.items():
            points, truth = self.net.weights[name].ravel(), leaf.grad.numpy().ravel()
            for point, ours, theirs in zip(points, found[name].ravel(), truth):
                for at, known in (others or {}).get(name, {}).items():
                    theirs = known if numpy.array_equal(at, point, equal_nan=True) else theirs
                with numpy.errstate(over="ignore"):
                    rounded = numpy.float32(theirs)
                same = numpy.isclose(ours, rounded, rtol=LIMIT, atol=1e-37, equal_nan=True)
                if not same:
                    wrong.append(f"{name} at {point}: {ours}, not {theirs}")
        self.assertEqual(wrong, [])

    def test_of_one_operand(self):
        others = {}
        for number, (op, attributes, function) in enumerate(UNARY):
            name = f"{op}{number}"
            value, leaf = self.net.parameter(name, POINTS)
            y, part = self.net.add(op, value, **attributes), function(leaf)
            if op in ROUNDED:  # beside x, which has a gradient
                share = self.net.constant(numpy.float32(0.125))
                y = self.net.add("Add", y, self.net.add("Mul", value, share))
                part = part + 0.125 * leaf
            self.net.end(y, part)
            others[name] = KNOWN.get(op, {})
        self.check(others)

    def test_what_is_not_finite(self):
        """IsNaN and IsInf choose, and have no gradient."""
        both = {"detect_positive": 1, "detect_negative": 1}
        for number, (op, attributes, function) in enumerate(
            (
                ("IsNaN", {}, torch.isnan),
                ("IsInf", {}, torch.isinf),
                ("IsInf", both | {"detect_negative": 0}, torch.isposinf),
                ("IsInf", both | {"detect_positive": 0}, torch.isneginf),
                ("IsInf", dict.fromkeys(both, 0), lambda x: torch.zeros_like(x) > 0),
            )
        ):
            value, leaf = self.net.parameter(f"{op}{number}", POINTS)
            two, half = numpy.float32(2), numpy.float32(0.5)
            half = self.net.add("Mul", value, self.net.constant(half))
            chosen = self.net.add(op, value, **attributes)
            self.net.end(
                self.net.add("Where", chosen, self.net.constant(two), half),
                torch.where(function(leaf), torch.tensor(2.0).double(), leaf / 2),
            )
        self.check()

    def test_logarithm_of_sigmoid(self):
        """As PyTorch exports logsigmoid: far out, where the sigmoid is rounded to one, too."""
        x, leaf = self.net.parameter("points", POINTS)
        self.net.end(self.net.add("Log", self.net.add("Sigmoid", x)), functional.logsigmoid(leaf))
        self.check()

    def test_equal_operands_share(self):
        """PyTorch's maximum and minimum, of two and, one call in another, of three."""
        for op, function in (("Max", torch.maximum), ("Min", torch.minimum)):
            (x, p), (z, q) = (self.net.parameter(f"{op}{i}", PAIRS[i]) for i in range(2))
            self.net.end(self.net.add(op, x, z), function(p, q))
            three = [self.net.parameter(f"{op}of3.{i}", PAIRS[i % 2]) for i in range(3)]
            (_, p), (_, q), (_, r) = three
            y = self.net.add(op, *(value for value, _ in three))
            self.net.end(y, function(function(p, q), r))
            x, p = self.net.parameter(f"{op}of constants", [0.0, 1.0, 2.0])
            bounds = numpy.array([0.0, 2.0, 1.0], "f4")
            y = self.net.add(op, x, self.net.constant(bounds))
            self.net.end(y, function(p, torch.from_numpy(bounds).double()))
        self.check()

    def test_operands_broadcast(self):
        for op, function in (("Max", torch.maximum), ("Min", torch.minimum)):
            x, p = self.net.parameter(f"{op}row", [0.0, 1.0, -1.0, 2.0])
            self.net.weights[f"{op}column"] = values = numpy.array([[1.0], [0.0], [3.0]], "f4")
            q = torch.tensor(values, dtype=torch.float64, requires_grad=True)
            self.net.leaves[f"{op}column"] = q
            row = self.net.add("Unsqueeze", x, self.net.constant([1]))
            y = self.net.add("Flatten", self.net.add(op, row, f"{op}column"))
            self.net.end(y, function(p, q))
        self.check()

    def test_beside_a_number(self):
        """PyTorch's clamp: the operand has the whole gradient at the bound."""
        for number, bound in enumerate((numpy.float32(0.5), numpy.full((23,), 0.5, "f4"))):
            for op, side in (("Max", "min"), ("Min", "max")):
                x, p = self.net.parameter(f"{op}{number}", POINTS)
                pair = (x, self.net.constant(bound)) if number else (self.net.constant(bound), x)
                self.net.end(self.net.add(op, *pair), torch.clamp(p, **{side: 0.5}))
        self.check()

    def test_triangles(self):
        for upper, function in ((1, torch.triu), (0, torch.tril)):
            for k in (-2, -1, 0, 1, 3, None):
                name = f"{'upper' if upper else 'lower'}{k}"
                values = numpy.arange(1, 13)
                values[5:8] = 0
                values = values.astype("f4")
                values[8] = NAN if upper and k == 1 else 8
                x, p = self.net.parameter(name, values)
                matrix = self.net.add("Reshape", x, self.net.constant([1, 3, 4]))
                diagonal = [] if k is None else [self.net.constant(numpy.int64(k))]
                y = self.net.add("Trilu", matrix, *diagonal, upper=upper)
                self.net.end(self.net.add("Flatten", y), function(p.reshape(3, 4), k or 0))
        self.check()

    def test_diagonals(self):
        """Products with EyeLike of a constant, beyond the matrix too."""
        for k in (-3, -1, 0, 2, 7):
            x, p = self.net.parameter(f"diagonal{k}", numpy.arange(1, 13))
            matrix = self.net.add("Reshape", x, self.net.constant([1, 3, 4]))
            shaped = self.net.constant(numpy.full((3, 4), 5.0, "f4"))
            ones = self.net.add("EyeLike", shaped, k=k)
            y = self.net.add("Add", matrix, self.net.add("Mul", matrix, ones))
            truth = torch.from_numpy(numpy.eye(3, 4, k))
            self.net.end(self.net.add("Flatten", y), p.reshape(3, 4) * (1 + truth))
        self.check()


if __name__ == "__main__":
    unittest.main()
