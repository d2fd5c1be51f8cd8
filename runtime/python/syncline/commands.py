"""The commands as functions: each starts `syncline` as a process and returns what it says."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _library
from .errors import Error, InternalError, UsageError

PathLike = Union[str, "os.PathLike[str]"]
Option = Union[None, bool, str, int, float, "os.PathLike[str]", Sequence[Any]]
ERROR = re.compile(r"^syncline: error: ", re.MULTILINE)
NOTE = re.compile(r"^syncline: note: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Message:
    """A message of a plan. Times are in seconds from the beginning of the step."""

    id: int
    members: List[str]
    bytes: int
    scheme: str
    ready: float
    start: float
    end: float
    exposed: float


@dataclass(frozen=True)
class Plan:
    """A plan folder. Its plan.json is read when something of it is first asked for."""

    path: Path

    @cached_property
    def json(self) -> Dict[str, Any]:
        """All that plan.json says."""
        file = self.path / "plan.json"
        try:
            read = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise Error(f"'{file}': {error}") from error
        if not isinstance(read, dict):
            raise Error(f"'{file}': expected an object, got {type(read).__name__}")
        return read

    def _at(self, *keys: str) -> Any:
        value = self.json
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                raise Error(f"'{self.path / 'plan.json'}': expected key '{'.'.join(keys)}'")
            value = value[key]
        return value

    @property
    def name(self) -> str:
        return self._at("name")

    @property
    def ranks(self) -> int:
        return self._at("ranks")

    @property
    def batch(self) -> int:
        """Samples a rank."""
        return self._at("batch")

    @property
    def step(self) -> float:
        """The predicted step, in seconds."""
        return self._at("predicted", "step")

    @property
    def exposed(self) -> float:
        """Seconds of the step in which computation waits for messages."""
        return self._at("predicted", "exposed")

    @property
    def efficiency(self) -> float:
        """The step of one device alone, which sends nothing, as a part of this step."""
        return self._at("predicted", "alone") / self.step

    @property
    def gap(self) -> Optional[float]:
        """How far the plan may be from the best one, as a part; None where no bound is known."""
        return self._at("predicted", "planner", "gap")

    @property
    def messages(self) -> List[Message]:
        names = Message.__dataclass_fields__
        return [Message(**{name: one[name] for name in names}) for one in self._at("buckets")]


@dataclass(frozen=True)
class Compiled:
    """What `compile` made, with the command's notes."""

    plan: Plan
    notes: List[str]


@dataclass(frozen=True)
class Inspected:
    """What `inspect` prints; the plan has its numbers."""

    plan: Plan
    text: str


@dataclass(frozen=True)
class Verified:
    """What `verify` found; `text` names what was not compared."""

    plan: Plan
    text: str


@dataclass(frozen=True)
class Simulation:
    """A plan in virtual time. Times are in seconds; `json` has all that the command printed."""

    step: float
    exposed: float
    efficiency: float
    samples_per_second: float
    ranks: int
    json: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Cluster:
    """A cluster file as text, and where it was written."""

    text: str
    path: Optional[Path]


def _words(options: Dict[str, Option]) -> List[str]:
    """Options as the command takes them: `batch=32` is `--batch 32`, True a flag alone, and a
    sequence an option given once for each element."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            for one in value:
                words += [flag, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
        else:
            words += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words


def _message(text: str) -> str:
    """What the command says after `syncline: error: `, or all where it says no such thing."""
    found = ERROR.search(text)
    return (text[found.end() :] if found else text).strip()


def _run(name: str, *words: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [str(_library.command()), name, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode == 0:
        return done
    if done.returncode < 0:
        raise InternalError(f"'syncline {name}': ended by signal {-done.returncode}")
    kind = {1: Error, 2: UsageError}.get(done.returncode, InternalError)
    raise kind(_message(done.stderr) or f"'syncline {name}': exit code {done.returncode}")


def compile(model: PathLike, *, cluster: PathLike, output: PathLike, **options: Option) -> Compiled:
    """Makes the plan folder `output`. Further options are the command's: `batch=32`,
    `loss="cross-entropy"`, `plan_only=True`."""
    words = _words({"cluster": cluster, "output": output, **options})
    done = _run("compile", os.fspath(model), *words)
    return Compiled(Plan(Path(output)), NOTE.findall(done.stderr))


def inspect(plan: Union[Plan, PathLike], **options: Option) -> Inspected:
    """What `syncline inspect` prints, such as `why="fc.weight"` explains, beside the plan."""
    folder = _folder(plan)
    done = _run("inspect", os.fspath(folder), *_words(options))
    return Inspected(Plan(folder), done.stdout)


def verify(plan: Union[Plan, PathLike], **options: Option) -> Verified:
    """Checks the plan's files, rules and proofs; raises Error where one does not hold."""
    folder = _folder(plan)
    done = _run("verify", os.fspath(folder), *_words(options))
    return Verified(Plan(folder), done.stdout.strip())


def simulate(plan: Union[Plan, PathLike], **options: Option) -> Simulation:
    """Runs the plan in virtual time, such as on another `cluster`."""
    if "sweep" in options:
        raise UsageError("'sweep': expected in sweep(), got it in simulate()")
    words = _words({**options, "json": True})
    read = json.loads(_run("simulate", os.fspath(_folder(plan)), *words).stdout)
    names = ("step", "exposed", "efficiency", "samples_per_second", "ranks")
    return Simulation(**{name: read[name] for name in names}, json=read)


def sweep(
    plan: Union[Plan, PathLike], axes: Union[str, Sequence[str]], **options: Option
) -> List[Dict[str, Any]]:
    """Simulates the plan for each value of an axis such as `"ranks=2,4,8"`, or each pair of values
    of two: what `--json` prints of each, with its place in `at`. What is `left_out` says why."""
    words = _words({"sweep": axes, **options, "json": True})
    printed = _run("simulate", os.fspath(_folder(plan)), *words).stdout
    return [json.loads(line) for line in printed.splitlines()]


def cluster(output: Optional[PathLike] = None, **options: Option) -> Cluster:
    """Writes a cluster file to `output`, or only returns its text: `nodes=8`, `device="v100"`."""
    done = _run("cluster", *_words({"output": output, **options}))
    if output is None:
        return Cluster(done.stdout, None)
    path = Path(output)
    return Cluster(path.read_text(encoding="utf-8"), path)


def _folder(plan: Union[Plan, PathLike]) -> Path:
    return plan.path if isinstance(plan, Plan) else Path(plan)


def main() -> None:
    """The script `syncline` that a wheel installs: becomes the program."""
    try:
        program = str(_library.command())
    except Error as error:
        sys.exit(f"syncline: error: {error}")
    os.execv(program, [program, *sys.argv[1:]])
