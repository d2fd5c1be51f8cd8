"""Every scheme against the ring's all-reduce: the same gradients, the same parameters after three
steps of momentum, whatever way they travel."""

import pathlib
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
from depth import repeat

SAME = 1e-5  # the same sums in another order
EACH = 4  # samples per rank
RANKS = repeat((3, 4), (2, 3, 4))  # with and without a power of two
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
MERGING = ("recursive-doubling", "halving-doubling", "tree", "parameter-server")


class Tokens(torch.nn.Module):
    """Linear layers over a sequence: a factor holds batch x tokens samples."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(12, 40)
        self.mix = torch.nn.Linear(40, 24, bias=False)
        self.head = torch.nn.Linear(24, 10)

    def forward(self, x):
        return self.head(torch.relu(self.mix(torch.relu(self.embed(x)))).mean(dim=1))


class Pointwise(torch.nn.Module):
    """Convolutions of one pixel, whose gradients are products of two factors as well."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 32, 1)
        self.second = torch.nn.Conv2d(32, 48, 1, bias=False)
        self.wide = torch.nn.Conv2d(48, 8, 3, stride=2, padding=1)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, x):
        x = torch.relu(self.wide(torch.relu(self.second(torch.relu(self.first(x))))))
        return self.head(x.mean(dim=(2, 3)))


class Upsampled(torch.nn.Module):
    """Transposed convolutions, whose biases are sums of the factor that an ordinary one reads."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.ConvTranspose2d(3, 16, 3, stride=2, padding=1)
        self.second = torch.nn.ConvTranspose2d(16, 8, 2, stride=2, groups=2)
        self.head = torch.nn.Linear(8, 10)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.head(x.mean(dim=(2, 3)))


def draw(shape, samples, seed=7):
    random = numpy.random.RandomState(seed)
    return random.standard_normal((samples, *shape)).astype(numpy.float32), random.randint(
        0, 10, samples
    )


class SchemesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.rings = {}

    def export(self, module, shape):
        torch.manual_seed(3)
        path = self.folder / f"{module.__name__.lower()}.onnx"
        export.write(module(), torch.zeros(2, *shape), path)
        return path

    def plan(self, path, ranks, label="", **how):
        return harness.compile_plan(path, self.folder, ranks=ranks, batch=EACH, label=label, **how)

    def train(self, plan, data, ranks, **how):
        settings = {"lr": 0.1}  # large enough for a wrong update to show
        return harness.train(plan, self.folder, data, ranks=ranks, settings=settings, **how)

    def ring(self, path, data, ranks):
        """What every scheme is compared with, trained once."""
        if (path, ranks) not in self.rings:
            plan = self.plan(path, ranks, cluster=harness.RING)
            self.rings[path, ranks] = self.train(plan, data, ranks)
        return self.rings[path, ranks]

    def same(self, dump, ring, what, gradients=True):
        names = sorted(ring.parameters(2).names())
        self.assertEqual(names, sorted(dump.parameters(2).names()))
        worst = [compare.parameters(dump.parameters(2), {n: ring.parameters(2)[n] for n in names})]
        if gradients:
            names = sorted(ring.gradients(0).names())
            truth = {n: ring.gradients(0)[n] for n in names}
            worst.append(compare.gradients(dump.gradients(0), truth))
        print(f"\n  {what}: parameters {', gradients '.join(map(str, worst))}")
        for error in worst:
            self.assertLessEqual(error.error, SAME, what)

    def check(self, path, shape, scheme, ranks, extra, gradients=True, members=None):
        """Compiled with `extra`, all gradients or `members` go by `scheme` and come out as the
        ring's."""
        data = draw(shape, ranks * EACH)
        ring = self.ring(path, data, ranks)
        plan = self.plan(path, ranks, label="-" + scheme, extra=extra)
        buckets = harness.plan_json(plan)["buckets"]
        others = {m for b in buckets if b["scheme"] != scheme for m in b["members"]}
        sent = {m for b in buckets if b["scheme"] == scheme for m in b["members"]}
        if members:
            self.assertLessEqual(members, sent)
        else:
            self.assertEqual(others, set())
        what = f"{path.stem}, {scheme}, {ranks} ranks"
        self.same(self.train(plan, data, ranks), ring, what, gradients)

    def test_merging_schemes(self):
        for scheme in MERGING:
            for ranks in RANKS:
                with self.subTest(scheme=scheme, ranks=ranks):
                    self.check(DIGITS, (1, 8, 8), scheme, ranks, ["--scheme", f"*={scheme}"])

    def test_update_of_the_own_shard(self):
        """Gradients are whole on no rank, so only parameters are compared."""
        for ranks in repeat(RANKS[:1], RANKS):
            with self.subTest(ranks=ranks):
                forced = ["--scheme", "*=reduce-scatter"]
                self.check(DIGITS, (1, 8, 8), "reduce-scatter", ranks, forced, gradients=False)

    def test_factors_of_fully_connected_layers(self):
        for ranks in repeat(RANKS[:1], RANKS):
            with self.subTest(ranks=ranks):
                forced = ["--scheme", "fc*.weight=sfb"]
                members = {"fc.weight", "fc.bias"}
                self.check(DIGITS, (1, 8, 8), "factors", ranks, forced, members=members)

    def test_factors_of_sequences(self):
        path = self.export(Tokens, (5, 12))
        for ranks in repeat(RANKS[:1], RANKS):
            with self.subTest(ranks=ranks):
                self.check(path, (5, 12), "factors", ranks, ["--planner", "sfb"])

    def test_factors_of_convolutions(self):
        path = self.export(Pointwise, (3, 9, 9))
        for ranks in repeat(RANKS[:1], RANKS):
            with self.subTest(ranks=ranks):
                self.check(path, (3, 9, 9), "factors", ranks, ["--planner", "sfb"])

    def test_factors_of_transposed_convolutions(self):
        path = self.export(Upsampled, (3, 7, 7))
        for ranks in repeat(RANKS[:1], RANKS):
            with self.subTest(ranks=ranks):
                self.check(path, (3, 7, 7), "factors", ranks, ["--planner", "sfb"])


if __name__ == "__main__":
    unittest.main()
