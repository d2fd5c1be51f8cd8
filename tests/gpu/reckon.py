#!/usr/bin/env python3
"""What can be said of kernels and steps without a GPU: registers, shared memory and spills of every
kernel by ptxas, and the bytes that a step moves through device memory, reckoned from its plan."""

import argparse
import collections
import math
import pathlib
import re
import subprocess
import sys

from steps import compiler

SOURCES = pathlib.Path(__file__).resolve().parents[2]
# As runtime/cuda/CudaObjects.cmake compiles kernels.
OPTIONS = ["-std=c++20", "-O3", "-fmad=false", "--expt-relaxed-constexpr", "-Xptxas=-v", "-cubin"]

Kernel = collections.namedtuple("Kernel", "name registers shared spilled")


def kernels(text):
    """Of ptxas's report, in which spilled bytes and use follow each kernel's name."""
    found = []
    name = spilled = None
    for line in text.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)'", line):
            name = entry[1]
        elif spills := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spilled = int(spills[1]) + int(spills[2])
        elif name and (used := re.search(r"Used (\d+) registers", line)):
            shared = re.search(r"(\d+) bytes smem", line)
            found.append(Kernel(name, int(used[1]), int(shared[1]) if shared else 0, spilled))
            name = None
    return found


def short(mangled):
    """A kernel's own name, the last of those that its mangled one counts: forwardSumsKernel."""
    name, rest = mangled, re.sub(r"^_ZN?", "", mangled)
    while length := re.match(r"\d+", rest):
        rest = rest[length.end() :]
        name, rest = rest[: int(length[0])], rest[int(length[0]) :]
    return name


def resources(nvcc, architectures):
    heads = ["file", "kernel", "variants", *(f"registers {a}" for a in architectures)]
    print(" | ".join([*heads, "shared", "spilled"]))
    for source in sorted((SOURCES / "runtime/cuda/kernels").glob("*.cu")):
        variants = collections.defaultdict(lambda: collections.defaultdict(list))
        for architecture in architectures:
            command = [*nvcc, *OPTIONS, f"-arch={architecture}", f"-I{SOURCES}"]
            command += [f"-I{SOURCES}/runtime/include", str(source), "-o", "/dev/null"]
            made = subprocess.run(command, capture_output=True, text=True, check=False)
            if made.returncode != 0:
                sys.exit(f"{source.name}: {made.stderr}")
            for kernel in kernels(made.stderr):
                variants[short(kernel.name)][architecture].append(kernel)
        for name, by in sorted(variants.items()):
            every = [kernel for each in by.values() for kernel in each]
            most = (str(max(kernel.registers for kernel in by[a])) for a in architectures)
            print(
                f"{source.name} | {name} | {len(every) // len(by)} | "
                + " | ".join(most)
                + f" | {max(k.shared for k in every)} | {max(k.spilled for k in every)}",
                flush=True,
            )


def elements(memref):
    """64·3·7 of memref<64x3x7xf32>."""
    return math.prod(int(extent) for extent in re.findall(r"(\d+)x", memref))


class Operation:
    """One of plan.mlir. `sizes` are the elements of its operands by role, of a loop's by number;
    `values` their names in the plan; `body` what a loop computes."""

    def __init__(self, line, kind, roles):
        self.kind = kind
        plain = not re.search(r"activation[^,}]*relu", line)
        self.is_plain = plain and "bias" not in (roles or ())
        self.body = []
        sizes = [elements(memref) for memref in re.findall(r"memref<[^>]*>", line)]
        values = re.findall(r"%\w+", line)
        roles = roles or range(len(sizes))
        self.sizes = dict(zip(roles, sizes))
        self.values = dict(zip(roles, values))


def operations(plan):
    """All that compute, and the others as None: neighbours are neighbours in the step."""
    told = []
    for line in plan.splitlines():
        found = re.match(r"\s*plan\.(\w+)(?: (\w+))?(?: \"[^\"]*\" ?(\[[^\]]*\])?)?", line)
        if found and found[1] == "pointwise":
            told.append(Operation(line, "pointwise", None))
        elif found and found[1] == "call":
            told.append(Operation(line, found[2], re.findall(r"\"(\w+)\"", found[3])))
        elif found and found[1] in ("issue", "allGather", "all_gather", "gather", "wait", "update"):
            told.append(None)
        elif (inside := re.match(r"\s*%\w+ = (arith\.\w+(?: o\w\w)?|math\.\w+)", line)) and told:
            told[-1].body.append(inside[1])
    return told


SUM, RELU = ["arith.addf"], ["arith.constant", "arith.cmpf olt", "arith.select"]
RELU_GRADIENT = ["arith.constant", "arith.cmpf ole", "arith.select"]


def is_norm(operation):
    return operation and operation.kind == "batchNorm" and "workspace" not in operation.sizes


