"""Ctrl-C, SIGTERM and SIGHUP: the run ends after a step that all ranks agree on, saves, and says
where. A rank that is lost is named by the others, with what they do."""

import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import harness
from depth import LONG as LONG_RUN
from processes import children
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

# The first allocation of rank 1's first thread fails once the file FULL is there.
FULL_MEMORY = """
#include <cerrno>
#include <cstdlib>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>
void *operator new(std::size_t bytes) {
  static bool hasFailed = false;
  const char *rank = getenv("RANK"), *full = getenv("FULL");
  const int before = errno;
  if (rank && rank[0] == '1' && !hasFailed && syscall(SYS_gettid) == getpid() &&
      access(full, F_OK) == 0) {
    hasFailed = true;
    throw std::bad_alloc();
  }
  errno = before;
  return malloc(bytes ? bytes : 1);
}
"""

# Rank 2 is killed before it has joined, and rank 0 outlives the launcher's SIGTERM.
KILLED_EARLY = """
#include <csignal>
#include <cstdlib>
__attribute__((constructor)) static void begin() {
  const char *rank = getenv("RANK");
  if (rank && rank[0] == '2')
    raise(SIGKILL);
  if (rank && rank[0] == '0')
    signal(SIGTERM, SIG_IGN);
}
"""


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
                "asp": {**harness.BY_SERVERS, "extra": ("--consistency", "asp")},
            }.items()
        }

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def words(self, plan, *more):
        save = ("--save", self.folder / "out.onnx", "--log", "json", "--timeout", PATIENCE)
        words = ("run", plan, "--data", PAIR, "--steps", LONG, "--lr", 0.01, *save, *more)
        return [str(harness.SYNCLINE), *map(str, words)]

    def start(self, words, environment=None, **more):
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            **more,
        )
        self.addCleanup(process.kill)
        return process

    def launched(self, process, count):
        """The launcher's process id, and those of its ranks by number."""
        launcher, ranks = process.pid, children(process.pid)
        if len(ranks) == 1:  # the command, whose child is the launcher
            launcher = ranks[0]
            ranks = children(launcher)
        self.assertEqual(len(ranks), count)
        return launcher, ranks

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
            numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            for number in numbers if LONG_RUN or name == "ring" else numbers[:2]:
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

    def test_hang_up_that_is_ignored(self):
        """As nohup arranges it: the run goes on."""
        words = self.words(self.plans["ring"], "-n", RANKS)
        ignores = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
        process = self.start(words, preexec_fn=ignores)
        self.await_steps(process)
        os.killpg(process.pid, signal.SIGHUP)
        self.await_steps(process)
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, signal.SIGTERM)

    def test_closed_terminal(self):
        """All processes get SIGHUP, and the launcher a second one from its shell."""
        process = self.start(self.words(self.plans["ring"], "-n", RANKS))
        self.await_steps(process)
        os.killpg(process.pid, signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        self.assert_stopped(process, signal.SIGHUP)

    def test_signal_to_one_server(self):
        """It stops the run as one to a worker does; the server stays until workers have saved."""
        for name, number in (("servers", signal.SIGTERM), ("asp", signal.SIGINT)):
            with self.subTest(plan=name):
                (self.folder / "out.onnx").unlink(missing_ok=True)
                process = self.start(self.words(self.plans[name], "-n", RANKS))
                self.await_steps(process)
                _, ranks = self.launched(process, RANKS + 2)
                os.kill(ranks[RANKS + 1], number)
                if name == "servers":
                    self.assert_stopped(process, number)
                else:  # workers are at different steps
                    said = self.rest(process)[1]
                    self.assertEqual(process.returncode, 128 + number, said)
                    self.assertIn(f"stopped by signal {number} after ", said)
                    self.assertTrue((self.folder / "out.onnx").exists())

    def test_killed_rank_zero_is_named_by_another(self):
        process = self.start(self.words(self.plans["ring"], "-n", RANKS))
        self.await_steps(process)
        os.kill(self.launched(process, RANKS)[1][0], signal.SIGKILL)
        said = self.rest(process)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertRegex(said, r"lost rank 0 \(its process ended\) in the .* in step \d+; last")
        self.assertIn("rank 0 was killed by signal 9", said)

    def preloaded(self, text):
        """Surroundings that load a library of this source into every process."""
        source = self.folder / "preloaded.cpp"
        source.write_text(text)
        library = source.with_suffix(".so")
        subprocess.run(["c++", "-shared", "-fPIC", "-w", source, "-o", library], check=True)
        return {"LD_PRELOAD": str(library)}

    def test_rank_killed_before_it_joins(self):
        """Nobody names a rank that the launcher ends then."""
        words = self.words(self.plans["ring"], "-n", RANKS)
        process = self.start(words, self.preloaded(KILLED_EARLY))
        said = self.rest(process)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertNotIn("lost rank", said)
        self.assertIn("rank 2 was killed by signal 9", said)

    def test_out_of_memory_is_told(self):
        full = self.folder / "full"
        surroundings = {**self.preloaded(FULL_MEMORY), "FULL": str(full)}
        process = self.start(self.words(self.plans["ring"], "-n", RANKS), surroundings)
        self.await_steps(process)
        full.touch()
        said = self.rest(process)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertRegex(said, r"lost rank 1 \(it failed: (layer .*: )?out of memory\)")

    def test_killed_rank_while_others_compute(self):
        """Where the next message is minutes away, the message says what the others do."""
        saved = ("--checkpoint", self.folder / "saved", "--resume", "--accumulate", 1000000)
        words = self.words(self.plans["ring"], "-n", RANKS, *saved)
        words.remove("--data")
        words.remove(PAIR)  # samples are made up
        process = self.start(words)
        said = ""
        while "training begins at step 0" not in said:
            said = process.stderr.readline()
            self.assertNotEqual(said, "")
        _, ranks = self.launched(process, RANKS)
        begun = processor_seconds(ranks[0])
        until(lambda: processor_seconds(ranks[0]) > begun + 0.5, "rank 0 computes", process)
        os.kill(ranks[2], signal.SIGSEGV)
        said = self.rest(process)[1]
        self.assertEqual(process.returncode, 3, said)
        self.assertRegex(
            said, r"rank 0: lost rank 2 \(its process ended\) in operation \w+.* in step 0; "
        )
        self.assertIn("rank 2 was killed by signal 11", said)
        self.assertEqual(list((self.folder / "saved").iterdir()), [])

    def test_second_signal_ends_at_once(self):
        """A rank that stands still keeps the others from agreeing; nobody has to wait for it."""
        process = self.start(self.words(self.plans["ring"], "-n", RANKS))
        self.await_steps(process)
        _, ranks = self.launched(process, RANKS)
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
