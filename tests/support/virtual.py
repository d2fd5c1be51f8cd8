"""Virtual environments in the build folder, for what Debian does not have."""

import fcntl
import pathlib
import shutil
import subprocess
import sys

import harness


SLOW = 1200  # seconds: a network that takes longer does not have the package


class Missing(Exception):
    """Says why a package cannot be had."""


def environment(name, packages, sources=((),), system=False, over=None):
    """The Python of the environment `name`, which has exactly these packages, each with its
    version, Debian's with `system`, and those of another environment's Python with `over`. It is
    installed once, from the first of `sources` (options of pip) that has them, and again where the
    packages have changed."""
    unpinned = [package for package in packages if "==" not in package]
    if unpinned:
        raise ValueError(f"expected versions of all packages, got {unpinned}")
    folder = harness.BUILD / name
    complete, wanted = folder / "complete", "\n".join(packages)
    with open(harness.BUILD / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another file's tests may want it, too
        if not complete.exists() or complete.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            run(name, sys.executable, "-m", "venv", *["--system-site-packages"] * system, folder)
            python = folder / "bin" / "python"
            if over:
                (site_of(name, python) / "over.pth").write_text(f"{site_of(name, over)}\n")
            install(name, python, ("--no-deps", *packages), sources)
            complete.write_text(wanted)
    return folder / "bin" / "python"


def install(name, python, needed, sources):
    for source in sources:
        try:
            words = ("-m", "pip", "install", "--quiet", *source, *needed)
            return run(name, python, *words)
        except Missing as missing:
            reason = missing
    raise reason


def site_of(name, python):
    """Where a Python's packages are."""
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return pathlib.Path(run(name, python, "-c", program).strip())


def run(name, *words):
    """What the command prints."""
    try:
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=SLOW)
    except subprocess.TimeoutExpired:
        raise Missing(f"{name}: not installed within {SLOW} s") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "ERROR" in line] or [
            done.stderr.strip()
        ]
        raise Missing(f"{name} cannot be installed: {said[-1]}")
    return done.stdout
