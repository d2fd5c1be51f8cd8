"""Sections and commands of pages, for tests that run what a page prints."""

import re
import textwrap

import harness


def section(page, title=None):
    """The text of a page from this heading to the next, whatever its level; without one, all."""
    text = (harness.TOP / page).read_text()
    if title is None:
        return text
    rest = text.split(f"# {title}\n", 1)[1]
    return re.split(r"^#+ [A-Z]", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text):
    """Indented blocks outside of fences, in order, without their indentation."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"(?:^ {4}.*\n(?:\n(?= {4}))*)+", plain, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") for block in found]


def commands(text):
    """Lines that call a program, those that end in a backslash with the next."""
    joined = [line for block in blocks(text) for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in joined if re.match(r"(syncline |python3 |samples/)", line)]