def spared(told, place):
    """Elements that an operation and the one behind neither write nor read again because one
    kernel computes both (runtime/cuda/NormSums.h)."""
    first, second = told[place : place + 2]
    if not first or not second:
        return 0
    loop, norm = (second, first) if second.kind == "pointwise" else (first, second)
    if loop.kind != "pointwise" or not loop.body:
        return 0
    sizes, values = list(loop.sizes.values()), list(loop.values.values())
    if is_norm(norm) and norm is first:
        joins = loop.body in (SUM, SUM + RELU) and norm.values["y"] in values[:-1]
        norms = 1 + any(deferred(told, place, value) for value in values[:-1])
        return 2 * norms * sizes[-1] if joins else 0
    if norm.kind == "batchNormBackward" and norm is second:
        joins = loop.body in (SUM, RELU_GRADIENT, SUM + RELU_GRADIENT)
        return sizes[-1] if joins and norm.values["dy"] == values[-1] else 0
    return 0


def deferred(told, place, value):
    """Whether the value is that of a norm before this place which only the sum behind it reads."""
    readers = sum(value in list(each.values.values()) for each in filter(None, told))
    return readers == 2 and any(is_norm(n) and n.values["y"] == value for n in told[:place])


def added_up(told, norm):
    """Elements that a norm reads once less where the convolution that makes x adds them up
    (runtime/cuda/dnn/ConvolutionSums.h)."""
    made = any(
        each.kind == "conv" and each.values["y"] == norm.values["x"] and each.is_plain
        for each in filter(None, told)
    )
    return norm.sizes["x"] if made else 0


def moved(kind, sizes, width):
    """Bytes that an operation reads and writes, its operands `width` bytes wide where they follow
    the precision, by what is charged."""
    if kind == "pointwise":
        return {"loops": width * sum(sizes.values())}
    of = collections.defaultdict(int, sizes)
    weights = of["w"] + of["dw"]
    images = of["x"] + of["y"] + of["dx"] + of["dy"]
    if kind == "conv" or kind.startswith("convBackward"):
        bytes_ = {"convolutions' operands": width * (images + weights)}
        if width == 2 and kind == "conv":
            bytes_["copies of weights"] = 2 * of["w"]  # written by the update
        if width == 2 and of["dw"]:
            bytes_["conversions of weights' gradients"] = 6 * of["dw"]  # bf16 read, f32 written
        return bytes_
    if kind == "batchNorm":  # x for the statistics, x and y
        return {"batch norm": width * (2 * of["x"] + of["y"])}
    if kind == "batchNormBackward":  # x and dy for the sums; x, dy and dx
        return {"batch norm": width * (2 * of["x"] + 2 * of["dy"] + of["dx"])}
    taps = of["workspace"] if "Pool" in kind else 0
    return {"other operations": width * images + taps}


def step(plan, width, optimizer=20, adds_up=False):
    """Bytes of a step by what is charged. SGD with momentum reads and writes a parameter and its
    velocity, and reads its gradient. `adds_up`: convolutions add up what the norms behind them
    need."""
    total = collections.Counter()
    parameters = 0
    told = operations(plan)
    for operation in filter(None, told):
        total.update(moved(operation.kind, operation.sizes, width))
    if adds_up:
        for norm in filter(None, told):
            if norm.kind == "batchNorm":
                total["batch norm"] -= width * added_up(told, norm)
    for place in range(len(told) - 1):
        total["loops"] -= width * spared(told, place)
    for line in re.findall(r"plan\.tensor .* in parameters .*", plan):
        parameters += sum(elements(memref) for memref in re.findall(r"memref<[^>]*>", line))
    total["updates"] = optimizer * parameters
    return total


def reckon(path):
    plan = (path / "plan.mlir").read_text()
    columns = {
        "bf16": step(plan, 2),
        "bf16, sums by convolutions": step(plan, 2, adds_up=True),
        "tf32": step(plan, 4),
    }
    print("GB a step | " + " | ".join(columns))
    for what in columns["bf16"]:
        print(what + " | " + " | ".join(f"{of[what] / 1e9:.2f}" for of in columns.values()))
    beside = (of.total() - of["convolutions' operands"] for of in columns.values())
    print("beside convolutions | " + " | ".join(f"{bytes_ / 1e9:.1f}" for bytes_ in beside))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=pathlib.Path, help="a plan's folder; default: kernels only")
    parser.add_argument("--no-kernels", action="store_true", help="the plan's bytes only")
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90"])
    options = parser.parse_args()
    if options.plan:
        if not (options.plan / "plan.mlir").is_file():
            sys.exit(f"expected a plan's folder, got '{options.plan}'")
        reckon(options.plan)
    if not options.no_kernels:
        resources(compiler(), options.arch)


if __name__ == "__main__":
    main()
