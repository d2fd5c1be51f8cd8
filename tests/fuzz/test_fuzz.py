"""A few changed inputs for every target, and the judge itself: what it must notice."""

import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import fuzz
import judge
import mutate
import server
import targets
from depth import repeat
from waiting import PATIENCE

SHELL = "/bin/sh"
INPUTS = repeat(20, 800)  # of each target


class JudgeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "case"
        self.folder.mkdir()
        self.shell = server.Program(SHELL, {})
        self.addCleanup(self.shell.close)

    def fault(self, script, seconds=PATIENCE):
        return judge.fault_of(self.shell.call(["-c", script], self.folder, seconds))

    def test_success(self):
        self.assertEqual(self.fault("echo fine"), "")

    def test_refusal(self):
        """One message and exit code 1 or 2, with or without notes."""
        self.assertEqual(self.fault("echo note >&2; echo 'syncline: error: bad' >&2; exit 1"), "")
        self.assertEqual(self.fault("echo 'syncline-run: rank 0: error: bad' >&2; exit 2"), "")

    def test_crash(self):
        self.assertEqual(self.fault("kill -SEGV $$"), "ended by signal 11")

    def test_our_own_fault(self):
        self.assertEqual(self.fault("echo 'syncline: error: internal' >&2; exit 3"), "exit code 3")

    def test_hang(self):
        """A call that lasts too long is ended with all that it started."""
        self.assertEqual(self.fault("sleep 100 & sleep 100", seconds=0.3), "took too long")
        self.assertEqual(self.fault("exit 0"), "")

    def test_silence(self):
        self.assertEqual(self.fault("exit 1"), "exit code 1 with 0 messages")

    def test_two_messages(self):
        script = "echo 'syncline: error: one' >&2; echo 'syncline: error: two' >&2; exit 1"
        self.assertEqual(self.fault(script), "exit code 1 with 2 messages")

    def test_assertion(self):
        self.assertEqual(self.fault("echo 'Assertion failed' >&2; exit 1"), "said 'Assertion'")


class MutationTest(unittest.TestCase):
    def test_seeds_say_the_input(self):
        """The same seed, target and number make the same input; another number another one."""
        original = bytes(range(256)) * 4

        def made(number):
            return mutate.data(targets.rng_of(1, "t", number), original)

        self.assertEqual(made(1), made(1))
        self.assertGreater(len({made(number) for number in range(50)}), 45)


class FuzzTest(unittest.TestCase):
    def test_all_targets(self):
        """No finding; and some inputs are accepted, so that more than the first check has run."""
        with tempfile.TemporaryDirectory() as work:
            chosen = types.SimpleNamespace(
                **{
                    "inputs": INPUTS * len(targets.TARGETS),
                    "seed": "ci",
                    "targets": list(targets.TARGETS),
                },
                **{"only": None, "jobs": 1, "seconds": PATIENCE, "keep": f"{work}/findings"},
            )
            lines = []
            findings = fuzz.fuzz(chosen, work, lines.append)
        self.assertEqual(findings, 0, "\n".join(lines))
        _, inputs, accepted, _ = lines[-1].splitlines()[-1].split()
        self.assertEqual(int(inputs), INPUTS * len(targets.TARGETS))
        self.assertGreater(int(accepted), INPUTS)


if __name__ == "__main__":
    unittest.main()
