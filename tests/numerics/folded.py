"""Random chains of nodes that are computed at import, judged by onnx.reference and by exact
rounding; test_folded.py runs this in an environment that has a current onnx.

    folded.py SYNCLINE-IMPORT CHAINS SEED

The first line says what was done; then comes a line for each wrong value."""

import collections
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import numpy
from onnx import TensorProto, helper

from onnx_values import INTEGERS, OPSETS, REALS, REDUCTIONS, TYPES
from onnx_values import evaluate, exact, fits, is_defined, rounded

EACH = 1000  # chains in a file
SHAPES = ((), (3,), (2, 3), (2, 1), (1, 3))
COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
PAIRS = {*COMPARISONS, *"Add Sub Mul Div Max Min Mod Pow And Or Xor".split()}


class Chain:
    """Nodes on constants. The values decide which node can follow: division by zero, for one, is
    refused."""

    def __init__(self, source, name, opset):
        self.random, self.name, self.nodes, self.known = source, name, [], {}
        self.opset, self.lists = opset, {"axis": numpy.array(0)}
        for _ in range(source.randint(1, 3)):
            self.start()
        for _ in range(source.randint(3, 7)):
            self.grow()

    def new(self):
        return f"{self.name}_{len(self.known)}"

    def start(self):
        number = self.random.choice(list(TYPES))
        shape = self.random.choice(SHAPES)
        count = int(numpy.prod(shape))
        if number in REALS:
            values = [self.real() for _ in range(count)]
        elif number == TensorProto.BOOL:
            values = [self.random.random() < 0.5 for _ in range(count)]
        else:
            bounds = numpy.iinfo(TYPES[number])
            small = self.random.random() < 0.5
            low, high = (max(bounds.min, -9), 9) if small else (bounds.min, bounds.max)
            values = [self.random.randint(low, high) for _ in range(count)]
        with numpy.errstate(all="ignore"):
            array = numpy.array(values).astype(TYPES[number]).reshape(shape)
        tensor = helper.make_tensor(self.new(), number, shape, array.tobytes(), raw=True)
        self.add("Constant", [], array, number, value=tensor)

    def real(self):
        kind = self.random.random()
        if kind < 0.1:
            return self.random.choice((0.0, -0.0, 1.0, numpy.inf, -numpy.inf, numpy.nan))
        if kind < 0.4:
            return self.random.randint(-40, 40) / 10
        return self.random.uniform(-1, 1) * 2.0 ** self.random.randint(-20, 20)

    def add(self, op, inputs, array, number, **attributes):
        name = self.new()
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.known[name] = (array, number)

    def grow(self):
        for _ in range(20):  # until a node fits
            if self.step():
                return

    def step(self):
        name = self.random.choice(list(self.known)[-3:])
        x, number = self.known[name]
        alike = [other for other, (_, kind) in self.known.items() if kind == number]
        other = self.random.choice(alike)
        if number in REALS:
            op = self.random.choice(
                (
                    "Add Sub Mul Div Max Min Mod Pow Neg Abs Sqrt Reciprocal Exp Log Sin Cos Floor "
                    "Ceil Cast Cast IsNaN Where Range CumSum Compare Reduce"
                ).split()
            )
        elif number == TensorProto.BOOL:
            op = self.random.choice("Not And Or Xor Cast Where Equal".split())
        else:
            op = self.random.choice(
                (
                    "Add Sub Mul Div Mod Max Min Pow Neg Abs Cast Cast Compare Where CumSum Reduce"
                ).split()
            )
        return self.place(op, name, other, x, number)

    def place(self, op, name, other, x, number):
        y, attributes, inputs, result = self.known[other][0], {}, [name], number
        if op == "Compare":
            op, result = self.random.choice(COMPARISONS), TensorProto.BOOL
        if op in PAIRS:
            inputs.append(other)
        if not is_defined(op, x, y, number):
            return False
        if op == "Mod":
            attributes["fmod"] = 1 if number in REALS else self.random.randint(0, 1)
        if op == "IsNaN":
            result = TensorProto.BOOL
        if op == "Where":
            truths = [n for n, (_, kind) in self.known.items() if kind == TensorProto.BOOL]
            if not truths:
                return False
            inputs = [self.random.choice(truths), name, other]
        if op == "Cast":
            result = self.random.choice(list(TYPES))
            if number in REALS and result in INTEGERS and not fits(x, TYPES[result]):
                return False
            attributes["to"] = result
        if op == "CumSum":
            inputs.append("axis")
        if op == "Range":
            return self.range(number)
        if op == "Reduce":
            return self.reduce(name, x, number)
        node = helper.make_node(op, inputs, ["y"], **attributes)
        try:
            array = evaluate(node, [self.value(i) for i in inputs], number, self.opset)
        except (ValueError, TypeError, OverflowError):
            return False  # shapes that do not broadcast, among others
        if array is None or array.size > 64:
            return False
        self.add(op, inputs, array, result, **attributes)
        return True

    def value(self, name):
        return self.lists[name] if name in self.lists else self.known[name][0]

    def reduce(self, name, x, number):
        """Over no, some or all axes, in each way to name them."""
        kind = self.random.choice([*REDUCTIONS, "Max", "Min"])
        if kind == "L2" and number in INTEGERS:
            return False
        axes = self.random.sample(range(x.ndim), self.random.randint(0, x.ndim))
        axes = [axis - x.ndim * self.random.randint(0, 1) for axis in axes]
        inputs, attributes = [name], {"keepdims": self.random.randint(0, 1)}
        is_operand = self.opset >= 18 or kind == "Sum"
        if is_operand:
            attributes["noop_with_empty_axes"] = self.random.randint(0, 1)
        if self.random.random() < 0.8 and is_operand:
            inputs.append(f"{self.name}_axes{len(self.nodes)}")
            self.lists[inputs[1]] = numpy.array(axes, "i8")
            tensor = helper.make_tensor(inputs[1], TensorProto.INT64, (len(axes),), axes)
            self.nodes.append(helper.make_node("Constant", [], inputs[1:], value=tensor))
        elif axes and not is_operand:
            attributes["axes"] = axes
        node = helper.make_node(f"Reduce{kind}", inputs, ["y"], **attributes)
        array = evaluate(node, [self.value(i) for i in inputs], number, self.opset)
        if array is not None:
            self.add(node.op_type, inputs, array, number, **attributes)
        return array is not None

    def range(self, number):
        """start, limit, delta: new constants of a few elements."""
        if number not in (TensorProto.FLOAT, TensorProto.DOUBLE):
            return False
        start, delta = self.random.randint(-30, 30) / 10, self.random.choice((0.1, 0.3, -0.7, 1.5))
        names = []
        for value in (start, start + delta * self.random.randint(1, 6), delta):
            array = numpy.array(value, TYPES[number])
            names.append(self.new())
            tensor = helper.make_tensor(names[-1], number, (), [value])
            self.add("Constant", [], array, number, value=tensor)
        start, limit, delta = (self.known[n][0] for n in names)
        count = numpy.ceil((limit - start) / delta)
        array = numpy.array(
            [rounded(exact(start) + i * exact(delta), number) for i in range(int(max(count, 0)))]
        )
        self.add("Range", names, array.astype(TYPES[number]), number)
        return True


