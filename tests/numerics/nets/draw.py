"""Random small nets with the losses of onnx.reference; test_random_nets.py runs this in an
environment that has a current onnx.

    draw.py FOLDER FIRST COUNT

Each net is a folder FOLDER/SEED with model.onnx, one .npy for each input and labels.npy, of three
samples. A line for each, in JSON, says its seed, operators, and losses by batch: of the first
sample and of all three."""

import collections
import json
import math
import pathlib
import random
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

# What has steps registers them.
import constants
import double
import images
import layers
import masks
import noise
import recurrent
import sequences
import shapes
from steps import STEPS

OPSETS = (24, 23, 20, 17)
CLASSES, BATCHES = 5, (1, 3)
# The loss in float may differ by so much from that in double. Where it differs by more, rounding
# decides on it, and the net is drawn again.
ROUNDING = 1e-6


class Unfit(Exception):
    """A step that the net's tensors do not allow, or whose result is no good to go on with."""


class GroupNormalization(OpRun):
    """onnx.reference 1.23 cannot run the function that ONNX defines it by."""

    op_domain = ""

    def _run(self, x, scale, bias, epsilon=1e-5, num_groups=None, stash_type=None):
        groups = x.reshape((len(x), num_groups, -1))
        centred = groups - groups.mean(2, keepdims=True)
        y = centred / numpy.sqrt(groups.var(2, keepdims=True) + epsilon)
        each = (-1, *[1] * (x.ndim - 2))
        return ((y.reshape(x.shape) * scale.reshape(each) + bias.reshape(each)).astype(x.dtype),)


