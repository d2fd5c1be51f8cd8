"""Counts test results for run.sh, as "PASSED FAILED SKIPPED".

    count.py FILE.xml                      of a JUnit file, as ctest writes it
    count.py --run FOLDER... [-k NAME] [--jobs N] [--counts FILE]   runs each FOLDER's test_*.py

-k may be repeated. The file has the counts, and in a second line each test's seconds as JSON.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parents[1]
# What tests import from outside their folder: the command's driver, the samples' exporter.
SHARED = [TOP / "tests" / "support", TOP / "samples" / "models"]
SLOWEST = 15  # of a folder's tests, printed with their times


def of_junit(path):
    cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    kinds = [outcome(case) for case in cases]
    return kinds.count("passed"), kinds.count("failed"), kinds.count("skipped")


def outcome(case):
    """ctest says 'skipped' also of a test whose program is missing: that one failed."""
    skipped = case.find("skipped")
    if skipped is not None:
        return "skipped" if skipped.get("message", "").startswith("SKIP_") else "failed"
    return (
        "failed" if case.find("failure") is not None or case.get("status") == "fail" else "passed"
    )


class Counting(unittest.TextTestResult):
    """Also counts passed tests, a test whose subtests fail or are left out once, and takes each
    test's seconds."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.passed, self.broken, self.left_out = set(), set(), set()
        self.seconds = {}

    def counts(self):
        left_out = self.left_out - self.broken
        return len(self.passed), len(self.broken), len(left_out)

    def startTest(self, test):
        super().startTest(test)
        self.seconds[test.id()] = -time.monotonic()

    def stopTest(self, test):
        self.seconds[test.id()] += time.monotonic()
        super().stopTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed.add(test.id())

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.left_out.add(getattr(test, "test_case", test).id())

    def addSubTest(self, test, subtest, outcome):
        super().addSubTest(test, subtest, outcome)
        if outcome is not None:
            self.broken.add(test.id())

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.broken.add(test.id())

    def addError(self, test, error):
        super().addError(test, error)
        self.broken.add(test.id())


def of_unittest(folder, pattern, names):
    """Runs the tests of `folder` in this process. One that cannot even be imported is a failed
    test. Returns the counts, and each test's seconds."""
    sys.path[:0] = map(str, SHARED)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in names] or None
    suite = loader.discover(folder, pattern)
    runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Counting)
    result = runner.run(suite)
    return result.counts(), result.seconds


def of_file(path, names):
    """Runs one file's tests as a process. Returns what it printed, the counts and the seconds. A
    file that no longer counts its tests is one failed test. It prints into a file: a pipe would be
    open for as long as a process lives that a test has left behind."""
    with tempfile.TemporaryDirectory() as folder:
        counts, output = pathlib.Path(folder) / "counts", pathlib.Path(folder) / "output"
        words = [sys.executable, __file__, "--run", path.parent, "--file", path.name]
        words += ["--counts", counts, *(word for name in names for word in ("-k", name))]
        with output.open("w") as to:
            code = subprocess.run(words, stdout=to, stderr=subprocess.STDOUT).returncode
        printed = output.read_text(errors="replace")
        if counts.exists():
            numbers, seconds = counts.read_text().splitlines()
            return printed, [*map(int, numbers.split())], json.loads(seconds)
        return f"{printed}\n{path} ended with code {code}\n", (0, 1, 0), {}


def files_of(folder):
    files = sorted(pathlib.Path(folder).glob("test_*.py"))
    return files or sys.exit(f"count: expected a folder with test_*.py, got '{folder}'")


def of_files(folders, jobs, names):
    """Runs the files of all folders, `jobs` at a time; each one's output comes in one piece. Ctrl-C
    ends those that run, and no more begin."""
    files = [path for folder in folders for path in files_of(folder)]
    total, times = [0, 0, 0], {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(of_file, path, names): path for path in files}
        try:
            for one in concurrent.futures.as_completed(running):
                output, counts, seconds = one.result()
                print(f"\n-- {running[one]}\n{output}", end="", flush=True)
                total = [sum(pair) for pair in zip(total, counts)]
                times.update(seconds)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return total, times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("junit", nargs="?", help="file to count")
    parser.add_argument("--run", metavar="FOLDER", nargs="+", help="run its test_*.py")
    parser.add_argument("--counts", metavar="FILE", help="where --run writes counts and seconds")
    parser.add_argument(
        "-k",
        metavar="NAME",
        action="append",
        default=[],
        help="with --run: only tests whose name contains NAME; may be repeated",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, help="run so many files at a time, a process each"
    )
    parser.add_argument("--file", default="test_*.py", help="only this file of the folder")
    chosen = parser.parse_args()
    if chosen.junit:
        print(*of_junit(chosen.junit))
        return
    if chosen.jobs or len(chosen.run) > 1:
        counts, seconds = of_files(chosen.run, chosen.jobs or 1, chosen.k)
    else:
        counts, seconds = of_unittest(chosen.run[0], chosen.file, chosen.k)
    if chosen.counts:
        pathlib.Path(chosen.counts).write_text("%d %d %d\n" % tuple(counts) + json.dumps(seconds))
    if chosen.file == "test_*.py":
        print("slowest tests, in seconds:")
        for test, taken in sorted(seconds.items(), key=lambda one: -one[1])[:SLOWEST]:
            print(f"{taken:8.1f}  {test}")
        print("%d passed, %d failed, %d skipped" % tuple(counts))
    sys.exit(counts[1] != 0)


if __name__ == "__main__":
    main()
