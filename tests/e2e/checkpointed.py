"""Runs with checkpoints, and what an uninterrupted run trains, as a test case to derive from."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile

import numpy
from onnx import helper

import harness
import models
from refusal import RefusalTest

DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
SERVERS = harness.CLUSTER + "servers: {{count: 2, dedicated: yes}}\n"
RANKS = 3
BATCH = 8  # 59 steps are an epoch
# compile_plan()'s arguments of the ways in which a step's gradients or weights travel.
WAYS = {
    "ring": {"extra": ("--planner", "wfbp", "--scheme", "*=ring")},
    "sharded": {"extra": ("--planner", "wfbp", "--scheme", "*=reduce-scatter")},
    "carried": {"extra": ("--planner", "wfbp", "--scheme", "*=ring", "--overlap", "step")},
    "carried-sharded": {
        "extra": ("--planner", "wfbp", "--scheme", "*=reduce-scatter", "--overlap", "step"),
    },
    "halves": {"extra": ("--planner", "dear:1B", "--scheme", "*=ring", "--overlap", "step")},
    "factors": {"extra": ("--scheme", "fc*=factors", "--overlap", "step")},
    "mixed": {"extra": ("--scheme", "fc*=reduce-scatter")},
    "servers": {"cluster": SERVERS, "extra": ("--planner", "wfbp", "--scheme", "*=ps")},
    "local": {"extra": ("--consistency", "local:4")},
    "diloco": {"extra": ("--consistency", "diloco:4,2,1,0.5")},
    "adamw": {"extra": ("--optimizer", "adamw", "--scheme", "fc*=reduce-scatter")},
    "lamb": {"extra": ("--optimizer", "lamb", "--scheme", "fc*=reduce-scatter")},
    "easgd": {"extra": ("--consistency", "easgd:sync3,0.5,2")},
}
OPTIMIZER = ("--lr", 0.05, "--momentum", 0.9, "--weight-decay", 1e-4)
ADAMW = ("--lr", 0.01, "--schedule", "step:6,0.5", "--warmup", 5, "--clip-value", 0.5)


def network(path):
    """A convolution, normalization with running statistics, dropout and a fully connected layer."""
    random = numpy.random.default_rng(3)
    weights = {
        "conv.weight": random.normal(0, 0.3, (8, 1, 3, 3)),
        "norm.weight": random.uniform(0.5, 1.5, 8),
        "norm.bias": random.normal(0, 0.1, 8),
        "norm.mean": numpy.zeros(8),
        "norm.variance": numpy.ones(8),
        "fc.weight": random.normal(0, 0.1, (512, 10)),
        "fc.bias": numpy.zeros(10),
        "ratio": numpy.array(0.25),
    }
    values = {name: value.astype(numpy.float32) for name, value in weights.items()}
    values["training"] = numpy.array(True)
    node = helper.make_node
    norm = ["c", "norm.weight", "norm.bias", "norm.mean", "norm.variance"]
    nodes = [
        node("Conv", ["input", "conv.weight"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        node("BatchNormalization", norm, ["n"], name="norm"),
        node("Relu", ["n"], ["r"], name="relu"),
        node("Dropout", ["r", "ratio", "training"], ["d"], name="drop"),
        node("Flatten", ["d"], ["f"], name="flatten"),
        node("Gemm", ["f", "fc.weight", "fc.bias"], ["output"], name="fc"),
    ]
    return models.save(models.model(nodes, values, ("batch", 1, 8, 8)), path)


class CheckpointedTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = network(cls.shared / "net.onnx")
        cls.plans = {}

    def plan_of(self, way, ranks=RANKS, batch=BATCH, model=None):
        key = way, ranks, batch, model
        if key not in self.plans:
            label = f"-{way}"
            self.plans[key] = harness.compile_plan(
                model or self.model, self.shared, ranks=ranks, batch=batch, label=label, **WAYS[way]
            )
        return self.plans[key]

    def words(self, plan, steps, out, ranks=RANKS, extra=()):
        words = ("run", plan, "-n", ranks, "--data", PAIR, "--shuffle", "--steps", steps)
        moments = [self.plans.get((way, ranks, BATCH, None)) for way in ("adamw", "lamb")]
        optimizer = ADAMW if plan in moments else OPTIMIZER
        return [*words, *optimizer, "--save", out, "--log", "json", *extra]

    def train(self, plan, steps, label, ranks=RANKS, extra=()):
        """The saved model, the lines of the steps by number, the summary, and stderr."""
        out = self.folder / f"{label}.onnx"
        done = self.command(*self.words(plan, steps, out, ranks, extra))
        self.assertEqual(done.returncode, 0, done.stderr)
        *steps, summary = [json.loads(line) for line in done.stdout.splitlines()]
        return out.read_bytes(), {line["step"]: line for line in steps}, summary, done.stderr

    def saving(self, folder, every=None, *more):
        words = ["--checkpoint", folder, *more]
        return words if every is None else [*words, "--every", every]

    def checkpoints(self, folder):
        """Numbers of steps of the complete ones."""
        return sorted(
            int(path.parent.name.removeprefix("step")) for path in folder.glob("*/manifest.json")
        )

    def begin(self, words, **more):
        """The process of a run, with a process group of its own, so that all ranks can be ended at
        once."""
        process = subprocess.Popen(
            [str(harness.SYNCLINE), *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **more,
        )
        self.addCleanup(self.end_all, process)
        return process

    def end_all(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()
