#!/usr/bin/python3
"""How tests in Python are counted: whatever a file does, none of its tests is lost in silence."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import tree

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


class CountTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, body in FILES.items():
            text = f"import unittest\nclass Some(unittest.TestCase):\n{body}"
            (self.folder / name).write_text(text.replace("\n        ", "\n    "))

    def count(self, *words):
        """What is printed at the end, written, and the exit code."""
        counts = self.folder / "counts"
        command = [sys.executable, tree.TOP / "tests" / "count.py", "--run", self.folder, *words]
        done = subprocess.run([*command, "--counts", counts], capture_output=True, text=True)
        return done.stdout.splitlines()[-1], counts.read_text().splitlines()[0], done.returncode

    def test_files_as_processes(self):
        """A test whose parts fail, a file that ends its process and one that cannot be read are a
        failure each."""
        self.assertEqual(self.count("--jobs", "2"), ("2 passed, 3 failed, 1 skipped", "2 3 1", 1))

    def test_in_one_process(self):
        (self.folder / "test_ends.py").unlink()
        self.assertEqual(self.count(), ("2 passed, 2 failed, 1 skipped", "2 2 1", 1))

    def test_several_names(self):
        for name in ("test_ends.py", "test_broken.py"):
            (self.folder / name).unlink()
        for words in ((), ("--jobs", "1")):
            names = ("-k", "test_one", "-k", "test_two")
            self.assertEqual(self.count(*names, *words)[0], "2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
