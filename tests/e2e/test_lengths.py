"""Steps of several lengths train the same parameters, as PyTorch does with equal batches."""

import json
import os
import pathlib
import shutil
import tempfile
import unittest

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import harness
import refusal
import varied

SIZES = (8, 16, 32)
BATCH, IGNORED = 4, -100
RATE, MOMENTUM = 0.1, 0.9


def texts(random, count, least, most, each_word):
    """Ids, 0 behind a text's end, and a class of each text or word."""
    ids = random.randint(1, varied.WORDS, (count, most))
    ends = random.randint(least, most + 1, (count, 1))
    classes = random.randint(0, varied.CLASSES, (count, most) if each_word else count)
    past = numpy.arange(most) >= ends
    ids[past] = 0
    if each_word:
        classes[past] = IGNORED
    return ids, classes


def global_batches(files, samples):
    """(size, ids, classes) of each global batch, in the order in which samples fill them."""
    waiting, batches = {size: [] for size in SIZES}, []
    for ids, classes in files:
        size = next(size for size in SIZES if size >= ids.shape[1])
        for pair in zip(ids, classes):
            waiting[size].append(pair)
            if len(waiting[size]) == samples:
                batches.append((size, waiting[size]))
                waiting[size] = []
    rest = []
    for size in SIZES:
        rest += waiting[size]
        if len(rest) >= samples:
            batches.append((size, rest[:samples]))
            rest = rest[samples:]
    return [(size, *padded(size, batch)) for size, batch in batches]


def padded(size, batch):
    ids = numpy.zeros((len(batch), size), dtype="int64")
    for row, (text, _) in zip(ids, batch):
        row[: len(text)] = text
    if batch[0][1].ndim == 0:
        return ids, numpy.array([label for _, label in batch])
    classes = numpy.full((len(batch), size), IGNORED)
    for row, (_, labels) in zip(classes, batch):
        row[: len(labels)] = labels
    return ids, classes


def outputs(weights, ids, each_word):
    x = torch.relu(weights["table"][ids] @ weights["hidden.weight"] + weights["hidden.bias"])
    if not each_word:
        mask = (ids != 0).double().unsqueeze(2)
        x = (x * mask).sum(1) / mask.sum(1)
    return x @ weights["fc.weight"] + weights["fc.bias"]


def trained(model, batches, each_word, optimizer, classes_weigh=None):
    """The weights in float64."""
    weights = {
        value.name: torch.from_numpy(numpy_helper.to_array(value).astype("float64"))
        for value in onnx.load(model).graph.initializer
        if value.data_type == onnx.TensorProto.FLOAT
    }
    for value in weights.values():
        value.requires_grad_(True)
    made = {
        "sgd": lambda p: torch.optim.SGD(p, lr=RATE, momentum=MOMENTUM),
        "adam": lambda p: torch.optim.Adam(p, lr=RATE),
    }[optimizer](list(weights.values()))
    for _, ids, classes in batches:
        made.zero_grad()
        logits = outputs(weights, torch.from_numpy(ids), each_word)
        labels = torch.from_numpy(classes).flatten()
        torch.nn.functional.cross_entropy(
            logits.reshape(len(labels), -1), labels, weight=classes_weigh
        ).backward()
        made.step()
    return {name: value.detach().numpy() for name, value in weights.items()}


