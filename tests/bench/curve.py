"""A loss curve beside PyTorch's: `bench.py curve`.

ResNet-18 on Fashion-MNIST, AdamW, a linear warm-up, then a cosine, gradients clipped by their norm,
four parts of 16 samples a step: as micro-batches of one rank, of two, or as four ranks. All of
them are the same sums, and batch normalization sees the same 16 samples.
"""

import json
import subprocess
import sys

import numpy

import measure
import training

STEPS, WARM = 200, 20
PARTS, PART = 4, 16
RATE, DECAY, NORM = 1e-3, 0.05, 1.0
CLASSES, SIZE = 10, 56


def make_data(folder):
    """Fashion-MNIST's first images, twice as high and wide, in three equal channels."""
    source = training.fashion_data(folder)
    if not source:
        return None
    files = folder / "curve-x.npy", folder / "curve-y.npy"
    if not files[1].exists():
        count = STEPS * PARTS * PART
        images = numpy.load(source / "fashion-train-x.npy", mmap_mode="r")[:count]
        scale = SIZE // images.shape[-1]
        grown = images.repeat(scale, axis=2).repeat(scale, axis=3).repeat(3, axis=1)
        numpy.save(files[0], grown)
        numpy.save(files[1], numpy.load(source / "fashion-train-y.npy")[:count])
    return files


def model_file(folder):
    sys.path.append(str(training.SAMPLES / "models"))
    import export
    import torch

    path = folder / "curve.onnx"
    export.write(
        export.build("resnet18", classes=CLASSES), torch.zeros(2, 3, SIZE, SIZE), path
    )
    return path


def ours(folder, files, ranks, precision):
    """Every step's loss."""
    plan, cluster = folder / f"curve-{ranks}-{precision}.plan", folder / f"curve-{ranks}.yaml"
    cluster.write_text(training.CLUSTER.format(ranks=ranks, bandwidth="10 Gb/s"))
    micro_batches = PARTS // ranks
    words = ["--cluster", cluster, "--batch", PART, "--optimizer", "adamw", "--overlap", "backward"]
    words += ["--precision", precision]
    words = ["compile", "--quiet", model_file(folder), *words, "-o", plan]
    measure.run([measure.SYNCLINE, *map(str, words)])
    words = ["run", plan, "-n", ranks, "--data", ",".join(map(str, files)), "--steps", STEPS]
    words += ["--lr", RATE, "--weight-decay", DECAY, "--clip-norm", NORM]
    words += ["--accumulate", micro_batches]
    words += ["--schedule", "cosine", "--warmup", WARM, "--log", "json"]
    output, _ = measure.run([measure.SYNCLINE, *map(str, words)])
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return numpy.array([line["loss"] for line in lines if "step" in line])


def theirs(folder, files, number, python):
    """Every step's loss of PyTorch; `number` is fp32, fp64 or bf16 (autocast)."""
    program = str(measure.HERE / "torch_curve.py")
    words = [str(folder / f"curve-{number}.npy"), number, *map(str, files)]
    subprocess.run([python, program, *words], check=True, env=measure.ENVIRONMENT)
    return numpy.load(words[0])


def bench(folder, python):
    files = make_data(folder)
    if not files:
        return
    truth = theirs(folder, files, "fp64", python)
    print(f"{'|loss - PyTorch in float64|':36}{'largest':>10}{'mean':>10}{'last loss':>12}")
    for label, losses in (
        ("PyTorch float32", lambda: theirs(folder, files, "fp32", python)),
        *((f"{n} ranks", lambda n=n: ours(folder, files, n, "fp32")) for n in (1, 2, 4)),
        ("PyTorch bf16 autocast", lambda: theirs(folder, files, "bf16", python)),
        *((f"{n} ranks, bf16", lambda n=n: ours(folder, files, n, "bf16")) for n in (1, 2, 4)),
    ):
        found = losses()
        numpy.save(folder / f"{label}.npy", found)
        away = numpy.abs(found - truth)
        print(f"{label:36}{away.max():10.1e}{away.mean():10.1e}{found[-1]:12.4f}", flush=True)
