"""Engines of convolutions that are chosen by time, on all ranks and in later runs, without a GPU:
tests/host-cuda plays its device."""

import json
import pathlib
import shutil
import subprocess
import unittest

import harness
from host_cuda import TwoDevicesCase
from waiting import PATIENCE


class HostCudaEnginesTest(TwoDevicesCase):
    def setUp(self):
        self.table = pathlib.Path(self.plan) / "convolutions.tsv"
        self.table.unlink(missing_ok=True)

    def run_plan(self, *words):
        words = ("run", self.plan, "-n", 2, "--steps", 2, "--log", "json", *words)
        command = [str(harness.SYNCLINE), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)

    def train(self, *words):
        done = self.run_plan(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_choice_is_kept(self):
        """The first run times and writes the table, the second takes it and says nothing."""
        first, said = self.train()
        self.assertIn("timed the engines of", said)
        table = self.table.read_text()
        kernels = first[-1]["kernels"]
        self.assertEqual(len(kernels), table.count("\n") - 2)
        for kernel in kernels:
            self.assertTrue(kernel["kernel"].startswith("cudnn:"), kernel)
            self.assertGreater(kernel["seconds"], 0)
        second, said = self.train()
        self.assertNotIn("timed", said)
        self.assertEqual(self.table.read_text(), table)
        self.assertEqual([line["loss"] for line in first], [line["loss"] for line in second])

    def test_file(self):
        """The named file is used in place of the plan's; another rank does not read it."""
        file = self.folder / "kept.tsv"
        self.train("--tune-convolutions", file)
        self.assertFalse(self.table.exists())
        shutil.move(file, self.table)
        self.assertNotIn("timed", self.train()[1])

    def test_off(self):
        lines, said = self.train("--tune-convolutions", "off")
        self.assertNotIn("timed", said)
        self.assertNotIn("kernels", lines[-1])
        self.assertFalse(self.table.exists())

    def test_broken_table(self):
        """It is the user's to delete, on all ranks with one message."""
        self.table.write_text("x\n")
        done = self.run_plan()
        self.assertEqual(done.returncode, 1)
        self.assertIn("convolutions.tsv': line 1: this is no table of engines", done.stderr)
        self.assertEqual(self.table.read_text(), "x\n")


if __name__ == "__main__":
    unittest.main()
