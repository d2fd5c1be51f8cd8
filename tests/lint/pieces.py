"""The tests of the short run in pieces: strings, code, expectations; no comments."""

import ast
import bisect
import dataclasses
import pathlib
import re

TESTS = pathlib.Path(__file__).resolve().parents[1]
# Folders and files with tests that a test run starts; the others hold what these share.
RUN = ("unit/*/*Test.cpp", "conformance/*Test.cpp", "host-cuda/*Test.cpp", "lit/**/*.mlir")
RUN += ("lit/**/*.test", "e2e/test_*.py", "numerics/test_*.py", "numerics/modules.py")


@dataclasses.dataclass
class Piece:
    """What stands on one line of a test. `kind` is `expected` (lit: a diagnostic or a CHECK line),
    `run` (a RUN line), `text` (a string), `first` (a string that is a call's first argument or a
    list's first element), `planner` (a string behind "--planner", or one of those in a loop over
    planners) or `code`."""

    place: str
    kind: str
    text: str


# C++: comments, then literals.
LEXEME = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def pieces_of_cpp(path, text):
    starts = [match.end() for match in re.finditer("\n", text)]

    def piece(kind, start, words):
        return Piece(f"{path}:{bisect.bisect(starts, start) + 1}", kind, words)

    code = LEXEME.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for match in LEXEME.finditer(text):
        words = match.group("raw") or match.group("text")
        if words:
            yield piece("text", match.start(), words)
            if code[max(0, match.start() - 99) : match.start()].rstrip().endswith("parsePlanner("):
                yield piece("planner", match.start(), words)
    for number, line in enumerate(code.splitlines(), 1):
        if line.strip():
            yield Piece(f"{path}:{number}", "code", line)


EXPECTED = re.compile(r"expected-(error|note|warning|remark)|^(error|note) |^\W*[A-Z][\w-]+: *\S")


def pieces_of_lit(path, text):
    """Comments are neither diagnostics nor CHECK nor RUN lines."""
    for number, line in enumerate(text.splitlines(), 1):
        place, comment = f"{path}:{number}", re.match(r"\s*(//|#\s)", line)
        if "RUN:" in line:
            yield Piece(place, "run", line)
        elif EXPECTED.search(line) and not re.match(r"\W*[A-Z]+\d+\w?: ", line):
            yield Piece(place, "expected", line)
        elif not comment:
            yield Piece(place, "code", line)


class ShortRun(ast.NodeTransformer):
    """Takes out what only the long run does, and texts that say what a class or function is."""

    def visit(self, node):
        for wrap in getattr(node, "decorator_list", []):
            if isinstance(wrap, ast.Call) and getattr(wrap.func, "id", "") == "long":
                return None
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "repeat":
            node.args = node.args[:1]
        node = self.generic_visit(node)
        body = getattr(node, "body", [])
        if isinstance(body, list):
            node.body = [one for one in body if not self.is_text(one)]
            left = [i for i, one in enumerate(node.body) if self.leaves(one)]
            node.body = node.body[: left[0]] if left else node.body
        return node

    @staticmethod
    def is_text(node):
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

    @staticmethod
    def leaves(node):
        call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        return call and getattr(node.value.func, "id", "") == "leave"


def pieces_of_python(path, text):
    for node in ast.walk(ShortRun().visit(ast.parse(text))):
        if isinstance(node, ast.For) and getattr(node.target, "id", "") == "planner":
            for word in ast.walk(node.iter):
                if isinstance(word, ast.Constant) and isinstance(word.value, str):
                    yield Piece(f"{path}:{word.lineno}", "planner", word.value)
        words = [*getattr(node, "args", []), *getattr(node, "elts", [])] if isinstance(
            node, (ast.Call, ast.List, ast.Tuple)
        ) else []
        values = [getattr(word, "value", None) for word in words]
        for before, word, value in zip([None, *values], words, values):
            if isinstance(value, str) and isinstance(word, ast.Constant):
                kind = "planner" if before == "--planner" else "first" if before is None else ""
                yield Piece(f"{path}:{word.lineno}", kind, value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Piece(f"{path}:{node.lineno}", "text", node.value)
        if isinstance(node, ast.Call):
            codes = [word.value for word in node.keywords if word.arg == "code"]
            if any(getattr(word, "attr", "") == "returncode" for word in words):
                codes = words
            for code in codes:
                yield Piece(f"{path}:{node.lineno}", "code", f"exits with {ast.unparse(code)}")


def pieces():
    """All of the short run's tests."""
    readers = {".cpp": pieces_of_cpp, ".py": pieces_of_python}
    for pattern in RUN:
        for path in sorted(TESTS.glob(pattern)):
            read = readers.get(path.suffix, pieces_of_lit)
            yield from read(path.relative_to(TESTS), path.read_text(encoding="utf-8"))
