#!/usr/bin/python3
"""What clang-tidy holds: names, the length of functions, using declarations that nothing uses.

The short run reads what has been changed in the folders whose files need no MLIR. The long run
reads these folders whole, and all files with MLIR's headers, which take half a minute each.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tree

sys.path.append(str(tree.TOP / "tests" / "support"))

from depth import long  # noqa: E402

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
PRODUCT = ("codegen", "frontend", "ir", "passes", "runtime")
FLAGS = ["-std=c++20", "-I.", "-Iruntime/include"]

MOST = 6  # changed files that the short run reads
BUILD = pathlib.Path(os.environ.get("BUILD", tree.TOP / "build"))
CUDA = "/usr/local/cuda/include"
GCC = subprocess.check_output(["c++", "-print-file-name=include"], text=True).strip()
ALL_FLAGS = [*FLAGS, f"-I{BUILD}", "-isystem/usr/lib/llvm-19/include", f"-isystem{CUDA}"]
ALL_FLAGS += ["-idirafter", GCC, "-mavx2", "-mavx512f"]  # GCC's folder has omp.h
ALL_FLAGS += ["-DONNX_NAMESPACE=onnx", "-DONNX_ML=1"]
ALL_FLAGS += ['-DSYNCLINE_VERSION="0"', '-DSYNCLINE_ONEDNN="0"', "-D_Float128=__float128"]
# These files call powf128() and other functions that glibc declares for GCC alone.
GCC_ALONE = ("frontend/onnx/FoldElementwise.cpp", "frontend/onnx/FoldReductions.cpp")


def complaints(path, flags=FLAGS):
    """What clang-tidy says of a file, a line each."""
    command = [TIDY, "-quiet", f"--checks={CHECKS}", str(path), "--", *flags]
    done = subprocess.run(command, cwd=tree.TOP, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)]
    others = (f"{BUILD}/", f"{GCC}/omp.h:")  # TableGen's files, and attributes that Clang has not
    lines = [line for line in lines if not line.startswith(others)]
    return sorted({line.replace(f"{tree.TOP}/", "") for line in lines})


def all_complaints(files, flags=FLAGS):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda path: complaints(path, flags), files)
        return sorted({line for lines in found for line in lines})


def changed():
    """Files that have been changed since the commit before the last one; none without a history."""
    command = ["git", "diff", "--name-only", "HEAD~1"]
    done = subprocess.run(command, cwd=tree.TOP, capture_output=True, text=True)
    return set(done.stdout.split()) if done.returncode == 0 else set()


@unittest.skipUnless(TIDY, "clang-tidy-19 is not installed")
class TidyTest(unittest.TestCase):
    def none(self, complaints):
        if complaints:
            self.fail("\n" + "\n".join(complaints))

    def plain(self):
        files = [path for path in tree.files(".cpp") if str(path.parent) in FOLDERS]
        self.assertGreater(len(files), 60)
        return files

    def test_changed(self):
        names = changed()
        self.none(all_complaints([path for path in self.plain() if str(path) in names][:MOST]))

    @long("test_changed reads what has been changed; all files take minutes")
    def test_tree(self):
        self.none(all_complaints(self.plain()))

    @long("a file with MLIR's headers takes half a minute")
    def test_rest(self):
        """Every other file of the product. BUILD has the headers that TableGen wrote."""
        plain = set(self.plain())
        files = [path for path in tree.files(".cpp") if path.parts[0] in PRODUCT]
        files = [path for path in files if path not in plain and str(path) not in GCC_ALONE]
        if not os.path.exists(f"{CUDA}/cublasLt.h"):
            files = [path for path in files if path.parts[:2] != ("runtime", "cuda")]
        self.assertGreater(len(files), 300)
        self.none(all_complaints(files, ALL_FLAGS))

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
