"""Images in folders: trained on as the array of their pixels is, changed at random by seed, epoch
and sample alone, and refused by name where they are broken."""

import importlib.util
import json
import unittest

import numpy

import harness
from refusal import RefusalTest
from test_data import DIGITS, arrays

CLASSES = [str(digit) for digit in range(10)]


def bytes_of(x):
    """Digits as grey images of bytes."""
    return numpy.rint(x[:, 0] * 255).astype(numpy.uint8)


@unittest.skipUnless(importlib.util.find_spec("PIL"), "Debian's package python3-pil is missing")
class ImagesTest(RefusalTest):
    def folder_of(self, name, x, y):
        """Writes digits as PNG files in class folders. Returns the folder, and the same samples as
        a pair of arrays in the folder's order."""
        from PIL import Image

        pixels = bytes_of(x)
        order = []
        for label in CLASSES:
            (self.folder / name / label).mkdir(parents=True)
            for i in numpy.flatnonzero(y == int(label)):
                Image.fromarray(pixels[i]).save(self.folder / name / label / f"{i:05}.png")
                order.append(i)
        values = pixels[order, None].astype("f4") / numpy.float32(255)
        numpy.save(self.folder / f"{name}-x.npy", values)
        numpy.save(self.folder / f"{name}-y.npy", y[order])
        pair = f"{self.folder / (name + '-x.npy')},{self.folder / (name + '-y.npy')}"
        return self.folder / name, pair

    def losses(self, plan, ranks, data, *extra):
        """Every step's loss, and the summary."""
        said = harness.syncline(
            *("run", plan, "-n", ranks, "--data", data, "--shuffle", "--seed", 5, "--lr", 0.05),
            *("--momentum", 0.9, "--log", "json", *extra),
        )
        lines = [json.loads(line) for line in said.splitlines()]
        return [line["loss"] for line in lines[:-1]], lines[-1]

    def test_images_train_as_their_pixels(self):
        """Bit by bit, to the same accuracy, which is that of a trained network."""
        folder, pair = self.folder_of("train", *arrays("train"))
        test, test_pair = self.folder_of("test", *arrays("test"))
        plan = harness.compile_plan(DIGITS, self.folder, ranks=2, batch=16)
        runs = [
            self.losses(plan, 2, data, "--epochs", 4, "--eval", evaluated, *extra)
            for data, evaluated, extra in (
                (pair, test_pair, ()),
                (folder, test, ()),
                (folder, test, ("--data-threads", 3)),
            )
        ]
        for losses, summary in runs[1:]:
            self.assertEqual(losses, runs[0][0])
            for key in ("test_loss", "test_accuracy"):
                self.assertEqual(summary[key], runs[0][1][key])
        self.assertGreater(runs[0][1]["test_accuracy"], 0.9)

    def test_changes_do_not_depend_on_ranks_or_threads(self):
        folder, pair = self.folder_of("train", *(a[:320] for a in arrays("train")))
        extra = ("--epochs", 2, "--augment", "crop,shift:2,flip", "--normalize", "0.3:0.4")
        plans = {
            ranks: harness.compile_plan(DIGITS, self.folder, ranks=ranks, batch=32 // ranks)
            for ranks in (1, 2)
        }
        one, _ = self.losses(plans[1], 1, folder, *extra)
        self.assertEqual(one, self.losses(plans[1], 1, folder, *extra, "--data-threads", 4)[0])
        self.assertEqual(one, self.losses(plans[1], 1, pair, *extra)[0])
        two, _ = self.losses(plans[2], 2, folder, *extra)
        numpy.testing.assert_allclose(two, one, rtol=1e-4)
        plain, _ = self.losses(plans[1], 1, folder, "--epochs", 2)
        self.assertGreater(numpy.abs(numpy.array(plain) - one).max(), 0.01)

    def test_refusals(self):
        folder, _ = self.folder_of("train", *(a[:64] for a in arrays("train")))
        plan = harness.compile_plan(DIGITS, self.folder, batch=8)
        run = ("run", plan, "-n", 1, "--data", folder)
        other, _ = self.folder_of("other", *(a[:64] for a in arrays("test")))
        (other / "9").rename(other / "nine")
        self.refuses((*run, "--eval", other), "different class folders: number 9", "'nine'")
        self.refuses((*run, "--augment", "turn"), "'crop,shift:4,flip', got 'turn'", code=2)
        self.refuses((*run, "--normalize", "1:0"), "positive deviations", "'1:0'", code=2)
        self.refuses((*run, "--normalize", "1,2:1,2"), "2 means", "1 channels")
        self.refuses(("run", plan, "--normalize", "0:1"), "needs --data or --eval", code=2)
        (folder / "5.5").symlink_to(self.folder / "unmounted")
        self.refuses(run, f"'{folder}/5.5': cannot read: No such file")
        (folder / "5.5").unlink()
        broken = next((folder / "3").iterdir())
        broken.write_bytes(broken.read_bytes()[:60])
        self.refuses((*run, "--save", self.folder / "saved.onnx"), broken, "broken PNG")

    def test_left_out_files_are_counted(self):
        folder, _ = self.folder_of("train", *(a[:70] for a in arrays("train")))
        for name in ("notes.txt", "thumbs.db"):
            (folder / "4" / name).write_text("no image")
        (folder / "4" / "more").mkdir()
        plan = harness.compile_plan(DIGITS, self.folder, batch=16)
        done = self.command("run", plan, "-n", 1, "--data", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"'{folder}' has 10 classes: 0 is '0', 1 '1', ", done.stderr)
        self.assertIn("8 '8', 9 '9'\n", done.stderr)
        self.assertIn("has 2 files that are left out", done.stderr)
        self.assertIn("has 1 folders in class folders that are left out", done.stderr)
        self.assertIn("every epoch leaves out 6 of 70 samples", done.stderr)
        self.assertIn("waiting for samples", done.stderr)
