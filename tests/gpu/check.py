"""Runs every check of plans on this machine's GPUs and prints one table; check.sh calls it."""

import argparse
import contextlib
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile

import steps
import wheels
from accuracy import Accuracy
from faults import Faults
from machine import Machine
from memory import Memory
from speed import Speed
from table import Budget, Check, Failed, Skipped, Stopped, Table

TOP = pathlib.Path(__file__).resolve().parents[2]
# What tells most comes first, since a machine with a GPU may be at hand for minutes only.
ORDER = [
    re.compile(names)
    for names in (
        *("^conformance", "^prepared steps", r"^numbers (resnet18-1|resnet50-1|digits-2):"),
        *(r"^speed (resnet50-64|vgg16-32) ", r"^speed of the update", r"^numbers .*(tf32|bf16)"),
        *(r"^memory", r"^numbers", r"rank", r"^compute-sanitizer memcheck"),
    )
]
LOG_BYTES = 1 << 20  # of a log's end, in the archive
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
        "--only",
        type=expression,
        default="",
        metavar="REGEX",
        help="checks whose name this matches",
    )
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        help="a build folder that is ready (default: build one in LOGS)",
    )
    parser.add_argument(
        "--module", default="", metavar="FILE", help="a backend over libraries of the host: a trial"
    )
    parser.add_argument(
        "--budget", type=seconds, metavar="SECONDS", help="what all checks of this call may take"
    )
    parser.add_argument(
        "--again", action="store_true", help="run also what an earlier call on LOGS has found"
    )
    chosen = parser.parse_args(words)
    budget = Budget(chosen.budget)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    chosen.logs.mkdir(parents=True, exist_ok=True)
    machine = Machine(chosen.prepared, chosen.logs, chosen.build, chosen.module, budget)
    table = Table(chosen.logs, describe(machine), key(machine), budget, chosen.again)
    print(table.heading, flush=True)
    built = Check("build", "the runtime, from sources", build, (machine,))
    try:
        if not machine.is_lean or table.run(built):
            found = [check for check in checks(machine) if chosen.only.search(check.name)]
            table.run_all(table.ordered(found, ORDER))
    except Stopped as signalled:
        end_children()
        print(f"check: stopped by {signalled}", flush=True)
    table.write()
    print(f"\n{table.text()}\n{pack(chosen.logs)}")
    return table.exit_code()


def seconds(text):
    value = float(text)
    if not 0 < value < 1e7:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got '{text}'")
    return value


def expression(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}': {error}") from error


def end_children():
    """A signal may have come after a process began and before `subprocess` was ready to end it."""
    with contextlib.suppress(FileNotFoundError):  # a kernel that does not list them
        own = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
        for child in own.read_text().split():
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(int(child), signal.SIGKILL)
                os.waitpid(int(child), 0)


def stop(number, _):
    raise Stopped(signal.Signals(number).name)


def key(machine):
    """Rows of an earlier call count only for the same plans, sources and programs."""
    manifest = (machine.prepared / "manifest.json").read_bytes()
    return hashlib.sha256(manifest + f"{machine.build} {machine.module}".encode()).hexdigest()


def checks(machine):
    yield Check("conformance", "all pass", conformance, (machine,))
    arguments = (machine, TOP / "runtime" / "include")
    yield Check("prepared steps", "fit this machine's CUDA", steps.fitting, arguments)
    for part in (Accuracy, Faults, Speed, Memory):
        yield from part(machine).checks()


def pack(logs):
    """One file with the table and the ends of all logs; says where."""
    archive = logs / "check.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted([*logs.glob("*.log"), logs / "table.txt", logs / "rows.json"]):
            raw = path.read_bytes()[-LOG_BYTES:]
            entry = tarfile.TarInfo(f"check/{path.name}")
            entry.size = len(raw)
            packed.addfile(entry, io.BytesIO(raw))
    return f"table and logs: {archive}, {archive.stat().st_size >> 10} KiB"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
