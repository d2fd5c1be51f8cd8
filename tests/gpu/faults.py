"""What goes wrong: lost and stopped ranks, bad input, what compute-sanitizer finds."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from table import Check, Failed, Skipped

# Seconds that a rank waits for another; two processes that load libraries onto one card are slow.
TIMEOUT = 20
PATIENCE = 20  # beyond it: the others end, and the launcher cleans up
# Kernels that a tool of compute-sanitizer looks at, by a part of their names. cuDNN's own are known
# to be reported without reason by all tools but memcheck.
ALL, OURS, STEPS = "", "syncline", "planned"
OF_OURS = ("racecheck", "synccheck", "initcheck")
TOOLS = [("memcheck", ALL), *((tool, of) for tool in OF_OURS for of in (OURS, STEPS))]
CRASHES = ("terminate called", "Segmentation", "Assertion")


class Faults:
    def __init__(self, machine):
        self.machine = machine

    def checks(self):
        within = f"'rank 1' is named within {TIMEOUT + PATIENCE} s, exit code 1"
        yield Check("a killed rank", within, self.lost, (signal.SIGKILL,))
        yield Check("a stopped rank", within, self.lost, (signal.SIGSTOP,))
        captured = (signal.SIGKILL, "--cuda-graph")
        yield Check("a killed rank of captured steps", within, self.lost, captured)
        one = "one message, exit code 1"
        yield Check("more ranks than GPUs", one, self.too_many)
        yield Check("too little memory", one, self.too_large)
        usage = "one message, exit code 2"
        yield Check("an option of GPUs for a processor's plan", usage, self.for_processors)
        yield Check("a processor's backend", one, self.without_cpu)
        for tool, kernels in TOOLS:
            of = f" of {kernels}'s kernels" if kernels else ""
            name = f"compute-sanitizer {tool}{of}, one step"
            yield Check(name, "no error", self.sanitize, (tool, kernels))

    def lost(self, how, *extra):
        """Two ranks train until one gets the signal; how long the others take to say so."""
        machine = self.machine
        plan = machine.file(machine.manifest["digits-two"])
        words = machine.words(
            plan, 2, "--steps", 10**7, "--log", "json", "--timeout", TIMEOUT, *extra
        )
        log = machine.logs / f"lost-{how.name}{''.join(extra)}.log"
        ranks = {}
        with open(log, "w") as said:
            run = subprocess.Popen(
                list(map(str, words)),
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                env=machine.environment,
            )
            try:
                wait_for_steps(run, 20)
                ranks = children(run.pid)
                if 1 not in ranks:
                    raise Failed(f"expected a process with RANK=1, got {ranks}")
                os.kill(ranks[1], how)
                start = time.monotonic()
                run.communicate(timeout=TIMEOUT + PATIENCE)
                seconds = time.monotonic() - start
            finally:
                for pid in (*ranks.values(), run.pid):
                    end(pid)
                run.wait()
        lines = [line for line in log.read_text().splitlines() if "error:" in line]
        text = (
            f"after {seconds:.1f} s, exit code {run.returncode}:"
            f" {lines[0] if lines else 'nothing said'}"
        )
        if run.returncode != 1 or not any("rank 1" in line for line in lines):
            raise Failed(text)
        return text

    def refused(self, log, words, *names, code=1):
        done = self.machine.run(log, *words, limit=120)
        lines = [line for line in done.stderr.splitlines() if "error:" in line]
        text = (
            f"exit code {done.returncode}:"
            f" {'; '.join(lines) or done.stderr.strip()[-200:] or 'nothing said'}"
        )
        crashed = any(crash in done.stderr for crash in CRASHES)
        if (
            done.returncode != code
            or len(lines) != 1
            or crashed
            or not all(name in lines[0] for name in names)
        ):
            raise Failed(text)
        return text

    def too_many(self):
        machine = self.machine
        devices = len(machine.gpus) or 1
        plans = {2: machine.manifest["digits-two"]}
        plans |= {entry["ranks"]: entry["many"] for entry in machine.manifest["whole"]}
        fitting = sorted(ranks for ranks in plans if ranks > devices)
        if not fitting:
            raise Skipped(f"{devices} GPUs, more than a prepared plan has ranks")
        ranks = fitting[0]
        words = machine.words(machine.file(plans[ranks]), ranks, "--steps", 1, shares=False)
        return self.refused("too-many", words, "no device of its own")

    def too_large(self):
        self.machine.needs_gpu("a lack of its memory")
        if "too-large" not in self.machine.manifest["speed"]:
            raise Skipped("what was prepared is for trials on the host")
        plan = self.machine.manifest["speed"]["too-large"]["plan"]
        return self.refused(
            "too-large", self.machine.words(self.machine.file(plan), 1, "--steps", 1), "memory"
        )

    def for_processors(self):
        plan = self.machine.file(self.machine.manifest["processor"])
        words = self.machine.words(plan, 1, "--steps", 1, "--cuda-graph")
        return self.refused("processor", words, "--cuda-graph", "'syncline compile", code=2)

    def without_cpu(self):
        """This build has no CPU backend, and says so."""
        if not self.machine.is_lean:
            raise Skipped("the build is not ours, and may have one")
        plan = self.machine.file(self.machine.manifest["processor"])
        program = self.machine.build / "bin" / "syncline-run"
        return self.refused("no-cpu", [program, plan, "-n", 1, "--steps", 1], "no CPU backend")

    def sanitize(self, tool, kernels):
        self.machine.needs_gpu("compute-sanitizer")
        found = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        if not pathlib.Path(found).exists():
            raise Skipped("no compute-sanitizer here")
        plan = self.machine.file(self.machine.manifest["digits"])
        words = [found, "--tool", tool, "--target-processes", "all", "--error-exitcode", 9]
        if tool == "memcheck":
            words += ["--report-api-errors", "no"]  # libraries try calls that they know may fail
        if kernels:
            words += ["--kernel-regex", f"kns={kernels}"]
        words += self.machine.words(plan, 1, "--steps", 1)
        done = self.machine.run(f"sanitizer-{tool}-{kernels or 'all'}", *words)
        said = done.stdout + done.stderr
        summary = [line.strip("= ") for line in said.splitlines() if "SUMMARY" in line]
        if "not supported" in said and done.returncode != 9:
            raise Skipped(
                f"compute-sanitizer refuses this machine: {said.strip().splitlines()[0][:200]}"
            )
        if done.returncode != 0 or not summary:
            raise Failed(
                f"exit code {done.returncode}: {'; '.join(summary) or said.strip()[-300:]}"
            )
        return "; ".join(summary)


def wait_for_steps(run, count):
    """Until rank 0 has reported so many steps."""
    for line in run.stdout:
        if line.startswith("{") and json.loads(line).get("step", -1) >= count:
            return
    run.wait()
    raise Failed(f"the run ended before step {count}: exit code {run.returncode}")


def children(parent):
    """Process ids of a launcher's ranks."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) != parent:
                continue
            variables = (folder / "environ").read_bytes().split(b"\0")
            found.update(
                {int(word[5:]): int(folder.name) for word in variables if word.startswith(b"RANK=")}
            )
        except (OSError, ValueError, IndexError):
            pass  # ended meanwhile
    return found


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
