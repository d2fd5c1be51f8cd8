"""Plans for bf16: half of the memory for images, the same bits, and runs in bf16 alone."""

import json
import unittest

import numpy

import harness
import plans
import processor
from host_cuda import CUDA, HostCudaCase
from refusal import RefusalTest

RESNET = harness.TOP / "samples" / "models" / "resnet-50.onnx"
GOOGLENET = harness.TOP / "samples" / "models" / "googlenet.onnx"
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
HAS_BF16 = processor.has_bf16()
OLDER = {"ONEDNN_MAX_CPU_ISA": "AVX2"}  # a processor without bfloat16, to oneDNN


def planned(model, folder, precision, *extra, ranks=1, batch=2):
    words = ("--precision", precision, *extra)
    return harness.compile_plan(model, folder, ranks, batch, extra=words, label=f"-{precision}")


def wide_for_bf16(model, folder, *extra, **how):
    """A plan whose memory is laid out for fp32, and whose run computes in bf16."""
    plan = planned(model, folder, "fp32", *extra, **how)
    plans.rehash(plan, harness.plan_json(plan) | {"precision": "bf16"})
    return plan


def arena(plan):
    return harness.plan_json(plan)["memory"]["arena"]


def assert_same_bits(test, one, other, step):
    test.assertEqual(one.loss(step), other.loss(step))
    for kind in ("gradients", "parameters"):
        wanted, got = getattr(one, kind)(step), getattr(other, kind)(step)
        test.assertGreater(len(wanted.names()), 3)
        for name in wanted.names():
            test.assertTrue(numpy.array_equal(wanted[name], got[name]), f"{kind}: {name}")


class RoundedMemoryTest(RefusalTest):
    def trained(self, plan, name, *words):
        """Two steps: the dump of the last one, and the process's peak memory."""
        out = self.folder / name
        said = harness.syncline(
            *("run", plan, "-n", 1, "--steps", 2),
            *("--dump", out, "--dump-steps", "1", "--log", "json", *words),
        )
        return harness.Dump(out), json.loads(said.splitlines()[-1])["peak_memory_bytes"]

    @unittest.skipUnless(HAS_BF16, "this processor has no bfloat16 arithmetic")
    def test_half_of_the_memory_and_the_same_bits(self):
        """Residual sums, normalizations and poolings; and branches that are joined, LRN, dropout
        and channels that fill no block of 16."""
        for model in (RESNET, GOOGLENET):
            with self.subTest(model=model.stem):
                wide = wide_for_bf16(model, self.folder)
                narrow = planned(model, self.folder, "bf16")
                self.assertLess(arena(narrow), 0.62 * arena(wide))
                one, all_bytes = self.trained(wide, f"{model.stem}-wide")
                other, fewer_bytes = self.trained(narrow, f"{model.stem}-narrow")
                assert_same_bits(self, one, other, 1)
                saved = arena(wide) - arena(narrow)
                self.assertLess(fewer_bytes, all_bytes - saved / 2)

    def test_memory_is_told_by_kind(self):
        wide, narrow = (planned(DIGITS, self.folder, p) for p in ("fp32", "bf16"))
        said = harness.syncline("inspect", narrow)
        self.assertRegex(
            said, r"(?m)^memory of a rank [\d.]+ KiB, laid out for bf16: .*arena [\d.]+ KiB"
        )
        self.assertNotIn("laid out", harness.syncline("inspect", wide))
        said = harness.syncline("inspect", wide, "--diff", narrow)
        self.assertRegex(said, r"(?m)^precision +fp32 +bf16$")
        self.assertRegex(said, r"(?m)^memory of a rank +[\d.]+ KiB +[\d.]+ KiB +0\.\d\dx$")
        self.assertRegex(said, r"(?m)^memory: arena +[\d.]+ KiB +[\d.]+ KiB +0\.\d\dx$")
        self.assertNotIn("memory: parameters", said)

    def test_older_processors_refuse(self):
        plan = planned(DIGITS, self.folder, "bf16")
        done = self.command("run", plan, "--steps", 1, environment=OLDER)
        self.assert_refused(
            done,
            [
                "the plan's memory is laid out for bf16",
                "this processor has no bfloat16 arithmetic",
                "'syncline compile --precision fp32'",
            ],
        )


class RoundedCudaMemoryTest(HostCudaCase):
    """The CUDA backend, over libraries of the host."""

    def test_the_same_bits_over_ranks_and_in_graphs(self):
        wide = wide_for_bf16(DIGITS, self.folder, *CUDA, ranks=2)
        narrow = planned(DIGITS, self.folder, "bf16", *CUDA, ranks=2)
        self.assertLess(arena(narrow), 0.9 * arena(wide))
        data = [
            numpy.load(harness.TOP / "samples" / "data" / f"digits-train-{name}.npy")[:4]
            for name in "xy"
        ]
        words = ("--share-device",)
        for graph in ((), ("--cuda-graph",)):
            one, other = (
                harness.train(plan, self.folder, data, 2, extra=(*words, *graph))
                for plan in (wide, narrow)
            )
            assert_same_bits(self, one, other, 2)


if __name__ == "__main__":
    unittest.main()
