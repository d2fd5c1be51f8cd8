"""The progress line of `syncline compile`: shown where a compilation takes long, and only there."""

import os
import pty
import re
import subprocess
import time
import unittest

import harness
from refusal import RefusalTest
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
FIRST_LINE = 5  # seconds until a log has a line
# The line while the step is compiled.
PHASE = r"compile: compiling the step, \d+ s"


class CompileProgressTest(RefusalTest):
    def words(self, *more):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 2, *more]
        return [str(harness.SYNCLINE), *map(str, words), "-o", str(self.folder / "out.plan")]

    def start(self, condition, stderr, *more):
        """A compilation whose C++ compiler first waits until the shell's `condition` is true, and
        then writes an empty file."""
        write = 'while [ $# -gt 1 ]; do [ "$1" != -o ] || : > "$2"; shift; done'
        wait = f"until {condition}; do sleep 0.05; done"
        compiler = self.write("compiler", f"#!/bin/sh\n{wait}\n{write}\n")
        compiler.chmod(0o755)
        process = subprocess.Popen(
            self.words(*more), stderr=stderr, env={**os.environ, "CXX": str(compiler)}
        )
        self.addCleanup(process.kill)
        return process

    def until_said(self):
        """The compiler's condition for a compilation that lasts until a test has read the line, and
        how the test says so."""
        read = self.folder / "read"
        return f"[ -e '{read}' ]", read.touch

    def on_terminal(self, condition, on_line, *more):
        """What a compilation prints on a terminal. `on_line` is called once the line is there."""
        ours, theirs = pty.openpty()
        process = self.start(condition, theirs, *more)
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
                if re.search(PHASE.encode(), text):
                    on_line()
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(PATIENCE), 0, text)
        return text.decode()

    def in_file(self, condition, on_line):
        """What a compilation prints where standard error is no terminal."""
        process = self.start(condition, subprocess.PIPE)
        text = ""
        with process.stderr as lines:
            for line in map(bytes.decode, lines):
                text += line
                if re.search(PHASE, line):
                    on_line()
        self.assertEqual(process.wait(PATIENCE), 0, text)
        return text

    def test_line_on_a_terminal(self):
        """The line names the phase, and is erased before what is printed at the end."""
        text = self.on_terminal(*self.until_said())
        self.assertRegex(text, PHASE)
        last = text.rindex("compile: ")
        self.assertIn("\r\x1b[K", text[last:])
        self.assertNotRegex(text[text.rindex("\x1b[K") :], PHASE)
        self.assertIn("wrote ", text)

    def test_lines_in_a_file(self):
        """A log has at most a line every five seconds, without control characters."""
        text = self.in_file(*self.until_said())
        lines = [line for line in text.splitlines() if re.fullmatch(PHASE, line)]
        self.assertGreaterEqual(len(lines), 1, text)
        self.assertNotIn("\x1b", text)

    def test_quiet(self):
        # Seconds in which a line would appear; more of them change nothing.
        self.assertEqual(self.on_terminal("sleep 4", lambda: None, "--quiet"), "")

    def test_short(self):
        """A log of a compilation that takes a few seconds has no such line. Where the machine lets
        it take longer, the line is right."""
        begun = time.monotonic()
        text = self.in_file("true", lambda: None)
        if time.monotonic() - begun < FIRST_LINE:
            self.assertNotIn("compile: ", text)


if __name__ == "__main__":
    unittest.main()
