"""The machine under test: its programs, its GPUs, its Python; running things on it with a
log each."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import wheels
from table import Budget, Failed, Skipped

LIMIT = 600  # seconds that one program may take


class Machine:
    def __init__(self, prepared, logs, build=None, module="", budget=None):
        self.prepared = pathlib.Path(prepared).resolve()
        self.logs = pathlib.Path(logs).resolve()
        carried = self.prepared / "runtime"
        build = build or (carried if carried.exists() else None)
        self.is_lean = build is None  # built here, with nothing but CUDA and what was bundled
        self.build = pathlib.Path(build or self.logs / "build").resolve()
        self.manifest = json.loads((self.prepared / "manifest.json").read_text())
        self.module = module  # a backend over libraries on the host, to try these scripts with
        self.budget = budget or Budget()
        self.environment = dict(os.environ)
        if self.build == carried:
            self.find_libraries()
        if module:
            self.environment["SYNCLINE_CUDA_BACKEND"] = str(pathlib.Path(module).resolve())
        # One card for all ranks, ours and PyTorch's, however many there are.
        first = self.environment.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
        self.environment["CUDA_VISIBLE_DEVICES"] = first
        self.gpus = [] if module else gpus()[:1]
        self.torch = self.find_torch()

    def find_libraries(self):
        """A runtime that was built elsewhere takes CUDA's libraries from the system, or else those
        of Python's packages, which lie where no loader looks."""
        found = [str(lib) for package in wheels.folders() for lib in package.glob("*/lib")]
        places = [self.environment.get("LD_LIBRARY_PATH", ""), *found]
        self.environment["LD_LIBRARY_PATH"] = ":".join(place for place in places if place)

    def find_torch(self):
        """"" where python3 has no PyTorch that sees the GPU, or what it says of itself."""
        if importlib.util.find_spec("torch") is None:
            return ""
        usable = "True" if self.module else "torch.cuda.is_available()"
        code = f"import torch; print(torch.__version__ if {usable} else '')"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=self.environment
        )
        return done.stdout.strip()

    @property
    def device(self):
        return "cpu" if self.module else "cuda"

    def file(self, name):
        return self.prepared / name

    def needs_gpu(self, what):
        if self.module:
            raise Skipped(f"{what} needs a GPU")

    def needs_torch(self):
        if not self.torch:
            raise Skipped("python3 has no PyTorch that sees the GPU")

    def run(self, log, *words, limit=LIMIT, environment=None):
        """Runs a program to its end, its output in the log; what it printed to stdout, stderr and
        the exit code."""
        command = [str(word) for word in words]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=min(limit, max(self.budget.left(), 1)),
            env={**self.environment, **(environment or {})},
        )
        with open(self.logs / f"{log}.log", "a") as out:
            out.write(
                f"$ {' '.join(command)}\n{done.stdout}{done.stderr}exit code {done.returncode}\n\n"
            )
        return done

    def must(self, log, *words, **how):
        """As run(), for a program that has to succeed."""
        done = self.run(log, *words, **how)
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            errors = [line for line in said if "error" in line.lower()]
            raise Failed(
                f"exit code {done.returncode}: {(errors or said or ['nothing said'])[-1][:300]}"
                f" ({log}.log)"
            )
        return done

    def words(self, plan, ranks, *extra, shares=True):
        """The command line of a run on GPUs."""
        shared = ["--share-device"] if shares and ranks > 1 else []
        return [
            self.build / "bin" / "syncline-run",
            plan,
            "-n",
            ranks,
            *shared,
            *extra,
        ]

    def python(self, log, script, *words, **how):
        """The last line that one of our Python programs prints, as JSON."""
        program = pathlib.Path(__file__).resolve().parent / script
        done = self.must(log, sys.executable, program, *words, **how)
        return json.loads(done.stdout.splitlines()[-1])


def gpus():
    """A line of name, memory and driver for each GPU."""
    if not shutil.which("nvidia-smi"):
        return []
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []
