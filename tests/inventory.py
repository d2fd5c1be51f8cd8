#!/usr/bin/python3
"""Counts the tests, and names what has none.

    tests/inventory.py                   lines and files by folder; rules, operators, .. with a test
    tests/inventory.py --since REV       lines and files at that revision too
    tests/inventory.py --list            for each name a test of the short run: file and line

Names are read from the sources (SOURCES below). A name counts where a test of the short run uses
it: in an expectation, a string or code, never in a comment. Left out are the long run's parts of
Python tests (support/depth.py). Exit code: 1 where something has no test.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
TESTS = TOP / "tests"
sys.path.append(str(TESTS / "lint"))

from pieces import pieces


def source(pattern):
    found = [path.read_text(encoding="utf-8") for path in sorted(TOP.glob(pattern))]
    if not found:
        raise FileNotFoundError(f"inventory.py: no file '{pattern}'")
    return "\n".join(found)


def names(pattern, *files, within=""):
    """What the pattern's first group matches in the files, in the part that `within` matches."""
    text = "\n".join(source(file) for file in files)
    text = re.search(within, text, re.DOTALL).group() if within else text
    return list(dict.fromkeys(re.findall(pattern, text, re.MULTILINE)))


def in_cpp(scheme):
    """Its name in C++: parameterServer for parameter-server."""
    return re.sub(r"-(\w)", lambda match: match.group(1).upper(), scheme)


def in_onnx(kind):
    """An elementwise function as ONNX names it: HardSwish for hard_swish."""
    return "".join(word.capitalize() for word in kind.split("_"))


# How tests use a name: (kinds of pieces, pattern).
def of_rule(rule):
    return [(("text", "expected"), rf"(?<!\w){rule}: ")]


def of_operator(name):
    """A node in a model's text, or the first argument of a function that makes one."""
    return [(("text",), rf"= {name} *[(<]"), (("first",), f"^{name}$")]


def of_scheme(name):
    ir = rf"(\bby |scheme = |\[<|, <)\"?{name}\b"
    text = rf"^{name}$|={name}\b"
    return [(("code",), rf"Scheme::{in_cpp(name)}\b|{ir}"), (("text", "run"), text)]


def of_planner(name):
    return [(("planner",), rf"^{name}(:|$)"), (("run",), rf"planner[= ]\"?{name}\b")]


def of_form(name):
    text = rf"^{name}(:|$)|^easgd:{name}\b|=(easgd:)?{name}\b"
    return [(("code",), rf"consistency<{name}\b|variant = {name}\b"), (("text", "run"), text)]


def of_command(name):
    return [(("first",), f"^{name}$"), (("run",), rf"\bsyncline {name}\b(?!.* --help)")]


def of_pass(name):
    return [(("run",), rf" --?{name}\b|[(,{{]{name}\b")]


def of_operation(name):
    return [(("code",), rf"\w(\(\))?(\.|->){name}\(")]


def of_exit_code(code):
    return [(("code",), rf"exits with {code}$|exitCode\(\), {code}\b")]


FOLDS = ("frontend/onnx/Fold*.cpp",)
# Kind: the names, where a test uses one, and in which tests (all where none are named).
SOURCES = {
    "rules of ir": (names(r"^\* \*\*([A-Z]+\d+)\*\*", "ir/*/SPEC.md"), of_rule, ""),
    "rejections of proofs": (names(r"^\| ([A-Z]\d+) \|", "passes/proof/README.md"), of_rule, ""),
    "ONNX operators": (
        names(r'\{"([A-Z]\w*)", *[{fi]', "frontend/onnx/Import*.cpp", *FOLDS)
        + [in_onnx(kind) for kind in names(r"^SYNCLINE_UNARY\((\w+), ", "ir/nn/UnaryKinds.inc")],
        of_operator, "(?!.*Error)",
    ),
    "schemes": (
        names(r'^SCHEME\(\w+, +"([a-z-]+)"', "runtime/include/syncline/Schemes.inc"), of_scheme, ""
    ),
    "planners": (
        names(r'^ +\{\{"([\w-]+)', "passes/solver/*.cpp"),
        of_planner, "",
    ),
    "forms of consistency": (
        names(r'\{ConsistencyForm::\w+, "(\w+)', "runtime/include/syncline/Consistency.h")
        + names(r'"(\w+)"', "runtime/include/syncline/Consistency.h", within="variantNames{.*?}"),
        of_form, "",
    ),
    "commands": (
        names(r'\{"(\w+)", driver::', "frontend/driver/Main.cpp"), of_command, "(e2e|lit)/"
    ),
    "exit codes": (
        names(r"[:,] (\d) [a-z]", "README.md", within="Exit codes:.*?\n\n"),
        of_exit_code, "(e2e|unit)/",
    ),
    "passes": (names(r'Pass<"([\w-]+)"', "passes/*asses.td"), of_pass, "lit/"),
    "backend's operations": (
        names(r"^SYNCLINE_\w+\((\w+), ", "runtime/include/syncline/Kernels.inc") + ["loss"],
        of_operation, "conformance/",
    ),
}


