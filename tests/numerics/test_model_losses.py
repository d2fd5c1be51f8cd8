"""Losses that a model computes train as in PyTorch in float64: labels are inputs, and the loss of a
step is the mean of those that ranks and micro-batches have."""

import copy
import itertools
import json
import pathlib
import tempfile
import unittest

import numpy
import onnx
import torch
from torch.nn import functional

import compare
import export
import harness
import reference
from depth import repeat
from refusal import RefusalTest

BATCH, WIDTH, CLASSES = 8, 6, 5
STEPS = 3
SAME = 2e-6
WEIGHTS = torch.tensor([0.5, 2.0, 1.0, 0.25, 3.0])
SHAPES = ((1, 8, 1), (2, 4, 1), (2, 2, 2))  # ranks, batch, micro-batches
OPTIMIZERS = {
    "sgd": ({"lr": 0.1, "momentum": 0.9, "weight-decay": 1e-4}, torch.optim.SGD),
    "adam": ({"lr": 0.01, "eps": 1e-4}, torch.optim.Adam),
}


class Inside(torch.nn.Module):
    """Returns the loss and what it is taken on."""

    def __init__(self, loss):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, 9), torch.nn.Tanh(), torch.nn.Linear(9, CLASSES)
        )
        self.loss = loss

    def forward(self, x, labels):
        scores = self.net(x)
        return self.loss(scores, labels, WEIGHTS.to(scores.dtype)), scores


def weighted(scores, labels, weights):
    """Parts of a batch have weights, and counts of labels, that differ."""
    return functional.cross_entropy(scores, labels, weights, ignore_index=3)


def likelihood(scores, labels, weights):
    log = functional.log_softmax(scores, 1)
    return functional.nll_loss(log, labels) + 0.5 * functional.nll_loss(log, labels, weights)


def two_terms(scores, labels, weights):
    mean = functional.cross_entropy(scores, labels, reduction="none", ignore_index=0).mean()
    return mean + 0.1 * (scores**2).mean()


def contrastive(scores, others, weights):
    """The distance to the first part of the others is less than to the last, by a margin."""
    near = functional.pairwise_distance(scores, others[:, :CLASSES])
    far = functional.pairwise_distance(scores, others[:, 1:])
    return torch.relu(near - far + 0.5).mean()


def own(scores, values, weights):
    return (weights * torch.abs(scores - values[:, :CLASSES]) ** 1.5).sum() / scores.shape[0]


def between(scores, values, weights):
    probable = torch.sigmoid(values[:, :CLASSES])
    return functional.binary_cross_entropy_with_logits(scores, probable, pos_weight=weights)


def squares(scores, values, weights):
    return ((scores - values[:, :CLASSES]) ** 2).mean()


def plain(scores, labels, weights):
    return functional.cross_entropy(scores, labels)


def summed(scores, labels, weights):
    return 0.1 * functional.cross_entropy(scores, labels, reduction="sum")


def placed(scores):
    """Scores of three predictions a sample."""
    return scores[:, :, None] * torch.tensor([1.0, -0.5, 2.0], dtype=scores.dtype)


def at_places(scores, labels, weights):
    return functional.cross_entropy(placed(scores), labels)


def weighted_at_places(scores, labels, weights):
    log = functional.log_softmax(placed(scores), 1)
    each = functional.nll_loss(log, labels, weights, ignore_index=-100, reduction="none")
    return each.sum() / (labels != -100).sum()


def in_batch(scores, others, weights):
    """Each sample's own partner among all of the batch."""
    return functional.cross_entropy(scores @ others[:, :CLASSES].t(), torch.arange(len(scores)))


BY_CLASSES = (plain, weighted, likelihood, two_terms, summed)
AT_PLACES = (at_places, weighted_at_places)
BY_VALUES = (squares, between, own, contrastive)


def draw(loss, count, random):
    """The inputs by name."""
    x = random.standard_normal((count, WIDTH)).astype(numpy.float32)
    if loss in AT_PLACES:
        labels = random.randint(0, CLASSES, (count, 3))
        labels[[0, 1, 6], [2, 0, 1]] = -100  # so that parts have different numbers of labels
        return {"x": x, "labels": labels}
    if loss not in BY_CLASSES:
        return {"x": x, "labels": random.standard_normal((count, WIDTH)).astype(numpy.float32)}
    labels = random.randint(0, CLASSES, count)
    labels[[0, 5]] = -100 if loss is plain else 3
    labels[1] = 1  # each part has a label that counts
    return {"x": x, "labels": labels}


def in_parts(data, batch):
    """The model's arguments, of `batch` samples each, in double precision."""
    tensors = {name: torch.from_numpy(array).split(batch) for name, array in data.items()}
    for part in zip(*tensors.values()):
        yield dict(zip(tensors, map(reference.in_double, part)))


