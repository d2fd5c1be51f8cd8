"""The good inputs that are changed at random, made once in a folder by the commands themselves."""

import functools
import json
import os
import pathlib
import shutil

import numpy
import onnx
from PIL import Image

import harness

SAMPLES = harness.TOP / "samples"
DIGITS = SAMPLES / "models" / "digits-cnn.onnx"
IMAGES = f"{SAMPLES / 'data' / 'digits-train-x.npy'},{SAMPLES / 'data' / 'digits-train-y.npy'}"
TOPOLOGY = harness.TOP / "tests" / "lit" / "cluster" / "Inputs" / "two-gpus.xml"

# Copies a ready step.so in place of compiling: the C++ compiler is not what is tested.
COMPILER = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" != -o ] || cp "$(dirname "$0")/empty.so" "$2"; shift; done
"""
HOSTS = "# mpirun --hostfile\nn1 slots=2\nn2 slots=2 max_slots=4\nn3:2\n10.0.0.4 slots=2\n"
LAYERS = (
    "name,bytes,forward,backward,M,N,K\nconv1,7168B,1.83ms,3.66ms,,,\n"
    "fc,4MiB,2ms,4ms,1024,1024,32\nfc2,40kB,1us,2us,1024,10,32\n"
)
ENGINE = "autograd::engine::evaluate_function: ConvolutionBackward0"


class Seeds:
    """Paths and contents of the good inputs, below `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @property
    def compiler(self):
        return self.folder / "cxx"

    def make(self):
        """Writes all that takes long to make. Call it once, before the processes that use it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write("cluster.yaml", harness.CLUSTER.format(ranks=1))
        self.write("layers.csv", LAYERS)
        words = ("compile", DIGITS, "--batch", 8, "--loss", "cross-entropy")
        harness.syncline(
            *words, "--cluster", self.folder / "cluster.yaml", "-o", self.folder / "one.plan"
        )
        self.write("four.yaml", harness.CLUSTER.format(ranks=4))
        harness.syncline(
            *words, "--cluster", self.folder / "four.yaml", "-o", self.folder / "four.plan"
        )
        harness.syncline("profile", DIGITS, "--batch", 8, "-o", self.folder / "profile.json")
        run = ("run", self.folder / "one.plan", "-n", 1, "--data", IMAGES, "--steps", 4)
        harness.syncline(*run, "--trace", self.folder / "trace.json")
        shutil.copy(self.folder / "one.plan" / "step.so", self.folder / "empty.so")
        self.write("cxx", COMPILER)
        os.chmod(self.compiler, 0o755)
        images, labels = (numpy.load(path) for path in IMAGES.split(","))
        numpy.save(self.folder / "x.npy", images[:32])
        numpy.save(self.folder / "y.npy", labels[:32])
        numpy.savetxt(self.folder / "x.csv", images[:32].reshape(32, -1), fmt="%.4g", delimiter=",")
        numpy.savetxt(self.folder / "y.csv", labels[:32], fmt="%d")
        tiles = images[:24, 0].reshape(4, 6, 8, 8).transpose(0, 2, 1, 3).reshape(32, 48)
        picture = Image.fromarray((tiles * 255).astype("u1"))
        picture.save(self.folder / "image.png")
        picture.quantize(16).save(self.folder / "palette.png")
        picture.save(self.folder / "image.jpg")
        picture.convert("RGB").save(self.folder / "progressive.jpg", progressive=True)
        self.write("torch.json", json.dumps(torch_trace()))
        self.write("map.json", json.dumps(TORCH_MAP))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    @functools.cache
    def data(self, name):
        return (self.folder / name).read_bytes()

    @functools.cache
    def document(self, name):
        return json.loads(self.data(name))

    @functools.cached_property
    def model(self):
        return onnx.load(str(DIGITS))

    @functools.cached_property
    def clusters(self):
        return [path.read_bytes() for path in sorted((SAMPLES / "clusters").glob("*.yaml"))]


TORCH_MAP = {
    "schema": 1,
    "batch": 4,
    "operations": {
        "aten::conv2d": ["/conv1/Conv", "/conv2/Conv"],
        "aten::linear": "/fc/Gemm",
        ENGINE: ["/conv2/Conv", "/conv1/Conv"],
    },
}


def torch_trace():
    """What torch.profiler writes of three steps of two convolutions and a linear
    layer, shortened."""
    events = []
    for step in range(3):
        base = 1000.0 * step
        rows = [
            ("aten::conv2d", 10, 1),
            ("aten::conv2d", 60, 2),
            ("aten::linear", 120, 3),
            (ENGINE, 300, 2),
            (ENGINE, 400, 1),
        ]
        events += [
            event(name, base + at, number + 10 * step, 2 if name == ENGINE else 1)
            for name, at, number in rows
        ]
        events.append(
            {
                "ph": "X",
                "cat": "user_annotation",
                "name": f"ProfilerStep#{step}",
                "pid": 7,
                "tid": 1,
                "ts": base,
                "dur": 900,
            }
        )
    return {"schemaVersion": 1, "traceEvents": events}


def event(name, ts, number, thread):
    arguments = {"Sequence number": number}
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": 7,
        "tid": thread,
        "ts": ts,
        "dur": 30,
        "args": arguments,
    }
