"""Ctrl-C and SIGTERM: the run ends after a step that all ranks agree on, saves, and says where."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import harness
from waiting import PATIENCE, until

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
LONG = 1000000  # steps, more than a test waits for
RANKS = 3


def is_pending(pid, number):
    """Whether a process has been sent a signal that it has not taken."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def is_stopped(pid):
    """Whether all threads of a process stand still."""
    stats = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


class StopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plans = {
            name: harness.compile_plan(DIGITS, path, ranks=RANKS, label=name, **more)
            for name, more in {
                "ring": {"cluster": harness.RING},
                "sharded": {"extra": ("--scheme", "*=reduce-scatter")},
                "factors": {"extra": ("--scheme", "fc*=factors")},
                "servers": harness.BY_SERVERS,
                "carried": {"extra": ("--scheme", "fc*=factors", "--overlap", "step")},
            }.items()
        }

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def words(self, plan, *more):
        save = ("--save", self.folder / "out.onnx", "--log", "json", "--timeout", PATIENCE)
        words = ("run", plan, "--data", PAIR, "--steps", LONG, "--lr", 0.01, *save, *more)
        return [str(harness.SYNCLINE), *map(str, words)]

    def start(self, words, environment=None):
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        self.addCleanup(process.kill)
        return process

    def await_steps(self, process, count=20):
        """The first lines of rank 0's log, so that the run is under way."""
        return [process.stdout.readline() for _ in range(count)]

    def rest(self, process):
        """What else it writes, until it ends. (communicate() would miss what readline()
        has read.)"""
        output, said = process.stdout.read(), process.stderr.read()
        process.wait(PATIENCE)
        return output, said

    def assert_stopped(self, first, signal_number):
        """Rank 0 said where it stopped, which its log agrees with, and saved."""
        output, said = self.rest(first)
        self.assertEqual(first.returncode, 128 + signal_number, said)
        summary = json.loads(output.splitlines()[-1])
        self.assertEqual(summary["stopped_by_signal"], signal_number)
        done = summary["steps"]
        self.assertIn(f"stopped by signal {signal_number} after {done} of {LONG} steps", said)
        self.assertEqual(json.loads(output.splitlines()[-2])["step"], done - 1)
        self.assertNotIn("error", said)
        self.assertTrue((self.folder / "out.onnx").stat().st_size > 0)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["out.onnx"])

    def test_launcher_stops_its_ranks(self):
        for name, plan in self.plans.items():
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(plan=name, signal=number.name):
                    (self.folder / "out.onnx").unlink(missing_ok=True)
                    process = self.start(self.words(plan, "-n", RANKS))
                    self.await_steps(process)
                    process.send_signal(number)
                    self.assert_stopped(process, number)

    def test_terminal_tells_all_at_once(self):
        """The launcher tells its ranks again what the terminal has told them: still one signal."""
        process = self.start(self.words(self.plans["ring"], "-n", RANKS))
        self.await_steps(process)
        os.killpg(process.pid, signal.SIGINT)
        self.assert_stopped(process, signal.SIGINT)

    def ranks(self, plan, count):
        told = {"WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": harness.free_port()}
        return [
            self.start(
                self.words(plan), {key: str(value) for key, value in {**told, "RANK": rank}.items()}
            )
            for rank in range(count)
        ]

    def test_one_signal_to_one_rank(self):
        """As torchrun's agent may do it: the others stop behind the same step."""
        for name, victim in (("ring", 1), ("sharded", 0), ("factors", 2), ("servers", 1)):
            with self.subTest(plan=name, rank=victim):
                (self.folder / "out.onnx").unlink(missing_ok=True)
                ranks = self.ranks(self.plans[name], RANKS + (2 if name == "servers" else 0))
                self.await_steps(ranks[0])
                ranks[victim].send_signal(signal.SIGTERM)
                self.assert_stopped(ranks[0], signal.SIGTERM)
                for rank in ranks[1:]:
                    said = self.rest(rank)[1]
                    self.assertEqual(rank.returncode, 128 + signal.SIGTERM, said)
                    self.assertNotIn("error", said)

    def test_second_signal_ends_at_once(self):
        """A rank that stands still keeps the others from agreeing; nobody has to wait for it."""
        process = self.start(self.words(self.plans["ring"], "-n", RANKS))
        self.await_steps(process)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        launcher = process.pid
        ranks = [int(pid) for pid in children.split()]
        if len(ranks) == 1:  # the command, whose child is the launcher
            launcher = ranks[0]
            text = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text()
            ranks = [int(pid) for pid in text.split()]
        self.assertEqual(len(ranks), RANKS)
        os.kill(ranks[1], signal.SIGSTOP)
        until(lambda: is_stopped(ranks[1]), "a rank stands still", process)
        process.send_signal(signal.SIGINT)
        # The launcher has taken the first signal, and told the rank that stands still.
        until(lambda: is_pending(ranks[1], signal.SIGINT), "the ranks are told", process)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        said = self.rest(process)[1]  # before the ranks' own time limit
        self.assertIn(process.returncode, (130, -signal.SIGINT), said)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_during_evaluation(self):
        """Accuracy of a part of the samples is none; the model is saved all the same."""
        words = [*self.words(self.plans["ring"], "-n", RANKS), "--eval", PAIR]
        words[words.index(str(LONG))] = "30"
        process = self.start(words)
        self.await_steps(process, 30)
        process.send_signal(signal.SIGINT)
        output, said = self.rest(process)
        summary = json.loads(output.splitlines()[-1])
        self.assertEqual(summary["steps"], 30)
        self.assertTrue((self.folder / "out.onnx").exists())
        if process.returncode == 0:  # evaluation was quicker than the signal
            self.assertIn("test_accuracy", summary)
        else:
            self.assertEqual(process.returncode, 128 + signal.SIGINT, said)


if __name__ == "__main__":
    unittest.main()
