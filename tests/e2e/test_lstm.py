"""The small LSTM of the samples learns what the character before alone does not tell."""

import json
import subprocess
import unittest

import numpy

import harness
from refusal import RefusalTest

SAMPLES = harness.TOP / "samples"
PYTHON = "/usr/bin/python3"
KINDS, WORD = 4, 8  # kinds of brackets, characters of a word
BY_CHARACTER_BEFORE = 0.22


class LstmTest(RefusalTest):
    def python(self, program, *words):
        command = [PYTHON, "-W", "ignore", str(SAMPLES / program), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def pair(self, part):
        return [self.folder / f"mirrors-{part}-{end}.npy" for end in "xy"]

    def setUp(self):
        super().setUp()
        self.python("data/mirrors.py", "-o", self.folder)

    def test_words_are_mirrors(self):
        for part in ("train", "test"):
            x, y = map(numpy.load, self.pair(part))
            numpy.testing.assert_array_equal(x[:, 1:], y[:, :-1])
            numpy.testing.assert_array_equal(x[1:, 0], y[:-1, -1])
            openers, closers = numpy.split(x.reshape(-1, WORD), 2, 1)
            numpy.testing.assert_array_equal(openers[:, ::-1] + KINDS, closers)
            self.assertEqual((openers.min(), openers.max()), (0, KINDS - 1))

    def test_trains(self):
        self.python("models/export.py", "lstm:characters", "-o", "lstm.onnx")
        words = ["--optimizer", "adam"]
        plan = harness.compile_plan(
            self.folder / "lstm.onnx", self.folder, ranks=2, batch=16, extra=words
        )
        x, y = map(numpy.load, self.pair("test"))
        counts = numpy.zeros((2 * KINDS, 2 * KINDS))
        numpy.add.at(counts, (x.ravel(), y.ravel()), 1)
        self.assertLess(counts.max(1).sum() / counts.sum(), BY_CHARACTER_BEFORE + 0.01)
        files = [",".join(map(str, self.pair(part))) for part in ("train", "test")]
        said = harness.syncline(
            *("run", plan, "-n", 2, "--data", files[0], "--eval", files[1], "--shuffle"),
            *("--steps", 200, "--lr", 0.01, "--log", "json"),
        )
        self.assertGreater(json.loads(said.splitlines()[-1])["test_accuracy"], 0.5)


if __name__ == "__main__":
    unittest.main()