def train(model, data, batch, optimizer):
    """Every `batch` samples are a part, whose losses and gradients have the mean that is applied.
    The losses of the steps and the gradients of the first one, and the trained parameters."""
    settings, make = OPTIMIZERS[optimizer]
    model = copy.deepcopy(model).double()
    names = {"lr": "lr", "momentum": "momentum", "weight-decay": "weight_decay", "eps": "eps"}
    steps = make(model.parameters(), **{names[key]: value for key, value in settings.items()})
    losses, gradients = [], None
    for _ in range(STEPS):
        steps.zero_grad()
        found = [model(**part)[0] for part in in_parts(data, batch)]
        mean = sum(found) / len(found)
        mean.backward()
        losses.append(mean.item())
        gradients = gradients or {n: p.grad.numpy().copy() for n, p in model.named_parameters()}
        steps.step()
    return losses, gradients, {n: p.detach().numpy() for n, p in model.named_parameters()}


def written(folder, **arrays):
    """Writes the arrays; the words of `--data`."""
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)
    return ",".join(f"{name}={folder / name}.npy" for name in arrays)


def run(plan, folder, data, ranks, micro_batches, optimizer):
    """The Dump of the first and the last step."""
    settings, _ = OPTIMIZERS[optimizer]
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    harness.syncline(
        *("run", plan, "-n", ranks, "--steps", STEPS, "--accumulate", micro_batches, *words),
        *("--data", written(folder, **data)),
        *("--dump", out, "--dump-steps", f"0,{STEPS - 1}"),
    )
    return harness.Dump(out)


def ways(number, shapes=SHAPES):
    """All shapes with all optimizers; in the short run one, by turns."""
    every = list(itertools.product(shapes, OPTIMIZERS))
    return repeat(every[number % len(every) :][:1], every)


