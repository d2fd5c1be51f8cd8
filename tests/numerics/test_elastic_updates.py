"""Synchronous EASGD against PyTorch: the same algorithm, rank by rank, in one process."""

import pathlib
import tempfile
import unittest

import compare
import harness
from test_local_updates import BATCH, DATA, DECAY, DIGITS, MOMENTUM, RANKS, RATE, STEPS, Rank
from test_local_updates import samples, weights_of

SAME = 1e-6
RHO = 0.5  # beta = 4 * 0.05 * 0.5 is 0.1
VARIANTS = ("sync1", "sync2", "sync3")


def reference(period):
    """The centre, and the weights of rank 1, after all steps; double precision."""
    ranks, share = [Rank() for _ in range(RANKS)], RATE * RHO
    centre = {name: value.detach().clone() for name, value in ranks[0].weights.items()}
    for step in range(STEPS):
        before = [{n: v.detach().clone() for n, v in rank.weights.items()} for rank in ranks]
        for rank, (images, labels) in zip(ranks, samples(step)):
            rank.step(images, labels)
        if step % period:
            continue
        for name, old in centre.items():
            for rank, own in zip(ranks, before):
                rank.weights[name].data -= share * (own[name] - old)
            total = sum(own[name] for own in before)
            centre[name] = old + share * (total - RANKS * old)
    return centre, ranks[1].weights


class ElasticUpdatesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_plan(self, variant, period, ranks=RANKS):
        """The bytes of the saved centre, and those of every rank's weights after the last step."""
        form = f"easgd:{variant},{RHO},{period}"
        plan = harness.compile_plan(
            *(DIGITS, self.folder),
            **{"ranks": ranks, "batch": BATCH, "label": variant},
            extra=("--consistency", form),
        )
        saved, dump = self.folder / f"{variant}.onnx", self.folder / f"{variant}.dump"
        files = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
        harness.syncline(
            *("run", plan, "-n", ranks, "--data", files, "--steps", STEPS, "--lr", RATE),
            *("--momentum", MOMENTUM, "--weight-decay", DECAY, "--save", saved),
            *("--dump", dump, "--dump-steps", STEPS - 1),
        )
        parts = [of.parameters(STEPS - 1) for of in harness.dumps(dump, ranks)]
        return weights_of(saved), parts

    def check(self, what, found, truth):
        worst = compare.parameters(found, {name: v.detach().numpy() for name, v in truth.items()})
        print(f"\n  {what}: parameters {worst}")
        self.assertLessEqual(worst.error, SAME)

    def compare_variants(self, period, ranks=RANKS):
        """What sync1 gives, once the others are seen to give the same bits."""
        found = {variant: self.run_plan(variant, period, ranks) for variant in VARIANTS}
        centre, parts = found["sync1"]
        for variant in VARIANTS[1:]:
            for name, value in centre.items():
                self.assertEqual(found[variant][0][name].tobytes(), value.tobytes(), name)
            for own, other in zip(parts, found[variant][1]):
                for name in own.names():
                    self.assertEqual(other[name].tobytes(), own[name].tobytes(), name)
        return centre, parts

    def test_every_step(self):
        centre, parts = self.compare_variants(1)
        truth, own = reference(1)
        self.check("centre", centre, truth)
        self.check("rank 1", {name: parts[1][name] for name in own}, own)

    def test_every_third_step(self):
        centre, parts = self.compare_variants(3)
        truth, own = reference(3)
        self.check("centre, every third step", centre, truth)
        self.check("rank 1, every third step", {name: parts[1][name] for name in own}, own)

    def test_three_ranks(self):
        """Ranks that are no power of two: the trees' roots still have the same sums."""
        self.compare_variants(2, ranks=3)


if __name__ == "__main__":
    unittest.main()
