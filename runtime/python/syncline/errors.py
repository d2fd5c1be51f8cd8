"""What the package raises: the messages are those of the commands and of the library."""


class Error(Exception):
    """Bad input, a lost rank or a file that cannot be read. `str()` is the command's message."""


class UsageError(Error):
    """An argument that the command or the library does not take."""


class InternalError(Error):
    """An error of Syncline, or a command that a signal ended."""