class LRN(OpRun):
    """onnx.reference 1.23 sums the squares of as many channels as there are samples."""

    op_domain = ""

    def _run(self, x, alpha=1e-4, beta=0.75, bias=1.0, size=None):
        pads = [(0, 0), ((size - 1) // 2, size // 2), *[(0, 0)] * (x.ndim - 2)]
        squares = numpy.pad(x * x, pads)
        sums = sum(squares[:, i : i + x.shape[1]] for i in range(size))
        return ((x / (bias + alpha / size * sums) ** beta).astype(x.dtype),)


def evaluator_of(model):
    return ReferenceEvaluator(model, new_ops=[GroupNormalization, LRN])


class Net:
    """Nodes, with the value of each name for each batch."""

    def __init__(self, seed):
        self.random, self.noise = random.Random(seed), numpy.random.RandomState(seed)
        self.opset = self.random.choice(OPSETS)
        self.nodes, self.weights, self.values, self.inputs = [], {}, {}, {}
        self.reals, self.used, self.batches = [], set(), set(BATCHES)
        self.start()
        wanted = self.random.randint(3, 10)
        for _ in range(100):
            if len(self.reals) >= wanted:
                break
            self.step(self.random.choice(STEPS))
        self.finish()

    def start(self):
        sizes = [self.random.randint(4, 7) for _ in range(2)]
        channels = self.random.choice((4, 6, 8))
        shape = self.random.choice(
            ((channels,), (channels, *sizes), (channels, *sizes), (sizes[0], channels))
        )
        self.input("x", self.noise.standard_normal((3, *shape)).astype("f4"))
        self.reals.append("x")
        if self.random.random() < 0.4:
            kind = self.random.choice(("i8", "i8", "i4"))
            self.input("ids", self.noise.randint(0, 7, (3, sizes[0])).astype(kind))

    def input(self, name, array):
        self.inputs[name] = array
        self.values[name] = [array[:batch] for batch in BATCHES]

    def step(self, step):
        """Adds what the step adds, or nothing."""
        before = len(self.nodes), set(self.values), set(self.weights), set(self.used)
        batches = set(self.batches)
        try:
            self.keep(step(self))
        except (Unfit, IndexError, ValueError):  # onnx.reference's pools fail at some windows
            del self.nodes[before[0] :]
            self.used, self.batches = before[3], batches
            for kept, known in ((self.values, before[1]), (self.weights, before[2])):
                for name in set(kept) - known:
                    del kept[name]

    def keep(self, name):
        """The tensor is one that others can be computed from."""
        one, every = self.values[name]
        self.need(every.dtype == numpy.float32 and every.ndim >= 2)
        self.need(one.shape == (1, *every.shape[1:]) and len(every) == 3)
        self.need(numpy.isfinite(every).all() and every.size <= 6000)
        self.need(0.02 < every.std() < 20 and abs(every).max() < 100)
        self.reals.append(name)

    def need(self, condition):
        if not condition:
            raise Unfit

    def pick(self, least=2, most=9):
        """One of the last tensors, of that many dimensions."""
        fitting = [x for x in self.reals if least <= len(self.shape(x)) <= most]
        self.need(fitting)
        return self.random.choice(fitting[-3:])

    def shape(self, name):
        """With three samples."""
        return self.values[name][1].shape

    def chance(self, share=0.5):
        return self.random.random() < share

    def some(self, **attributes):
        """Each of them, or not."""
        return {name: value for name, value in attributes.items() if self.chance()}

    def weight(self, *shape, scale=None):
        scale = scale or 1 / math.sqrt(max(numpy.prod(shape[1:]), 1))
        return self.stored(self.noise.standard_normal(shape) * scale)

    def stored(self, array):
        name = f"w{len(self.values)}"
        self.weights[name] = numpy.asarray(array, "f4")
        self.values[name] = [self.weights[name]] * 2
        return name

    def constant(self, values, kind="f4"):
        return self.add("Constant", value=numpy_helper.from_array(numpy.asarray(values, kind)))

    def integers(self, *values):
        return self.constant(values, "i8")

    def add(self, op, *inputs, outputs=1, outer=(), **attributes):
        """The node's result, or results; its subgraphs read the names `outer`."""
        names = [f"v{len(self.values) + i}" for i in range(outputs)]
        node = helper.make_node(op, inputs, names, name=f"{op}_{len(self.nodes)}", **attributes)
        given = [name for name in dict.fromkeys((*inputs, *outer)) if name]
        info = [helper.make_value_info(name, onnx.TypeProto()) for name in given]
        graph = helper.make_graph(
            [node], op, info, [helper.make_value_info(name, onnx.TypeProto()) for name in names]
        )
        evaluator = evaluator_of(self.model(graph))
        found = []
        with numpy.errstate(all="ignore"):
            for i in range(len(BATCHES)):
                found.append(evaluator.run(None, {name: self.values[name][i] for name in given}))
        for name, pair in zip(names, zip(*found)):
            self.values[name] = [x if isinstance(x, list) else numpy.asarray(x) for x in pair]
        self.nodes.append(node)
        self.used.update(given)
        return names[0] if outputs == 1 else names

    def model(self, graph):
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def finish(self):
        """Classes from all tensors that nothing else reads, and the model."""
        ends = [x for x in self.reals if x not in self.used]
        flat = [self.add("Flatten", x) if len(self.shape(x)) > 2 else x for x in ends]
        joined = flat[0] if len(flat) == 1 else self.add("Concat", *flat, axis=1)
        width = self.shape(joined)[1]
        size = max(float(self.values[joined][1].std()), 0.1)
        head = self.weight(width, CLASSES, scale=1 / size / math.sqrt(width))
        self.logits = output = self.add("Gemm", joined, head, self.weight(CLASSES, scale=0.1))
        if self.chance(0.1):
            output = self.add(self.random.choice(("Softmax", "LogSoftmax")), output, axis=1)
        self.labels = self.noise.randint(0, CLASSES, 3)
        info = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), ("batch", *array.shape[1:])
            )
            for name, array in self.inputs.items()
            if name in self.used
        ]
        kept = [numpy_helper.from_array(self.weights[name], name) for name in self.weights]
        end = helper.make_tensor_value_info(output, TensorProto.FLOAT, ("batch", CLASSES))
        self.proto = self.model(helper.make_graph(self.nodes, "net", info, [end], kept))

    def losses(self):
        """By batch, in double; None where float is too far off."""
        found = {}
        wide = evaluator_of(double.model(self.proto, self.logits))
        narrow = evaluator_of(double.ending(self.proto, self.logits))
        with numpy.errstate(all="ignore"):
            for batch in sorted(self.batches):
                given = {n: x[:batch] for n, x in self.inputs.items() if n in self.used}
                one = self.loss(narrow.run(None, given)[0])
                given = {n: x.astype("f8") if x.dtype == "f4" else x for n, x in given.items()}
                found[batch] = self.loss(wide.run(None, given)[0])
                if not abs(found[batch] - one) <= ROUNDING * found[batch]:
                    return None
        return found

    def loss(self, logits):
        logits = logits.astype("f8")
        logits = logits - logits.max(1, keepdims=True)
        right = logits[range(len(logits)), self.labels[: len(logits)]]
        return float((numpy.log(numpy.exp(logits).sum(1)) - right).mean())


def draw(seed):
    """The first net of the seed whose loss rounding does not decide on."""
    for again in range(20):
        net = Net(seed * 1000 + again)
        losses = net.losses() if "x" in net.used else None
        if losses:
            return net, losses
    raise ValueError(f"seed {seed}: no net that rounding leaves alone")


def main():
    folder, first, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        net, losses = draw(seed)
        onnx.checker.check_model(net.proto, full_check=True)
        place = folder / str(seed)
        place.mkdir()
        (place / "model.onnx").write_bytes(net.proto.SerializeToString())
        used = {name: array for name, array in net.inputs.items() if name in net.used}
        for name, array in {**used, "labels": net.labels}.items():
            numpy.save(place / f"{name}.npy", array)
        operators = collections.Counter(node.op_type for node in net.nodes)
        row = {"seed": seed, "inputs": list(used), "operators": operators, "losses": losses}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
