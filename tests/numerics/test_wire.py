"""Gradients that travel with 16 bits: near those that travel in float32 by every scheme, of the
wire's type, half the bytes, and the same on all ranks."""

import json
import pathlib
import tempfile
import unittest

import numpy

import compare
import harness

RANKS = 4
EACH = 4
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
SCHEMES = ("ring", "recursive-doubling", "halving-doubling", "tree", "parameter-server")
# The distance to float32 gradients: a rounding at each of at most RANKS + 1 stations.
LIMITS = {"bf16": 2**-8 * (RANKS + 1), "fp16": 2**-11 * (RANKS + 1)}


def rounded(wire, values):
    """The nearest values that the wire's type has."""
    if wire == "fp16":
        return values.astype(numpy.float16).astype(numpy.float32)
    bits = values.astype(numpy.float32).view(numpy.uint32)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return bits.astype(numpy.uint32).view(numpy.float32)


class WireTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        random = numpy.random.RandomState(4)
        images = random.standard_normal((RANKS * EACH, 1, 8, 8)).astype(numpy.float32)
        self.data = images, random.randint(0, 10, RANKS * EACH)

    def plan(self, wire, scheme, extra=(), **how):
        extra = (*(extra or ("--scheme", f"*={scheme}")), "--wire", wire)
        label = f"-{scheme}-{wire}"
        return harness.compile_plan(
            DIGITS, self.folder, ranks=RANKS, batch=EACH, label=label, extra=extra, **how
        )

    def train(self, *what, **how):
        plan = self.plan(*what, **how)
        return harness.train(plan, self.folder, self.data, ranks=RANKS)

    def compare(self, what, scheme, gradients=True, **how):
        wide = self.train("fp32", scheme, **how)
        wide = [
            {n: tensors[n] for n in tensors.names()}
            for tensors in (wide.gradients(0), wide.parameters(2))
        ]
        for wire, limit in LIMITS.items():
            narrow = self.train(wire, scheme, **how)
            for name, value in wide[0].items() if gradients else ():
                found = narrow.gradients(0)[name]
                error = compare.norm(found - value) / compare.norm(value)
                self.assertLessEqual(error, limit, f"{what}, {wire}, {name}")
                total = found * numpy.float32(RANKS)  # dumped are means
                self.assertTrue(
                    numpy.array_equal(total, rounded(wire, total))
                    or numpy.array_equal(found, rounded(wire, found)),
                    f"{what}, {wire}, {name}",
                )
            worst = compare.parameters(narrow.parameters(2), wide[1])
            print(f"\n  {what}, {wire}: parameters {worst}", end="")
            self.assertLessEqual(worst.error, limit)
            self.assertGreater(worst.error, 0)

    def test_all_reduces(self):
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                self.compare(scheme, scheme)

    def test_hierarchies(self):
        self.compare("hierarchical", "hierarchical", cluster=harness.NODES)

    def test_servers_of_their_own(self):
        self.compare("2 servers", "parameter-server", **harness.BY_SERVERS)

    def test_shards(self):
        self.compare("reduce-scatter", "reduce-scatter", gradients=False)

    def test_factors(self):
        words = ("--scheme", "fc*.weight=sfb")
        self.compare("factors", "factors", gradients=False, extra=words)

    def test_bytes(self):
        moved = []
        for wire in ("fp32", "bf16"):
            plan = self.plan(wire, "ring")
            words = ("run", plan, "-n", RANKS, "--steps", 4, "--log", "json")
            moved.append(json.loads(harness.syncline(*words).splitlines()[-1])["median_bytes_sent"])
        print(f"\n  bytes a step: {moved}", end="")
        self.assertLess(moved[1], 0.51 * moved[0])


if __name__ == "__main__":
    unittest.main()
