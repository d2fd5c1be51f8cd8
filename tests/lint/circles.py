"""Circles of includes. A module is a header and the source of its name.

A source may include the parts that its module is made of, whose headers use the module's types,
directly or by other headers: a factory includes its kinds, the reader of a file those of its
sections. Other circles tie modules together of which none can be read or moved alone.
"""

import pathlib
import re

CODE = (".cpp", ".h", ".cu", ".cuh", ".inc")


def includes(text):
    """What the text includes of our own, as paths."""
    for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
        yield "runtime/include/" + name if name.startswith("syncline/") else name


def module(path):
    return str(pathlib.PurePosixPath(path).with_suffix(""))


def circles(texts):
    """The circles among files, {path: text}, each as the sorted names of its modules."""
    direct = {
        path: {name for name in includes(text) if name in texts} for path, text in texts.items()
    }
    behind = {path: {module(name) for name in closure(path, direct)} for path in direct}
    used = {module(path): set() for path in texts}
    for path, names in direct.items():
        for name in names:
            isPart = path.endswith((".cpp", ".cu")) and module(path) in behind[name]
            if module(name) != module(path) and not isPart:
                used[module(path)].add(module(name))
    reached = {start: closure(start, used) for start in used}
    found = set()
    for start in used:
        circle = sorted(end for end in reached[start] if start in reached[end])
        if circle:
            found.add(tuple(circle))
    return sorted(found)


def closure(start, used):
    """What START uses, directly or by others."""
    seen, left = set(), list(used[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left.extend(used[name])
    return seen
