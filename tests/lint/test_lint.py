#!/usr/bin/python3
"""House rules that a machine can hold: lengths, format, layering, words, the top level, README."""

import re
import shutil
import subprocess
import unittest

import circles
import layering
import tree
from functions import functions

MOST_LINES = 400
MOST_LINES_OF_FUNCTION = 80
TOP_LEVEL = {"CMakeLists.txt", "frontend", "ir", "passes", "codegen", "runtime", "tests", "samples"}
TOP_LEVEL |= {"README.md", "LICENSE"}
# Split, so that this file does not contain what it forbids.
WORDS = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK", "not (yet )?" + "implemented"]
WORDS += ["place" + "holder", "st" + "ubs?"]
FORBIDDEN = re.compile(r"\b(" + "|".join(WORDS) + r")\b", re.IGNORECASE)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
FORMATTER = shutil.which("clang-format-19")


def includes():
    """What every file of our C++ includes: {file: names}."""
    lines = {str(path): tree.lines(path) for path in tree.files(*tree.CXX)}
    found = {path: [INCLUDE.match(line) for line in text] for path, text in lines.items()}
    return {path: [match.group(1) for match in all if match] for path, all in found.items()}


def reached(path, included):
    """What the file includes, itself and through our headers: {name: the files on the way}."""
    ways, left = {}, [(name, [path]) for name in included[path]]
    while left:
        name, way = left.pop()
        if name not in ways:
            ways[name] = way
            left += [(next, [*way, name]) for next in included.get(name, [])]
    return ways