WORD = re.compile(r"\w+(?:-\w+)*")


def found():
    """For each kind a dictionary: the place of a test that uses the name, or None."""
    every = [name for kind, _, _ in SOURCES.values() for name in kind]
    wanted = {*every, *map(in_cpp, every)}
    index = collections.defaultdict(list)
    for piece in pieces():
        for word in set(WORD.findall(piece.text)) & wanted:
            index[word].append(piece)

    def place(name, uses, where):
        for piece in [*index[name], *(index[in_cpp(name)] if in_cpp(name) != name else [])]:
            if re.match(where, piece.place) and any(
                piece.kind in kinds and re.search(pattern, piece.text) for kinds, pattern in uses
            ):
                return piece.place
        return None

    return {
        kind: {name: place(name, how(name), where) for name in every}
        for kind, (every, how, where) in SOURCES.items()
    }


def git(*words):
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True)
    if done.returncode > 1:  # 1: grep found nothing
        sys.exit(f"inventory.py: {done.stderr.strip()}")
    return done.stdout.splitlines()


def lines(revision=None):
    """By folder of tests/: [files, lines], without pages and what is not text."""
    count = collections.defaultdict(lambda: [0, 0])
    of = [revision] if revision else []
    for row in git("grep", "-I", "-c", "", *of, "--", "tests", ":!*.md"):
        path, number = row.removeprefix(f"{revision}:").rsplit(":", 1)
        parts = path.split("/")
        for folder in (parts[1] if len(parts) > 2 else "(beside them)", "total"):
            count[folder][0] += 1
            count[folder][1] += int(number)
    return count


def print_lines(since):
    now, then = lines(), lines(since) if since else {}
    print(f"{'folder of tests/':18}{'files':>7}{'lines':>8}" + (f"   at {since}" if since else ""))
    for folder in sorted({*now, *then} - {"total"}) + ["total"]:
        files, total = now[folder]
        row = f"{folder:18}{files:7}{total:8}"
        before = then[folder] if since else None
        print(row + (f"{before[0]:9}{before[1]:8}{total - before[1]:+8}" if since else ""))


def pages():
    """Pages that print commands, and those of them of which tests of tests/e2e run some."""
    command = re.compile(r"^ {4}(syncline|samples/)", re.MULTILINE)
    every = git("ls-files", "*.md")
    printing = [page for page in every if command.search((TOP / page).read_text())]
    run = "".join(path.read_text() for path in (TESTS / "e2e").glob("test_*.py"))
    return printing, [page for page in printing if f'section("{page}"' in run]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--since", metavar="REV", help="compare lines with this revision")
    parser.add_argument("--list", action="store_true", help="each name with a test of it")
    chosen = parser.parse_args()
    print_lines(chosen.since)
    missing = 0
    print(f"\n{'':24}{'with a test':>12}{'of':>5}   without")
    for kind, places in found().items():
        without = [name for name, place in places.items() if not place]
        missing += len(without)
        tested, named = len(places) - len(without), ", ".join(without) or "-"
        print(f"{kind:24}{tested:12}{len(places):5}   {named}")
        for name, place in places.items() if chosen.list else []:
            print(f"    {name:24} {place or '-'}")
    printing, run = pages()
    others = ", ".join(page for page in printing if page not in run) or "-"
    print(f"{'pages with commands':24}{len(run):12}{len(printing):5}   {others}")
    sys.exit(missing != 0)


if __name__ == "__main__":
    main()
