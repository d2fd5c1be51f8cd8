"""Evaluation by running statistics, without dropout: PyTorch and ONNX Runtime find the same in the
saved model, on any number of ranks."""

import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy
import onnx
import torch
import torch.nn.functional as functional
from onnx import numpy_helper
from torch import nn

import export
import harness
from waiting import PATIENCE
import modules
import virtual

SAME = 1e-5
CLASSES = 5
TESTED = 53  # samples, which fill no number of batches
EACH = 4  # samples per rank
SETTINGS = ("--lr", 0.05, "--momentum", 0.9, "--weight-decay", 1e-4)
# Prints the mean loss and the accuracy as ONNX Runtime finds them.
RUNTIME = """\
import json, sys
import numpy, onnxruntime
inputs, targets = numpy.load(sys.argv[2]), numpy.load(sys.argv[3])
session = onnxruntime.InferenceSession(sys.argv[1])
logits = session.run(None, {"input": inputs})[0].astype(numpy.float64)
logits -= logits.max(1, keepdims=True)
losses = numpy.log(numpy.exp(logits).sum(1)) - logits[numpy.arange(len(targets)), targets]
print(json.dumps([losses.mean(), float((logits.argmax(1) == targets).mean())]))
"""


class Network(nn.Module):
    """Normalisations with and without a ReLU behind them, and two kinds of dropout."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 12, 3)
        self.other = nn.BatchNorm2d(12, momentum=0.2)
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(12, CLASSES)

    def forward(self, x):
        x = functional.relu(self.norm(self.first(x)))
        x = self.dropout(torch.tanh(self.other(self.second(x))))
        return self.head(functional.dropout(x.mean((2, 3)), 0.1, self.training))


def samples(count, seed):
    """Noise around a colour for each class."""
    colours = numpy.random.RandomState(0).standard_normal((CLASSES, 3, 1, 1))
    random = numpy.random.RandomState(seed)
    labels = random.randint(0, CLASSES, count)
    inputs = colours[labels] + random.standard_normal((count, 3, 10, 10)) + 0.5
    return inputs.astype(numpy.float32), labels


def torch_score(model, data):
    inputs, targets = (torch.from_numpy(array) for array in data)
    with torch.no_grad():
        logits = model.double()(inputs.double())
        loss = functional.cross_entropy(logits, targets).item()
    return loss, (logits.argmax(1) == targets).double().mean().item()


class EvaluationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(4)
        cls.model = Network()
        cls.path = cls.folder / "network.onnx"
        export.write(cls.model, torch.zeros(2, 3, 10, 10), cls.path)
        cls.test = samples(TESTED, 2)
        cls.train_pair = cls.pair("train", samples(12 * EACH, 1))
        cls.test_pair = cls.pair("test", cls.test)

    @classmethod
    def pair(cls, name, data):
        files = [cls.folder / f"{name}-{part}.npy" for part in "xy"]
        for file, array in zip(files, data):
            numpy.save(file, array)
        return ",".join(map(str, files))

    def plan(self, ranks, *extra, label=""):
        return harness.compile_plan(
            self.path, self.folder, ranks=ranks, batch=EACH, extra=extra, label=label
        )

    def run_plan(self, plan, ranks, *words):
        """The log's lines."""
        log = harness.syncline("run", plan, "-n", ranks, "--log", "json", *words)
        return [json.loads(line) for line in log.splitlines()]

    def trained(self, plan, ranks, *words, label="", steps=20):
        """The log's lines and the saved model's path."""
        saved = self.folder / f"{plan.stem}{label}.onnx"
        training = ("--data", self.train_pair, "--steps", steps, *SETTINGS, "--save", saved)
        return self.run_plan(plan, ranks, *training, "--eval", self.test_pair, *words), saved

    def in_torch(self, saved):
        """PyTorch's model with the saved values."""
        values = {
            i.name: torch.from_numpy(numpy_helper.to_array(i).copy())
            for i in onnx.load(str(saved)).graph.initializer
        }
        model = Network()
        known = {name: values[name] for name in model.state_dict() if name in values}
        missing = model.load_state_dict(known, strict=False).missing_keys
        self.assertTrue(all(name.endswith("num_batches_tracked") for name in missing), missing)
        return model

    def assert_scores(self, line, loss, accuracy):
        self.assertLess(abs(line["test_loss"] - loss) / loss, SAME)
        self.assertAlmostEqual(line["test_accuracy"], accuracy, delta=1e-9)

    def test_pytorch_finds_the_same(self):
        """In the saved model in evaluation mode; in training mode it finds another loss."""
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                lines, saved = self.trained(self.plan(ranks), ranks, steps=150)
                model = self.in_torch(saved)
                self.assert_scores(lines[-1], *torch_score(model.eval(), self.test))
                self.assertGreater(lines[-1]["test_accuracy"], 0.5)
                trains, _ = torch_score(model.train(), self.test)
                self.assertGreater(abs(trains - lines[-1]["test_loss"]), 100 * SAME)

    def test_onnx_runtime_finds_the_same(self):
        try:
            python = virtual.environment("onnxruntime", ("onnxruntime==1.32.0",), system=True)
        except virtual.Missing as missing:
            raise unittest.SkipTest(str(missing)) from None
        lines, saved = self.trained(self.plan(2), 2)
        words = [python, "-c", RUNTIME, saved, *self.test_pair.split(",")]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_scores(lines[-1], *json.loads(done.stdout))

    def test_saved_model_scores_the_same(self):
        """When it is loaded without training, on any number of ranks, and compiled again."""
        lines, saved = self.trained(self.plan(2), 2, label="-kept")
        wanted = lines[-1]["test_loss"], lines[-1]["test_accuracy"]
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                words = ("--eval-only", "--eval", self.test_pair, "--load", saved)
                lines = self.run_plan(self.plan(ranks), ranks, *words)
                self.assertEqual(len(lines), 1)
                self.assert_scores(lines[0], *wanted)
        again = harness.compile_plan(saved, self.folder, batch=EACH)
        lines = self.run_plan(again, 1, "--eval-only", "--eval", self.test_pair)
        self.assert_scores(lines[0], *wanted)
        lines = self.run_plan(self.plan(1), 1, "--eval-only", "--eval", self.test_pair)
        self.assert_scores(lines[0], *torch_score(self.model.eval(), self.test))

    def test_logits_beneath_a_softmax_are_scored(self):
        model = copy.deepcopy(self.model).float()
        path = self.folder / "softmax.onnx"
        export.write(nn.Sequential(model, nn.Softmax(1)), torch.zeros(2, 3, 10, 10), path)
        plan = harness.compile_plan(path, self.folder, batch=EACH)
        lines = self.run_plan(plan, 1, "--eval-only", "--eval", self.test_pair)
        self.assert_scores(lines[0], *torch_score(model.eval(), self.test))

    def test_evaluation_changes_no_training(self):
        """Evaluation within the run leaves losses and the saved model as they are, to the bit. It
        scores what a run that ends there scores."""
        for overlap in ("backward", "step"):
            for data in (("--data", self.train_pair), ()):
                with self.subTest(overlap=overlap, data=data):
                    plan = self.plan(2, "--overlap", overlap, label=overlap)
                    results = []
                    for words in ((), ("--eval-every", 3)):
                        saved = self.folder / f"{overlap}{len(words)}.onnx"
                        settings = (*data, *SETTINGS, "--steps", 10, "--eval", self.test_pair)
                        lines = self.run_plan(plan, 2, *settings, "--save", saved, *words)
                        results.append((lines, saved.read_bytes()))
                    (plain, model), (often, same) = results
                    self.assertEqual(same, model)
                    tests = [line for line in often if "test" in line]
                    self.assertEqual([line["step"] for line in tests], [2, 5, 8])
                    losses = [[x["loss"] for x in y if "loss" in x] for y in (plain, often)]
                    self.assertEqual(*losses)
                    early = self.run_plan(
                        plan, 2, *data, *SETTINGS, "--steps", 6, "--eval", self.test_pair
                    )
                    for key in ("test_loss", "test_accuracy"):
                        self.assertEqual(tests[1][key], early[-1][key])

    def test_evaluation_between_exchanges(self):
        """Ranks whose weights differ score their own parts of the samples by their own weights;
        training goes on as without."""
        for form in ("local:4", "diloco:4,2,1,0.5", "easgd:sync3,0.1,2"):
            with self.subTest(form=form):
                plan = self.plan(2, "--consistency", form, label=form.partition(":")[0])
                plain, model = self.trained(plan, 2, label="plain")
                often, same = self.trained(plan, 2, "--eval-every", 3, label="often")
                self.assertEqual(same.read_bytes(), model.read_bytes())
                self.assertEqual(plain[-1]["test_loss"], often[-1]["test_loss"])
                self.assertEqual(len([line for line in often if "test" in line]), 6)


