"""Counts test results for run.sh, as "PASSED FAILED SKIPPED".

    count.py FILE.xml                      of a JUnit file, as ctest writes it
    count.py --run FOLDER [-k NAME] [--counts FILE]   runs FOLDER's test_*.py
"""

import argparse
import pathlib
import sys
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
    """Also counts passed tests, a test whose subtests fail once, and takes each test's seconds."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.broken = set()
        self.seconds = {}

    def startTest(self, test):
        super().startTest(test)
        self.seconds[test.id()] = -time.monotonic()

    def stopTest(self, test):
        self.seconds[test.id()] += time.monotonic()
        super().stopTest(test)

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


def of_unittest(folder, name=None):
    """Runs every test of `folder`. One that cannot even be imported is a failed test."""
    sys.path[:0] = map(str, SHARED)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*"] if name else None
    suite = loader.discover(folder, "test_*.py")
    runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Counting)
    result = runner.run(suite)
    print("slowest tests, in seconds:")
    for test, seconds in sorted(result.seconds.items(), key=lambda one: -one[1])[:SLOWEST]:
        print(f"{seconds:8.1f}  {test}")
    failed, skipped = len(result.broken), len(result.skipped)
    return max(result.testsRun, failed + skipped) - failed - skipped, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("junit", nargs="?", help="file to count")
    parser.add_argument("--run", metavar="FOLDER", help="run its test_*.py")
    parser.add_argument("--counts", metavar="FILE", help="where --run writes the counts")
    parser.add_argument(
        "-k", metavar="NAME", help="with --run: only tests whose name contains NAME"
    )
    chosen = parser.parse_args()
    if chosen.junit:
        print(*of_junit(chosen.junit))
        return
    counts = of_unittest(chosen.run, chosen.k)
    if chosen.counts:
        pathlib.Path(chosen.counts).write_text("%d %d %d\n" % counts)
    sys.exit(counts[1] != 0)


if __name__ == "__main__":
    main()
