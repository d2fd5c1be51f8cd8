"""PyTorch's side of a comparison: trains a TorchScript on the values that a plan starts from, and
compares what a run of the plan dumped. As a program it prints one JSON object:

    truth.py SCRIPT PLAN DUMP --seed N --shards N --batch N --size N [--device cuda]
             [--precision fp32|tf32|bf16]

"other" in it is the error of PyTorch itself in that precision on the same device: how far another
correct implementation is.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import warnings

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("numerics", "support")]

import compare  # noqa: E402
import harness  # noqa: E402
import values  # noqa: E402
from cases import CLASSES, OPTIONS, STEPS  # noqa: E402


@dataclasses.dataclass
class Trace:
    losses: list  # of every step
    gradients: dict  # after the first step, by name, as NumPy arrays
    parameters: dict  # after the last update


def load(script, plan, seed, rounding=0):
    """The model of a TorchScript file with a plan's initial values. With a `rounding` every one is
    moved to a neighbouring float32 number, up or down at random: as another correct implementation
    might round.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.jit.load(str(script), map_location="cpu").train()
    generator = torch.Generator().manual_seed(rounding)
    own = dict(model.named_parameters())
    for name, value in values.parameters(plan, seed):
        value = torch.from_numpy(value)
        if rounding:
            up = torch.rand(value.shape, generator=generator) < 0.5
            value = torch.nextafter(value, torch.where(up, torch.inf, -torch.inf))
        if own[name].shape != value.shape:
            raise ValueError(f"'{name}': expected {list(own[name].shape)}, got {list(value.shape)}")
        own.pop(name).data = value
    if own:
        raise ValueError(f"the plan has no values for {sorted(own)}")
    return model


def train(model, data, shards, device="cpu", double=True, bf16=False):
    """SGD on one global batch. Every shard goes through the model by itself, with statistics of its
    own, and gradients are averaged: what ranks do. Changes the model. `bf16` is autocast."""
    inputs, labels = (torch.from_numpy(array).to(device) for array in data)
    model = model.to(device)
    if double:
        model, inputs = model.double(), inputs.double()
    trained = dict(model.named_parameters())
    optimizer = torch.optim.SGD(
        list(trained.values()),
        OPTIONS["lr"],
        OPTIONS["momentum"],
        weight_decay=OPTIONS["weight-decay"],
    )
    trace = Trace([], {}, {})
    for step in range(STEPS):
        optimizer.zero_grad()
        total = 0.0
        for part, wanted in zip(inputs.chunk(shards), labels.chunk(shards)):
            with torch.autocast(device, torch.bfloat16, enabled=bf16):
                logits = model(part)
            logits = logits.float() if bf16 else logits
            value = torch.nn.functional.cross_entropy(logits, wanted) / shards
            value.backward()
            total += value.item()
        trace.losses.append(total)
        if step == 0:
            trace.gradients = {name: p.grad.cpu().numpy().copy() for name, p in trained.items()}
        optimizer.step()
    trace.parameters = {name: p.detach().cpu().numpy() for name, p in trained.items()}
    return trace


def allow_tf32(allowed):
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = allowed


def errors(losses, gradients, parameters, truth):
    """Relative errors of the first and last loss, the worst gradient and the worst parameter, as
    text and numbers."""
    first = compare.gradients(gradients, truth.gradients)
    last = compare.parameters(parameters, truth.parameters)
    loss = max(abs(losses[i] - truth.losses[i]) / abs(truth.losses[i]) for i in (0, -1))
    return {
        "error": max(first.error, last.error, loss),
        "text": f"loss {loss:.1e}, gradients {first}, parameters {last}",
    }


def dumped(folder):
    """What `syncline-run --dump` wrote of the first step's gradients and the last
    step's parameters."""
    dump = harness.Dump(folder)
    return [dump.loss(0), dump.loss(STEPS - 1)], dump.gradients(0), dump.parameters(STEPS - 1)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("script", "plan", "dump"):
        parser.add_argument(name)
    for name in ("--seed", "--shards", "--batch", "--size"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="fp32")
    chosen = parser.parse_args(words)
    allow_tf32(False)
    shape = (3, chosen.size, chosen.size)
    data = values.samples(chosen.shards * chosen.batch, shape, CLASSES, chosen.seed)

    def trained(double):
        return train(
            load(chosen.script, chosen.plan, chosen.seed),
            data,
            chosen.shards,
            chosen.device,
            double,
            bf16=chosen.precision == "bf16" and not double,
        )

    truth = trained(double=True)
    allow_tf32(chosen.precision == "tf32")
    found = errors(*dumped(chosen.dump), truth)
    single = trained(double=False)
    found["other"] = errors(single.losses, single.gradients, single.parameters, truth)["error"]
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
