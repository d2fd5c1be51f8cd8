"""Recomputed activations on the CUDA backend, without a GPU: tests/host-cuda stands in for its
device."""

import os
import unittest
import unittest.mock

import export
import harness
import test_recompute
import torch
from host_cuda import CUDA, NODE, HostCudaCase

RANKS, BATCH = 2, 4


class HostCudaRecomputeTest(HostCudaCase):
    def test_the_same_bits(self):
        """Of a residual network, a GPT and an encoder with dropout, told and replayed."""
        for name, (make, blocks, draw, _) in test_recompute.MODELS.items():
            torch.manual_seed(5)
            model = self.folder / f"{name}.onnx"
            export.write(make().train(), draw(2)[0], model)
            data = [part.numpy() for part in draw(RANKS * BATCH)]
            for words in ((), ("--cuda-graph",)):
                with self.subTest(model=name, words=words):
                    kept, again = (
                        self.outcome(model, data, label, extra, words)
                        for label, extra in (("-kept", ()), ("-again", ("--recompute", blocks)))
                    )
                    test_recompute.RecomputeTest.compare(self, kept[0], again[0])
                    self.assertEqual(kept[1], again[1])

    def outcome(self, model, data, label, extra, words):
        """The dump of three steps, and the bytes of the model that they leave."""
        plan = self.folder / f"{model.stem}{label}-{RANKS}x{BATCH}.plan"
        if not plan.exists():
            harness.compile_plan(
                *(model, self.folder, RANKS, BATCH),
                extra=(*CUDA, "--scheme", "*=ring", *extra),
                cluster=NODE, label=label,
            )
        self.assertEqual("recomputed" in harness.plan_json(plan), bool(extra))
        saved = self.folder / "saved.onnx"
        with unittest.mock.patch.dict(os.environ, SYNCLINE_HOST_CUDA_DEVICES=str(RANKS)):
            dump = harness.train(
                plan, self.folder, data, RANKS, extra=(*words, "--save", saved)
            )
        return dump, saved.read_bytes()


if __name__ == "__main__":
    unittest.main()
