"""Counts test results for run.sh, as "PASSED FAILED SKIPPED".

    count.py FILE.xml                      of a JUnit file, as ctest writes it
    count.py --run FOLDER --counts FILE    runs FOLDER's test_*.py and writes the counts to FILE
"""

import argparse
import pathlib
import sys
import unittest
import xml.etree.ElementTree


def of_junit(path):
    cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    failed = sum(case.find("failure") is not None or case.get("status") == "fail" for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


class Counting(unittest.TextTestResult):
    """Also counts passed tests; a test whose subtests fail counts once."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.broken = set()

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


def of_unittest(folder):
    """Runs every test of `folder`. One that cannot even be imported is a failed test."""
    suite = unittest.defaultTestLoader.discover(folder, "test_*.py")
    runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=Counting)
    result = runner.run(suite)
    failed, skipped = len(result.broken), len(result.skipped)
    return max(result.testsRun, failed + skipped) - failed - skipped, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("junit", nargs="?")
    parser.add_argument("--run")
    parser.add_argument("--counts")
    chosen = parser.parse_args()
    if chosen.junit:
        print(*of_junit(chosen.junit))
        return
    counts = of_unittest(chosen.run)
    pathlib.Path(chosen.counts).write_text("%d %d %d\n" % counts)


if __name__ == "__main__":
    main()
