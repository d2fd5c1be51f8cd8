"""Steps that were compiled before: many tests' plans have the same one, and each is compiled once.

Only plans that `harness` compiles take part. Their steps are what `c++` makes of the same text with
the same words, headers and compiler; samples' scripts, README pages, installations and tests of the
compiler itself use the compiler alone.
"""

import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = (HERE.parents[1] / "runtime", HERE.parent / "host-cuda")
MOST = 3000  # kept; about 100 kB each


@functools.cache
def key():
    """What a step depends on besides its text and the compiler's words."""
    said = subprocess.run(["c++", "--version"], capture_output=True).stdout
    found = hashlib.sha256(said + os.fsencode(shutil.which("c++") or ""))
    for top in HEADERS:
        for path in sorted(top.rglob("*.h")):
            found.update(os.fsencode(path.relative_to(top)) + path.read_bytes())
    return found.hexdigest()


@functools.cache
def folder(build):
    """Where they are kept. The oldest go where there are too many."""
    steps = build / "tests" / "steps"
    steps.mkdir(parents=True, exist_ok=True)
    kept = []
    for path in steps.glob("*.so"):
        try:
            kept.append((path.stat().st_mtime, path))
        except FileNotFoundError:  # another process has removed it
            continue
    for _, path in sorted(kept)[:-MOST]:
        path.unlink(missing_ok=True)
    return steps


def none():
    """Inside it, steps are not compiled at all: for tests that run no plan."""
    path = f"{HERE}{os.pathsep}{os.environ['PATH']}"
    return unittest.mock.patch.dict(os.environ, CXX="empty-step.sh", PATH=path)


def environment(build):
    """Variables for `syncline` that has steps compiled so, unless a test names another compiler."""
    if os.environ.get("CXX") or not shutil.which("c++"):
        return dict(os.environ)
    return {
        **os.environ,
        "PATH": f"{HERE}{os.pathsep}{os.environ['PATH']}",  # a compiler's path must have no blanks
        "CXX": "compile-step.sh",
        "STEPS": str(folder(build)),
        "STEPS_KEY": key(),
    }
