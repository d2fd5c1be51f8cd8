"""Training in bf16 over tests/host-cuda: whoever rounds the weights, the updates that change them
or the steps that read them, the bits are the same, and no copy outlives its weight."""

import json
import os
import unittest
import unittest.mock

import harness
import models
import numpy
import onnx
from host_cuda import CUDA, NODE, HostCudaCase
from onnx import helper
from test_local_updates import PAIR, TEST

BF16 = (*CUDA, "--precision", "bf16")
STEPS = 6
# Works of streams are late at random.
LATE = {"SYNCLINE_HOST_CUDA_DEVICES": "2", "SYNCLINE_HOST_CUDA_DELAY": "100"}
OPTIMIZERS = {
    "momentum": ("--lr", 0.05, "--momentum", 0.9, "--weight-decay", 1e-4),
    "adam": ("--lr", 0.01),
    "adamw": ("--lr", 0.01, "--weight-decay", 0.01),
    "lamb": ("--lr", 0.05),
}
WHOLE, PARTS = "ring", "reduce-scatter"


def residual(path):
    """A block with a sum around two convolutions, and a product."""
    random = numpy.random.default_rng(5)
    values = {"last.weight": random.normal(0, 0.1, (512, 10)), "last.bias": numpy.zeros(10)}
    node = helper.make_node
    nodes = []
    for name, channels, x in (("one", 1, "input"), ("two", 8, "r.one"), ("three", 8, "r.two")):
        values[f"{name}.weight"] = random.normal(0, 0.3, (8, channels, 3, 3))
        values[f"{name}.scale"] = random.uniform(0.5, 1.5, 8)
        values[f"{name}.shift"] = random.normal(0, 0.1, 8)
        values[f"{name}.mean"], values[f"{name}.variance"] = numpy.zeros(8), numpy.ones(8)
        norm = [f"c.{name}", *(f"{name}.{of}" for of in ("scale", "shift", "mean", "variance"))]
        nodes.append(
            node("Conv", [x, f"{name}.weight"], [f"c.{name}"], name=name, pads=[1, 1, 1, 1])
        )
        nodes.append(node("BatchNormalization", norm, [f"n.{name}"], name=f"norm.{name}"))
        if name != "three":
            nodes.append(node("Relu", [f"n.{name}"], [f"r.{name}"], name=f"relu.{name}"))
    nodes += [
        node("Add", ["n.three", "r.one"], ["sum"], name="sum"),
        node("Relu", ["sum"], ["positive"], name="positive"),
        node("Flatten", ["positive"], ["flat"], name="flatten"),
        node("Gemm", ["flat", "last.weight", "last.bias"], ["output"], name="last"),
    ]
    floats = {name: value.astype(numpy.float32) for name, value in values.items()}
    return models.save(models.model(nodes, floats, ("batch", 1, 8, 8)), path)


