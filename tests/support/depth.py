"""How much a test run does: the short run tests everything once, the long run repeats it with more
models, seeds, sizes and pairs. SYNCLINE_LONG=1 asks for the long one."""

import os
import unittest

LONG = bool(os.environ.get("SYNCLINE_LONG"))
# How a skipped test's reason begins, so that the runner counts it by itself.
MARK = "long run: "


def repeat(short, long):
    """Which of two this run takes: numbers of repetitions, or lists of cases."""
    return long if LONG else short


def leave(test, reason):
    """Leaves the running test to the long run."""
    if not LONG:
        test.skipTest(MARK + reason)


def long(reason):
    """Leaves a test or a class to the long run. `reason` says what the short run has in its
    place."""
    return unittest.skipUnless(LONG, MARK + reason)
