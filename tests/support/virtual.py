"""Virtual environments in the build folder, for what Debian does not have."""

import fcntl
import shutil
import subprocess
import sys

import harness


class Missing(Exception):
    """Says why a package cannot be had."""


def environment(name, packages, sources=((),), system=False, depend=False):
    """The Python of the environment `name`, which has exactly these packages, with `depend` also
    those that they depend on, and Debian's with `system`. It is installed once, from the first of
    `sources` (options of pip) that has them."""
    folder = harness.BUILD / name
    complete = folder / "complete"
    with open(harness.BUILD / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another file's tests may want it, too
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            run(name, sys.executable, "-m", "venv", *["--system-site-packages"] * system, folder)
            needed = packages if depend else ("--no-deps", *packages)
            install(name, folder / "bin" / "python", needed, sources)
            complete.touch()
    return folder / "bin" / "python"


def install(name, python, needed, sources):
    for source in sources:
        try:
            words = ("-m", "pip", "install", "--quiet", *source, *needed)
            return run(name, python, *words)
        except Missing as missing:
            reason = missing
    raise reason


def run(name, *words, limit=300):
    try:
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Missing(f"{name}: not installed within {limit} s") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "ERROR" in line] or [
            done.stderr.strip()
        ]
        raise Missing(f"{name} cannot be installed: {said[-1]}")
