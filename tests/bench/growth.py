"""Models of any length, and how long the command takes for each: `bench.py compile`."""

import functools
import time

import numpy
from onnx import TensorProto, helper, numpy_helper

import measure

WIDTH = 16
SIZES = (1000, 3000, 10000)
CLUSTER = measure.CLUSTER.format(ranks=4, bandwidth="10 Gb/s", **measure.PROCESSOR)


class Chain:
    """Operators one behind the other; `last` is the newest result."""

    def __init__(self):
        self.nodes, self.weights, self.last = [], {}, "input"
        self.random = numpy.random.default_rng(0)

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        self.weights[name] = (self.random.standard_normal(shape) * 0.1).astype(numpy.float32)
        return name

    def add(self, kind, *inputs, **attributes):
        result = f"v{len(self.nodes)}"
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, inputs or [self.last], [result], name=name, **attributes)
        )
        self.last = result
        return result

    def model(self):
        self.add("Gemm", self.last, self.weight(WIDTH, 4), self.weight(4))
        graph = helper.make_graph(
            self.nodes,
            "growth",
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, ("batch", WIDTH))],
            [helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def matmuls(operators):
    """MatMul and Relu in turn."""
    chain = Chain()
    for _ in range(operators // 2):
        chain.add("MatMul", chain.last, chain.weight(WIDTH, WIDTH))
        chain.add("Relu")
    return chain.model()


def elementwise(kind, operators):
    """One linear layer, then one elementwise operator over and over; Add reads one parameter."""
    chain = Chain()
    chain.add("Gemm", chain.last, chain.weight(WIDTH, WIDTH), chain.weight(WIDTH))
    parameter = chain.weight(WIDTH)
    for _ in range(operators):
        chain.add(kind, chain.last, *([parameter] if kind == "Add" else []))
    return chain.model()


def block(chain):
    """Twenty operators like those of a transformer's block."""

    def linear(source, rows, columns):
        return chain.add("Gemm", source, chain.weight(rows, columns), chain.weight(columns))

    x = chain.last
    query, key, value = (linear(x, WIDTH, WIDTH) for _ in range(3))
    scores = chain.add("MatMul", query, chain.add("Transpose", key, perm=[1, 0]))
    scores = chain.add("Softmax", chain.add("Mul", scores, chain.weight(1)), axis=-1)
    attended = linear(chain.add("MatMul", scores, value), WIDTH, WIDTH)
    x = chain.add("Add", x, attended)
    hidden = linear(x, WIDTH, 2 * WIDTH)
    gated = chain.add("Mul", hidden, chain.add("Sigmoid", hidden))
    gated = chain.add("Add", gated, chain.add("Tanh", gated))
    x = chain.add("Add", x, linear(gated, 2 * WIDTH, WIDTH))
    chain.add("Elu", chain.add("Neg", chain.add("Mul", x, chain.weight(WIDTH))))


def blocks(operators):
    """So many operators in equal blocks of twenty."""
    chain = Chain()
    for _ in range(operators // 20):
        block(chain)
    return chain.model()


SHAPES = {
    "MatMul and Relu": matmuls,
    "blocks of 20 operators": blocks,
    "Relu after Relu": functools.partial(elementwise, "Relu"),
    "Add of one parameter": functools.partial(elementwise, "Add"),
}


def timed(words):
    """Seconds of a command and the peak resident bytes of it and its children."""
    begin = time.monotonic()
    _, peak = measure.run([measure.SYNCLINE, *map(str, words)])
    return time.monotonic() - begin, peak


def bench(folder, sizes):
    """A line a shape and size: seconds to compile and to verify, and peak memory of compiling."""
    cluster = folder / "growth.yaml"
    cluster.write_text(CLUSTER)
    print(f"{'operators':32}{'':>8}{'compile, s':>12}{'verify, s':>12}{'peak, MiB':>12}")
    for label, make in SHAPES.items():
        for operators in sizes:
            model, plan = folder / "growth.onnx", folder / "growth.plan"
            model.write_bytes(make(operators).SerializeToString())
            compiled, peak = timed(
                ["compile", "--quiet", model, "--cluster", cluster, "--batch", 4, "-o", plan]
            )
            verified, _ = timed(["verify", plan])
            print(
                f"{label:32}{operators:8}{compiled:12.1f}{verified:12.1f}{peak / 2**20:12.0f}",
                flush=True,
            )
