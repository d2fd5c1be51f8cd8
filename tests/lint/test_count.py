#!/usr/bin/python3
"""How tests in Python are counted: whatever a file does, none of its tests is lost in silence."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import tree

sys.path.insert(0, str(tree.TOP / "tests" / "support"))

from waiting import PATIENCE, until  # noqa: E402

FILES = {
    "test_fine.py": """
        def test_one(self): pass
        def test_two(self): pass
        def test_left_out(self): self.skipTest("why")
        def test_parts(self):
            for part in range(3):
                with self.subTest(part=part): self.assertEqual(part, 0)
    """,
    "test_ends.py": """
        def test_one(self): __import__("os")._exit(3)
    """,
    "test_broken.py": "        def",
}


COMMAND = [sys.executable, tree.TOP / "tests" / "count.py", "--run"]
# A class whose tests cannot begin; a test that leaves behind a process, which keeps its
# output open.
NO_BEGINNING = """
        def test_one(self): pass
class Other(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no such thing")
    def test_two(self): pass
    def test_three(self): pass
"""
LEFT_BEHIND = """
        def test_one(self):
            left = __import__("subprocess").Popen(["sleep", "1000"])
            open(FOLDER + "/left", "w").write(f"{left.pid}\\n")
"""
SLOW = """
        def test_one(self):
            open(FOLDER + "/begun", "a").write("x")
            __import__("time").sleep(1000)
"""


class CountTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write(FILES)

    def write(self, files):
        for name, body in files.items():
            opening = f"import unittest\nFOLDER = {str(self.folder)!r}\n"
            text = f"{opening}class Some(unittest.TestCase):\n{body}"
            (self.folder / name).write_text(text.replace("\n        ", "\n    "))

    def write_only(self, files):
        for name in FILES:
            (self.folder / name).unlink()
        self.write(files)

    def count(self, *words):
        """What is printed at the end, written, and the exit code."""
        counts = self.folder / "counts"
        command = [*COMMAND, self.folder, *words]
        done = subprocess.run([*command, "--counts", counts], capture_output=True, text=True)
        return done.stdout.splitlines()[-1], counts.read_text().splitlines()[0], done.returncode

    def test_files_as_processes(self):
        """A test whose parts fail, a file that ends its process and one that cannot be read are a
        failure each."""
        self.assertEqual(self.count("--jobs", "2"), ("2 passed, 3 failed, 1 skipped", "2 3 1", 1))

    def test_in_one_process(self):
        (self.folder / "test_ends.py").unlink()
        self.assertEqual(self.count(), ("2 passed, 2 failed, 1 skipped", "2 2 1", 1))

    def test_class_that_cannot_begin(self):
        self.write_only({"test_no_beginning.py": NO_BEGINNING})
        self.assertEqual(self.count()[0], "1 passed, 1 failed, 0 skipped")

    def test_process_left_behind(self):
        self.write_only({"test_left.py": LEFT_BEHIND})
        self.assertEqual(self.count("--jobs", "1")[0], "1 passed, 0 failed, 0 skipped")
        os.kill(int((self.folder / "left").read_text()), signal.SIGKILL)  # it is still there

    def test_no_tests(self):
        for folder in (self.folder / "none", tree.TOP / "samples"):
            done = subprocess.run(
                [*COMMAND, self.folder, folder, "--jobs", "1"], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"expected a folder with test_*.py, got '{folder}'", done.stderr)

    def test_interruption(self):
        """Ctrl-C goes to all processes of a terminal's command. No file begins after it."""
        self.write_only({f"test_slow{i}.py": SLOW for i in range(20)})
        running = subprocess.Popen(
            [*COMMAND, self.folder, "--jobs", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        begun = self.folder / "begun"
        until(begun.exists, "a test begins", running)
        os.killpg(running.pid, signal.SIGINT)
        running.wait(PATIENCE)
        self.assertEqual(begun.read_text(), "x")

    def test_several_names(self):
        for name in ("test_ends.py", "test_broken.py"):
            (self.folder / name).unlink()
        for words in ((), ("--jobs", "1")):
            names = ("-k", "test_one", "-k", "test_two")
            self.assertEqual(self.count(*names, *words)[0], "2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
