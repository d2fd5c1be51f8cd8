"""`--schedule` and `--warmup` against PyTorch's schedulers: rates of steps, and what they train."""

import json
import pathlib
import tempfile
import unittest
import warnings

import numpy
import torch
from torch.optim import lr_scheduler

import compare
import export
import harness
import modules
import reference

RATE = 0.3
STEPS = 97
SAME = 1e-12  # relative to --lr
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
# The scheduler for an optimizer and N steps behind the warm-up, by the options of `run`.
SCHEDULES = {
    ("constant",): lambda o, n: lr_scheduler.ConstantLR(o, 1),
    ("step:10,0.7",): lambda o, n: lr_scheduler.StepLR(o, 10, 0.7),
    ("cosine",): lambda o, n: lr_scheduler.CosineAnnealingLR(o, n),
    ("cosine:0.01",): lambda o, n: lr_scheduler.CosineAnnealingLR(o, n, 0.01),
    ("linear",): lambda o, n: lr_scheduler.LinearLR(o, 1, 0, n),
    ("linear:0.03",): lambda o, n: lr_scheduler.LinearLR(o, 1, 0.03 / RATE, n),
    ("one-cycle",): lambda o, n: lr_scheduler.OneCycleLR(o, RATE, n, cycle_momentum=False),
    ("one-cycle:0.2,10,50",): lambda o, n: lr_scheduler.OneCycleLR(
        o, RATE, n, pct_start=0.2, div_factor=10, final_div_factor=50, cycle_momentum=False
    ),
}
for kind in ("constant", "step:10,0.7", "cosine:0.01", "linear"):
    SCHEDULES[(kind, "--warmup", 9)] = SCHEDULES[(kind,)]
SCHEDULES[("cosine", "--warmup", 1)] = SCHEDULES[("cosine",)]


def scheduler(words, optimizer, steps):
    """PyTorch's scheduler for the options `words`."""
    warm = words[2] if len(words) > 1 else 0
    later = SCHEDULES[words](optimizer, steps - warm)
    if not warm:
        return later
    rising = lr_scheduler.LinearLR(optimizer, 1 / warm, 1, max(warm - 1, 1))
    return lr_scheduler.SequentialLR(optimizer, [rising, later], [warm])


def torch_rates(words, steps):
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], RATE)
    following = scheduler(words, optimizer, steps)
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        following.step()
    return rates


class SchedulesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        warnings.simplefilter("ignore")  # SequentialLR steps its schedulers in a deprecated way

    def test_rates(self):
        """The log has the rate of every step."""
        plan = harness.compile_plan(DIGITS, self.folder, batch=1)
        for words in SCHEDULES:
            with self.subTest(words=words):
                log = harness.syncline(
                    *("run", plan, "--steps", STEPS, "--lr", RATE, "--log", "json"),
                    *("--schedule", *words),
                )
                lines = [json.loads(line) for line in log.splitlines()][:STEPS]
                found = numpy.array([line["rate"] for line in lines])
                wanted = numpy.array(torch_rates(words, STEPS))
                self.assertLess(numpy.abs(found - wanted).max(), SAME * RATE)

    def test_trains_as_pytorch(self):
        """Steps on two ranks, with momentum, in the warm-up and behind it."""
        torch.manual_seed(2)
        model = modules.Perceptron()
        random = numpy.random.RandomState(3)
        data = random.standard_normal((8, 12)).astype(numpy.float32), random.randint(0, 5, 8)
        path = self.folder / "perceptron.onnx"
        export.write(model, torch.zeros(2, 12), path)
        words = ("cosine:0.01", "--warmup", 9)
        plan = harness.compile_plan(path, self.folder, ranks=2, batch=4)
        settings = {"lr": RATE}
        found = harness.train(
            plan,
            self.folder,
            data,
            ranks=2,
            steps=14,
            dump=(0, 13),
            settings=settings,
            extra=("--schedule", *words),
        )
        truth = reference.train(
            model,
            data,
            steps=14,
            shards=2,
            settings=settings,
            schedule=lambda optimizer: scheduler(words, optimizer, 14),
        )
        self.assertLess(compare.parameters(found.parameters(13), truth.parameters).error, 1e-4)
        constant = reference.train(model, data, steps=14, shards=2, settings=settings)
        self.assertGreater(compare.parameters(truth.parameters, constant.parameters).error, 1e-2)


if __name__ == "__main__":
    unittest.main()