def model(chains, opset):
    """y = x * w + what the chains' results come to, so that the output needs them all."""
    axis = helper.make_tensor("axis", TensorProto.INT64, (), [0])
    nodes = [helper.make_node("Constant", [], ["axis"], value=axis)]
    nodes += [node for chain in chains for node in chain.nodes]
    parts = []
    for chain in chains:
        for kept in chain.known:
            parts.append(f"{kept}_size")
            nodes.append(helper.make_node("Size", [kept], [f"{kept}_size"]))
    nodes.append(helper.make_node("Max", parts, ["most"]))
    nodes.append(helper.make_node("Cast", ["most"], ["number"], to=TensorProto.FLOAT))
    nodes.append(helper.make_node("Mul", ["x", "w"], ["h"]))
    nodes.append(helper.make_node("Add", ["h", "number"], ["y"]))
    info = helper.make_tensor_value_info
    weight = helper.make_tensor("w", TensorProto.FLOAT, (3,), [1, 2, 3])
    graph = helper.make_graph(
        nodes, "chains", [info("x", 1, (2, 3))], [info("y", 1, (2, 3))], [weight]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def read(line):
    """Name, type and values of a line of `syncline-import --known`."""
    name, number, _, *values = line.split(" ")
    return name, (int(number), values)


def same(array, number, values):
    """Whether the values have the same bits, as any two NaN have."""
    if array.size != len(values):
        return False
    for right, got in zip(array.reshape(-1), values):
        bits = int(got, 16)
        if number in REALS:
            value = struct.unpack("<d", struct.pack("<Q", bits))[0]
            right = float(right)
            if numpy.isnan(value) and numpy.isnan(right):
                continue
            if struct.pack("<d", value) != struct.pack("<d", right):
                return False
        elif bits != int(right) % 2**64:
            return False
    return True


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    source = random.Random(seed)
    judged, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, count, EACH):
            opset = OPSETS[first // EACH % len(OPSETS)]
            names = [f"c{first + i}" for i in range(min(EACH, count - first))]
            chains = [Chain(source, name, opset) for name in names]
            path = pathlib.Path(folder) / "chains.onnx"
            path.write_bytes(model(chains, opset).SerializeToString())
            words = [program, path, "--loss", "mse", "--known"]
            done = subprocess.run([*map(str, words)], capture_output=True, text=True)
            if done.returncode != 0:
                wrong.append(f"refused: {done.stderr.strip()}")
                continue
            got = dict(map(read, done.stdout.splitlines()))
            for chain in chains:
                compare(chain, got, judged, wrong)
    print(f"{count} chains, seed {seed}, {sum(judged.values())} nodes: {dict(judged)}")
    for line in wrong[:50]:
        print(line)
    return 1 if wrong else 0


def compare(chain, got, judged, wrong):
    """The first value of a chain that is wrong; what follows from it is not looked at."""
    for node in chain.nodes:
        name = node.output[0]
        if node.op_type == "Constant" or name not in chain.known:
            continue
        array, number = chain.known[name]
        judged[node.op_type] += 1
        if name not in got:
            wrong.append(f"{name}: not computed")
        elif got[name][0] != number or not same(array, number, got[name][1]):
            operands = [chain.value(i).tolist() for i in node.input]
            wrong.append(
                f"{node.op_type} of {operands} as {TensorProto.DataType.Name(number)}: expected"
                f" {array.tolist()}, got {got[name]}"
            )
            return


if __name__ == "__main__":
    sys.exit(main())
