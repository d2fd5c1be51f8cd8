"""How much of a gradient rounding takes, beside PyTorch's float32: `bench.py errors`.

Every model has its library's own initial weights; nothing is chosen. Truth is PyTorch in float64.
"""

import dataclasses
import functools
import math
import pathlib
import statistics
import sys
import tempfile

import numpy

import measure

sys.path += [str(measure.TOP / "tests" / part) for part in ("numerics", "support")]
sys.path.append(str(measure.TOP / "samples" / "models"))

# One of each of torchvision's families.
MODELS = (
    *("resnet50", "resnext50_32x4d", "regnet_x_400mf", "densenet121", "vgg11", "inception_v3"),
    *("googlenet", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0"),
    *("shufflenet_v2_x1_0", "mnasnet1_0", "squeezenet1_1"),
)
BATCH = 8
STEPS = 3  # of AdamW, after which what it changed is compared
ADAMW = {"lr": 1e-4, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}
ROUNDING = 1e-7  # of a result itself, below which an error says nothing about its sum
TURNED = 1e-4  # an error above it comes from a ReLU or a maximum that rounding turned


@dataclasses.dataclass
class Tensor:
    """One gradient: the relative errors of both sides, and the norm that they are relative to."""

    name: str
    ours: float
    theirs: float
    norm: float

    @property
    def ratio(self):
        return max(self.ours, ROUNDING) / max(self.theirs, ROUNDING)


def errors(ours, theirs, truth):
    """Of every gradient. One that is zero in truth is compared with its layer's scale, as
    tests/numerics does."""
    import compare

    scale = 1.0
    for name, value in truth.items():
        own = compare.norm(value)
        if value.ndim > 1:
            scale = own or scale
        by = scale if own <= compare.ZERO * scale else own
        yield Tensor(name, *(compare.norm(side[name] - value) / by for side in (ours, theirs)), by)


def steps(model, plan, folder, data, chosen):
    """Of both sides in float32 and of truth: the gradients of one step, or with AdamW what STEPS
    steps have changed."""
    import harness
    import reference

    train = functools.partial(reference.train, model, data, shards=chosen.ranks)
    run = functools.partial(harness.train, plan, folder, data, chosen.ranks)
    if chosen.optimizer == "sgd":
        sides = train(steps=1, double=False), train(steps=1)
        return run(steps=1, dump=(0,)).gradients(0), *(side.gradients for side in sides)
    make = functools.partial(reference.torch.optim.AdamW, **ADAMW)
    flags = {"lr": ADAMW["lr"], "weight-decay": ADAMW["weight_decay"], "momentum": None}
    extra = ("--betas", "0.9,0.999", "--eps", ADAMW["eps"])
    found = run(steps=STEPS, dump=(STEPS - 1,), settings=flags, extra=extra).parameters(STEPS - 1)
    begin = {name: value.detach().numpy().copy() for name, value in model.named_parameters()}
    sides = (train(steps=STEPS, double=double, optimizer=make) for double in (False, True))
    return tuple(
        {name: side[name].astype(numpy.float64) - value for name, value in begin.items()}
        for side in (found, *(side.parameters for side in sides))
    )


def tensors(name, batch, seed, folder, chosen):
    """The errors on a batch of noise."""
    import export
    import harness
    import networks

    model, sample = networks.make(name, seed)
    data = networks.noise(model, sample, chosen.ranks * batch, seed)
    path = folder / f"{name.replace(':', '-')}-{seed}.onnx"
    export.write(model, sample, path, chosen.opset)
    plan = harness.compile_plan(
        *(path, folder, chosen.ranks, batch), extra=("--optimizer", chosen.optimizer)
    )
    path.unlink()
    return list(errors(*steps(model, plan, folder, data, chosen)))


def bench(folder, models, chosen):
    """`worst` is over the tensors in which neither side turned anything, `all` of the errors of all
    tensors as if they were one."""
    print(
        f"{'ours / PyTorch float32':36}{'median':>8}{'worst':>8}{'all':>8}"
        f"{f'above {TURNED:.0e}: ours, theirs':>30}  the worst: ours, theirs"
    )
    limit = TURNED if chosen.optimizer == "sgd" else math.inf
    for name in models or MODELS:
        name, _, batch = name.partition("/")
        for seed in range(chosen.seeds):
            with tempfile.TemporaryDirectory(dir=folder) as own:
                found = tensors(name, int(batch or BATCH), seed, pathlib.Path(own), chosen)
            kept = [one for one in found if max(one.ours, one.theirs) <= limit]
            worst = max(kept, key=lambda one: one.ratio, default=None)
            counts = [sum(e > TURNED for e in side) for side in zip(*map(pair, found))]
            whole = [math.hypot(*side) for side in zip(*map(absolute, found))]
            print(
                f"{f'{name}, seed {seed}, {len(found)} tensors':36}"
                f"{statistics.median(one.ratio for one in found):8.2f}"
                + (f"{worst.ratio:8.2f}" if worst else f"{'-':>8}")
                + f"{whole[0] / whole[1]:8.2f}"
                + f"{f'{counts[0]}, {counts[1]}':>30}"
                + (f"  {worst.name}: {worst.ours:.1e}, {worst.theirs:.1e}" if worst else ""),
                flush=True,
            )


def absolute(tensor):
    return tensor.ours * tensor.norm, tensor.theirs * tensor.norm


def pair(tensor):
    return tensor.ours, tensor.theirs
