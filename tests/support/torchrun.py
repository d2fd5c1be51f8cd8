"""A torchrun that works on Debian 12, in a virtual environment in the build folder: Debian's own,
of PyTorch 1.13, ends with an error under Python 3.11."""

import shutil
import subprocess
import sys

import harness

RELEASE = "2.13.0+cpu"
FOLDER = harness.BUILD / f"torchrun-{RELEASE}"
# What pip is configured for comes first: a machine may have the wheel at hand.
SOURCES = [[], ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]]


class TorchrunMissing(Exception):
    """Says why it cannot be had."""


def torchrun():
    """The words that start it. It is installed once, which takes a minute and 800 MB."""
    complete = FOLDER / "complete"
    if not complete.exists():
        install()
        complete.touch()
    return [str(FOLDER / "bin" / "python"), "-m", "torch.distributed.run"]


def install():
    shutil.rmtree(FOLDER, ignore_errors=True)
    run(sys.executable, "-m", "venv", FOLDER)
    for source in SOURCES:
        try:
            # torchrun needs only this one of torch's dependencies.
            packages = [f"torch=={RELEASE}", "typing_extensions"]
            return run(
                FOLDER / "bin" / "python",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                *source,
                *packages,
            )
        except TorchrunMissing as missing:
            reason = missing
    raise reason


def run(*words, limit=300):
    try:
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise TorchrunMissing(f"torch {RELEASE}: not installed within {limit} s") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "ERROR" in line] or [
            done.stderr.strip()
        ]
        raise TorchrunMissing(f"torch {RELEASE} cannot be installed: {said[-1]}")
