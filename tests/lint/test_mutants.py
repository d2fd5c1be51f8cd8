#!/usr/bin/python3
"""How tests/mutants draws faults, and how it judges what tests print. Nothing is built."""

import collections
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import tree

sys.path.insert(0, str(tree.TOP / "tests" / "mutants"))

import drawing
import mutants
import stages

SAMPLE = r"""// a + b, a < b
#define ADD(a, b) \
  ((a) + (b))
int f(int a, List<int> &b) {
  /* if (a == 0) */
  const char *text = R"(x < y)";
  int sizes[4];
  if (const int c = a; c && wanted(b, c))
    b[a].add(c - 0, a);
  else
    total += values["a + b"];
  assert(a < b);
  if (a > 1)
    return op.emitError("expected ") << a + 1;
  queue.wait(lock, [&] { return isDone; });
  items.reserve(a);
  return std::max(a, c);
}
"""
# Every change of the sample, in order: kind, old, new.
CHANGES = [
    ("branch", "c && wanted(b, c)", "!(c && wanted(b, c))"),
    ("branch", "&&", "||"),
    ("argument", "b, c", "c, b"),
    ("statement", "b[a].add(c - 0, a);", "{}"),
    ("index", "a", "a + 1"),
    ("argument", "c - 0, a", "a, c - 0"),
    ("sign", "-", "+"),
    ("index", "0", "1"),
    ("statement", 'total += values["a + b"];', "{}"),
    ("branch", "a > 1", "!(a > 1)"),
    ("index", ">", ">="),
    ("wait", "queue.wait(lock, [&] { return isDone; });", "{}"),
]
PRINTED = {
    "unit-x": (
        "[ RUN      ] A.one\n[       OK ] A.one (0 ms)\n[ RUN      ] B/C.two/0\n"
        "[  FAILED  ] B/C.two/0, where GetParam() = 1 (2 ms)\n"
    ),
    "lit merge": "PASS: Syncline :: merge/a.mlir (1 of 2)\nFAIL: Syncline :: merge/b.mlir (2 of 2)",
    "python e2e/test_x.py": "test_one (x.X.test_one) ... ok\nERROR: test_two (x.X.test_two)\n",
    "ctest": "The following tests FAILED:\n\t  3 - unit-y (Failed)\nErrors while running CTest\n",
}
HUNG = """    Start 1: unit-x
    Start 2: unit-y
1: [ RUN      ] A.one
1/3 Test #2: unit-y ...........................   Passed    1.00 sec
    Start 3: unit-x2
2/3 Test #3: unit-x2 ..........................   Passed    1.00 sec
"""
FAILING = ["B/C.two/0", "merge/b.mlir", "test_two (x.X.test_two)", "unit-y"]
# Prints a line every second for longer than the limit, or leaves a child and hangs.
SLOW = """#!/bin/bash
for name in one two; do echo "[ RUN      ] A.$name"; done
[[ $* != *hangs ]] || { sleep 60 & echo $! >"${0%/*}/../child"; sleep 60; }
for second in {1..5}; do sleep 1; echo; done
"""
# Fails where a signal that interrupts is ignored, or what a launcher tells its ranks is seen.
SETTLED = """#!/usr/bin/python3
import os, signal, sys
if signal.SIG_IGN in map(signal.getsignal, (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)):
    sys.exit(1)
sys.exit(2 if "RANK" in os.environ else 0)
"""
JUDGED = f"""
import pathlib, sys
sys.path.insert(0, {str(tree.TOP / "tests" / "mutants")!r})
import stages
print(stages.Stage(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[1]), 60).run("unit-x"))
"""


