"""The progress line of `syncline run` on a terminal: one row, however narrow."""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

import harness
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
COLUMNS = 40


class RunProgressTest(unittest.TestCase):
    def on_terminal(self, plan):
        """What a run prints where standard error is a terminal of so many columns."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        words = [harness.SYNCLINE, "run", plan, "-n", "1", "--steps", "3"]
        process = subprocess.Popen([*map(str, words)], stderr=theirs, stdout=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(PATIENCE), 0, text)
        return text.decode()

    def test_one_row(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = harness.compile_plan(DIGITS, pathlib.Path(folder))
            text = self.on_terminal(plan)
        # The first step is always shown; the line that stays at the end is whole.
        open_lines = re.findall(r"\r\x1b\[K([^\r\n]+)(?=\r\x1b)", text)
        self.assertTrue(open_lines, text)
        for line in open_lines:
            self.assertEqual(len(line), COLUMNS - 1, line)
        self.assertRegex(text, r"3 of 3 steps  loss .*  exposed \d+\.\d\d ms\r\n")


if __name__ == "__main__":
    unittest.main()
