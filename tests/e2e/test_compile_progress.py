"""The progress line of `syncline compile`: shown where a compilation takes long, and only there."""

import os
import pty
import re
import subprocess
import unittest

import harness
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
# The line while the step is compiled.
PHASE = r"compile: compiling the step, \d+ s"


class CompileProgressTest(RefusalTest):
    def words(self, *more):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 2, *more]
        return [str(harness.SYNCLINE), *map(str, words), "-o", str(self.folder / "out.plan")]

    def environment(self, seconds):
        """With a C++ compiler that takes so long and writes an empty file."""
        write = 'while [ $# -gt 1 ]; do [ "$1" != -o ] || : > "$2"; shift; done'
        compiler = self.write("compiler", f"#!/bin/sh\nsleep {seconds}\n{write}\n")
        compiler.chmod(0o755)
        return {**os.environ, "CXX": str(compiler)}

    def on_terminal(self, seconds, *more):
        """What a compilation prints on a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            self.words(*more), stderr=theirs, env=self.environment(seconds), close_fds=True
        )
        self.addCleanup(process.kill)
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(60), 0, text)
        return text.decode()

    def in_file(self, seconds):
        """What a compilation prints where standard error is no terminal."""
        done = subprocess.run(
            self.words(), capture_output=True, text=True, env=self.environment(seconds), timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_line_on_a_terminal(self):
        """The line names the phase, and is erased before what is printed at the end."""
        text = self.on_terminal(3.5)
        self.assertRegex(text, PHASE)
        last = text.rindex("compile: ")
        self.assertIn("\r\x1b[K", text[last:])
        self.assertNotRegex(text[text.rindex("\x1b[K") :], PHASE)
        self.assertIn("wrote ", text)

    def test_lines_in_a_file(self):
        """A log has at most a line every five seconds, without control characters."""
        text = self.in_file(6)
        lines = [line for line in text.splitlines() if re.fullmatch(PHASE, line)]
        self.assertGreaterEqual(len(lines), 1, text)
        self.assertNotIn("\x1b", text)

    def test_quiet(self):
        self.assertEqual(self.on_terminal(3.5, "--quiet"), "")

    def test_short(self):
        """A log of a compilation that takes a few seconds has no such line."""
        self.assertNotIn("compile: ", self.in_file(0))


if __name__ == "__main__":
    unittest.main()