def write_normalized(path, channels, classes):
    """A model with running statistics; its constants by name."""
    weights = numpy.random.RandomState(0).standard_normal((channels, classes))
    ones, zeros = numpy.ones(channels), numpy.zeros(channels)
    values = {"scale": ones, "shift": zeros, "mean": zeros, "variance": ones, "weight": weights}
    values = {name: value.astype("float32") for name, value in values.items()}
    norm = ["x", "scale", "shift", "mean", "variance"], ["y", "mean.new", "variance.new"]
    nodes = [
        helper.make_node("BatchNormalization", *norm, training_mode=1, momentum=0.9),
        helper.make_node("Relu", ["y"], ["z"]),
        helper.make_node("ReduceMean", ["z"], ["pooled"], axes=[2], keepdims=0),
        helper.make_node("MatMul", ["pooled", "weight"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "normalized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", channels, "seq"])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch", classes])],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    opset = [helper.make_opsetid("", 14)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
    return values


class LengthsTest(refusal.RefusalTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.RandomState(1)
        self.files = {
            each_word: [
                texts(random, count, least, most, each_word)
                for count, least, most in ((18, 2, 7), (11, 3, 8), (13, 4, 13), (14, 9, 29))
            ]
            for each_word in (False, True)
        }
        self.write_files()

    def write_files(self):
        for each_word, files in self.files.items():
            folder = self.data(each_word)
            folder.mkdir(exist_ok=True)
            for i, (ids, classes) in enumerate(files):
                numpy.save(folder / f"{i}-x.npy", ids)
                numpy.save(folder / f"{i}-y.npy", classes)

    def data(self, each_word):
        return self.folder / ("words" if each_word else "texts")

    def plan(self, ranks=1, each_word=False, extra=()):
        model, plan = self.folder / "model.onnx", self.folder / "model.plan"
        varied.write(model, each_word)
        cluster = self.write("cluster.yaml", harness.CLUSTER.format(ranks=ranks))
        words = ("compile", model, "--cluster", cluster, "--batch", BATCH, "-o", plan)
        harness.syncline(*words, "--dim", "seq=8,16,32", "--classes-in", "-1", *extra)
        return plan

    def run_plan(self, plan, each_word=False, extra=()):
        """Weights after a run, and its last line of JSON."""
        saved = self.folder / "saved.onnx"
        where = ("--data", self.data(each_word), "--save", saved, "--log", "json")
        said = harness.syncline("run", plan, *where, "--lr", RATE, *extra).splitlines()
        values = onnx.load(saved).graph.initializer
        return {v.name: numpy_helper.to_array(v) for v in values}, json.loads(said[-1])

    def agrees(self, plan, ranks, each_word, optimizer, extra=(), accumulate=1, weigh=None):
        batches = global_batches(self.files[each_word], ranks * BATCH * accumulate)
        self.assertEqual({size for size, _, _ in batches}, set(SIZES))
        expected = trained(self.folder / "model.onnx", 2 * batches, each_word, optimizer, weigh)
        how = ("--momentum", MOMENTUM) if optimizer == "sgd" else ()
        found, _ = self.run_plan(plan, each_word, ("--epochs", 2, *how, *extra))
        for name, value in expected.items():
            error = numpy.abs(found[name] - value).max() / numpy.abs(value).max()
            self.assertLess(error, 2e-5 if optimizer == "sgd" else 2e-3, name)

    def test_weights_are_those_of_equal_batches(self):
        for ranks, each_word, optimizer, options in (
            (1, False, "sgd", ()),
            (1, True, "adam", ()),
            (2, True, "sgd", ()),
            (2, False, "sgd", ("--scheme", "*=reduce-scatter")),
            (2, True, "sgd", ("--scheme", "hidden*=factors")),
        ):
            with self.subTest(ranks=ranks, each_word=each_word, options=options):
                options += ("--optimizer", optimizer)
                plan = self.plan(ranks, each_word, options)
                self.agrees(plan, ranks, each_word, optimizer)

    def test_labels_that_pad_do_not_count(self):
        """Files without labels that are ignored, of two widths in one step."""
        self.files[True] = [
            (ids[:, :width].clip(min=1), numpy.abs(classes[:, :width]) % varied.CLASSES)
            for (ids, classes), width in zip(self.files[True], (2, 8, 13, 29))
        ]
        shutil.rmtree(self.data(True))
        self.write_files()
        plan = self.plan(2, True)
        self.agrees(plan, 2, True, "sgd")

    def test_weights_of_classes(self):
        weights = torch.tensor([0.5, 2, 0, 3.25], dtype=torch.float64)
        numpy.save(self.folder / "w.npy", weights.numpy())
        plan = self.plan(2, True, ("--loss", f"cross-entropy:weights={self.folder / 'w.npy'}"))
        self.agrees(plan, 2, True, "sgd", weigh=weights)

    def test_micro_batches(self):
        plan = self.plan(1, True, ("--accumulate", 2))
        self.agrees(plan, 1, True, "sgd", accumulate=2)

    def test_running_statistics_are_those_of_all_lengths(self):
        model, plan, data = (self.folder / name for name in ("n.onnx", "n.plan", "series"))
        weight = torch.tensor(write_normalized(model, 5, 3)["weight"]).double().requires_grad_()
        words = ("compile", model, "--cluster", self.cluster, "--nodes", 1, "--batch", BATCH)
        harness.syncline(*words, "--dim", "seq=8,16,32", "-o", plan)
        norm = torch.nn.BatchNorm1d(5).double()
        rule = torch.optim.SGD([*norm.parameters(), weight], lr=RATE)
        random = numpy.random.RandomState(1)
        data.mkdir()
        for i, width in enumerate((7, 30, 8, 16, 15, 8, 20)):
            x = random.standard_normal((BATCH, 5, width)).astype("float32")
            y = random.randint(0, 3, BATCH)
            numpy.save(data / f"{i}-x.npy", x)
            numpy.save(data / f"{i}-y.npy", y)
            size = next(size for size in SIZES if size >= width)
            x = torch.tensor(numpy.pad(x, ((0, 0), (0, 0), (0, size - width)))).double()
            outputs = torch.relu(norm(x)).mean(2) @ weight
            loss = torch.nn.functional.cross_entropy(outputs, torch.tensor(y))
            rule.zero_grad()
            loss.backward()
            rule.step()
        saved = self.folder / "trained.onnx"
        harness.syncline("run", plan, "--data", data, "--lr", RATE, "--save", saved)
        kept = {t.name: numpy_helper.to_array(t) for t in onnx.load(saved).graph.initializer}
        for name, value in (
            ("mean", norm.running_mean),
            ("variance", norm.running_var),
            ("scale", norm.weight),
            ("weight", weight),
        ):
            wanted = value.detach().numpy()
            self.assertLess(numpy.abs(kept[name] - wanted).max() / numpy.abs(wanted).max(), 5e-6)

    def test_shuffled_runs_resume_with_the_same_bits(self):
        plan, saved = self.plan(2, False), self.folder / "saved"
        how = ("--shuffle", "--momentum", MOMENTUM)
        whole, _ = self.run_plan(plan, False, (*how, "--steps", 11))
        kept = ("--checkpoint", saved, "--resume")
        self.run_plan(plan, False, (*how, "--steps", 4, *kept))
        resumed, _ = self.run_plan(plan, False, (*how, "--steps", 11, *kept))
        for name, value in whole.items():
            numpy.testing.assert_array_equal(resumed[name], value, name)
        plain, _ = self.run_plan(plan, False, ("--momentum", MOMENTUM, "--steps", 11))
        self.assertFalse(numpy.array_equal(plain["table"], whole["table"]))

    def test_evaluates_samples_of_all_lengths(self):
        plan = self.plan(1, True)
        found, said = self.run_plan(plan, True, ("--steps", 3, "--eval", self.data(True)))
        weights = {name: torch.from_numpy(value.astype("float64")) for name, value in found.items()}
        losses = 0, 0
        for ids, classes in self.files[True]:
            logits = outputs(weights, torch.from_numpy(ids), True).reshape(-1, varied.CLASSES)
            labels = torch.from_numpy(classes).flatten()
            sums = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
            losses = losses[0] + sums.item(), losses[1] + int((labels != IGNORED).sum())
        self.assertAlmostEqual(said["test_loss"], losses[0] / losses[1], delta=1e-5)

    def test_synthetic_steps_take_turns(self):
        said = harness.syncline("run", self.plan(2), "--steps", 4, "--log", "json")
        self.assertTrue(numpy.isfinite(json.loads(said.splitlines()[-2])["loss"]))

    def test_a_loss_that_is_not_finite_is_found(self):
        plan = self.plan(1, False)
        words = ("run", plan, "--data", self.data(False), "--lr", "1e30", "--epochs", 2)
        self.refuses(words, "not finite; rank 0: operation", "makes it of finite values")

    def test_bad_data(self):
        plan = self.plan(1, False)
        wide = numpy.ones((BATCH, 33), dtype="int64")

        def at(name, x, y):
            folder = self.folder / name
            folder.mkdir()
            numpy.save(folder / "a-x.npy", x)
            numpy.save(folder / "a-y.npy", y)
            return folder

        classes = numpy.zeros(BATCH, dtype="int64")
        for where, said in (
            (at("wide", wide, classes), "of shape [32] or of fewer places, got [33]"),
            (at("flat", wide[:, 0], classes), "got []"),
            (at("few", wide[:2, :8], classes[:2]), "fewer than one global batch"),
        ):
            with self.subTest(where=where.name):
                self.refuses(("run", plan, "--data", where), said)
        csv = self.write("x.csv", "1,2,3\n" * BATCH)
        numpy.save(self.folder / "y.npy", classes)
        where = f"{csv},{self.folder / 'y.npy'}"
        self.refuses(("run", plan, "--data", where), "expected a .npy file")
        self.refuses(("run", plan, "--trace", self.folder / "t.json"), "such as '", "seq-8'")

    def test_labels_as_wide_as_their_words(self):
        plan, folder = self.plan(1, True), self.folder / "narrow"
        folder.mkdir()
        numpy.save(folder / "a-x.npy", numpy.ones((BATCH, 8), dtype="int64"))
        numpy.save(folder / "a-y.npy", numpy.ones((BATCH, 7), dtype="int64"))
        self.refuses(("run", plan, "--data", folder), "files of the same samples have 8")

    def test_plans_that_do_not_belong_together(self):
        plan = self.plan(1)
        other = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "other.plan"
        words = ("compile", self.folder / "model.onnx", "--cluster", self.cluster, "-o", other)
        harness.syncline(*words, "--batch", 2, "--dim", "seq=8")
        listed = plan / "lengths.json"
        document = json.loads(listed.read_text())
        shutil.rmtree(plan / "seq-8")
        self.refuses(("run", plan), "seq-8': cannot open")
        shutil.copytree(other, plan / "seq-8")
        self.refuses(("run", plan), "differ in ranks, batch, loss")
        outside = {**document["plans"][0], "folder": "../x"}
        for change, said in (
            ({"schema": 2}, "expected schema 1"),
            ({"plans": document["plans"][:1]}, "expected 2 to 16 plans"),
            ({"plans": [outside, *document["plans"][1:]]}, "'../x' is no folder"),
        ):
            listed.write_text(json.dumps({**document, **change}))
            self.refuses(("run", plan), said)
        listed.unlink()
        os.mkfifo(listed)
        self.refuses(("run", plan), "expected a regular file")
        self.refuses(("verify", plan), "expected a regular file")
        listed.unlink()
        listed.write_text("[" * 100000)
        self.refuses(("run", plan), "expected at most 32 levels")


if __name__ == "__main__":
    unittest.main()
