"""Drop paths: a run that is resumed draws the same numbers, ranks and seeds draw others, and
evaluation computes with their mean."""

import json
import pathlib
import tempfile
import unittest

import numpy
from onnx import TensorProto, helper, load, numpy_helper

import harness
import models

RANKS, BATCH, STEPS, KEPT = 2, 8, 12, 0.5
TRAINING = ("--lr", 0.05, "--momentum", 0.9)


def network(path):
    """y = (h + h/kept·floor(kept + uniform))·b with h = tanh(x·a), as timm writes it."""
    random = numpy.random.default_rng(2)
    values = {"a": random.normal(0, 0.5, (6, 16)), "b": random.normal(0, 0.3, (16, 4))}
    values = {name: value.astype(numpy.float32) for name, value in values.items()}
    values |= {"first": numpy.array([0]), "one": numpy.array([1])}
    node = helper.make_node
    nodes = [
        node("Constant", [], ["kept"], value_float=KEPT),
        node("MatMul", ["input", "a"], ["m"]),
        node("Tanh", ["m"], ["h"]),
        node("Shape", ["h"], ["s"]),
        node("Gather", ["s", "first"], ["n"]),
        node("Concat", ["n", "one"], ["shape"], axis=0),
        node("ConstantOfShape", ["shape"], ["zeros"]),
        node("RandomUniformLike", ["zeros"], ["u"], name="path", dtype=TensorProto.FLOAT),
        node("Add", ["kept", "u"], ["k"]),
        node("Floor", ["k"], ["f"]),
        node("Div", ["h", "kept"], ["d"]),
        node("Mul", ["d", "f"], ["p"]),
        node("Add", ["h", "p"], ["r"]),
        node("MatMul", ["r", "b"], ["output"]),
    ]
    return models.save(models.model(nodes, values, ("batch", 6)), path)


class NoiseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        random = numpy.random.default_rng(3)
        cls.x = random.standard_normal((96, 6)).astype(numpy.float32)
        cls.y = random.integers(0, 4, 96)
        cls.pair = ",".join(str(cls.shared / f"{part}.npy") for part in "xy")
        numpy.save(cls.shared / "x.npy", cls.x)
        numpy.save(cls.shared / "y.npy", cls.y)
        cls.model = network(cls.shared / "path.onnx")
        cls.plan = harness.compile_plan(cls.model, cls.shared, ranks=RANKS, batch=BATCH)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def train(self, label, steps, *words, plan=None, ranks=RANKS):
        """The saved model's values and the log's last line."""
        saved = self.folder / f"{label}.onnx"
        log = harness.syncline(
            *("run", plan or self.plan, "-n", ranks, "--data", self.pair, "--steps", steps),
            *(*TRAINING, "--save", saved, "--log", "json", *words),
        )
        tensors = load(saved).graph.initializer
        values = {t.name: numpy_helper.to_array(t).tobytes() for t in tensors if t.name in "ab"}
        return values, json.loads(log.splitlines()[-1])

    def test_a_resumed_run_trains_the_same_bits(self):
        whole, _ = self.train("whole", STEPS)
        again, _ = self.train("again", STEPS)
        self.assertEqual(again, whole)
        saving = ("--checkpoint", self.folder / "saved", "--every", 5, "--resume")
        self.train("part", 5, *saving)
        resumed, _ = self.train("rest", STEPS, *saving)
        self.assertEqual(resumed, whole)

    def test_seeds_ranks_and_steps_draw_other_numbers(self):
        """Of samples that are all alike, which no step moves."""
        whole, _ = self.train("whole", STEPS)
        other, _ = self.train("other", STEPS, "--seed", 5)
        self.assertNotEqual(other, whole)
        alike = self.folder / "x.npy", self.folder / "y.npy"
        numpy.save(alike[0], numpy.repeat(self.x[:1], 96, 0))
        numpy.save(alike[1], numpy.repeat(self.y[:1], 96))
        log = harness.syncline(
            *("run", self.plan, "-n", RANKS, "--data", ",".join(map(str, alike)), "--steps", 4),
            *("--lr", 0, "--log", "json"),
        )
        lines = [json.loads(line) for line in log.splitlines()][:4]
        self.assertGreater(len({line["loss"] for line in lines}), 1, lines)
        own = [line for line in lines if line["loss"] == line["mean_loss"]]
        self.assertLess(len(own), 4, "all ranks drew the numbers of the first")

    def mean_loss(self, values):
        """Of the samples, with every path open in proportion: h + h."""
        a, b = (numpy.frombuffer(values[name], numpy.float32).astype(float) for name in "ab")
        logits = 2 * numpy.tanh(self.x.astype(float) @ a.reshape(6, 16)) @ b.reshape(16, 4)
        logits -= logits.max(1, keepdims=True)
        losses = numpy.log(numpy.exp(logits).sum(1)) - logits[numpy.arange(96), self.y]
        return losses.mean()

    def test_evaluation_takes_the_mean(self):
        values, line = self.train("evaluated", STEPS, "--eval", self.pair)
        self.assertAlmostEqual(line["test_loss"], self.mean_loss(values), delta=1e-5)

    def test_without_dropout_every_step_takes_the_mean(self):
        plan = harness.compile_plan(
            self.model, self.folder, ranks=1, batch=96, label="-off", extra=("--dropout", "off")
        )
        dump = harness.train(
            plan, self.folder, (self.x, self.y), steps=1, dump=(0,), settings={"lr": 0}
        )
        initial = {t.name: numpy_helper.to_array(t) for t in load(self.model).graph.initializer}
        values = {name: initial[name].tobytes() for name in "ab"}
        self.assertAlmostEqual(dump.loss(0), self.mean_loss(values), delta=1e-5)


if __name__ == "__main__":
    unittest.main()
