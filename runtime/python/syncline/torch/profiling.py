"""A model's times on this machine: as a profile by the nodes of its ONNX file, or as a layer
trace."""

import collections
import csv
import dataclasses
import json
import re
from pathlib import Path

import torch

import syncline
from syncline.errors import Error
from syncline.torch import export, files, hooks, layers, nodes, planning

# Operators with kernels of their own: a time of the backward pass by the node's name is looked up.
KERNELS = """
    Attention BatchNormalization Conv ConvTranspose Einsum GRU Gather Gemm GroupNormalization
    InstanceNormalization LSTM LayerNormalization MatMul RMSNormalization RNN
""".split()
CLUSTER = "name: any\nranks: 2\nnetwork: {bandwidth: 10 Gb/s, latency: 20us}\n"
CLUSTER += "device: {compute: 50 GFLOP/s, memory: 10 GB/s}\n"


@dataclasses.dataclass(frozen=True)
class Profiled:
    """A measured step, in seconds. `loss` is forward; its backward pass is in `backward`.
    `covered` is the part of the step that `compile` takes from the file."""

    path: Path
    step: float
    forward: float
    backward: float
    loss: float
    steps: int
    covered: float


def profile(model, sample, output, loss=None, steps=10):
    """See syncline.torch.profile."""
    path = files.path_of(output)
    if path.suffix not in (".csv", ".json"):
        raise Error(f"'{path}': expected a file ending in .json or, for a layer trace, .csv")
    hooks.trained(model)
    files.check_writable(path)
    if path.suffix == ".csv":
        times = hooks.times(model, sample, loss, steps)
        text, covered = layers.text(planning.rows_of(model, times)), 1.0
    else:
        text, times, covered = by_nodes(model, sample, loss, steps, path)
    files.write(path, text)
    found = (times.step, times.forward, times.backward, times.loss, times.steps)
    return Profiled(path, *found, covered)


def by_nodes(model, sample, loss, count, path):
    """The profile's text, the times and the part of them that `compile` finds."""
    times = hooks.times(model, sample, loss, count)
    with files.scratch() as folder:
        file = folder / f"{type(model).__name__}.onnx"
        try:
            (folder / "parameters.txt").write_text(
                export.write(model, sample, file), encoding="utf-8"
            )
            export.check_reached(model, file)
            (folder / "any.yaml").write_text(CLUSTER, encoding="utf-8")
            forward, backward, _ = layers_of(folder, file)
        except Error as failure:
            raise Error(
                f"'{path}': expected a model with an ONNX file to plan from, got none ({failure}):"
                " a layer trace, a file ending in .csv, needs none"
            ) from failure
        graph = nodes.Graph(file)
        made = operations(graph, graph.blocks(model, times), times, forward, backward)
        text = document(model, sample, times, made)
        (folder / "profile.json").write_text(text, encoding="utf-8")
        *_, found = layers_of(folder, file, profile=folder / "profile.json")
    return text, times, found / times.step


def layers_of(folder, file, **options):
    """The names of layers with times in the forward pass and in the backward pass, as `compile`
    plans the file, and the seconds of all layers."""
    options = {"parameters": folder / "parameters.txt", **options}
    output = folder / "any.plan"
    syncline.compile(file, cluster=folder / "any.yaml", output=output, plan_only=True, **options)
    names, total = ([], []), 0.0
    with open(output / "layers.csv", newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            for found, phase in zip(names, ("forward", "backward")):
                seconds = seconds_of(row[phase])
                total += seconds
                if seconds > 0:
                    found.append(row["name"])
    return (*map(set, names), total)


UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def seconds_of(text):
    number, unit = re.fullmatch(r"([\d.e+-]+) ?([a-z]+)", text).groups()
    return float(number) * UNITS[unit]


def operations(graph, blocks, times, forward, backward):
    """Times by node; `forward` and `backward` are the names that `compile` looks up. Where nodes
    run as one operation it takes the last one's time. So the last node of a module's block has the
    forward time, the node that computes with a parameter has its backward time, and others have
    none."""
    names = [node.name for _, block in blocks for node in block]
    made = {name: {"forward": 0.0, "backward": 0.0} for name in names}
    count = collections.Counter(module for module, _ in blocks)
    rest, last = 0.0, None
    for module, block in blocks:
        rest += times.modules.get(module, 0.0) / count[module]
        node = next((node for node in reversed(block) if node.name in forward), None)
        if node:  # or else the next block has the time
            last = node.name
            made[last]["forward"] += rest
            rest = 0.0
    if last:
        made[last]["forward"] += rest
    makers = makers_of(blocks, backward)
    readers = graph.readers()
    for name, seconds in times.parameters.items():
        # The gradient of a shared parameter is ready when that of its first reader is.
        for reader in readers.get(name, [])[:1]:
            if maker := makers.get(reader.name):
                made[maker]["backward"] += seconds
    made["loss"] = {"forward": times.loss, "backward": 0.0}
    return made


def makers_of(blocks, backward):
    """By node, the one whose backward time is looked up for the gradients of what the node reads:
    itself, or else the first such node of its block, or that of the block before."""
    makers, before = {}, None
    for _, block in blocks:
        known = [node.name for node in block if node.name in backward or node.kind in KERNELS]
        before = known[0] if known else before
        for node in block:
            makers[node.name] = node.name if node.kind in KERNELS else before
    return makers


def document(model, sample, times, made):
    """The profile as JSON."""
    mapped = sum(seconds for each in made.values() for seconds in each.values())
    device = next(iter(hooks.trained(model).values())).device
    kind = torch.cuda.get_device_name(device) if device.type == "cuda" else "processor"
    head = {
        "schema": 1,
        "name": f"{type(model).__name__} by PyTorch {torch.__version__} on a {kind}",
        "batch": hooks.batch_of(sample),
        "precision": precision_of(model, device),
        "threads": torch.get_num_threads() if device.type == "cpu" else None,
        "overhead": text_of(times.step - mapped),
        "operations": {
            name: {phase: text_of(seconds) for phase, seconds in each.items()}
            for name, each in made.items()
        },
    }
    return json.dumps({name: value for name, value in head.items() if value}, indent=2) + "\n"


def precision_of(model, device):
    """What the step computes in; None where it is none of compile's types."""
    kinds = {each.dtype for each in hooks.trained(model).values()}
    if kinds == {torch.bfloat16}:
        return "bf16"
    if kinds != {torch.float32} or torch.is_autocast_enabled(device.type):
        return None
    has_tf32 = device.type == "cuda" and torch.backends.cuda.matmul.allow_tf32
    return "tf32" if has_tf32 else "fp32"


def text_of(seconds):
    return f"{max(seconds, 0.0) * 1e9:.0f}ns"
