"""Compares a plan for several samples with a plan for one: without batch statistics the loss and
the gradients of a batch are the means of those that its samples have alone. Errors are relative.
Where rounding turns a ReLU, gradients differ by more than the loss."""

import dataclasses
import subprocess

import numpy
import onnx
import torch

import compare
import gradients
import harness
from gradients import BATCH

LIMIT = 1e-5  # of the loss
IGNORED = -100


@dataclasses.dataclass
class Agreement:
    loss: float = 0.0
    gradients: compare.Worst = None
    refusal: str = ""  # in place of errors

    def holds(self):
        return self.loss <= LIMIT and self.gradients.error <= compare.LIMIT

    def __str__(self):
        return self.refusal or f"loss {self.loss:.1e}, gradients {self.gradients}"


def of_gradients(test, name, opset, folder):
    """A model of a GradientsTest, exported, its own data and words for `compile`."""
    torch.manual_seed(0)
    model, data_of = test.models[name]()
    gradients.spread(model)
    data = data_of(BATCH, 0)
    case, path = test(), folder / "model.onnx"
    case.folder = folder
    case.export(model, gradients.sample_of(data[0]), path, opset)
    return path, data, ()


def has_statistics(path):
    """Whether the file's samples meet in a normalization. That of a weight has none."""
    graph = onnx.load(str(path), load_external_data=False).graph
    operators = {name: node.op_type for node in graph.node for name in node.output}
    return any(
        node.op_type == "BatchNormalization"
        and operators.get(node.input[3], "Constant") in ("Constant", "ConstantOfShape", "Identity")
        for node in graph.node
    )


def compiled(path, folder, batch, words):
    """The plan, or the message by which the file is refused."""
    cluster, plan = folder / "one.yaml", folder / f"{path.stem}-{batch}.plan"
    cluster.write_text(harness.CLUSTER.format(ranks=1))
    given = ("compile", path, "--cluster", cluster, "--batch", batch, "-o", plan, *words)
    done = subprocess.run(
        [str(harness.SYNCLINE), *map(str, given)],
        env=harness.environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        raise AssertionError(f"{path.name}: exit code {done.returncode}: {done.stderr}")
    return (plan, "") if done.returncode == 0 else (None, done.stderr.strip().splitlines()[-1])


def trained(plan, folder, data, steps):
    """The dump of so many steps, which leave the parameters as they are."""
    settings = {"lr": 0, "momentum": None, "weight-decay": None}
    return harness.train(plan, folder, data, steps=steps, dump=range(steps), settings=settings)


def shares(targets):
    """The part of a batch's labels that count which each sample has."""
    counts = (targets != IGNORED).reshape(len(targets), -1).sum(1)
    return counts / counts.sum()


def agreement(path, folder, data, words=()):
    """The errors of the model in a file on `data` = (inputs, targets), which hold BATCH samples."""
    plans = {}
    for batch in (BATCH, 1):
        plans[batch], refusal = compiled(path, folder, batch, words)
        if refusal:
            return Agreement(refusal=f"batch {batch}: {refusal}")
    whole = trained(plans[BATCH], folder, data, 1)
    alone = trained(plans[1], folder, data, BATCH)
    parts = shares(data[1])
    loss = sum(part * alone.loss(step) for step, part in enumerate(parts))
    names = whole.gradients(0).names()
    if names != alone.gradients(0).names():
        raise AssertionError(f"{path.name}: {names}, for one sample {alone.gradients(0).names()}")
    means = {
        name: sum(
            part * alone.gradients(step)[name].astype(numpy.float64)
            for step, part in enumerate(parts)
        )
        for name in sorted(names)
    }
    error = abs(whole.loss(0) - loss) / abs(loss)
    return Agreement(error, compare.gradients(whole.gradients(0), means))
