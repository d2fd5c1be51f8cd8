"""Compiles prepared steps anew where this machine's CUDA is older than the one they were compiled
with, or of another major release: step.so names its runtime library."""

import hashlib
import json
import os
import pathlib
import re
import shutil

from table import Failed, Skipped

# As codegen/cuda/CudaTarget.cpp calls it, for the device code that it makes.
OPTIONS = ["-std=c++20", "-O0", "--fmad=false", "-shared", "--cudart=shared", "--threads=0"]
OPTIONS += [
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=[sm_90,compute_90]",
]
OPTIONS += ["-Xcompiler=-fPIC", "-Xlinker=--strip-all"]


def release(text):
    """(13, 0) of what `nvcc --version` says."""
    found = re.search(r"release (\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else ()


def compiler():
    found = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return found.split()


def fitting(machine, includes):
    """A row's function: compiles again what does not fit."""
    if machine.module:
        return for_host(machine)
    here = release(machine.must("steps", *compiler(), "--version").stdout)
    made = release(machine.manifest["versions"]["nvcc"])
    if here >= made and here[:1] == made[:1]:
        raise Skipped(f"compiled by nvcc {made[0]}.{made[1]}, which fits {here[0]}.{here[1]}")
    plans = [path.parent for path in sorted(machine.file("plans").glob("*/step.cu"))]
    for plan in plans:
        machine.must(
            "steps",
            *compiler(),
            *OPTIONS,
            f"-I{includes}",
            plan / "step.cu",
            "-o",
            plan / "step.so",
        )
        seal(plan)
    return f"{len(plans)} compiled again by nvcc {here[0]}.{here[1]}"


def for_host(machine):
    """Steps with kernels for GPUs would load, too, and compute nothing."""
    module = pathlib.Path(machine.module).name.encode()
    steps = [path.parent / "step.so" for path in sorted(machine.file("plans").glob("*/step.cu"))]
    strangers = [path.parent.name for path in steps if module not in path.read_bytes()]
    if strangers:
        raise Failed(
            f"made for GPUs: {len(strangers)}, such as {strangers[0]}; prepare with"
            " NVCC=tests/host-cuda/nvcc"
        )
    return f"{len(steps)} of the host's"


def seal(plan):
    """Writes the hashes of step.so and of plan.json itself, which is taken with its own
    place empty."""
    document = json.loads((plan / "plan.json").read_text())
    document["hashes"]["files"]["step.so"] = hashlib.sha256(
        (plan / "step.so").read_bytes()
    ).hexdigest()
    document["hashes"]["plan"] = plan_hash(document)
    (plan / "plan.json").write_text(json.dumps(document))


def plan_hash(document):
    """Of the text that the runtime's JSON library would write."""
    document = {**document, "hashes": {**document["hashes"], "plan": ""}}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