class LintTest(unittest.TestCase):
    def none(self, offenders):
        if offenders:
            self.fail("\n" + "\n".join(offenders))

    def test_files_are_short(self):
        """No file of code has more than 400 lines."""
        lengths = [(len(tree.lines(path)), path) for path in tree.files(*tree.CODE)]
        long = [(path, n) for n, path in lengths if n > MOST_LINES]
        self.none([f"{path}: {n} lines, at most {MOST_LINES}" for path, n in long])

    def test_functions_are_short(self):
        """No function of C++ has more than 80 lines, its declaration included."""
        found = {path: functions(tree.lines(path)) for path in tree.files(*tree.CXX)}
        self.assertGreater(sum(map(len, found.values())), 5000)
        self.none(
            [
                f"{path}:{first}: {last - first + 1} lines, at most {MOST_LINES_OF_FUNCTION}"
                for path, all in found.items()
                for _, first, last in all
                if last - first + 1 > MOST_LINES_OF_FUNCTION
            ]
        )

    def test_functions_are_found(self):
        """Each function of a file counts once, in namespaces and classes too; blocks do not."""
        text = """namespace a {
int f(int x,
      int y) {
  if (x) {
    return y;
  }
  return 1;
}
struct S {
  void g() {
    f(1, 2);
  }
};
} // namespace a"""
        self.assertEqual(
            functions(text.splitlines()),
            [("int f(int x,", 2, 8), ("void g() {", 10, 12)],
        )

    def test_files_say_what_they_are(self):
        """Every file of C++, TableGen, Python and shell opens with a comment."""
        opening = re.compile(r'^(//|#|"""|/\*)')
        self.none(
            [
                f"{path}: expected a comment that says what the file is, got '{first[:60]}'"
                for path in tree.files(".cpp", ".h", ".td", ".py", ".sh", "CMakeLists.txt")
                for first in tree.lines(path)[:1]
                if not opening.match(first)
            ]
        )

    @unittest.skipUnless(FORMATTER, "clang-format-19 is not installed")
    def test_format(self):
        paths = [str(path) for path in tree.files(*tree.CXX)]
        command = [FORMATTER, "--dry-run", "--Werror", *paths]
        done = subprocess.run(command, cwd=tree.TOP, capture_output=True, text=True)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        wrong = sorted({line.split(":")[0] for line in errors})
        self.none([f"{path}: run clang-format-19 -i on it" for path in wrong])

    def test_layering(self):
        """Includes follow the architecture's arrows, through our headers too."""
        wrong, included = [], includes()
        for path in included:
            if not path.startswith(layering.JOINTS):
                wrong += self.against_arrows(path, reached(path, included))
            for pattern, homes in layering.HOMES:
                for name in included[path]:
                    if re.match(pattern, name) and not path.startswith(homes):
                        wrong.append(f"{path}: '{name}' belongs in {' or '.join(homes)}")
        self.none(wrong)

    @staticmethod
    def against_arrows(path, ways):
        """A message for each name among the ways that a rule forbids the file to see."""
        return [
            f"{' -> '.join(way)}: '{name}' in {folder}: {why}"
            for folder, pattern, why in layering.RULES
            if layering.inside(path, folder)
            for name, way in ways.items()
            if re.match(pattern, name)
        ]

    def test_includes_have_no_circles(self):
        product = ("frontend", "ir", "passes", "codegen", "runtime")
        texts = {
            str(path): (tree.TOP / path).read_text(encoding="utf-8")
            for path in tree.files(*circles.CODE)
            if path.parts[0] in product
        }
        self.none([" <-> ".join(circle) for circle in circles.circles(texts)])

    def test_circles_are_found(self):
        a, b, c = '#include "p/A.h"\n', '#include "p/B.h"\n', '#include "p/C.h"\n'
        parts = {"p/A.h": "", "p/A.cpp": a + b, "p/B.h": c, "p/B.cpp": b, "p/C.h": a}
        self.assertEqual(circles.circles(parts), [])  # A is made of B, whose header needs A's
        two = {"p/A.h": "", "p/A.cpp": a + b, "p/B.h": "", "p/B.cpp": b + a}
        self.assertEqual(circles.circles(two), [("p/A", "p/B")])

    def test_namespaces(self):
        """A header's namespace is its folder's."""
        wrong = []
        for path in tree.files(".h"):
            expected = layering.namespace(str(path)) if path.parts[0] != "tests" else None
            names = re.findall(r"^namespace (syncline[\w:]*) \{\n(?!\w[^\n]*;[^\n]*\n\})",
                               "\n".join(tree.lines(path)), re.MULTILINE)
            wrong += [
                f"{path}: expected namespace {expected}, got {name}"
                for name in names
                if expected and name != expected and not name.startswith(expected + "::")
            ]
        self.none(wrong)

    def test_no_unfinished_work(self):
        offenders = []
        for path in tree.files(*tree.CODE, ".md", ".txt", ".yaml"):
            for number, line in enumerate(tree.lines(path), 1):
                match = FORBIDDEN.search(line)
                if match and not INCLUDE.match(line):  # others' headers are called as they are
                    offenders.append(f"{path}:{number}: '{match.group(0)}'")
        self.none(offenders)

    def test_top_level(self):
        found = {path.parts[0] for path in tree.files() if not path.parts[0].startswith(".")}
        self.assertEqual(found, TOP_LEVEL)

    def test_readme_paths_exist(self):
        """Every path of this repository that the README names exists."""
        text = (tree.TOP / "README.md").read_text().replace(" samples/s ", " ")  # a unit
        folders = "frontend|ir|passes|codegen|runtime|tests|samples"
        named = re.findall(rf"\b((?:{folders})/[\w./-]*\w)", text)
        self.none(sorted({f"README.md: no '{n}'" for n in named if not (tree.TOP / n).exists()}))

    def test_scripts_run(self):
        """Shell scripts, and samples that name their interpreter, can be executed. Bash can read
        the scripts."""
        samples = [path for path in tree.files(".py") if path.parts[0] == "samples"]
        started = [path for path in samples if tree.lines(path)[:1][0].startswith("#!")]
        modes = {path: (tree.TOP / path).stat().st_mode for path in started}
        wrong = [f"{path}: not executable" for path, mode in modes.items() if not mode & 0o100]
        for path in [*tree.files(".sh"), *[p for p in tree.files() if str(p) == ".ci/run"]]:
            if not (tree.TOP / path).stat().st_mode & 0o100:
                wrong.append(f"{path}: not executable")
            command = ["bash", "-n", path]
            done = subprocess.run(command, cwd=tree.TOP, capture_output=True, text=True)
            if done.returncode != 0:
                wrong.append(done.stderr.strip())
        self.none(wrong)

    def test_documented_folders(self):
        """A README.md or SPEC.md in every top folder of code, or in its folders, explains it."""
        pages = [str(path) for path in tree.files("README.md", "SPEC.md")]
        folders = sorted(name for name in TOP_LEVEL if (tree.TOP / name).is_dir())
        bare = [f for f in folders if not any(page.startswith(f + "/") for page in pages)]
        self.none([f"{folder}: no README.md" for folder in bare])


if __name__ == "__main__":
    unittest.main()
