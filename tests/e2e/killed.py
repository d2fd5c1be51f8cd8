"""A rank that is killed at a random moment: the others name it, what they did and in which step, no
process and no file stays behind, and the next run ends with the bits of one that was never killed.

SYNCLINE_KILLS is the number of kills of each test, and SYNCLINE_SEED repeats those of another run.
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import time
import unittest

import harness
from checkpointed import CheckpointedTest
from depth import repeat
from processes import ranks_of
from waiting import PATIENCE, until

SAMPLES = harness.TOP / "samples" / "models"
SHARED_MEMORY = pathlib.Path("/dev/shm")
RANKS = 3
SEED = int(os.environ.get("SYNCLINE_SEED", random.SystemRandom().randrange(2**32)))
IN_STEP = (
    r"in ([^;]+ in step|the comparison of weights after) (?P<step>\d+)( steps)?; "
    r"(no step completed|last completed step (?P<completed>\d+))"
)
MOMENTS = ("step", "checkpoint", "start", "end")
SAVED = r"\.lock|\.seen-\d+|step\d+(/rank\d\.bin|/manifest\.json)?"
UNFINISHED = re.compile(r"\.partial-\w+$")


def has_unnamed_files(folder):
    """Whether files can be written that have no name until they are whole."""
    try:
        os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE))
    except OSError:
        return False
    return True


def kills(short, long):
    return int(os.environ.get("SYNCLINE_KILLS", repeat(short, long)))


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class Way:
    """How a run trains, and how many seconds its parts take where no rank is killed."""

    def __init__(self, plan, steps, every, *words):
        self.plan, self.steps, self.every, self.given = plan, steps, every, words
        self.start = self.step = self.end = 0

    def words(self, folder):
        saved = ("--save", folder / "out.onnx", "--checkpoint", folder / "saved", "--resume")
        every = ("--steps", self.steps, "--every", self.every)
        return ["run", self.plan, "-n", RANKS, *self.given, *every, *saved, "--log", "json"]

    def moment(self, name, chance):
        """After how many lines of rank 0's log a rank is killed, and how many seconds later."""
        lines, longest = {
            "start": (0, self.start),
            "step": (chance.randrange(1, self.steps), 2 * self.step),
            "checkpoint": (chance.randrange(self.every, self.steps, self.every), self.end),
            "end": (self.steps, self.end),
        }[name]
        return lines, chance.uniform(0, longest)


class KillsTest(CheckpointedTest):
    def whole(self, way):
        """What an undisturbed run saves, and the names of all its files."""
        folder = self.folder / "whole"
        folder.mkdir()
        process = self.begin(way.words(folder))
        times = [time.monotonic()]
        for _ in range(way.steps):
            self.assertTrue(process.stdout.readline(), "no step was done")
            times.append(time.monotonic())
        said = process.stderr.read()
        process.wait(PATIENCE)
        self.assertEqual(process.returncode, 0, said)
        way.start, way.end = times[1] - times[0], time.monotonic() - times[-1]
        way.step = (times[-1] - times[1]) / (way.steps - 1)
        return (folder / "out.onnx").read_bytes(), names(folder)

    def killed(self, way, folder, victim, lines, delay):
        """Exit code, the lines of rank 0's log, and stderr of a run whose rank is killed."""
        process = self.begin(way.words(folder))
        until(lambda: len(ranks_of(process.pid)) == RANKS, "all ranks", process)
        ranks = ranks_of(process.pid)
        log = [process.stdout.readline() for _ in range(lines)]
        time.sleep(delay)
        try:
            os.kill(ranks[victim], signal.SIGKILL)
        except ProcessLookupError:
            pass  # the run was over
        log += process.stdout.readlines()
        said = process.stderr.read()
        process.wait(PATIENCE)
        with self.assertRaises(ProcessLookupError, msg="a process of the run stays"):
            os.killpg(process.pid, 0)
        return process.returncode, log, said

    def assert_named(self, way, victim, code, log, said):
        """The launcher and the others name the victim, and within the run the operation and the
        step. Where that was, for the count."""
        if code == 0:
            self.assertEqual(len(log), way.steps + 1, said)
            self.assertNotIn("error", said)
            return "was over"
        self.assertEqual(code, 1, said)
        self.assertIn(f"syncline-run: rank {victim} was killed by signal 9 (Killed)\n", said)
        lost = rf"(lost rank {victim} \(its process ended\)|rank {victim} ended or does not answer)"
        found = re.search(rf"{lost} {IN_STEP}", said)
        if found:
            step = int(found["step"])
            self.assertEqual(found["completed"], str(step - 1) if step > 0 else None, said)
            # Rank 0 prints a loss one step later, and may have been killed just before it did.
            most = 2 if victim == 0 else 1
            self.assertIn(step - len(log), range(-1, most + 1), said)
            return "within a step"
        self.assertIn(len(log), (0, way.steps, way.steps + 1), said)
        # Where nobody had met the victim yet, or everybody had left it, the launcher alone speaks.
        named = rf"lost rank {victim} |rank {victim} (of this run has )?ended"
        for line in said.splitlines():
            if "error: " in line:
                self.assertRegex(line, named)
        return "behind the last step" if log else "before the first step"

    def assert_tidy(self, folder, wanted):
        """What was written is whole, and locks are empty."""
        files = names(folder)
        if has_unnamed_files(folder):
            self.assertFalse(list(filter(UNFINISHED.search, files)), files)
        for name in files:
            self.assertRegex(UNFINISHED.sub("", name), f"^(out.onnx|saved(/({SAVED}))?)$")
        for path in folder.glob("saved/.[ls]*"):
            self.assertEqual(path.read_bytes(), b"", path.name)
        for path in folder.glob("out.onnx"):
            self.assertEqual(path.read_bytes(), wanted)

    def errors(self, said):
        lines = said.splitlines()
        return " | ".join(line for line in lines if "error: " in line or "killed" in line)

    def survives(self, way, count):
        chance, outcomes = random.Random(SEED), collections.Counter()
        shared = set(names(SHARED_MEMORY))
        wanted, files = self.whole(way)
        for number in range(count):
            victim, moment = chance.randrange(RANKS), MOMENTS[number % len(MOMENTS)]
            lines, delay = way.moment(moment, chance)
            told = f"{number}: rank {victim}, {moment}, {delay:.4f} s behind {lines} steps"
            folder = self.folder / f"run{number}"
            folder.mkdir()
            with self.subTest(f"kill {told}, seed {SEED}"):
                code, log, said = self.killed(way, folder, victim, lines, delay)
                outcome = self.assert_named(way, victim, code, log, said)
                outcomes[outcome] += 1
                self.assert_tidy(folder, wanted)
                done = self.command(*way.words(folder))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((folder / "out.onnx").read_bytes(), wanted)
                self.assertEqual([n for n in names(folder) if not UNFINISHED.search(n)], files)
                shutil.rmtree(folder)
                if count > 2:
                    print(f"{told}: {outcome}; {self.errors(said)}", flush=True)
        # Other programs' files go with them.
        until(lambda: shared >= set(names(SHARED_MEMORY)), "nothing in shared memory stays")
        print(f"{count} kills by seed {SEED}: {dict(outcomes)}", flush=True)
