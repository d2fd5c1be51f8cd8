"""Steps of several batches (`run --accumulate`) against PyTorch, on any number of ranks, by any
scheme. The error is |a - b| / |b| of each tensor after the last step; the worst counts."""

import copy
import json
import pathlib
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
import test_clipping
from depth import repeat
from test_clipping import DATA, DECAY, DIGITS, GLOBAL, MOMENTUM, NORM, RATE, SAME, STEPS

PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
SGD = ("--lr", RATE, "--momentum", MOMENTUM, "--weight-decay", DECAY)
BATCH, SLOW = 8, 5e-3  # of one micro-batch and rank, and AdamW's rate, with batch normalization
EPS = 1e-4  # AdamW's; by 1e-8 it divides a gradient near 0, and its rounding, by itself


class Normalized(torch.nn.Module):
    """Smooth, because float32 training leaves float64 training where a ReLU turns. Without a bias
    before the normalization, whose gradient is rounding alone: AdamW would magnify it."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 8, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(8)
        self.fc = torch.nn.Linear(128, 10)

    def forward(self, image):
        x = torch.nn.functional.avg_pool2d(torch.tanh(self.norm(self.conv(image))), 2)
        return self.fc(torch.flatten(x, 1))


def distributed(model, ranks, micro_batches):
    """PyTorch's AdamW on `ranks` copies of the model, each with statistics of its own, whose mean
    gradients of `micro_batches` batches are applied. Returns parameters and rank 0's statistics."""
    copies = [copy.deepcopy(model).double().train() for _ in range(ranks)]
    optimizer = torch.optim.AdamW(
        copies[0].parameters(), SLOW, eps=EPS, weight_decay=0.01, foreach=False
    )
    images = torch.from_numpy(numpy.load(DATA / "digits-train-x.npy")).double()
    labels = torch.from_numpy(numpy.load(DATA / "digits-train-y.npy"))
    count = ranks * micro_batches * BATCH
    for step in range(STEPS):
        first = step % (len(labels) // count) * count
        for each in copies:
            each.load_state_dict(copies[0].state_dict() | dict(each.named_buffers()))
            each.zero_grad()
            for _ in range(micro_batches):
                part = slice(first, first + BATCH)
                loss = torch.nn.functional.cross_entropy(each(images[part]), labels[part])
                (loss / micro_batches).backward()
                first += BATCH
        for mean, *others in zip(*(each.parameters() for each in copies)):
            mean.grad = sum((other.grad for other in others), mean.grad) / ranks
        optimizer.step()
    values = {**dict(copies[0].named_parameters()), **dict(copies[0].named_buffers())}
    return {k: v.detach().numpy() for k, v in values.items() if "num_batches" not in k}


class AccumulationTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def train(self, plan, ranks, micro_batches, *extra):
        saved = self.folder / "trained.onnx"
        log = harness.syncline(
            *("run", plan, "-n", ranks, "--data", PAIR, "--steps", STEPS, "--log", "json"),
            *(() if micro_batches is None else ("--accumulate", micro_batches)),
            *("--save", saved, *extra),
        )
        return test_clipping.weights_of(saved), [json.loads(line) for line in log.splitlines()]

    def check(self, what, found, truth):
        worst = compare.parameters(found, truth)
        print(f"\n  {what}: {worst}")
        self.assertLessEqual(worst.error, SAME, what)

    def check_whole(self, label, ranks, micro_batches, extra=(), words=(), norm=None, **how):
        """A net without batch normalization trains as with one pass over all samples."""
        plan = harness.compile_plan(
            *(DIGITS, self.folder, ranks, GLOBAL // ranks // micro_batches),
            label="-" + label,
            extra=extra,
            **how,
        )
        given = None if "--accumulate" in extra else micro_batches  # else the plan says it
        found, log = self.train(plan, ranks, given, *SGD, *words)
        truth, norms = test_clipping.reference(norm=norm)
        self.check(f"{label}, {ranks} ranks, {micro_batches} micro-batches", found, truth)
        self.assertEqual([line["step"] for line in log[:-1]], list(range(STEPS)))
        return log, norms

    def test_every_scheme(self):
        for scheme in (*test_clipping.SUMS, "factors"):
            pattern = "fc*.weight" if scheme == "factors" else "*"
            for ranks in repeat((4,), (2, 4)):
                with self.subTest(scheme=scheme, ranks=ranks):
                    self.check_whole(scheme, ranks, 2, ("--scheme", f"{pattern}={scheme}"))

    def test_plans_of_several_batches(self):
        """A plan of `compile --accumulate` trains so without a flag, whatever it chooses."""
        for extra in ((), ("--overlap", "step"), ("--scheme", "fc*.weight=factors")):
            for ranks in repeat((1, 4), (1, 2, 4)):
                with self.subTest(extra=extra, ranks=ranks):
                    self.check_whole("planned", ranks, 4, (*extra, "--accumulate", 4))

    def test_messages_into_the_next_step(self):
        for scheme in ("ring", "reduce-scatter", "factors"):
            pattern = "fc*.weight" if scheme == "factors" else "*"
            extra = ("--overlap", "step", "--scheme", f"{pattern}={scheme}")
            for micro_batches in (2, 4):
                with self.subTest(scheme=scheme, micro_batches=micro_batches):
                    self.check_whole(f"step-{scheme}", 2, micro_batches, extra)

    def test_nodes_and_servers(self):
        hierarchical = ("--scheme", "*=hierarchical")
        nodes = ("--ranks-per-node", 2)
        self.check_whole("nodes", 4, 2, hierarchical, nodes, cluster=harness.NODES)
        self.check_whole("servers", 2, 4, **harness.BY_SERVERS)

    def test_one_rank(self):
        for micro_batches in (1, 2, 8):
            with self.subTest(micro_batches=micro_batches):
                self.check_whole("one", 1, micro_batches)

    def test_clips_the_mean_gradient(self):
        for scheme in ("*=ring", "fc*.weight=factors"):
            with self.subTest(scheme=scheme):
                words = ("--clip-norm", NORM)
                log, norms = self.check_whole("clips", 2, 2, ("--scheme", scheme), words, NORM)
                measured = [line["gradient_norm"] for line in log[:-1]]
                numpy.testing.assert_allclose(measured, norms, 1e-5)

    def test_batch_normalization_and_adamw(self):
        """Statistics are of one micro-batch on one rank; running ones see every micro-batch."""
        torch.manual_seed(0)  # the same network in every run (test_optimizers.py says why)
        model, path = Normalized(), self.folder / "normalized.onnx"
        export.write(model, torch.zeros(2, 1, 8, 8), path)
        for ranks in repeat((1, 4), (1, 2, 4)):
            for scheme in ("*=ring", "*=reduce-scatter", "fc.weight=factors"):
                if ranks == 1 and scheme != "*=ring":
                    continue
                with self.subTest(ranks=ranks, scheme=scheme):
                    extra = ("--optimizer", "adamw") + (("--scheme", scheme) if ranks > 1 else ())
                    plan = harness.compile_plan(
                        path, self.folder, ranks, BATCH, label="-bn", extra=extra
                    )
                    found, _ = self.train(plan, ranks, 3, "--lr", SLOW, "--eps", EPS)
                    self.check(f"{scheme}, {ranks} ranks", found, distributed(model, ranks, 3))

    def test_whole_numbers_are_those_of_steps(self):
        """The loss is the mean over micro-batches; steps, epochs and rates do not count them."""
        plan = harness.compile_plan(DIGITS, self.folder, 2, GLOBAL // 4)
        _, one = self.train(
            harness.compile_plan(DIGITS, self.folder, 2, GLOBAL // 2), 2, 1, *SGD
        )
        _, two = self.train(plan, 2, 2, *SGD)
        for key in ("loss", "mean_loss"):
            numpy.testing.assert_allclose(
                [line[key] for line in two[:-1]], [line[key] for line in one[:-1]], 1e-5
            )
        for key in ("step", "epoch", "rate", "bytes_sent"):
            self.assertEqual([line[key] for line in two[:-1]], [line[key] for line in one[:-1]])
        predicted = harness.plan_json(plan)["predicted"]
        self.assertEqual(
            two[-1]["predicted_step_seconds"], predicted["step"] + predicted["micro_batch"]
        )


if __name__ == "__main__":
    unittest.main()
