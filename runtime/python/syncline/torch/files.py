"""Files that a measurement writes at its end, and a folder for what it needs until then."""

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

from syncline.errors import Error


@contextlib.contextmanager
def refusing(path):
    """Makes Error of what the system says of the path."""
    try:
        yield
    except OSError as failure:
        raise Error(f"'{path}': cannot be written: {failure.strerror}") from failure
    except ValueError as failure:  # a NUL byte, or what is no Unicode
        raise Error(f"{str(path)!r}: cannot be written: {failure}") from failure


def target(path):
    """The file that the path names, behind links, and whether it is there. Raises OSError for a
    link to nothing and for what is no regular file: a folder, a device, a FIFO."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if os.path.islink(path):
            raise
        return Path(path), False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file")
    return Path(os.path.realpath(path)), True


def replace(path, text):
    """Writes the text to a file of a short name beside the path, and puts it in its place unless
    the text is None."""
    beside = path.with_name(f".syncline-{os.getpid()}.new")
    try:
        beside.write_text(text or "", encoding="utf-8")
        if text is not None:
            os.replace(beside, path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def path_of(output):
    if not isinstance(output, (str, os.PathLike)):
        raise Error(f"'output': expected a path, got {type(output).__name__}")
    return Path(output)


def check_writable(path):
    """Raises Error where write() would fail; leaves what is there."""
    with refusing(path):
        found, is_there = target(path)
        if is_there:
            open(found, "ab").close()
        replace(found, None)


def write(path, text):
    """Writes the file whole, or leaves what was there."""
    with refusing(path):
        replace(target(path)[0], text)


def without(folder, text):
    """What the text says of files in the folder, by their names alone: the folder is gone when it
    is read."""
    return text.replace(f"{folder}{os.sep}", "")


@contextlib.contextmanager
def scratch():
    """A temporary folder, which errors do not name. Makes Error of its files' failures, such as a
    full disk."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield Path(folder)
            except Error as failure:
                raise type(failure)(without(folder, str(failure))) from failure
    except OSError as failure:
        raise Error(f"temporary files cannot be written: {failure}") from failure
