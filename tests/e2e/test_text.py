"""Texts become arrays of characters; the exporter takes networks with an example of their input."""

import subprocess
import unittest

import numpy

import harness
from refusal import RefusalTest

SAMPLES = harness.TOP / "samples"
PYTHON = "/usr/bin/python3"
LENGTH = 64


class TextTest(RefusalTest):
    def python(self, program, *words):
        command = [PYTHON, str(SAMPLES / program), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder)

    def converted(self, *texts):
        done = self.python("data/text.py", "-o", self.folder, *texts)
        self.assertEqual(done.returncode, 0, done.stderr)

    def load(self, part):
        return [numpy.load(self.folder / f"text-{part}-{end}.npy") for end in "xy"]

    def test_converts(self):
        text = "".join(chr(32 + i % 95) for i in range(1000)) + "\n\té" + "a" * 997
        path = self.write("a.txt", text)
        self.converted(path)
        for part, first, stride in (("train", 0, 16), ("test", 1801, 64)):
            x, y = self.load(part)
            self.assertEqual((x.dtype, y.dtype, x.shape), (numpy.int64, numpy.int64, y.shape))
            numpy.testing.assert_array_equal(x[:, 1:], y[:, :-1])
            wanted = [0 if c in "\té" else 95 if c == "\n" else ord(c) - 32 for c in text]
            raw = numpy.array(wanted[:1002] + [0, 0] + wanted[1003:])  # two bytes of UTF-8
            for i, row in enumerate(x):
                begin = first + i * stride
                numpy.testing.assert_array_equal(row, raw[begin : begin + LENGTH])
        self.assertEqual([len(self.load(part)[0]) for part in ("train", "test")], [109, 3])

    def test_refuses_what_is_no_text(self):
        short = self.write("short.txt", "short")
        for words, wanted in (
            ((self.folder / "none.txt",), "expected a file of text"),
            ((self.folder,), "expected a file of text"),
            ((short,), "no sample for the train set; expected texts of more than 650 characters"),
        ):
            done = self.python("data/text.py", "-o", self.folder / "out", *words)
            self.assertEqual(done.returncode, 1)
            self.assertIn(wanted, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_refuses_what_is_no_network(self):
        self.write("net.py", "def pair():\n    return 1, 2\n\n\ndef one():\n    return 'a'\n")
        for name, got in (("pair", r"\(int, int\)"), ("one", "str")):
            done = self.python("models/export.py", f"net:{name}")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"expected it to return a torch.nn.Module, .*got {got}")


if __name__ == "__main__":
    unittest.main()
