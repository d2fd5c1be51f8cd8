"""Processes that a test started, and those below them."""

import pathlib


def children(pid):
    """The processes that this one started and that have not been waited for, first ones first.
    Empty where it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def descendants(pid):
    """All processes below this one."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def ranks_of(pid):
    """The ranks of `syncline run -n N` by number: the children of the command's only child, the
    launcher, or of the command where it is the launcher itself."""
    found = children(pid)
    return children(found[0]) if len(found) == 1 else found