def ignore_signals():
    """In the child: what a script's background process, or one by nohup, ignores."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


class DrawingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folders = mutants.offered(tree.TOP)

    def test_changes_of_sample(self):
        """Comments, strings, macros, assertions, declarations and messages are left as they are."""
        found = drawing.sites("a.cpp", SAMPLE)
        self.assertEqual([(site.kind, site.old, site.new) for site in found], CHANGES)
        self.assertEqual([site.line for site in found][:4], [8, 8, 8, 9])

    def test_one_place(self):
        """A planted fault differs from the file in the one place that the site names."""
        names = {site.file for sites in self.folders.values() for site in sites[::500]}
        for name in sorted(names):
            text = (tree.TOP / name).read_text()
            for site in drawing.sites(name, text):
                end = site.start + len(site.old)
                planted = site.planted(text)
                self.assertEqual(text[site.start : end], site.old)
                self.assertNotEqual(site.new, site.old)
                self.assertEqual(planted[: site.start], text[: site.start])
                self.assertEqual(planted[site.start + len(site.new) :], text[end:])
                self.assertEqual(text[: site.start].count("\n") + 1, site.line)

    def test_seed(self):
        first = drawing.draw("1", self.folders)
        self.assertEqual(first, drawing.draw("1", self.folders))
        self.assertNotEqual(first, drawing.draw("2", self.folders))

    def test_kinds_and_folders(self):
        """30 faults: five of each kind, three in each folder, and no place twice."""
        for seed in ("1", "2", "3"):
            slots = drawing.draw(seed, self.folders)
            kinds = collections.Counter(sites[0].kind for _, sites in slots)
            self.assertEqual(kinds, dict.fromkeys(drawing.KINDS, 5))
            folders = collections.Counter(folder for folder, _ in slots)
            self.assertEqual(folders, dict.fromkeys(stages.FOLDERS, 3))
            drawn = [site for _, sites in slots for site in sites]
            self.assertEqual(len(drawn), len(set(drawn)))

    def test_folders_and_tests_exist(self):
        for folder, own in stages.FOLDERS.items():
            self.assertTrue(self.folders[folder], folder)
            for kind, name in [stage.split()[:2] for stage in own if " " in stage]:
                if kind in ("lit", "python"):
                    path = tree.TOP / "tests" / kind.replace("python", "") / name
                    self.assertTrue(path.exists(), path)


class JudgeTest(unittest.TestCase):
    def test_failing_test_is_named(self):
        for (stage, printed), name in zip(PRINTED.items(), FAILING):
            self.assertEqual(stages.Stage.judge(stage, 1, printed, 9), (name, ""))
            self.assertIsNone(stages.Stage.judge(stage, 0, printed, 9))

    def test_running_test_is_named(self):
        """A test that ends its program, or never ends, is the last one that began."""
        printed = "[ RUN      ] A.one\n[ RUN      ] A.two\n"
        self.assertEqual(stages.Stage.judge("unit-x", -11, printed, 9), ("A.two", "exit code -11"))
        hung = stages.Stage.judge("unit-x", None, printed, 9)
        self.assertEqual(hung, ("A.two", "the limit of 9 s"))
        hung = stages.Stage.judge("ctest", None, HUNG, 9)
        self.assertEqual(hung, ("unit-x", "the limit of 9 s"))

    def test_limit_is_one_test_s(self):
        """A stage may go on while it prints; its processes end with it, its children too."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "bin" / "unit-x"
            program.parent.mkdir()
            program.write_text(SLOW)
            program.chmod(0o755)
            stage = stages.Stage(tree.TOP, folder, 3)
            self.assertIsNone(stage.run("unit-x", "prints"))
            self.assertEqual(stage.run("unit-x", "hangs"), ("A.two", "the limit of 3 s"))
            words = pathlib.Path("/proc", (folder / "child").read_text().strip(), "cmdline")
            self.assertFalse(words.exists() and words.read_text())  # empty for one not yet reaped

    def test_started_in_the_background(self):
        """Tests can be interrupted though a script that ignores signals started the judge."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = folder / "bin" / "unit-x"
        program.parent.mkdir()
        program.write_text(SETTLED)
        program.chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-c", JUDGED, folder],
            env={**os.environ, "RANK": "1"},
            capture_output=True,
            text=True,
            preexec_fn=ignore_signals,
        )
        self.assertEqual((done.stdout, done.stderr), ("None\n", ""))

    def test_failed_build(self):
        refused = "FAILED: a.o\na.cpp:3:4: error: no match for 'operator+'\n"
        self.assertEqual(mutants.of_failed_build(refused)[0], "does-not-compile")
        crashed = "FAILED: plan.json\nSegmentation fault\n"
        self.assertEqual(mutants.of_failed_build(crashed), ("caught", "build of plan.json"))


class LogTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(folder) / "log.jsonl"

    def add(self, number, outcome, seed="1", **more):
        place = {"folder": "a", "kind": "sign", "file": "a/b.cpp", "line": 1}
        text = {"old": "+", "new": "-", "before": "a + b", "after": "a - b"}
        mutants.Log(self.path, seed).add(number=number, outcome=outcome, **place, **text, **more)

    def table(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            enough = mutants.table(mutants.Log(self.path, "1"))
        return enough, printed.getvalue()

    def test_equivalent_is_redrawn(self):
        self.add(1, "does-not-compile", reason="error")
        self.add(1, "survived", reason="")
        log = mutants.Log(self.path, "1")
        self.assertEqual((log.redrawn(1), log.redrawn(2)), (1, 0))
        mutants.mark_equivalent(log, 1, "zero is added")
        self.assertEqual(mutants.Log(self.path, "1").redrawn(1), 2)
        self.assertIn("1, a/b.cpp:1, `a - b`: zero is added", self.table()[1])
        with self.assertRaises(SystemExit):
            mutants.mark_equivalent(log, 1, "again")

    def test_enough(self):
        """28 of 30 are enough, 27 are not; another seed's do not count."""
        for number in range(1, 31):
            self.add(number, "survived" if number < 3 else "caught", caught_by="unit-x A.one")
            self.add(number, "survived", seed="2", reason="")
        enough, printed = self.table()
        self.assertTrue(enough)
        self.assertIn("28 of 30 noticed", printed)
        self.add(3, "survived", reason="")
        self.assertFalse(self.table()[0])


if __name__ == "__main__":
    unittest.main()
