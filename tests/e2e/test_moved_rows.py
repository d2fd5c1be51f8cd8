"""Integers that a model slices, reshapes, transposes, joins, pads or expands number the rows of
tables, each place of the input those of its own table, as a recommender's features do."""

import itertools
import json

import numpy
from onnx import TensorProto, helper, numpy_helper

import harness
import models
from refusal import RefusalTest

BATCH, WIDTH, CLASSES = 4, 3, 5
# Each column of the input numbers the rows of a table of its own: how the model takes it out of the
# input, and the rows of its table.
ROWS = {"slice": 50, "gather": 4, "split": 7, "transpose": 9, "shift": 6, "pad": 8, "expand": 5}
COUNT = 8  # columns; the last one numbers nothing


def columns(ids):
    """The numbers of each table's rows, [batch, 1] to [batch, 3]."""
    first = numpy.full_like(ids[:, :1], 2)
    return {
        "slice": ids[:, 0:1],
        "gather": ids[:, 1:2],
        "split": ids[:, 2:3],
        "transpose": ids[:, 3:4],
        "shift": numpy.concatenate([first, ids[:, 4:5]], axis=1),
        "pad": numpy.concatenate([ids[:, 5:6], first + 1], axis=1),
        "expand": numpy.repeat(ids[:, 6:7], 3, axis=1),
    }


def recommender():
    random = numpy.random.RandomState(0)
    values = {
        name: random.standard_normal((rows, WIDTH)).astype("f4") for name, rows in ROWS.items()
    }
    features = WIDTH * sum(part.shape[1] for part in columns(numpy.zeros((1, COUNT))).values())
    values["weight"] = random.standard_normal((features, CLASSES)).astype("f4")
    node, numbers = helper.make_node, itertools.count()
    constants, nodes = [], []

    def integers(values):
        name = f"k{next(numbers)}"
        constants.append(
            node("Constant", [], [name], value=numpy_helper.from_array(numpy.array(values)))
        )
        return name

    def part(begin):
        name = f"part{begin}"
        ends = [integers([begin]), integers([begin + 1]), integers([1])]
        nodes.append(node("Slice", ["input", *ends], [name]))
        return name

    part(0)
    nodes.append(node("Gather", ["input", integers([1])], ["gathered"], axis=1))
    sizes = integers([2, 1, COUNT - 3])
    nodes.append(node("Split", ["input", sizes], ["s0", "s1", "s2"], axis=1))
    nodes.append(node("Transpose", ["input"], ["turned"], perm=[1, 0]))
    nodes.append(node("Gather", ["turned", integers(3)], ["row"], axis=0))
    nodes.append(node("Unsqueeze", ["row", integers([1])], ["column"]))
    fifth = part(4)
    nodes.append(node("Concat", [fifth, fifth], ["twice"], axis=1))
    nodes.append(node("Slice", ["twice", integers([1]), integers([2]), integers([1])], ["once"]))
    nodes.append(node("Pad", ["once", integers([0, 1, 0, 0]), integers(2)], ["shifted"]))
    nodes.append(node("Pad", [part(5), integers([0, 0, 0, 1]), integers(3)], ["padded"]))
    nodes.append(node("Expand", [part(6), integers([1, 3])], ["expanded"]))
    ids = ["part0", "gathered", "s1", "column", "shifted", "padded", "expanded"]
    flat = integers([0, -1])
    for name, number in zip(ROWS, ids):
        nodes.append(node("Gather", [name, number], [f"{name}.rows"]))
        nodes.append(node("Reshape", [f"{name}.rows", flat], [f"{name}.flat"]))
    nodes.append(node("Concat", [f"{name}.flat" for name in ROWS], ["features"], axis=1))
    nodes.append(node("MatMul", ["features", "weight"], ["output"]))
    proto = models.model(constants + nodes, values, ("batch", COUNT), TensorProto.INT64)
    return proto, {name: value.astype("f8") for name, value in values.items()}


def step(values, ids, labels, rate):
    """The loss; the values move down their gradients."""
    parts = {name: numbers % ROWS[name] for name, numbers in columns(ids).items()}
    taken = [values[name][numbers].reshape(len(ids), -1) for name, numbers in parts.items()]
    features = numpy.concatenate(taken, axis=1)
    shares = numpy.exp(features @ values["weight"])
    shares /= shares.sum(axis=1, keepdims=True)
    every = numpy.arange(len(ids))
    loss = -numpy.log(shares[every, labels]).mean()
    shares[every, labels] -= 1
    back = (shares / len(ids)) @ values["weight"].T
    values["weight"] -= rate * features.T @ (shares / len(ids))
    ends = numpy.cumsum([rows.shape[1] for rows in taken])[:-1]
    for (name, numbers), rows in zip(parts.items(), numpy.split(back, ends, axis=1)):
        numpy.subtract.at(values[name], numbers, rate * rows.reshape(*numbers.shape, WIDTH))
    return loss


class MovedRowsTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.proto, self.values = recommender()
        self.model = models.save(self.proto, self.folder / "model.onnx")
        self.plan = harness.compile_plan(self.model, self.folder, ranks=2, batch=BATCH)
        random = numpy.random.RandomState(1)
        rows = [*ROWS.values(), 1000]
        self.ids = numpy.stack([random.randint(-n, n, 2 * BATCH) for n in rows], axis=1)
        self.labels = random.randint(0, CLASSES, 2 * BATCH)

    def data(self):
        return harness.save(self.folder, {"input": self.ids}, self.labels)

    def test_training_is_that_of_the_definition(self):
        words = ("--steps", 3, "--lr", 0.5, "--log", "json", "--data", self.data())
        said = harness.syncline("run", self.plan, "-n", 2, *words)
        losses = [line["loss"] for line in map(json.loads, said.splitlines()) if "step" in line]
        self.assertEqual(len(losses), 3)
        for loss in losses:
            self.assertAlmostEqual(loss, step(self.values, self.ids, self.labels, 0.5), 5)

    def test_each_column_is_checked_against_its_own_table(self):
        for column, rows in enumerate(ROWS.values()):
            kept = self.ids[1, column]
            self.ids[1, column] = rows
            self.refuses(
                ("run", self.plan, "-n", 2, "--data", self.data(), "--steps", 1),
                *(f"element {COUNT + column}", f"from 0 to {rows - 1}", f"got {rows}"),
            )
            self.ids[1, column] = kept
