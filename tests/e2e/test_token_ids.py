"""Language models: numbers of tokens beyond the vocabulary are refused before training, on every
rank; ignored labels and int32 ids are read; evaluation counts tokens."""

import json

import numpy
from onnx import TensorProto, helper

import harness
import models
from refusal import RefusalTest
from waiting import PATIENCE

WORDS, LENGTH, WIDTH = 11, 5, 3
BATCH = 2


def language(element=TensorProto.INT64, tied=False):
    """The logits of the next token, [batch, length, words], from nothing but the token itself. If
    tied, the table of the tokens gives the logits too."""
    random = numpy.random.RandomState(0)
    values = {
        "table": random.standard_normal((WORDS, WIDTH)).astype("f4"),
        "weight": random.standard_normal((WIDTH, WORDS)).astype("f4"),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input"], ["rows"], name="embed"),
        helper.make_node("MatMul", ["rows", "weight"], ["output"], name="head"),
    ]
    if tied:
        nodes.insert(1, helper.make_node("Transpose", ["table"], ["weight"], perm=[1, 0]))
        del values["weight"]
    return models.model(nodes, values, ("batch", LENGTH), element)


class TokenIdsTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.model = models.save(language(), self.folder / "language.onnx")
        self.plan = harness.compile_plan(self.model, self.folder, ranks=2, batch=BATCH)
        random = numpy.random.RandomState(1)
        self.ids, self.labels = random.randint(0, WORDS, (2, 8, LENGTH))

    def data(self, ids, labels=None, name="data"):
        files = [self.folder / f"{name}-{part}.npy" for part in "xy"]
        for file, values in zip(files, (ids, self.labels if labels is None else labels)):
            numpy.save(file, values)
        return ",".join(map(str, files))

    def losses(self, *words, plan=None):
        said = harness.syncline("run", plan or self.plan, "-n", 2, "--log", "json", *words)
        return [line["loss"] for line in map(json.loads, said.splitlines()) if "loss" in line]

    def test_unknown_tokens_are_refused_by_name(self):
        for value in (WORDS, -WORDS - 1):
            self.ids[3, 2] = value
            self.refuses(
                ("run", self.plan, "-n", 2, "--data", self.data(self.ids), "--steps", 1),
                *("data-x.npy", "element 17", "input 'input'", "from 0 to 10", f"got {value}"),
            )

    def test_other_ranks_do_not_hang(self):
        """Only rank 1's file has an unknown token: it says so, and rank 0 ends too."""
        good, bad = self.data(self.ids, name="good"), self.ids.copy()
        bad[0, 0] = 50
        data = [good, self.data(bad, name="bad")]
        # Longer than `ends` waits: it would meet a rank that hangs.
        words = ("--steps", 2, "--timeout", 10 * PATIENCE)
        ends = self.ends([self.started(r, 2, ("--data", data[r], *words)) for r in range(2)])
        self.assertEqual([code for code, _ in ends], [1, 1], ends)
        self.assertIn("bad-x.npy': element 0", ends[1][1])
        self.assertIn("rank 1", ends[0][1])

    def test_without_data_tokens_are_in_the_vocabulary(self):
        for loss in self.losses("--steps", 3):
            self.assertLess(loss, 10)

    def test_ids_of_int32_and_from_the_end(self):
        """The same losses, whichever way a token is named."""
        wanted = self.losses("--data", self.data(self.ids), "--steps", 3)
        narrow = models.save(language(TensorProto.INT32), self.folder / "narrow.onnx")
        plan = harness.compile_plan(narrow, self.folder, ranks=2, batch=BATCH)
        back = (self.ids - WORDS).astype("i4")
        self.assertEqual(self.losses("--data", self.data(back), "--steps", 3, plan=plan), wanted)

    def test_ignored_labels_do_not_count(self):
        labels = self.labels.copy()
        labels[:, 3:] = -100
        data = self.data(self.ids, labels)
        loss = self.losses("--data", data, "--steps", 1, "--lr", 0)[0]
        self.assertAlmostEqual(loss, self.expected(labels[:4]), 5)
        said = harness.syncline(
            *("run", self.plan, "-n", 2, "--data", data, "--steps", 1, "--lr", 0),
            *("--eval", data, "--log", "json"),
        )
        summary = json.loads(said.splitlines()[-1])
        self.assertAlmostEqual(summary["test_loss"], self.expected(labels), 5)

    def expected(self, labels):
        """The mean over the labels that count; each rank has as many."""
        values = {tensor.name: tensor for tensor in language().graph.initializer}
        table, weight = (
            numpy.frombuffer(values[name].raw_data, "f4").reshape(values[name].dims)
            for name in ("table", "weight")
        )
        logits = (table[self.ids[: len(labels)]].astype("f8") @ weight)[labels >= 0]
        chosen = logits[numpy.arange(len(logits)), labels[labels >= 0]]
        return float((numpy.log(numpy.exp(logits).sum(1)) - chosen).mean())
