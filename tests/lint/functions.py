"""Where the functions of a C++ file begin and end, by the columns that clang-format gives them.

A function opens in the column in which its closing brace stands, with nothing further left between
the two. Classes may nest three deep, so columns 0, 2 and 4 are looked at.
"""

import re

COLUMNS = (0, 2, 4)
# What opens and closes in the same way, and is no function.
OTHERS = re.compile(r"(namespace|class|struct|enum|union|extern|if|for|while|switch|else|do|try)\b")


def in_column(lines, column):
    """(declaration, first line, last line) of what opens and closes in this column."""
    first = None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text or indent > column or text.startswith("#"):
            continue
        if indent < column:
            first = None
        elif text == "}":
            if first:
                yield lines[first - 1].strip(), first, number
            first = None
        elif not text.startswith(("}", ")")):
            first = number


def functions(lines):
    """(declaration, first line, last line) of each function, lines counted from 1."""
    return [
        found
        for column in COLUMNS
        for found in in_column(lines, column)
        if not OTHERS.match(found[0])
    ]