class HostCudaRoundedTest(HostCudaCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, LATE))
        cls.model = residual(cls.folder / "residual.onnx")
        cls.plans = {}
        # Engines chosen by time round differently, so that all plans share one choice.
        cls.engines = ("--tune-convolutions", cls.folder / "convolutions.tsv")

    def plan(self, ranks, scheme=WHOLE, extra=()):
        key = (ranks, scheme, extra)
        if key not in self.plans:
            words = ("--planner", "wfbp", "--scheme", f"*={scheme}", *BF16, *extra)
            self.plans[key] = harness.compile_plan(
                *(self.model, self.folder, ranks),
                extra=words, cluster=NODE, label=f"{len(self.plans)}",
            )
        return self.plans[key]

    def trained(self, plan, ranks, words, steps=STEPS):
        """The saved weights' bytes by name, the steps' losses, and the saved model's path."""
        out = self.folder / f"trained{len(list(self.folder.iterdir()))}.onnx"
        log = harness.syncline(
            *("run", plan, "-n", ranks, "--data", PAIR, "--steps", steps, "--save", out),
            *("--log", "json", *self.engines, *words),
        )
        *lines, _ = map(json.loads, log.splitlines())
        weights = onnx.load(str(out)).graph.initializer  # in an order of the plan's
        values = {weight.name: onnx.numpy_helper.to_array(weight).tobytes() for weight in weights}
        return values, [line["loss"] for line in lines if "loss" in line], out

    def same_bits(self, optimizer, ways):
        """Whoever rounds the weights, and whenever an update happens."""
        kind = () if optimizer == "momentum" else ("--optimizer", optimizer)
        expected = None
        for scheme, overlap, *graph in ways:
            with self.subTest(optimizer=optimizer, by=scheme, overlap=overlap, graph=graph):
                plan = self.plan(2, scheme, (*kind, "--overlap", overlap))
                found = self.trained(plan, 2, (*OPTIMIZERS[optimizer], *graph))[:2]
                expected = expected or found
                self.assertEqual(found, expected)

    def test_updates_of_parts_and_of_whole_buckets(self):
        """A rank that updates a part of a bucket rounds all of it in the next step; a rank that
        updates all of it has the update round it."""
        ways = (PARTS, "backward"), (WHOLE, "step", "--cuda-graph")
        for optimizer in ("adam", "adamw", "lamb"):
            self.same_bits(optimizer, ways)
        more = (WHOLE, "backward"), (WHOLE, "step"), (PARTS, "step", "--cuda-graph")
        self.same_bits("momentum", (*ways, *more))

    def test_captured_steps(self):
        """On one rank, and where updates wait for the norm of all gradients."""
        rates = OPTIMIZERS["momentum"]
        for ranks in (1, 2):
            for words in ((), ("--clip-norm", 0.5)):
                with self.subTest(ranks=ranks, words=words):
                    plan = self.plan(ranks)
                    told = self.trained(plan, ranks, (*rates, *words))
                    graph = self.trained(plan, ranks, (*rates, *words, "--cuda-graph"))
                    self.assertEqual(graph[:2], told[:2])

    def test_several_micro_batches(self):
        """Copies stay while a step's micro-batches add up gradients."""
        words = (*OPTIMIZERS["momentum"], "--accumulate", 2)
        whole, parts = (self.trained(self.plan(2, by), 2, words)[:2] for by in (WHOLE, PARTS))
        self.assertEqual(whole, parts)

    def test_resumed_run(self):
        for scheme in (WHOLE, PARTS):
            for graph in ((), ("--cuda-graph",)):
                with self.subTest(scheme=scheme, graph=graph):
                    plan = self.plan(2, scheme)
                    words = (*OPTIMIZERS["momentum"], *graph)
                    place = self.folder / f"saved-{scheme}{len(graph)}"
                    through = self.trained(plan, 2, words)
                    saves = (*words, "--checkpoint", place, "--every", 3, "--resume")
                    part = self.trained(plan, 2, saves, steps=3)
                    self.assertNotEqual(part[0], through[0])
                    rest = self.trained(plan, 2, saves)
                    self.assertEqual(rest[0], through[0])
                    self.assertEqual(rest[1], through[1][3:])

    def accuracies(self, plan, words):
        log = harness.syncline("run", plan, "--eval", TEST, "--log", "json", *self.engines, *words)
        lines = [json.loads(line) for line in log.splitlines()]
        return [
            (line["test_loss"], line["test_accuracy"]) for line in lines if "test_loss" in line
        ]

    def test_evaluation_and_loaded_weights(self):
        """What is evaluated between steps and behind them is what a run that only loads the weights
        evaluates; evaluation changes nothing that is trained."""
        plan, words = self.plan(1), OPTIMIZERS["momentum"]
        through, losses, saved = self.trained(plan, 1, words)
        for graph in ((), ("--cuda-graph",)):
            with self.subTest(graph=graph):
                evaluated = ("--eval", TEST, "--eval-every", 2, *words, *graph)
                self.assertEqual(self.trained(plan, 1, evaluated)[0], through)
        whole = self.accuracies(plan, ("--data", PAIR, "--steps", STEPS, *words))
        loaded = self.accuracies(plan, ("--eval-only", "--load", saved))
        self.assertEqual(whole[-1], loaded[-1])
        initial = self.accuracies(plan, ("--eval-only",))
        self.assertNotEqual(initial[-1], loaded[-1])
        self.assertGreater(len(losses), 0)


if __name__ == "__main__":
    unittest.main()
