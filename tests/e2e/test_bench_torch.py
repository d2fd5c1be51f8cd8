"""`bench.py torch`: all its ways train the same network, and their rows say how."""

import os
import shutil
import subprocess
import tempfile
import unittest

import harness
import torch_plugin
import virtual
from depth import long
from waiting import PATIENCE

BENCH = harness.TOP / "tests" / "bench" / "bench.py"
NET, GRADIENTS = "gpt:characters/2", 3.24  # MB
WHOLE = ("ddp", "ddp:1", "list", "backend", "wrap", "wrap:sums")
HALF = ("ddp:bf16", "wrap:bf16", "wrap:bf16-sums")
PLANNED = ("list", "backend", "wrap", "wrap:sums", "wrap:bf16", "wrap:bf16-sums")
CALIBRATION = 5  # seconds


@unittest.skipUnless(
    os.geteuid() == 0 and shutil.which("ip"), "emulated hosts need root and iproute2"
)
@long("test_torch_backend and test_torch_wrap train by each way")
class BenchTorchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            python = torch_plugin.python()
        except virtual.Missing as missing:
            raise unittest.SkipTest(str(missing)) from None
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        words = ["torch", NET, "--python", python, "--keep", folder, "--rate", "1gbit"]
        words += ["--rounds", 1, "--steps", 2, "--calibration", CALIBRATION]
        words += [word for way in WHOLE + HALF for word in ("--way", way)]
        done = subprocess.run(
            ["/usr/bin/python3", BENCH, *map(str, words)],
            env={**os.environ, "BUILD": str(harness.BUILD)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        rows = (line.split() for line in done.stdout.splitlines() if line.startswith(" 1 "))
        cls.rows = {way: [float(cell.rstrip("%")) for cell in cells] for _, way, *cells in rows}

    def test_all_ways_have_a_row(self):
        self.assertEqual(list(self.rows), list(WHOLE + HALF))
        for way, cells in self.rows.items():
            self.assertEqual(len(cells), 9 if way in PLANNED else 5, way)

    def test_losses_are_equal(self):
        expected = self.rows["ddp"][-1]
        for way, cells in self.rows.items():
            limit = 2e-2 if way in HALF else 2e-3
            self.assertAlmostEqual(cells[-1], expected, delta=limit, msg=way)

    def test_bytes(self):
        """Between two hosts each sends what it has once; frames have headers."""
        for way, cells in self.rows.items():
            expected = GRADIENTS / 2 if way in HALF else GRADIENTS
            if way not in ("wrap", "wrap:bf16"):  # factors may be shorter
                self.assertAlmostEqual(cells[-2] / expected, 1, delta=0.1, msg=way)

    def test_ratios(self):
        seconds = {way: cells[0] for way, cells in self.rows.items()}
        for way, cells in self.rows.items():
            # A row has what was known when its way was done.
            best = seconds["ddp"] if way == "ddp" else min(seconds["ddp"], seconds["ddp:1"])
            self.assertAlmostEqual(cells[1] * seconds["ddp"] / cells[0], 1, delta=0.05, msg=way)
            self.assertAlmostEqual(cells[2] * best / cells[0], 1, delta=0.05, msg=way)
            if way in PLANNED:
                step, error, bound, ratio = cells[3:7]
                self.assertLess(bound, 1.5 * step, way)  # the planner's model is a simpler one
                self.assertAlmostEqual(step, (1 + error / 100) * cells[0], delta=0.005, msg=way)
                self.assertAlmostEqual(ratio * bound / cells[0], 1, delta=0.05, msg=way)


if __name__ == "__main__":
    unittest.main()