class StatisticsTest(unittest.TestCase):
    def test_running_statistics(self):
        """After ten steps at a rate that moves the layers below, those of rank 0's samples are
        PyTorch DDP's."""
        torch.manual_seed(1)
        model = modules.Perceptron()
        random = numpy.random.RandomState(6)
        data = random.standard_normal((8, 12)).astype(numpy.float32), random.randint(0, 5, 8)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path = folder / "perceptron.onnx"
            export.write(model, torch.zeros(2, 12), path)
            plan = harness.compile_plan(path, folder, ranks=2, batch=4)
            saved = folder / "trained.onnx"
            settings = {"lr": 0.2}
            words = ("--save", saved)
            harness.train(plan, folder, data, 2, 10, (9,), settings=settings, extra=words)
            graph = onnx.load(str(saved)).graph
        found = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        for name, wanted in self.distributed(model, data, steps=10, rate=0.2).items():
            error = numpy.linalg.norm(found[name] - wanted) / numpy.linalg.norm(wanted)
            self.assertLess(error, 1e-5, name)

    def distributed(self, model, data, steps, rate):
        """The statistics that DDP on two ranks saves: rank 0's."""
        model = model.double().train()
        optimizer = torch.optim.SGD(model.parameters(), rate, 0.9, weight_decay=1e-4)
        halves = [torch.from_numpy(array).chunk(2) for array in data]
        for _ in range(steps):
            optimizer.zero_grad()
            for rank in (1, 0):
                before = {name: value.clone() for name, value in model.named_buffers()}
                logits = model(halves[0][rank].double())
                (functional.cross_entropy(logits, halves[1][rank]) / 2).backward()
                if rank > 0:
                    for name, value in model.named_buffers():
                        value.copy_(before[name])
            optimizer.step()
        names = ("body.3.running_mean", "body.3.running_var")
        return {name: dict(model.named_buffers())[name].numpy() for name in names}


if __name__ == "__main__":
    unittest.main()
