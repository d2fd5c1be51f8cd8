"""Fashion-MNIST: its files become arrays, its networks train. Debian's package has the images."""

import gzip
import json
import pathlib
import subprocess
import unittest

import numpy

import harness
from refusal import RefusalTest

SAMPLES = harness.TOP / "samples"
SOURCE = pathlib.Path("/usr/share/datasets/fashion-mnist")
PYTHON = "/usr/bin/python3"


class FashionTest(RefusalTest):
    def convert(self, source):
        words = [PYTHON, str(SAMPLES / "data" / "fashion.py"), "--source", str(source)]
        words += ["-o", str(self.folder / "out")]
        return subprocess.run(words, capture_output=True, text=True)

    def idx(self, name, array):
        header = bytes((0, 0, 8, array.ndim)) + numpy.array(array.shape, ">u4").tobytes()
        with gzip.open(self.folder / f"{name}-ubyte.gz", "wb") as file:
            file.write(header + array.tobytes())

    def made(self, part, samples):
        images = numpy.arange(samples * 28 * 28, dtype=numpy.uint8).reshape(samples, 28, 28)
        labels = numpy.arange(samples, dtype=numpy.uint8) % 10
        self.idx(f"{part}-images-idx3", images)
        self.idx(f"{part}-labels-idx1", labels)
        return images, labels

    def test_converts(self):
        wanted = {"train": self.made("train", 12), "test": self.made("t10k", 3)}
        done = self.convert(self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, (images, labels) in wanted.items():
            x, y = (numpy.load(self.folder / "out" / f"fashion-{name}-{part}.npy") for part in "xy")
            self.assertEqual((x.dtype, x.shape), (numpy.float32, (len(images), 1, 28, 28)))
            numpy.testing.assert_allclose(x[:, 0], images / 255, rtol=1e-6)
            self.assertEqual(y.dtype, numpy.int64)
            numpy.testing.assert_array_equal(y, labels)

    def test_refuses_other_files(self):
        done = self.convert(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("dataset-fashion-mnist", done.stderr)
        self.made("train", 2)
        with gzip.open(self.folder / "train-images-idx3-ubyte.gz", "wb") as file:
            file.write(bytes((0, 0, 8, 3, 0)))
        done = self.convert(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected a whole IDX file of bytes", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    @unittest.skipUnless(SOURCE.exists(), "Debian's package dataset-fashion-mnist is not installed")
    def test_trains(self):
        self.assertEqual(self.convert(SOURCE).returncode, 0)

        def pair(part):
            return ",".join(str(self.folder / "out" / f"fashion-{part}-{n}.npy") for n in "xy")

        for name, steps, rate, least in (("cnn", 150, 0.05, 0.7), ("convolutions", 150, 0.1, 0.35)):
            with self.subTest(network=name):
                model = SAMPLES / "models" / f"fashion-{name}.onnx"
                plan = harness.compile_plan(model, self.folder, ranks=2, batch=16)
                words = ("--data", pair("train"), "--eval", pair("test"), "--momentum", 0.9)
                said = harness.syncline(
                    *("run", plan, "-n", 2, *words, "--steps", steps, "--lr", rate),
                    *("--shuffle", "--log", "json"),
                )
                self.assertGreater(json.loads(said.splitlines()[-1])["test_accuracy"], least)
