"""Captured steps of the CUDA backend with a schedule, over tests/host-cuda: every step trains the
bits that it trains where it is told, and its line has its own rate."""

import json
import os
import shutil
import unittest
import unittest.mock

import harness
from depth import repeat
from host_cuda import CUDA, DIGITS, NODE, HostCudaCase

STEPS = 12
WARM = 5
SCHEDULE = ("--schedule", "cosine", "--warmup", WARM)
TOLD = ("step", "loss", "rate", "gradient_norm")
LATE = {"SYNCLINE_HOST_CUDA_DEVICES": "2", "SYNCLINE_HOST_CUDA_DELAY": "100"}
SGD = ("--lr", 0.1, "--momentum", 0.9, "--weight-decay", 1e-3)
MOMENTS = ("--lr", 0.01, "--weight-decay", 0.1)
SHARDED = ("--planner", "wfbp", "--scheme", "*=reduce-scatter")
RING = ("--planner", "wfbp", "--scheme", "*=ring")


class HostCudaScheduleTest(HostCudaCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, LATE))

    def plan(self, ranks, extra=()):
        label = "-" + "-".join(word.strip("-*=") for word in map(str, extra)).replace("=", "-")
        folder = self.folder / f"digits-cnn{label}-{ranks}x4.plan"
        if folder.exists():
            return folder
        words = (*CUDA, *extra)
        return harness.compile_plan(
            DIGITS, self.folder, ranks, 4, extra=words, cluster=NODE, label=label
        )

    def trained(self, plan, ranks, *words):
        """What the steps' lines say, and the weights."""
        saved = self.folder / "out.onnx"
        said = harness.syncline(
            *("run", plan, "-n", ranks, "--steps", STEPS, "--log", "json"),
            *("--save", saved, *SCHEDULE, *words),
        )
        *steps, _ = [json.loads(line) for line in said.splitlines()]
        return [{key: line.get(key) for key in TOLD} for line in steps], saved.read_bytes()

    def compare(self, ranks, extra=(), words=SGD):
        plan = self.plan(ranks, extra)
        wanted, weights = self.trained(plan, ranks, *words)
        found, same = self.trained(plan, ranks, *words, "--cuda-graph")
        self.assertEqual(found, wanted)
        self.assertEqual(same, weights)
        rates = [line["rate"] for line in found]
        self.assertEqual(len(set(rates)), STEPS - 1)  # the warm-up's last one is the cosine's first
        self.assertEqual(rates.index(max(rates)), WARM - 1)

    def test_optimizers(self):
        """Each with all rates that follow from the step's: decoupled decay, and a group's own."""
        group = ("--group", "*.bias:lr=0.003,weight-decay=0")
        for ranks in repeat((2,), (1, 2)):
            for optimizer in ("sgd", "adam", "adamw", "lamb"):
                with self.subTest(ranks=ranks, optimizer=optimizer):
                    words = SGD if optimizer == "sgd" else MOMENTS
                    self.compare(ranks, ("--optimizer", optimizer), (*words, *group))

    def test_sharded_updates(self):
        for optimizer in ("sgd", "adamw", "lamb"):
            with self.subTest(optimizer=optimizer):
                words = SGD if optimizer == "sgd" else MOMENTS
                self.compare(2, (*SHARDED, "--optimizer", optimizer), words)

    def test_clipping(self):
        for scheme in (RING, SHARDED):
            with self.subTest(scheme=scheme):
                self.compare(2, scheme, (*SGD, "--clip-norm", 0.5))
        self.compare(2, (*SHARDED, "--optimizer", "lamb"), (*MOMENTS, "--clip-norm", 0.5))

    def test_updates_in_the_next_step(self):
        """They have the rate of their own step."""
        step = ("--overlap", "step")
        for ranks in repeat((2,), (1, 2)):
            for scheme in (RING, SHARDED, ("--scheme", "fc*=factors")):
                with self.subTest(ranks=ranks, scheme=scheme):
                    self.compare(ranks, (*scheme, *step))
        self.compare(2, (*SHARDED, *step, "--optimizer", "adamw"), MOMENTS)

    def test_channels(self):
        for scheme, overlap in ((RING, "backward"), (SHARDED, "step")):
            with self.subTest(scheme=scheme, overlap=overlap):
                self.compare(2, (*scheme, "--overlap", overlap, "--channels", 2))

    def test_exchanged_weights(self):
        self.compare(2, ("--consistency", "local:4"))

    def test_resumes_in_the_warm_up(self):
        for extra, words in (
            ((*SHARDED, "--optimizer", "adamw"), MOMENTS),
            ((*RING, "--overlap", "step"), SGD),
        ):
            with self.subTest(extra=extra):
                plan, saved = self.plan(2, extra), self.folder / "kept"
                shutil.rmtree(saved, ignore_errors=True)
                keeps = ("--checkpoint", saved, "--every", 3, "--keep", STEPS)
                told, wanted = self.trained(plan, 2, *words)
                graph = (*words, "--cuda-graph", *keeps)
                whole, same = self.trained(plan, 2, *graph)
                self.assertEqual((whole, same), (told, wanted))
                for later in saved.iterdir():
                    if later.is_dir() and later.name != "step3":
                        shutil.rmtree(later)
                rest, found = self.trained(plan, 2, *graph, "--resume")
                self.assertEqual(rest, told[3:])
                self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
