"""Steps of the CUDA backend that begin while the step before still runs, over tests/host-cuda: what
a run says of each step is what it says where it waits for each one, as it does with --trace."""

import json
import shutil
import signal
import subprocess
import unittest
import unittest.mock

import harness
import numpy
from host_cuda import CUDA, DIGITS, NODE, HostCudaCase
from test_host_cuda import digits
from waiting import PATIENCE

STEPS = 9
BATCH = 4
LONG = 100_000
# What clocks say, and what follows from it.
CLOCKED = ("seconds", "samples_per_second", "exposed_seconds", "remaining_seconds", "data_seconds")
DAWDLING = {"SYNCLINE_HOST_CUDA_DELAY": "200", "SYNCLINE_HOST_CUDA_SEED": "4"}


class HostCudaAheadTest(HostCudaCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plans = {
            ranks: harness.compile_plan(
                DIGITS, cls.folder, ranks, BATCH, extra=CUDA, cluster=NODE
            )
            for ranks in (1, 2)
        }
        cls.enterClassContext(
            unittest.mock.patch.dict("os.environ", {"SYNCLINE_HOST_CUDA_DEVICES": "2"})
        )

    def words(self, ranks, *extra):
        return ["run", self.plans[ranks], "-n", ranks, "--log", "json", *extra]

    def samples(self, count, poisoned=None):
        arrays = [array.astype(array.dtype) for array in digits(count)]
        if poisoned is not None:
            arrays[0] = arrays[0].astype(numpy.float32)
            arrays[0].reshape(count, -1)[poisoned, 5] = numpy.nan
        files = [self.folder / f"{name}{count}{poisoned}.npy" for name in "xy"]
        for file, array in zip(files, arrays):
            numpy.save(file, array)
        return ("--data", ",".join(map(str, files)))

    def lines(self, ranks, *extra):
        """The lines of all steps, in order and without times, and the trained weights."""
        saved = self.folder / "out.onnx"
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        said = harness.syncline(
            *self.words(ranks, "--steps", STEPS, "--momentum", 0.9, "--save", saved, *extra)
        )
        lines = [json.loads(line) for line in said.splitlines()]
        steps = [line for line in lines if "step" in line and "test" not in line]
        self.assertEqual([line["step"] for line in steps], list(range(STEPS)))
        for line in steps:
            self.assertGreater(line["seconds"], 0)
        kept = [{k: v for k, v in line.items() if k not in CLOCKED} for line in steps]
        return kept, saved.read_bytes()

    def compare(self, ranks, *extra):
        trace = ("--trace", self.folder / "trace.json", "--trace-steps")
        waiting = self.lines(ranks, *extra, *trace, STEPS)
        with unittest.mock.patch.dict("os.environ", DAWDLING):
            self.assertEqual(self.lines(ranks, *extra), waiting)
            self.assertEqual(self.lines(ranks, *extra, *trace, 3), waiting)

    def test_synthetic_samples(self):
        for ranks in (1, 2):
            for extra in ((), ("--cuda-graph",)):
                with self.subTest(ranks=ranks, extra=extra):
                    self.compare(ranks, *extra)

    def test_samples_of_files(self):
        for ranks in (1, 2):
            data = self.samples(3 * BATCH * ranks)  # three other batches in turn
            for extra in (
                ("--cuda-graph",),
                ("--clip-norm", 0.1),
                ("--checkpoint", self.folder / "kept", "--every", 2),
                ("--eval", data[1], "--eval-every", 4),
            ):
                with self.subTest(ranks=ranks, extra=extra):
                    self.compare(ranks, *data, *extra)

    def test_schedule(self):
        """Each step's line has its own rate."""
        self.compare(2, "--schedule", "linear")

    def test_a_sample_that_is_not_finite(self):
        """The step that has it is blamed, though the one behind it has begun."""
        bad = 3 * 2 * BATCH + BATCH + 1  # of step 3 and rank 1
        words = self.words(2, "--steps", STEPS, *self.samples(STEPS * 2 * BATCH, bad))
        said = f"step 3: the loss .*element 5 of sample {bad}"
        with self.assertRaisesRegex(AssertionError, said):
            harness.syncline(*words)

    def test_signals(self):
        """All steps that were told have a line."""
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                process = subprocess.Popen(
                    [harness.SYNCLINE, *map(str, self.words(ranks, "--steps", LONG))],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                self.addCleanup(process.kill)
                for _ in range(5):
                    self.assertTrue(process.stdout.readline())
                process.send_signal(signal.SIGINT)
                output, said = process.stdout.read(), process.stderr.read()
                self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGINT, said)
                lines = [json.loads(line) for line in output.splitlines()]
                done = lines[-1]["steps"]
                self.assertIn(f"stopped by signal 2 after {done} of {LONG} steps", said)
                self.assertEqual(lines[-2]["step"], done - 1)


if __name__ == "__main__":
    unittest.main()
