"""SSP without staleness and EASGD in turns against PyTorch: one process, double precision."""

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
RATE, DECAY, RHO = 0.05, 1e-4, 2.0
CALM = 0.01  # with momentum, larger steps amplify rounding to more than 1e-6, of BSP's too


def weights_of(path):
    graph = onnx.load(str(path)).graph
    return {i.name: numpy_helper.to_array(i) for i in graph.initializer}


def model():
    made = Digits().double().train()
    with torch.no_grad():
        for name, value in weights_of(DIGITS).items():
            if name in dict(made.named_parameters()):
                made.get_parameter(name).copy_(torch.from_numpy(value.copy()))
    return made


def samples(step):
    """Each rank's batch of a step, as runs without --shuffle take them."""
    images = torch.from_numpy(numpy.load(DATA / "digits-train-x.npy")).double()
    labels = torch.from_numpy(numpy.load(DATA / "digits-train-y.npy"))
    first = step % (len(labels) // (RANKS * BATCH)) * RANKS * BATCH
    for rank in range(RANKS):
        part = slice(first + rank * BATCH, first + (rank + 1) * BATCH)
        yield images[part], labels[part]


def loss(net, images, labels):
    return torch.nn.functional.cross_entropy(net(images), labels)


def bsp(rate, momentum):
    """One model, trained by the mean gradient of the ranks' batches."""
    net = model()
    optimizer = torch.optim.SGD(
        net.parameters(), rate, momentum=momentum, weight_decay=DECAY
    )
    for step in range(STEPS):
        optimizer.zero_grad()
        for images, labels in samples(step):
            (loss(net, images, labels) / RANKS).backward()
        optimizer.step()
    return dict(net.named_parameters())


def in_turns(period):
    """EASGD's original form: one worker at a time, `period` steps of it between exchanges."""
    nets = [model() for _ in range(RANKS)]
    optimizers = [torch.optim.SGD(net.parameters(), RATE, weight_decay=DECAY) for net in nets]
    centre = {name: value.detach().clone() for name, value in nets[0].named_parameters()}
    share = RATE * RHO
    for first in range(0, STEPS, period):
        for rank, (net, optimizer) in enumerate(zip(nets, optimizers)):
            pull = {
                name: share * (value.detach() - centre[name])
                for name, value in net.named_parameters()
            }
            for name, difference in pull.items():
                centre[name] = centre[name] + difference
            for step in range(first, min(first + period, STEPS)):
                optimizer.zero_grad()
                images, labels = list(samples(step))[rank]
                loss(net, images, labels).backward()
                optimizer.step()
                if step == first:
                    with torch.no_grad():
                        for name, value in net.named_parameters():
                            value -= pull[name]
    return centre


class ServedWeightsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_plan(self, form, rate, *more, cluster=harness.CLUSTER):
        extra = ("--consistency", form)
        plan = harness.compile_plan(
            DIGITS, self.folder, ranks=RANKS, batch=BATCH, extra=extra, cluster=cluster
        )
        saved = self.folder / "trained.onnx"
        files = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
        harness.syncline(
            *("run", plan, "--data", files, "--steps", STEPS, "--lr", rate),
            *("--weight-decay", DECAY, "--save", saved, *more),
        )
        return weights_of(saved)

    def check(self, form, found, truth):
        worst = compare.parameters(found, {name: v.detach().numpy() for name, v in truth.items()})
        print(f"\n  {form}: parameters {worst}")
        self.assertLessEqual(worst.error, SAME)

    def test_ssp_without_staleness(self):
        self.check("ssp:0", self.run_plan("ssp:0", RATE), bsp(RATE, 0))

    def test_ssp_without_staleness_with_momentum(self):
        servers = harness.CLUSTER + "servers: {{count: 2, dedicated: yes}}\n"
        found = self.run_plan("ssp:0", CALM, "--momentum", 0.5, cluster=servers)
        self.check("ssp:0, momentum, two dedicated servers", found, bsp(CALM, 0.5))

    def test_easgd_in_turns(self):
        self.check("easgd:original", self.run_plan(f"easgd:original,{RHO}", RATE), in_turns(1))

    def test_easgd_in_longer_turns(self):
        """50 steps end two steps into a turn."""
        form = f"easgd:original,{RHO},3"
        self.check(form, self.run_plan(form, RATE), in_turns(3))


if __name__ == "__main__":
    unittest.main()
