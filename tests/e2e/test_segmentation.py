"""The sample that finds shapes in images: its data, and where its network cannot be trained."""

import subprocess
import sys
import unittest

import numpy

import export
import harness
from refusal import RefusalTest
from unet import shapes

SCRIPT = harness.TOP / "samples" / "data" / "shapes.py"


class SegmentationTest(RefusalTest):
    def drawn(self, folder, *words):
        command = [sys.executable, str(SCRIPT), "-o", str(folder), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def load(self, folder, part):
        return [numpy.load(folder / f"shapes-{part}-{end}.npy") for end in "xy"]

    def test_images_are_the_same_each_time(self):
        first, second = self.folder / "a", self.folder / "b"
        for folder in (first, second):
            code, said = self.drawn(folder, "--train", 20, "--test", 10)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"train: 20 images, [\d.]+% of the pixels are background\n")
        for part, count in (("train", 20), ("test", 10)):
            images, masks = self.load(first, part)
            self.assertEqual((images.shape, images.dtype), ((count, 1, 32, 32), numpy.float32))
            self.assertEqual((masks.shape, masks.dtype), ((count, 32, 32), numpy.int64))
            self.assertEqual(set(numpy.unique(masks)), {0, 1, 2})
            # Shapes are brighter or darker than the background; noise alone is in between.
            strength = abs(images[:, 0])
            self.assertGreater(strength[masks > 0].mean(), 2 * strength[masks == 0].mean())
            for one, other in zip((images, masks), self.load(second, part)):
                numpy.testing.assert_array_equal(one, other)
        self.assertFalse(numpy.array_equal(self.load(first, "train")[0][:10], images))

    def test_no_images_are_refused(self):
        code, said = self.drawn(self.folder, "--train", 0)
        self.assertEqual(code, 2)
        self.assertIn("expected at least 1 image", said)

    def test_gpus_are_refused(self):
        """No GPU has run a transposed convolution of a model: the message names the first node. A
        plan that is not run is made."""
        model, sample = shapes()
        path = self.folder / "unet.onnx"
        export.write(model.train(), sample, path, 17)
        words = ("compile", path, "--cluster", self.cluster, "--batch", 2, "-o")
        done = self.command(*words, self.folder / "gpus.plan", "--backend", "cuda")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(
            done.stderr,
            r"2 nodes cannot be trained: 2 ConvTranspose, the first node '/grow.0/ConvTranspose' "
            r"\(ConvTranspose\): this operator does not run on GPUs: '--backend cpu' trains it on "
            r"processors, '--plan-only' plans for GPUs by its shapes",
        )
        self.assertFalse((self.folder / "gpus.plan").exists())
        done = self.command(*words, self.folder / "times.plan", "--plan-only")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
