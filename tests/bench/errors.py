"""How much of a gradient rounding takes, beside PyTorch's float32: `bench.py errors`.

Every model has torchvision's own initial weights; nothing is chosen. Truth is PyTorch in float64.
"""

import dataclasses
import statistics
import sys

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
SEEDS = 3
ROUNDING = 1e-7  # of a result itself, below which an error says nothing about its sum
TURNED = 1e-4  # an error above it comes from a ReLU or a maximum that rounding turned


@dataclasses.dataclass
class Tensor:
    """One gradient: the relative errors of both sides."""

    name: str
    ours: float
    theirs: float

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
        yield Tensor(name, *(compare.norm(side[name] - value) / by for side in (ours, theirs)))


def tensors(name, seed, folder):
    """The gradients of one step on a batch of noise."""
    import export
    import harness
    import reference

    size = export.SIZE.get(name, 224)
    model = export.build(name, seed)
    random = numpy.random.RandomState(seed)
    images = random.standard_normal((BATCH, 3, size, size)).astype(numpy.float32)
    data = (images, random.randint(0, 1000, BATCH))
    path = folder / f"{name}-{seed}.onnx"
    export.write(model, reference.torch.zeros(2, 3, size, size), path)
    plan = harness.compile_plan(path, folder, batch=BATCH)
    ours = harness.train(plan, folder, data, steps=1, dump=(0,)).gradients(0)
    theirs = reference.train(model, data, steps=1, double=False).gradients
    truth = reference.train(model, data, steps=1).gradients
    return list(errors(ours, theirs, truth))


def bench(folder, models):
    """`worst` is over the tensors in which neither side turned anything."""
    print(
        f"{'gradients, ours / PyTorch float32':36}{'median':>8}{'worst':>8}"
        f"{f'above {TURNED:.0e}: ours, theirs':>30}  the worst: ours, theirs"
    )
    for name in models or MODELS:
        for seed in range(SEEDS):
            found = tensors(name, seed, folder)
            kept = [one for one in found if max(one.ours, one.theirs) <= TURNED]
            worst = max(kept, key=lambda one: one.ratio, default=None)
            counts = [sum(e > TURNED for e in side) for side in zip(*map(pair, found))]
            print(
                f"{f'{name}, seed {seed}, {len(found)} tensors':36}"
                f"{statistics.median(one.ratio for one in found):8.2f}"
                + (f"{worst.ratio:8.2f}" if worst else f"{'-':>8}")
                + f"{f'{counts[0]}, {counts[1]}':>30}"
                + (f"  {worst.name}: {worst.ours:.1e}, {worst.theirs:.1e}" if worst else ""),
                flush=True,
            )


def pair(tensor):
    return tensor.ours, tensor.theirs
