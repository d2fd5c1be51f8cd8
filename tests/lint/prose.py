"""Rules about text: how comments open and end, how wide lines and table cells are.

Each rule maps the lines of one file to pairs of a line number and what is wrong there. Run this
file to see all offenders, folder by folder.
"""

import collections
import re

import tree

COLUMNS = 100
CELL = 120

# A comment line: its indentation, its marker, its text.
SLASHES = re.compile(r"^(\s*)(///?)(?!/|<)(.*)$")
HASHES = re.compile(r"^(\s*)(#)(?!!|\s*include\b)(.*)$")
NOTE = re.compile(r"///<\s?(.*)$")  # a member's note, behind code
CLIPPED = re.compile(r"^(Of|The same|Also|By)\s")
LIST_ITEM = re.compile(r"^\s*([*-]|\d+\.)\s")
EXAMPLE = "    "  # what is indented so far is code within a comment
LIT_LINE = re.compile(r"^\s*((RUN|REQUIRES|[A-Z0-9_-]*CHECK[A-Z0-9_-]*)\b.*:|expected-)")


def comment_paragraphs(lines, marker):
    """(number of the first line, [(number, text)]) for each paragraph of whole-line comments."""
    paragraph, opened = [], None
    for number, line in enumerate([*lines, ""], 1):
        match = marker.match(line)
        text = match.group(3) if match else ""
        if text.startswith(EXAMPLE) or LIT_LINE.match(text):
            text = ""
        place = match and match.group(1, 2)
        if paragraph and (not text.strip() or place != opened or LIST_ITEM.match(text)):
            yield paragraph
            paragraph = []
        if text.strip():
            paragraph.append((number, text.strip()))
            opened = place


def marker_of(path):
    return HASHES if str(path).endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) else SLASHES


def clipped_comments(path, lines):
    """A comment opens with a subject, not with 'Of', 'The same', 'Also' or 'By'."""
    for paragraph in comment_paragraphs(lines, marker_of(path)):
        number, text = paragraph[0]
        if match := CLIPPED.match(text):
            yield number, f"a comment begins with '{match.group(1)}'; give it a subject"
    for number, line in enumerate(lines, 1):
        note = NOTE.search(line) if marker_of(path) == SLASHES else None
        if match := note and CLIPPED.match(note.group(1)):
            yield number, f"a note begins with '{match.group(1)}'; give it a subject"


def orphan_words(path, lines):
    """A comment does not end in a line of one word that continues the sentence before it."""
    for paragraph in comment_paragraphs(lines, marker_of(path)):
        if len(paragraph) < 2:
            continue
        (_, before), (number, last) = paragraph[-2:]
        if " " not in last and "://" not in last and not before.endswith((".", ":", ";", "?", "!")):
            yield number, f"a comment ends in a line of one word, '{last}'"


def wide_code(path, lines):
    """Lines have at most 100 columns; an address cannot be broken. The formatter holds C++, but for
    comments, and leaves texts between R"( and )" alone."""
    only_comments = str(path).endswith(tree.CXX)
    for number, line in enumerate(lines, 1):
        if only_comments and "//" not in line:
            continue
        if len(line) > COLUMNS and "://" not in line:
            yield number, f"{len(line)} columns, at most {COLUMNS}"


def markdown_prose(lines):
    """(number, line) of each line outside of fences, indented code and tables."""
    fenced, indented, after_blank = False, False, True
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced, after_blank = not fenced, False
            continue
        if fenced:
            continue
        if not line.strip():
            after_blank = True
            continue
        if after_blank:
            indented = line.startswith("    ") and not LIST_ITEM.match(line)
        after_blank = False
        if not indented and not line.startswith("|"):
            yield number, line


def wide_prose(path, lines):
    """Prose of a page has at most 100 columns, but for a word that is longer."""
    for number, line in markdown_prose(lines):
        breakable = re.sub(r"^\s*([*-]|\d+\.|#+)?\s*", "", line)
        if len(line) > COLUMNS and " " in breakable:
            yield number, f"{len(line)} columns, at most {COLUMNS}"


def wide_cells(path, lines):
    """A cell of a table has at most 120 characters."""
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            continue
        longest = max(len(cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
        if longest > CELL:
            yield number, f"a cell of {longest} characters, at most {CELL}"


COMMENTED = (*tree.CXX, ".td", ".mlir", ".py", ".sh", ".cmake", "CMakeLists.txt")

# Each rule and the files that it speaks of.
RULES = [
    (clipped_comments, COMMENTED),
    (orphan_words, COMMENTED),
    (wide_code, (*tree.CXX, ".td", ".py")),
    (wide_prose, (".md",)),
    (wide_cells, (".md",)),
]


def offenders(rule, suffixes):
    for path in tree.files(*suffixes):
        for number, what in rule(path, tree.lines(path)):
            yield path, number, what


def main():
    for rule, suffixes in RULES:
        folders = collections.defaultdict(list)
        for path, number, what in offenders(rule, suffixes):
            folders["/".join(path.parts[:-1]) or "."].append(f"{path}:{number}: {what}")
        print(f"{rule.__name__}: {sum(map(len, folders.values()))}")
        for folder, found in sorted(folders.items()):
            print(f"  {folder}: {len(found)}", *found, sep="\n    ")


if __name__ == "__main__":
    main()
