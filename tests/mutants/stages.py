"""The ten folders with the tests that belong to each, and how one stage of tests is run.

A stage is a line: "unit-solver", "unit-runtime Ring*" (a program, a filter of GoogleTest), "lit
merge" (a folder of tests/lit), "python numerics/test_ranks.py", or "ctest": all that ctest knows.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import surroundings

PYTHON = "/usr/bin/python3"
OPERATORS = "python numerics/test_operators.py"
MESSAGES = "Blocks*:Segments*:Sum*:Trees*:RankHalves*:*Ring*:*AllReduce*:Scheme*:*Schemes*:Wire*"
MESSAGES += ":Frames*:Group*:Store*:Watch*:ChannelJob*:CommunicationThread*"
# Folders of the product, each with its own tests: cheap ones first.
FOLDERS = {
    "frontend/onnx": ["unit-onnx", OPERATORS],
    "passes/differentiate": ["lit differentiate", "unit-differentiate", OPERATORS],
    "passes/problem": ["unit-problem", "lit merge", "lit simulate", "unit-solver"],
    "passes/solver": ["lit merge", "unit-solver", "unit-merge"],
    "passes/lower": ["unit-lower", "lit lower", "unit-codegen", "python numerics/test_schemes.py"],
    "passes/check": ["unit-check", "lit check", "python e2e/test_plan_mutations.py"],
    "codegen/step": ["lit codegen", "unit-codegen", OPERATORS],
    "runtime/transport": [f"unit-runtime {MESSAGES}", "unit-runtime"],
    "runtime/cpu": ["unit-cpu", "conformance"],
    "runtime/run": ["unit-runtime", "python e2e/test_checkpoint.py", "python e2e/test_data.py"],
}
# Rules of style are no judges: clang-format would notice a change that no behaviour shows.
NOT_JUDGES = "^(lint|tidy)"
MOST_PRINTED = 1 << 28  # bytes: a program that prints without end does not end either
REST = ("e2e", "numerics", "fuzz")  # folders of Python tests, behind ctest
RUNNING = {
    "gtest": r"\[ RUN      \] (\S+)",
    "python": r"^(test_\w+ \([\w.]+\)) ?",
    "ctest": r"(?s)Start +\d+: (\S+)\n(?!.*Test +#\d+: \1 )",  # has not ended
}
FAILED = {
    "gtest": r"^\[  FAILED  \] (\S+?),? ",
    "lit": r"^(?:FAIL|TIMEOUT|UNRESOLVED): \S+ :: (\S+)",
    "python": r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))",
    "ctest": r"^\s+\d+ - (\S+) \(",
}


def every(folder, source):
    """All stages: the folder's own, then the rest of the tests that a run of them has."""
    tests = [source / "tests" / name for name in REST]
    files = [path for place in tests for path in sorted(place.glob("test_*.py"))]
    rest = ["ctest", *(f"python {path.parent.name}/{path.name}" for path in files)]
    own = FOLDERS[folder]
    return [*own, *(stage for stage in rest if stage not in own)]


def kind_of(stage):
    name = stage.split()[0]
    return name if name in ("lit", "python", "ctest") else "gtest"


def targets(stage):
    """What ninja has to build for a stage."""
    if kind_of(stage) == "lit":
        return ["syncline-opt", "syncline-translate"]
    return [stage.split()[0]] if kind_of(stage) == "gtest" else ["all"]


class Stage:
    """Runs stages in a source and a build folder. A test may take `limit` seconds: so long may a
    stage print nothing, since it prints as each test ends. Tests start from what tests/run.py gives
    them: they would fail without a fault where a script starts this in the background."""

    def __init__(self, source, build, limit):
        self.source, self.build, self.limit = source, build, limit
        self.surroundings = surroundings.settled()

    def command(self, stage, only):
        """The words of a stage, or of one of its tests, and the folder that it runs in if any."""
        kind, (name, *rest), tests = kind_of(stage), stage.split(), self.source / "tests"
        if kind == "gtest":
            chosen = [f"--gtest_filter={only or rest[0]}"] if only or rest else []
            return [self.build / "bin" / name, "--gtest_fail_fast", *chosen], None
        if kind == "lit":
            return [*self.lit(), "--max-failures=1", tests / "lit" / (only or rest[0])], None
        if kind == "python":
            path = tests / rest[0]
            chosen = ["-k", only.split()[0]] if only else []
            return [PYTHON, "-m", "unittest", "-v", "-f", *chosen, path.stem], path.parent
        # With -V each of a program's hundreds of tests prints.
        words = ["ctest", "--test-dir", self.build, "-LE", "long", "--stop-on-failure", "-V"]
        chosen = ["-R", f"^{re.escape(only)}$"] if only else ["-E", NOT_JUDGES]
        return [*words, "-j", os.cpu_count(), *chosen], None

    def lit(self):
        """How ctest calls lit, less the folder."""
        words = ["ctest", "--test-dir", self.build / "tests" / "lit", "--show-only=json-v1"]
        shown = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        commands = [test["command"] for test in shown["tests"]]
        command = next(words for words in commands if any("lit.py" in word for word in words))
        return [word for word in command if not word.startswith(str(self.source / "tests" / "lit"))]

    def environment(self):
        """What every test is told, and the mark by which its processes are known."""
        mark = f"MUTANTS_RUN={os.getpid()}"
        shared = [self.source / "tests" / "support", self.source / "samples" / "models"]
        told = {"BUILD": str(self.build), "OMP_NUM_THREADS": "1", **dict([mark.split("=")])}
        return {**self.surroundings, "PYTHONPATH": os.pathsep.join(map(str, shared)), **told}, mark

    def run(self, stage, only=None):
        """What fails: None, or a test's name ("" where it is not known) and how it ended."""
        words, place = self.command(stage, only)
        environment, mark = self.environment()
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "output"  # processes left behind would hold a pipe
            with output.open("w") as to:
                process = subprocess.Popen(
                    [str(word) for word in words],
                    **{"cwd": place or folder, "env": environment, "stdout": to, "stderr": to},
                )
                try:
                    code = self.ended(process, output)
                finally:
                    end_all(mark)
                    process.wait()
            return self.judge(stage, code, output.read_text(errors="replace"), self.limit)

    def ended(self, process, output):
        """The exit code; None for a process that has printed nothing for too long, or too much."""
        size, since = 0, time.monotonic()
        while time.monotonic() - since < self.limit and size < MOST_PRINTED:
            try:
                return process.wait(min(1, self.limit))
            except subprocess.TimeoutExpired:
                if output.stat().st_size != size:
                    size, since = output.stat().st_size, time.monotonic()
        return None

    @staticmethod
    def judge(stage, code, printed, limit):
        if code == 0:
            return None
        kind = kind_of(stage)
        failed = re.findall(FAILED[kind], printed, re.MULTILINE)
        running = re.findall(RUNNING.get(kind, r"(?!)"), printed, re.MULTILINE)
        if code is None:
            return (running[-1] if running else ""), f"the limit of {limit} s"
        name = failed[0] if failed else running[-1] if running else ""
        return name, "" if failed else f"exit code {code}"


def end_all(mark):
    """Ends every process that was started with the mark in its environment, its children too."""
    found = True
    while found:
        found = False
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark.encode() in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    found = True
            except OSError:
                continue  # it has ended, or is another user's
