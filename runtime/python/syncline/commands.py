"""The commands as functions: each starts `syncline` as a process and returns what it says."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _library
from .errors import Error, InternalError, UsageError
from .plans import NUMBER, Plan, typed

PathLike = Union[str, "os.PathLike[str]"]
Option = Union[None, bool, str, int, float, "os.PathLike[str]", Sequence[Any]]
ERROR = re.compile(r"^syncline: error: ", re.MULTILINE)
NOTE = re.compile(r"^syncline: note: (.*)$", re.MULTILINE)


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
    program = str(_library.command())
    for word in words:
        if "\0" in word:
            raise UsageError(f"'syncline {name}': expected text without NUL bytes, got {word!r}")
    try:
        done = subprocess.run(
            [program, name, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise Error(f"'{program}': cannot be started: {error.strerror}") from error
    if done.returncode == 0:
        return done
    if done.returncode < 0:
        raise InternalError(f"'syncline {name}': ended by signal {-done.returncode}")
    kind = {1: Error, 2: UsageError}.get(done.returncode, InternalError)
    raise kind(_message(done.stderr) or f"'syncline {name}': exit code {done.returncode}")


def _object(name: str, text: str) -> Dict[str, Any]:
    """The JSON object that `syncline NAME` printed."""
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise InternalError(f"'syncline {name}': expected a JSON object, got {text!r:.80}")
    return read


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
    read = _object("simulate", _run("simulate", os.fspath(_folder(plan)), *words).stdout)
    names = ("step", "exposed", "efficiency", "samples_per_second", "ranks")
    numbers = {name: typed("'syncline simulate'", read, NUMBER, name) for name in names}
    return Simulation(**numbers, json=read)


def sweep(
    plan: Union[Plan, PathLike], axes: Union[str, Sequence[str]], **options: Option
) -> List[Dict[str, Any]]:
    """Simulates the plan for each value of an axis such as `"ranks=2,4,8"`, or each pair of values
    of two: what `--json` prints of each, with its place in `at`. What is `left_out` says why."""
    words = _words({"sweep": axes, **options, "json": True})
    printed = _run("simulate", os.fspath(_folder(plan)), *words).stdout
    return [_object("simulate", line) for line in printed.splitlines()]


def cluster(output: Optional[PathLike] = None, **options: Option) -> Cluster:
    """Writes a cluster file to `output`, or only returns its text: `nodes=8`, `device="v100"`."""
    done = _run("cluster", *_words({"output": output, **options}))
    if output is None:
        return Cluster(done.stdout, None)
    path = Path(output)
    try:
        return Cluster(path.read_text(encoding="utf-8"), path)
    except (OSError, ValueError) as error:
        raise Error(f"'{path}': {error}") from error


def _folder(plan: Union[Plan, PathLike]) -> Path:
    return plan.path if isinstance(plan, Plan) else Path(plan)


def main() -> None:
    """The script `syncline` that a wheel installs: becomes the program."""
    try:
        program = str(_library.command())
    except Error as error:
        sys.exit(f"syncline: error: {error}")
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"syncline: error: '{program}': cannot be started: {error.strerror}")
