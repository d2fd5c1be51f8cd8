"""Where the commands and libsyncline.so are: named by a variable, in the wheel, in the build folder
of these sources, or where the system looks."""

import ctypes.util
import os
from pathlib import Path
from typing import Iterator, Optional

from .errors import Error

PACKAGE = Path(__file__).resolve().parent
LIBRARY = "libsyncline.so.1"


def _prefixes() -> Iterator[Path]:
    """Folders that hold `bin` and `lib`: the wheel's, then the build's where this package stands in
    the sources, as their files show."""
    yield PACKAGE / "prefix"
    sources = PACKAGE.parents[2]
    if (sources / "runtime" / "include" / "syncline.h").is_file():
        yield Path(os.environ.get("SYNCLINE_BUILD") or sources / "build")


def _named(variable: str) -> Optional[Path]:
    """The file that the variable names, where it is set."""
    value = os.environ.get(variable)
    if not value:
        return None
    path = Path(value)
    if not path.is_file():
        raise Error(f"'{variable}': expected a file, got '{value}'")
    return path.absolute()


def _starts_as_program(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _on_path() -> Iterator[Path]:
    """The programs `syncline` on PATH. The script of a wheel without programs often stands before
    them, and would only call this package again."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder) / "syncline"
        if folder and path.is_file() and os.access(path, os.X_OK):
            if _starts_as_program(path):
                yield path


def command() -> Path:
    """The program `syncline`; SYNCLINE names another."""
    named = _named("SYNCLINE")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(f"'SYNCLINE': expected a program, got '{named}'")
        return named
    for prefix in _prefixes():
        path = prefix / "bin" / "syncline"
        if path.is_file():
            return path
    for path in _on_path():
        return path
    raise Error("'syncline': expected on PATH or named by SYNCLINE, got none")


def library() -> str:
    """What ctypes.CDLL takes for libsyncline.so; SYNCLINE_LIBRARY names another."""
    named = _named("SYNCLINE_LIBRARY")
    if named:
        return str(named)
    for prefix in _prefixes():
        path = prefix / "lib" / LIBRARY
        if path.is_file():
            return str(path)
    for path in _on_path():
        beside = path.resolve().parents[1] / "lib" / LIBRARY
        if beside.is_file():
            return str(beside)
    name = ctypes.util.find_library("syncline")
    if name:
        return name
    raise Error(f"'{LIBRARY}': expected beside 'syncline' or named by SYNCLINE_LIBRARY, got none")
