#!/usr/bin/python3
"""What clang-tidy holds: names, the length of functions, using declarations that nothing uses.

It reads the folders whose files need no MLIR, since a file with MLIR's headers takes it 20 times
as long.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tree

TIDY = shutil.which("clang-tidy-19")
CHECKS = "-*,readability-identifier-naming,readability-function-size,misc-unused-using-decls"
FOLDERS = (
    "passes/problem",
    "passes/proof",
    "passes/solver",
    "passes/explain",
    "passes/simulate",
    "runtime/core",
    "runtime/transport",
    "runtime/transport/collectives",
)
FLAGS = ["-std=c++20", "-I.", "-Iruntime/include"]


def complaints(path):
    """What clang-tidy says of a file, a line each."""
    command = [TIDY, "-quiet", f"--checks={CHECKS}", str(path), "--", *FLAGS]
    done = subprocess.run(command, cwd=tree.TOP, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)]
    return sorted({line.replace(f"{tree.TOP}/", "") for line in lines})


@unittest.skipUnless(TIDY, "clang-tidy-19 is not installed")
class TidyTest(unittest.TestCase):
    def test_tree(self):
        files = [p for p in tree.files(".cpp") if str(p.parent) in FOLDERS]
        self.assertGreater(len(files), 60)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [line for lines in pool.map(complaints, files) for line in lines]
        if found:
            self.fail("\n" + "\n".join(sorted(set(found))))


    def test_finds_a_name(self):
        """A function whose name begins with a capital is found, so the test above can fail."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wrong.cpp")
            with open(path, "w") as out:
                out.write("int Wrong() { return 0; }\n")
            shutil.copy(tree.TOP / ".clang-tidy", folder)
            self.assertIn("Wrong", "".join(complaints(path)))


if __name__ == "__main__":
    unittest.main()