class ModelLossesTest(RefusalTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.random = numpy.random.RandomState(5)

    def exported(self, model, data, batch=3, is_open=True):
        path = self.folder / "net.onnx"
        axes = {name: {0: "batch"} for name in ("x", "labels")} if is_open else {}
        sample = tuple(torch.from_numpy(array[:batch]) for array in data.values())
        torch.onnx.export(
            model,
            sample,
            str(path),
            input_names=["x", "labels"],
            output_names=["loss", "scores"],
            dynamic_axes=axes,
            opset_version=17,
            do_constant_folding=False,
            training=torch.onnx.TrainingMode.TRAINING,
        )
        return path

    def compiled(self, path, ranks=1, batch=BATCH, loss="output:loss", extra=()):
        return harness.compile_plan(
            path,
            self.folder,
            ranks=ranks,
            batch=batch,
            loss=loss,
            extra=extra,
        )

    def check(self, model, data, shape, optimizer="sgd", path=None):
        ranks, batch, micro_batches = shape
        path = path or self.exported(model, data)
        plan = self.compiled(path, ranks, batch, extra=("--optimizer", optimizer))
        self.assertIsNone(harness.plan_json(plan)["target"])
        dump = run(plan, self.folder, data, ranks, micro_batches, optimizer)
        losses, gradients, parameters = train(model, data, batch, optimizer)
        for step in (0, STEPS - 1):
            self.assertLess(abs(dump.loss(step) - losses[step]), SAME * abs(losses[step]))
        for found, true in (
            (dump.gradients(0), gradients),
            (dump.parameters(STEPS - 1), parameters),
        ):
            self.assertEqual(found.names(), set(true))
            for name, array in true.items():
                error = compare.norm(found[name] - array) / compare.norm(array)
                self.assertLess(error, SAME, name)

    def test_training(self):
        """On one rank, on two, and in micro-batches: in the short run each loss in one way."""
        for number, loss in enumerate(BY_CLASSES + AT_PLACES + BY_VALUES):
            data = draw(loss, BATCH, self.random)
            model = Inside(loss)
            for shape, optimizer in ways(number):
                with self.subTest(loss=loss.__name__, shape=shape, optimizer=optimizer):
                    self.check(model, data, shape, optimizer)

    def test_file_of_one_batch(self):
        """Such a file may mix the samples of a batch, which is one rank's."""
        data = draw(in_batch, 2 * BATCH, self.random)
        model = Inside(in_batch)
        path = self.exported(model, data, BATCH, is_open=False)
        for ranks in (1, 2):
            own = {name: array[: ranks * BATCH] for name, array in data.items()}
            self.check(model, own, (ranks, BATCH, 1), path=path)
        words = ("compile", path, "--cluster", self.cluster, "--batch", 4, "-o", "never.plan")
        self.refuses((*words, "--loss", "output:loss"), "net.onnx", "it would mix samples")

    def test_evaluation(self):
        """The mean over whole batches of 4, on two ranks; 3 of 11 samples fill none."""
        for loss in (weighted, own):
            with self.subTest(loss=loss.__name__):
                model, data = Inside(loss), draw(loss, 11, self.random)
                plan = self.compiled(self.exported(model, data), 2, 4)
                files = written(self.folder, **data)
                words = ("run", plan, "-n", 2, "--log", "json", "--eval-only", "--eval", files)
                done = self.command(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("evaluation leaves out 3 of 11 samples", done.stderr)
                line = json.loads(done.stdout)
                self.assertNotIn("test_accuracy", line)
                with torch.no_grad():
                    first = {name: array[:8] for name, array in data.items()}
                    model = model.double()
                    true = sum(model(**part)[0].item() for part in in_parts(first, 4)) / 2
                self.assertLess(abs(line["test_loss"] / true - 1), SAME)

    def test_trained_model_is_saved_whole(self):
        model, data = Inside(plain), draw(plain, BATCH, self.random)
        plan, saved = self.compiled(self.exported(model, data)), self.folder / "trained.onnx"
        files = written(self.folder, **data)
        harness.syncline("run", plan, "--data", files, "--steps", 1, "--save", saved)
        graph = onnx.load(saved).graph
        self.assertEqual([output.name for output in graph.output], ["loss", "scores"])

    def test_synthetic_labels(self):
        plan = self.compiled(self.exported(Inside(plain), self.two()))
        harness.syncline("run", plan, "--steps", 2)

    def two(self):
        return draw(plain, BATCH, self.random)

    def test_wrong_data(self):
        plan = self.compiled(self.exported(Inside(plain), self.two()))
        x, labels = self.two().values()
        files = written(self.folder, x=x, labels=labels)
        words = ("run", plan, "--steps", 1, "--data")
        wanted = "expected a file for each input, 'x=X,labels=X', or a folder as data"
        self.refuses((*words, f"{files},{self.folder / 'labels.npy'}"), wanted, code=2)
        nameless = ",".join(word.split("=")[1] for word in files.split(","))
        self.refuses((*words, nameless), wanted, code=2)
        self.refuses((*words, files.split(",")[0]), "expected a file for input 'labels'")
        self.refuses((*words, files, "--loss-scale", 8), "'output:loss'")
        few = written(self.folder, x=x[:3], labels=labels[:3])
        few = ("run", plan, "--eval-only", "--eval", few)
        self.refuses(few, "has 3 samples, fewer than one batch of 8")
        halves = written(self.folder, x=x, labels=labels + 0.5)
        self.refuses((*words, halves), "labels.npy", "a whole number for input 'labels'")

    def test_wrong_labels(self):
        """No label counts from the last class, and none beyond it does."""
        for loss in (plain, likelihood):
            plan = self.compiled(self.exported(Inside(loss), self.two()))
            x, labels = self.two().values()
            for label in (-1, -2, -CLASSES, -CLASSES - 1, -2 * CLASSES, CLASSES, 2 * CLASSES):
                with self.subTest(loss=loss.__name__, label=label):
                    labels[3] = label
                    files = written(self.folder, x=x, labels=labels)
                    self.refuses(("run", plan, "--steps", 1, "--data", files), "is not finite")

    def test_compile_says_what_is_wrong(self):
        path = self.exported(Inside(plain), self.two())
        words = ("compile", path, "--cluster", self.cluster, "--batch", 4, "-o", "never.plan")
        for loss, code, *said in (
            ("output", 2, "expected the name of an output of the model, 'output:NAME', got ''"),
            ("output:", 2, "expected the name of an output of the model, 'output:NAME', got ''"),
            ("output:none", 1, "the graph has no output 'none'; it has 'loss', 'scores'"),
            ("output:labels", 1, "the graph has no output 'labels'"),
            ("output:scores", 1, "output 'scores' of shape 4x5: expected one element"),
            ("cross-entropy", 1, "SoftmaxCrossEntropyLoss", "--loss output:NAME"),
        ):
            with self.subTest(loss=loss):
                self.refuses((*words, "--loss", loss), *said, code=code)
        for more, why in (
            (("--loss-on", "scores"), "the loss is that output"),
            (("--classes-in", 1), "only a cross-entropy has classes"),
            (("--dim", "length=4,8"), "such a loss would count what pads samples"),
        ):
            with self.subTest(more=more):
                refused = (*words, "--loss", "output:loss", *more)
                self.refuses(refused, "exclude each other", why, code=2)


if __name__ == "__main__":
    unittest.main()
