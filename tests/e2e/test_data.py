"""Data that streams: folders of shards train as one file does, in memory that does not grow with
them, and a file that goes wrong ends the run with its name."""

import json
import subprocess

import numpy
from onnx import TensorProto, helper

import harness
import models
from depth import repeat
from refusal import RefusalTest
from waiting import PATIENCE

DATA = harness.TOP / "samples" / "data"
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"


def arrays(part):
    return [numpy.load(DATA / f"digits-{part}-{name}.npy") for name in "xy"]


def pooled(channels, side, classes=4):
    """A small model of large samples: means over each channel, then a linear layer."""
    weight = numpy.linspace(-1, 1, channels * classes).reshape(channels, classes)
    nodes = [
        helper.make_node("GlobalAveragePool", ["input"], ["means"], name="pool"),
        helper.make_node("Flatten", ["means"], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "weight", "bias"], ["output"], name="linear"),
    ]
    values = {"weight": weight.astype("f4"), "bias": numpy.zeros(classes, "f4")}
    return models.model(nodes, values, ("batch", channels, side, side), TensorProto.FLOAT)


class ShardsTest(RefusalTest):
    def shards(self, name, x, y, cuts):
        """A folder with samples [cuts[i], cuts[i + 1]) in shard i."""
        folder = self.folder / name
        folder.mkdir()
        for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
            numpy.save(folder / f"part{i:03}-x.npy", x[begin:end])
            numpy.save(folder / f"part{i:03}-y.npy", y[begin:end])
        return folder

    def one_file(self, x, y):
        for name, array in (("x", x), ("y", y)):
            numpy.save(self.folder / f"{name}.npy", array)
        return f"{self.folder / 'x.npy'},{self.folder / 'y.npy'}"

    def dumped(self, plan, ranks, data, out, steps):
        """Every loss and all parameters of the last step, by the tensor's name."""
        said = harness.syncline(
            *("run", plan, "-n", ranks, "--data", data, "--steps", steps, "--shuffle"),
            *("--seed", 5, "--lr", 0.05, "--momentum", 0.9, "--log", "json"),
            *("--dump", out, "--dump-steps", steps - 1),
        )
        lines = [json.loads(line) for line in said.splitlines()]
        for line in lines[:-1]:
            self.assertGreaterEqual(line["data_seconds"], 0)
            self.assertLessEqual(line["data_seconds"], line["seconds"])
        self.assertIn("median_data_seconds", lines[-1])
        parameters = harness.Dump(out).parameters(steps - 1)
        return (
            [line["loss"] for line in lines[:-1]],
            {name: parameters[name].tobytes() for name in parameters.names()},
        )

    def test_shards_train_as_one_file(self):
        """Bit by bit, over three epochs, on one rank and on three, whatever the shards' sizes."""
        x, y = arrays("train")
        x, y = x[:300], y[:300]
        folder = self.shards("shards", x, y, (0, 7, 7, 130, 131, 300))
        pair = self.one_file(x, y)
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                plan = harness.compile_plan(DIGITS, self.folder, ranks=ranks, batch=24 // ranks)
                whole = self.dumped(plan, ranks, pair, self.folder / f"whole{ranks}", 36)
                parts = self.dumped(plan, ranks, folder, self.folder / f"parts{ranks}", 36)
                self.assertEqual(whole, parts)

    def test_counts_what_is_left_out(self):
        x, y = arrays("train")
        folder = self.shards("shards", x[:100], y[:100], (0, 60, 100))
        plan = harness.compile_plan(DIGITS, self.folder, ranks=2, batch=16)
        done = self.command("run", plan, "-n", 2, "--data", folder, "--eval", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("every epoch leaves out 4 of 100 samples", done.stderr)
        self.assertIn("of 100), test loss", done.stderr)

    def test_memory_is_bounded(self):
        """1.6 GB of samples (files with holes; in the short run half) pass through a process of a
        tenth of that."""
        side, shards, samples = 128, repeat(4, 8), 1024
        plan = harness.compile_plan(
            models.save(pooled(3, side), self.folder / "pooled.onnx"), self.folder, batch=16
        )
        folder = self.folder / "large"
        folder.mkdir()
        for i in range(shards):
            numpy.lib.format.open_memmap(
                folder / f"{i}-x.npy", "w+", numpy.float32, (samples, 3, side, side)
            ).flush()
            numpy.save(folder / f"{i}-y.npy", numpy.arange(samples) % 4)
        said = harness.syncline("run", plan, "-n", 1, "--data", folder, "--log", "json")
        summary = json.loads(said.splitlines()[-1])
        self.assertEqual(summary["steps"], shards * samples // 16)
        self.assertLess(summary["peak_memory_bytes"], 160e6)

    def test_memory_is_the_runs_own(self):
        """A process that holds much more starts the run."""
        plan = harness.compile_plan(DIGITS, self.folder, batch=16)
        held = numpy.ones(50_000_000)
        said = harness.syncline(
            *("run", plan, "-n", 1, "--steps", 1, "--log", "json")
        )
        del held
        self.assertLess(json.loads(said.splitlines()[-1])["peak_memory_bytes"], 160e6)

    def test_shard_of_another_shape(self):
        x, y = arrays("train")
        folder = self.shards("shards", x[:64], y[:64], (0, 32, 64))
        numpy.save(folder / "part001-x.npy", x[32:64, :, :7])
        plan = harness.compile_plan(DIGITS, self.folder, batch=16)
        words = ("run", plan, "-n", 1, "--data", folder)
        self.refuses(words, folder / "part001-x.npy", "[1, 8, 8], got [1, 7, 8]")
        (folder / "part001-x.npy").unlink()
        self.refuses(words, folder / "part001-y.npy", "'part001-x.npy' beside it")

    def test_ranks_with_different_data(self):
        """They would wait for each other forever: both say how their data differ."""
        x, y = arrays("train")
        folders = [self.shards(f"rank{r}", x[:n], y[:n], (0, 40, n)) for r, n in ((0, 96), (1, 80))]
        plan = harness.compile_plan(DIGITS, self.folder, ranks=2, batch=8)
        ranks = [self.started(r, 2, ("--data", folders[r]), plan) for r in (0, 1)]
        for code, errors in self.ends(ranks):
            self.assertEqual(code, 1, errors)
            self.assertIn("the ranks differ in their data: rank ", errors)
            for samples in ("rank 0 '96 samples'", "rank 1 '80 samples'"):
                self.assertIn(samples, errors)

    def test_file_that_shrinks(self):
        """A shard that is cut off while the run reads it ends the run with one message."""
        x, y = arrays("train")
        folder = self.shards("shards", x, y, (0, 700, len(x)))
        plan = harness.compile_plan(DIGITS, self.folder, batch=8)
        run = subprocess.Popen(
            [str(harness.SYNCLINE), "run", str(plan), "-n", "1", "--data", str(folder)]
            + ["--epochs", "100000", "--log", "json", "--save", str(self.folder / "saved.onnx")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(run.kill)
        self.assertIn('"step":0', run.stdout.readline())
        with open(folder / "part001-x.npy", "r+b") as file:
            file.truncate(1000)
        output, errors = run.communicate(timeout=PATIENCE)
        self.assert_refused(
            subprocess.CompletedProcess(run.args, run.returncode, output, errors),
            (folder / "part001-x.npy", "became shorter while it was read"),
        )
        self.assertFalse((self.folder / "saved.onnx").exists())
