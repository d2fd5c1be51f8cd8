"""Clipping against PyTorch: by norm and by value, on any number of ranks, by any scheme."""

import json
import pathlib
import sys
import tempfile
import unittest

import numpy
import onnx
import torch
from onnx import numpy_helper

import compare
import harness
from depth import repeat

sys.path.insert(0, str(harness.TOP / "samples" / "models"))
from make_samples import Digits  # noqa: E402

SAME = 1e-6
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
GLOBAL, STEPS = 32, 20  # samples of all ranks in a step
RATE, MOMENTUM, DECAY = 0.05, 0.9, 1e-4
NORM, VALUE = 0.45, 0.02
OWN = 0.2  # limit of the norm of one rank's gradients
SUMS = (
    *("ring", "recursive-doubling", "halving-doubling", "tree", "parameter-server"),
    "reduce-scatter",
)


def weights_of(path):
    graph = onnx.load(str(path)).graph
    return {i.name: numpy_helper.to_array(i) for i in graph.initializer}


def initial():
    model = Digits().double().train()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(torch.from_numpy(weights_of(DIGITS)[name].copy()))
    return model


def samples(first, count):
    """A part of the training set; runs without --shuffle take it in its order."""
    images = torch.from_numpy(numpy.load(DATA / "digits-train-x.npy")).double()
    labels = torch.from_numpy(numpy.load(DATA / "digits-train-y.npy"))
    part = slice(first, first + count)
    return len(labels), images[part], labels[part]


def backward(model, images, labels):
    model.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()


def own_norms():
    """One step by the mean of two ranks' gradients, each clipped by its own norm."""
    model, norms, sums = initial(), [], {}
    for rank in range(2):
        _, images, labels = samples(rank * GLOBAL // 2, GLOBAL // 2)
        backward(model, images, labels)
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), OWN)))
        for name, weight in model.named_parameters():
            sums[name] = sums.get(name, 0) + weight.grad
    return {
        name: (weight - RATE * (sums[name] / 2 + DECAY * weight)).detach().numpy()
        for name, weight in model.named_parameters()
    }, norms


def reference(norm=None, value=None):
    """SGD on the global batch in double precision: the weights and each step's norm."""
    model = initial()
    optimizer = torch.optim.SGD(model.parameters(), RATE, momentum=MOMENTUM, weight_decay=DECAY)
    norms = []
    for step in range(STEPS):
        size, _, _ = samples(0, 0)
        backward(model, *samples(step % (size // GLOBAL) * GLOBAL, GLOBAL)[1:])
        if norm:
            norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), norm)))
        if value:
            torch.nn.utils.clip_grad_value_(model.parameters(), value)
        optimizer.step()
    return {name: weight.detach().numpy() for name, weight in model.named_parameters()}, norms


class ClippingTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def plan(self, ranks, label, extra=(), batch=None, **how):
        samples = batch or GLOBAL // ranks
        return harness.compile_plan(
            DIGITS, self.folder, ranks=ranks, batch=samples, label=label, extra=extra, **how
        )

    def train(self, plan, ranks, extra=(), steps=STEPS):
        """The trained weights, and the log's lines."""
        saved = self.folder / "trained.onnx"
        files = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
        log = harness.syncline(
            *("run", plan, "-n", ranks, "--data", files, "--steps", steps, "--lr", RATE),
            *("--momentum", MOMENTUM, "--weight-decay", DECAY, "--save", saved, "--log", "json"),
            *extra,
        )
        return weights_of(saved), [json.loads(line) for line in log.splitlines()]

    def check(self, what, found, truth):
        worst = compare.parameters(found, truth)
        print(f"\n  {what}: parameters {worst}")
        self.assertLessEqual(worst.error, SAME, what)

    def check_norm(self, what, plan, ranks, extra=()):
        truth, norms = reference(norm=NORM)
        clipped = sum(norm > NORM for norm in norms)
        self.assertTrue(0 < clipped < STEPS, norms)  # both kinds of step occur
        found, log = self.train(plan, ranks, ("--clip-norm", NORM, *extra))
        self.check(what, found, truth)
        numpy.testing.assert_allclose([line["gradient_norm"] for line in log[:-1]], norms, 1e-5)
        self.assertEqual(log[-1]["clipped_steps"], clipped)

    def test_norm_by_every_scheme(self):
        for scheme in (*SUMS, "factors"):
            pattern = "fc*.weight" if scheme == "factors" else "*"
            for ranks in repeat((4,), (2, 4)):
                with self.subTest(scheme=scheme, ranks=ranks):
                    plan = self.plan(ranks, "-" + scheme, ("--scheme", f"{pattern}={scheme}"))
                    self.check_norm(f"norm, {scheme}, {ranks} ranks", plan, ranks)

    def test_norm_on_one_rank(self):
        self.check_norm("norm, 1 rank", self.plan(1, ""), 1)

    def test_norm_of_several_messages(self):
        """Every gradient is a message: the norm is that of all of them."""
        plan = self.plan(2, "-each", ("--planner", "wfbp", "--channels", 2))
        self.check_norm("norm, a message each, 2 channels", plan, 2, ("--threads", 2))

    def test_norm_of_parts_beside_whole_buckets(self):
        """By reduce-scatter a rank has the squares of its parts alone."""
        schemes = ("--scheme", "fc*=reduce-scatter", "--scheme", "conv*=tree")
        for extra in ((), ("--accumulate", 2)):
            ranks = 4 // (2 if extra else 1)
            with self.subTest(extra=extra):
                plan = self.plan(ranks, "-parts", schemes, batch=8)
                self.check_norm(f"norm, parts, {extra}", plan, ranks, extra)

    def test_norm_by_nodes_and_by_servers(self):
        nodes = self.plan(4, "-nodes", ("--scheme", "*=hierarchical"), cluster=harness.NODES)
        self.check_norm("norm, hierarchical", nodes, 4, ("--ranks-per-node", 2))
        servers = self.plan(2, "-servers", **harness.BY_SERVERS)
        self.check_norm("norm, dedicated servers", servers, 2)

    def test_high_limit_clips_nothing(self):
        truth, _ = reference()
        found, log = self.train(self.plan(2, "-open"), 2, ("--clip-norm", 1e30))
        self.check("no limit", found, truth)
        self.assertEqual(log[-1]["clipped_steps"], 0)
        self.assertGreater(log[0]["gradient_norm"], 0)

    def test_value(self):
        """Value clipping needs no special plan and does not mind who updates, or when."""
        truth, _ = reference(value=VALUE)
        self.assertGreater(compare.parameters(reference()[0], truth).error, 1e-3)  # it matters
        plans = {
            "ring": ("--scheme", "*=ring"),
            "reduce-scatter": ("--scheme", "*=reduce-scatter"),
            "step": ("--overlap", "step", "--scheme", "*=ring"),
        }
        for label, extra in plans.items():
            for ranks in repeat((1, 4), (1, 2, 4)):
                if ranks == 1 and label != "ring":
                    continue
                with self.subTest(label=label, ranks=ranks):
                    plan = self.plan(ranks, "-" + label, extra if ranks > 1 else ())
                    found, _ = self.train(plan, ranks, ("--clip-value", VALUE))
                    self.check(f"value, {label}, {ranks} ranks", found, truth)

    def test_norm_before_value(self):
        truth, _ = reference(norm=NORM, value=VALUE)
        extra = ("--clip-norm", NORM, "--clip-value", VALUE)
        found, _ = self.train(self.plan(2, "-both"), 2, extra)
        self.check("norm, then value", found, truth)

    def test_own_gradients_with_local_updates(self):
        """Without momentum, the mean after the first step is a step along the mean of the ranks'
        gradients, each clipped by its own norm."""
        plan = self.plan(2, "-local", ("--consistency", "local:1"))
        found, log = self.train(plan, 2, ("--clip-norm", OWN), steps=1)
        truth, norms = own_norms()
        self.assertTrue(min(norms) > OWN, norms)
        self.check("own norms", found, truth)
        self.assertAlmostEqual(log[0]["gradient_norm"], norms[0], delta=1e-5)


if __name__ == "__main__":
    unittest.main()
