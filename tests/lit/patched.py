"""Writes out a lit test whose cases are patches of a base, for a tool that reads split input.

    // RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

lit writes the test out where its RUN lines name %patched (cases.py); `patched.py TEST` prints it.

A test is a header (comments, RUN lines, a blank line), then sections with `// -----` between them.
Each section opens with a comment that says what it shows. What follows makes it one of these:

  IR below `// Base: ...`         the base of the cases below it
  patches below `// Base: ...`    the base from here on: the one before it, patched
  patches below another comment   a case: the base, patched
  IR below another comment        a case that shares nothing with a base

A patch names a line by a piece of its text, WHERE, and says no more than what changes:

  change WHERE | OLD => NEW     within the line that has WHERE
  change OLD => NEW             where no other line has OLD
  drop WHERE | OLD              within the line that has WHERE
  drop WHERE                    the whole line
  move WHERE | before OTHER     the whole line (also: after OTHER)
  before WHERE | LINE           a new line, indented as the line that has WHERE (also: after)
  error WHERE | TEXT            the diagnostic that is expected at that line (also: note)
  error TEXT                    at the line that the patch above it changed, moved or inserted

Patches apply one after the other. WHERE and OLD have to match in exactly one place then, and never
a part of a word: `bucket 1` is not in `bucket 10`. A case has to have a patch, and a diagnostic or
a CHECK line (FileCheck reads it in the test, not in what is written out), or to begin with
`// Valid: `. A base has no diagnostic, so that each case fails for its patches alone.
"""

import re
import sys

SPLIT = "// -----"


class Line:
    def __init__(self, text):
        self.text = text
        self.expected = []

    def indent(self):
        return self.text[: len(self.text) - len(self.text.lstrip())]

    def written(self):
        return "\n".join([*(self.indent() + comment for comment in self.expected), self.text])


def places(piece, text):
    """Where the text has the piece, but not as a part of a longer word or number."""
    before = r"(?<!\w)(?<!\d\.)" if re.match(r"\w", piece) else ""
    behind = r"(?!\w|\.\d)" if re.search(r"\w$", piece) else ""
    return [match.span() for match in re.finditer(before + re.escape(piece) + behind, text)]


def the_one(found, piece):
    if len(found) != 1:
        raise ValueError(f"expected one place with '{piece}', got {len(found)}")
    return found[0]


def cut(text, separator):
    left, found, right = text.partition(separator)
    if not found:
        raise ValueError(f"expected '{separator.strip()}' in '{text.strip()}'")
    return left.strip(), right.strip()


class Patching:
    """A copy of a base to which patches apply: each calls the method that its first word names."""

    VERBS = ("change", "drop", "move", "before", "after", "error", "note")

    def __init__(self, lines):
        self.lines = [Line(line.text) for line in lines]
        self.last = None

    def find(self, where):
        return the_one([line for line in self.lines if places(where, line.text)], where)

    def replace(self, line, old, new):
        begin, end = the_one(places(old, line.text), old)
        line.text = (line.text[:begin] + new + line.text[end:]).rstrip()
        self.last = line

    def change(self, text):
        left, new = cut(text, " => ")
        where, found, old = left.partition(" | ")
        self.replace(self.find(where), old if found else where, new)

    def drop(self, text):
        where, found, old = text.partition(" | ")
        line = self.find(where)
        if found:
            self.replace(line, old, "")
        elif line.expected:
            raise ValueError("expected a line without a diagnostic")
        else:
            self.lines.remove(line)
            self.last = None

    def put(self, line, side, where):
        other = self.find(where)
        line.text = other.indent() + line.text.strip()
        self.lines.insert(self.lines.index(other) + (side == "after"), line)
        self.last = line

    def move(self, text):
        where, place = cut(text, " | ")
        side, other = cut(place, " ")
        if side not in ("before", "after"):
            raise ValueError("expected '| before' or '| after'")
        line = self.find(where)
        self.lines.remove(line)
        self.put(line, side, other)

    def before(self, text):
        where, new = cut(text, " | ")
        self.put(Line(new), "before", where)

    def after(self, text):
        where, new = cut(text, " | ")
        self.put(Line(new), "after", where)

    def expect(self, kind, text):
        where, found, message = text.partition(" | ")
        line = self.find(where) if found else self.last
        if not line:
            raise ValueError("expected a place, or a patch above that leaves a line")
        line.expected.append(f"// expected-{kind} @below {{{{{message if found else text}}}}}")

    def error(self, text):
        self.expect("error", text)

    def note(self, text):
        self.expect("note", text)


def sections(text):
    """The sections behind the header, each as [(number, line)] without its blank lines."""
    result = [[]]
    for number, line in enumerate(text.splitlines(), 1):
        if line == SPLIT or (not line and len(result) == 1):
            result.append([])
        elif line.strip():
            result[-1].append((number, line))
    return result[1:]


def is_patch(line):
    return line.split(" ", 1)[0] in Patching.VERBS


def fault_of(lines):
    """What is wrong with the form of a section, or None."""
    body = [line for line in lines if not line.startswith("//")]
    patches = [line for line in body if is_patch(line)]
    diagnostics = [line for line in lines if re.match(r"(error|note) | *// ?expected-", line)]
    checks = [line for line in lines[1:] if re.match(r"// ?[A-Z][A-Z-]{3,}:", line)]
    if not lines or not lines[0].startswith("// ") or lines[0] in diagnostics:
        return "expected a comment that says what this shows"
    if patches and patches != body:
        return "expected patches or IR, got both"
    if not set(body) - set(diagnostics):
        return "expected a patch"
    if lines[0].startswith(("// Base: ", "// Valid: ")):
        return "expected no diagnostic" if diagnostics else None
    return None if diagnostics or checks else "expected a diagnostic or a CHECK line"


def ir_of(section, base):
    """The lines that a section stands for."""
    if not any(is_patch(line) for _, line in section):
        return [Line(line) for _, line in section]
    patching = Patching(base)
    for number, line in section:
        verb, _, rest = line.partition(" ")
        try:
            if is_patch(line):
                getattr(patching, verb)(rest.strip())
        except ValueError as error:
            raise ValueError(f"{number}: {error}") from None
    return [*(Line(line) for _, line in section if line.startswith("//")), *patching.lines]


def written(text):
    """The test, written out. A ValueError holds the line and what is wrong there."""
    base = []
    result = []
    for section in sections(text):
        lines = [line for _, line in section]
        if fault := fault_of(lines):
            raise ValueError(f"{section[0][0] if section else 1}: {fault}")
        ir = ir_of(section, base)
        if lines[0].startswith("// Base: "):
            base = [line for line in ir if not line.text.startswith("//")]
        result.append("\n".join(line.written() for line in ir))
    return f"\n\n{SPLIT}\n\n".join(result) + "\n"


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as test:
            sys.stdout.write(written(test.read()))
    except ValueError as error:
        sys.exit(f"{sys.argv[1]}:{error}")


if __name__ == "__main__":
    main()
