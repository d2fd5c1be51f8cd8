"""Local SGD and DiLoCo against PyTorch: the same algorithm, rank by rank, in one process."""

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

sys.path.insert(0, str(harness.TOP / "samples" / "models"))
from make_samples import Digits  # noqa: E402

SAME = 1e-6
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
RANKS, BATCH, STEPS = 4, 16, 50
RATE, MOMENTUM, DECAY = 0.05, 0.9, 1e-4
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9


def weights_of(path):
    graph = onnx.load(str(path)).graph
    return {i.name: numpy_helper.to_array(i) for i in graph.initializer}


class Rank:
    """One rank of the reference, in double precision."""

    def __init__(self):
        self.model = Digits().double().train()
        with torch.no_grad():
            for name, value in weights_of(DIGITS).items():
                if name in dict(self.model.named_parameters()):
                    self.model.get_parameter(name).copy_(torch.from_numpy(value.copy()))
        self.weights = dict(self.model.named_parameters())
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), RATE, momentum=MOMENTUM, weight_decay=DECAY
        )

    def step(self, images, labels):
        self.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.model(images), labels).backward()
        self.optimizer.step()


class Common:
    """The weights of one fragment that the ranks have in common, with the outer optimizer."""

    def __init__(self, names, ranks):
        self.names = names
        self.old = {name: ranks[0].weights[name].detach().clone() for name in names}
        self.velocity = {name: torch.zeros_like(value) for name, value in self.old.items()}
        self.difference = None
        self.sent_after = 0

    def start(self, ranks, steps):
        self.sent_after = steps
        self.difference = {
            name: sum(old - rank.weights[name].detach() for rank in ranks) / len(ranks)
            for name, old in self.old.items()
        }

    def arrive(self, ranks, mix, steps):
        if mix == 0:
            self.sent_after = steps
        for name, mean in self.difference.items():
            self.velocity[name] = OUTER_MOMENTUM * self.velocity[name] + mean
            self.old[name] -= OUTER_RATE * (mean + OUTER_MOMENTUM * self.velocity[name])
            for rank in ranks:
                own = rank.weights[name].detach()
                rank.weights[name].data = (1 - mix) * self.old[name] + mix * own
        self.difference = None


def samples(step):
    """Each rank's batch of a step, as runs without --shuffle take them."""
    images = torch.from_numpy(numpy.load(DATA / "digits-train-x.npy")).double()
    labels = torch.from_numpy(numpy.load(DATA / "digits-train-y.npy"))
    first = step % (len(labels) // (RANKS * BATCH)) * RANKS * BATCH
    for rank in range(RANKS):
        part = slice(first + rank * BATCH, first + (rank + 1) * BATCH)
        yield images[part], labels[part]


def train(after_step):
    ranks = [Rank() for _ in range(RANKS)]
    for step in range(STEPS):
        for rank, (images, labels) in zip(ranks, samples(step)):
            rank.step(images, labels)
        after_step(ranks, step + 1)
    return ranks


def local(period):
    """Local SGD, which ends with a mean."""

    def average(ranks, steps):
        if steps % period and steps != STEPS:
            return
        for name in ranks[0].weights:
            mean = sum(rank.weights[name].detach() for rank in ranks) / len(ranks)
            for rank in ranks:
                rank.weights[name].data = mean.clone()

    return train(average)[0].weights


def diloco(period, delay, mix, fragments):
    """Streaming DiLoCo of these lists of weights. At the end each fragment that has been trained
    and not sent travels once more, and all ranks take the common weights."""
    window = period // len(fragments)
    commons = []

    def exchange(ranks, steps):
        if not commons:
            fresh = [Rank()]
            commons.extend(Common(names, fresh) for names in fragments)
        place = (steps - 1) % period + 1
        for number, common in enumerate(commons):
            if place == (number + 1) * window - delay:
                common.start(ranks, steps)
        for number, common in enumerate(commons):
            if place == (number + 1) * window:
                common.arrive(ranks, mix, steps)

    ranks = train(exchange)
    for common in commons:
        if common.difference:
            common.arrive(ranks, mix, STEPS)
    for common in commons:
        if common.sent_after < STEPS:
            common.start(ranks, STEPS)
            common.arrive(ranks, 0, STEPS)
    return {name: value for common in commons for name, value in common.old.items()}


class LocalUpdatesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_plan(self, form):
        plan = harness.compile_plan(
            DIGITS, self.folder, ranks=RANKS, batch=BATCH, extra=("--consistency", form)
        )
        saved = self.folder / "trained.onnx"
        files = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
        harness.syncline(
            *("run", plan, "-n", RANKS, "--data", files, "--steps", STEPS, "--lr", RATE),
            *("--momentum", MOMENTUM, "--weight-decay", DECAY, "--save", saved),
        )
        exchanges = harness.plan_json(plan)["consistency"]["exchanges"]
        return weights_of(saved), [exchange["members"] for exchange in exchanges]

    def check(self, form, found, truth):
        worst = compare.parameters(found, {name: v.detach().numpy() for name, v in truth.items()})
        print(f"\n  {form}: parameters {worst}")
        self.assertLessEqual(worst.error, SAME)

    def test_local(self):
        found, fragments = self.run_plan("local:4")
        self.assertEqual(len(fragments), 1)
        self.check("local:4", found, local(4))

    def test_streaming_diloco(self):
        """50 steps end two steps into a period: both fragments travel once more."""
        found, fragments = self.run_plan("diloco:8,2,1,0.5")
        self.assertEqual(len(fragments), 2)
        self.check("diloco:8,2,1,0.5", found, diloco(8, 1, 0.5, fragments))

    def test_end_with_a_fragment_under_way(self):
        """Step 50 is a period's sixth: a fragment left after the fifth, and is used at once."""
        found, fragments = self.run_plan("diloco:22,2,6,0.5")
        self.check("diloco:22,2,6,0.5", found, diloco(22, 6, 0.5, fragments))

    def test_diloco(self):
        found, fragments = self.run_plan("diloco:10,1,0,0")
        self.check("diloco:10,1,0,0", found, diloco(10, 0, 0, fragments))


if __name__ == "__main__":
    unittest.main()
