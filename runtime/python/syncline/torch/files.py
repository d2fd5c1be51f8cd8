"""Files that a measurement writes at its end."""

import os
from pathlib import Path

from syncline.errors import Error


def check_writable(path):
    """Raises Error where the file cannot be written; leaves none that was not there."""
    path = Path(path)
    was_there = path.exists()
    try:
        with open(path, "a", encoding="utf-8"):
            pass
        if not was_there:
            path.unlink()
    except OSError as failure:
        raise Error(f"'{path}': cannot be written: {failure.strerror}") from failure


def write(path, text):
    """Writes the file whole, or leaves what was there."""
    path = Path(path)
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    except OSError as failure:
        beside.unlink(missing_ok=True)
        raise Error(f"'{path}': cannot be written: {failure.strerror}") from failure
