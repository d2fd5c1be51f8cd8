"""The rows of an embedding's gradient in place of the gradient: the same as the sum of the whole
table, and as near to PyTorch's in float64, however often a row is used, on one rank or on several.
"""

import json
import pathlib
import tempfile
import unittest

import numpy
import torch
from torch import nn

import compare
import export
import harness
import reference
from depth import repeat
from gradients import spread
from test_transformers import Language

EACH = 4  # samples per rank
SAME = 1e-6  # the same sums in another order
TRUE = 1e-5
SLOW = """\
name: slow
ranks: {ranks}
device: {{compute: 50 GFLOP/s, memory: 10 GB/s}}
network: {{bandwidth: 10 Mb/s, latency: 1 us}}
collectives: {{all-reduce: {{formula: ring}}}}
"""


class Words(nn.Module):
    """A classifier of short texts: the mean of their words' rows, and two linear layers."""

    words, width, length, classes = 1000, 64, 8, 10

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(self.words, self.width)
        self.inner = nn.Linear(self.width, 24)
        self.head = nn.Linear(24, self.classes)

    def forward(self, ids):
        return self.head(torch.relu(self.inner(self.table(ids).mean(1))))


class Untied(Language):
    """A GPT with one table of many rows for its tokens and another one for the logits."""

    words = 997

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(24, self.words, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(self.length))
        x = x + self.attention(self.norms[0](x))
        x = x + self.inner(self.norms[1](x))
        return self.head(self.norms[2](x)).transpose(1, 2)


def texts(samples, seed=5):
    """Ids of which some stand many times in a text, in a rank's texts and in all ranks' texts."""
    random = numpy.random.RandomState(seed)
    ids = random.randint(0, Words.words, (samples, Words.length))
    ids[:, 0] = 3
    ids[:, 1:4] = ids[:, 4:5]
    ids[::2, 5] = Words.words - 1
    return ids, random.randint(0, Words.classes, samples)


def tokens(samples, seed=6):
    random = numpy.random.RandomState(seed)
    ids = random.randint(0, Untied.words, (samples, Untied.length + 1))
    ids[:, 2] = ids[:, 3] = 7
    return ids[:, :-1].copy(), ids[:, 1:].copy()


MODELS = {"words": (Words, texts, "table.weight"), "gpt": (Untied, tokens, "tokens.weight")}


class SparseTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def export(self, name, samples):
        torch.manual_seed(2)
        make, draw, table = MODELS[name]
        model = make()
        spread(model)
        data = draw(samples)
        path = self.folder / f"{name}.onnx"
        export.write(model, torch.from_numpy(data[0][:2]), path, 17)
        return model, path, data, table

    def plan(self, path, ranks, label="", batch=EACH, **how):
        return harness.compile_plan(path, self.folder, ranks, batch, label=label, **how)

    def bucket(self, plan, table):
        (found,) = [b for b in harness.plan_json(plan)["buckets"] if table in b["members"]]
        return found

    def check(self, name, ranks):
        model, path, data, table = self.export(name, ranks * EACH)
        ring = self.plan(path, ranks, cluster=harness.RING, extra=["--scheme", "*=ring"])
        rows = self.plan(path, ranks, label="-rows", extra=["--scheme", f"{table}=sparse"])
        bucket = self.bucket(rows, table)
        self.assertEqual(
            (bucket["scheme"], bucket["rows"]), ("sparse", EACH * data[0].shape[1])
        )
        dumps = [
            harness.train(plan, self.folder, data, ranks=ranks, settings={"lr": 0.1})
            for plan in (ring, rows)
        ]
        truth = reference.train(model, data, settings={"lr": 0.1})
        dense, sparse = (dump.gradients(0) for dump in dumps)
        own = compare.norm(sparse[table] - dense[table]) / compare.norm(dense[table])
        exact = compare.gradients(sparse, truth.gradients)
        after = compare.parameters(dumps[1].parameters(2), truth.parameters)
        print(f"\n  {name}, {ranks} ranks: as the ring {own:.1e}, gradients {exact}, then {after}")
        self.assertLessEqual(own, SAME)
        self.assertLessEqual(exact.error, TRUE)
        self.assertLessEqual(after.error, TRUE)

    def test_as_the_whole_table(self):
        for name in MODELS:
            for ranks in repeat((4,), (2, 4)):
                with self.subTest(model=name, ranks=ranks):
                    self.check(name, ranks)

    def test_update_before_the_next_forward_pass(self):
        _, path, data, table = self.export("words", 4 * EACH)
        forced = ["--scheme", f"{table}=sparse"]
        usual = self.plan(path, 4, label="-usual", extra=forced)
        ahead = self.plan(path, 4, label="-ahead", extra=["--overlap", "step", *forced])
        first, second = (
            harness.train(plan, self.folder, data, ranks=4, settings={"lr": 0.1}).parameters(2)
            for plan in (usual, ahead)
        )
        for name in first.names():
            numpy.testing.assert_array_equal(first[name], second[name], name)

    def test_several_micro_batches_a_step(self):
        _, path, data, table = self.export("words", 2 * EACH)
        whole = self.plan(path, 1, batch=2 * EACH)
        parts = self.plan(path, 2, batch=2, extra=["--scheme", f"{table}=sparse"])
        truth = harness.train(whole, self.folder, data).parameters(2)
        dump = harness.train(parts, self.folder, data, ranks=2, extra=["--accumulate", 2])
        names = {name: truth[name] for name in truth.names()}
        self.assertLessEqual(compare.parameters(dump.parameters(2), names).error, TRUE)

    def test_chosen_while_rows_are_fewer_bytes(self):
        """K·P = 2V · 4d / (4d + 8) is 1939 rows of 256 bytes: 60 texts of 8 words on 4 ranks."""
        _, path, _, table = self.export("words", EACH)
        for batch, scheme in ((56, "sparse"), (66, "ring")):
            with self.subTest(batch=batch):
                plan = self.plan(path, 4, batch=batch, cluster=SLOW)
                by_rows = self.bucket(plan, table)["scheme"] == "sparse"
                self.assertEqual(by_rows, scheme == "sparse")
                why = harness.syncline("inspect", plan, "--why", table)
                self.assertIn(
                    f"rule of rows: {8 * batch} rows on each of 4 ranks are {32 * batch}; up to"
                    " 1939, twice the table's 1000 less what their numbers take, sparse moves fewer"
                    f" bytes than a ring: {scheme}, as chosen\n",
                    why,
                )

    def test_moves_the_predicted_bytes(self):
        """Rows travel in float32 beside their numbers, whatever the other gradients do."""
        _, path, data, table = self.export("words", 4 * EACH)
        files = [self.folder / f"{name}.npy" for name in "xy"]
        for file, array in zip(files, data):
            numpy.save(file, array)
        for wire in ("fp32", "bf16"):
            with self.subTest(wire=wire):
                how = ["--scheme", f"{table}=sparse", "--wire", wire]
                plan = self.plan(path, 4, label="-" + wire, extra=how)
                words = ["--data", ",".join(map(str, files)), "--steps", 3, "--log", "json"]
                log = harness.syncline("run", plan, "-n", 4, *words)
                moved = json.loads(log.splitlines()[-1])
                both = moved["median_bytes_sent"] + moved["median_bytes_received"]
                self.assertAlmostEqual(both, moved["predicted_traffic_bytes"], delta=0.05 * both)

    def test_only_for_embeddings(self):
        _, path, _, _ = self.export("words", EACH)
        with self.assertRaises(AssertionError) as refused:
            self.plan(path, 2, label="-refused", extra=["--scheme", "head.weight=sparse"])
        self.assertIn(
            "layer 'head.weight' cannot travel by 'sparse': its gradient is not the sums of one"
            " embedding's rows alone",
            str(refused.exception),
        )

    def test_a_tied_table_goes_whole(self):
        torch.manual_seed(2)
        path = self.folder / "tied.onnx"
        export.write(Language(), torch.zeros(2, Language.length, dtype=torch.int64), path, 17)
        with self.assertRaises(AssertionError) as refused:
            self.plan(path, 2, extra=["--scheme", "tokens.weight=sparse"])
        self.assertIn("is not the sums of one embedding's rows alone", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
