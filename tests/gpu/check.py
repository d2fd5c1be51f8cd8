"""Runs every check of plans on this machine's GPUs and prints one table; check.sh calls it.

    check.py PREPARED LOGS [--only REGEX] [--build FOLDER] [--module FILE]
"""

import argparse
import pathlib
import platform
import shutil
import subprocess
import sys

import steps
import wheels
from accuracy import Accuracy
from faults import Faults
from machine import Machine
from speed import Speed
from table import Failed, Skipped, Table

TOP = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ("syncline-run", "SynclineCuda", "conformance-cuda", "bench-gpu-update")


def build(machine):
    """Configures and builds the runtime with nothing but CUDA and what was bundled."""
    options = {"COMPILER": "OFF", "CPU": "OFF", "CUDA": "ON", "TESTS": "ON", "STRICT": "OFF"}
    words = [f"-DSYNCLINE_{name}={value}" for name, value in options.items()]
    words += ["-DCMAKE_BUILD_TYPE=Release", "-S", TOP, "-B", machine.build, "-G", "Ninja"]
    prefix, found = machine.file("bundle"), "the toolkit's libraries"
    done = machine.run("build", "cmake", f"-DCMAKE_PREFIX_PATH={prefix}", *words)
    if done.returncode != 0 and wheels.gather(wheels.folders(), machine.logs / "wheels"):
        shutil.rmtree(machine.build, ignore_errors=True)
        prefix, found = f"{prefix};{machine.logs / 'wheels'}", "libraries of Python's packages"
        done = machine.run("build", "cmake", f"-DCMAKE_PREFIX_PATH={prefix}", *words)
    if done.returncode != 0:
        raise Failed(f"configuring: {' '.join(done.stderr.split())[-300:]} (build.log)")
    machine.must("build", "cmake", "--build", machine.build, "--target", *TARGETS, limit=1800)
    return f"with {found}"


def conformance(machine):
    machine.needs_gpu("the suite on a device")
    done = machine.run("conformance", machine.build / "bin" / "conformance-cuda", limit=1800)
    last = [line for line in done.stdout.splitlines() if line.startswith("[  ") and " test" in line]
    if done.returncode == 77:
        raise Skipped(done.stdout.strip()[-300:])
    if done.returncode != 0 or not last:
        raise Failed(
            f"exit code {done.returncode}: {'; '.join(last) or done.stderr.strip()[-300:]}"
        )
    return "; ".join(line.strip("[] ") for line in last)


def describe(machine):
    """The table's heading: what it is true of."""
    manifest = machine.manifest["versions"]
    lines = [
        f"Syncline {manifest['commit'][:12]}, {platform.machine()}, Python"
        f" {platform.python_version()}"
    ]
    lines += machine.gpus or [
        f"no GPU; libraries of the host by '{machine.module}'" if machine.module else "no GPU"
    ]
    lines.append(f"PyTorch {machine.torch}" if machine.torch else "no PyTorch that sees a GPU")
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if pathlib.Path(nvcc).exists():
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
        lines += [line for line in said.splitlines() if "release" in line]
    return "\n".join(lines)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("prepared", type=pathlib.Path, help="what prepare.sh wrote")
    parser.add_argument(
        "logs", type=pathlib.Path, help="folder for logs, builds and what runs write"
    )
    parser.add_argument(
        "--only", default="", metavar="REGEX", help="checks whose name this matches"
    )
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        help="a build folder that is ready (default: build one in LOGS)",
    )
    parser.add_argument(
        "--module", default="", metavar="FILE", help="a backend over libraries of the host: a trial"
    )
    chosen = parser.parse_args(words)
    chosen.logs.mkdir(parents=True, exist_ok=True)
    machine = Machine(chosen.prepared, chosen.logs, chosen.build, chosen.module)
    table = Table(chosen.logs, chosen.only)
    heading = describe(machine)
    print(heading, flush=True)
    if not machine.is_lean or table.check(
        "build", "the runtime, from sources", build, machine, always=True
    ):
        table.check("conformance", "all pass", conformance, machine)
        table.check(
            "prepared steps",
            "fit this machine's CUDA",
            steps.fitting,
            machine,
            TOP / "runtime" / "include",
        )
        for part in (Accuracy, Faults, Speed):
            part(machine).add(table)
    text = f"{heading}\n\n{table.text()}\n"
    (chosen.logs / "table.txt").write_text(text)
    print(f"\n{text}", end="")
    return table.exit_code()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
