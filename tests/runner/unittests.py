"""Runs one file of Python tests in this process, and writes what came of each test as JSON.

    unittests.py FILE RESULTS [-k NAME ...]

A line is written when a test begins and when it ends, so that a test which ends this process is
known by name.
"""

import argparse
import json
import pathlib
import resource
import sys
import time
import traceback
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS.parent / "samples" / "models")]

import surroundings  # noqa: E402


def processor_seconds():
    """Seconds that this process and the children it has waited for have computed."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Recorded(unittest.TextTestResult):
    """Writes a test's outcome and its times. A test of which one part fails, or of which one part
    is left out, is counted once."""

    def __init__(self, results, *arguments):
        super().__init__(*arguments)
        self.results = results
        self.outcome, self.began = {}, {}

    def write(self, **record):
        self.results.write(json.dumps(record) + "\n")
        self.results.flush()

    def startTest(self, test):
        super().startTest(test)
        self.outcome = {"outcome": "passed"}
        self.began = (time.monotonic(), processor_seconds())
        self.write(test=test.id(), outcome="began")

    def stopTest(self, test):
        wall, cpu = time.monotonic() - self.began[0], processor_seconds() - self.began[1]
        self.write(test=test.id(), wall=wall, cpu=cpu, **self.outcome)
        self.outcome = {}
        super().stopTest(test)

    def fail_it(self, test):
        """Notes a failure. One outside of every test (a class that cannot begin) has a line."""
        if self.outcome:
            self.outcome = {"outcome": "failed"}
        else:
            self.write(test=test.id(), outcome="failed", wall=0, cpu=0)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        skipped = {"outcome": "skipped", "reason": reason}
        if not self.outcome:
            self.write(test=test.id(), wall=0, cpu=0, **skipped)
        elif self.outcome["outcome"] != "failed":
            self.outcome = skipped

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.fail_it(test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.fail_it(test)

    def addError(self, test, error):
        super().addError(test, error)
        self.fail_it(test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.fail_it(test)


def tests_of(path, names):
    """The file's tests. One that cannot be imported is a test that fails."""
    sys.path.insert(0, str(path.parent))
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in names] or None
    return loader.loadTestsFromName(path.stem)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("-k", metavar="NAME", action="append", default=[])
    chosen = parser.parse_args()
    surroundings.settle()
    with chosen.results.open("w") as results:

        def recorded(*arguments, **_):
            return Recorded(results, *arguments)

        try:
            suite = tests_of(chosen.file, chosen.k)
        except Exception:
            traceback.print_exc()
            results.write(json.dumps({"test": chosen.file.stem, "outcome": "failed"}) + "\n")
            return 1
        runner = unittest.TextTestRunner(sys.stdout, verbosity=2, resultclass=recorded)
        return 0 if runner.run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
