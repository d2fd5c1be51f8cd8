"""Tied weights whose gradient travels in two parts: the logits' part early and dense, the rows of
the embedding late. All ranks train the same weights as where it travels whole."""

import pathlib
import re
import tempfile
import unittest

import numpy
import torch

import compare
import export
import harness
from depth import repeat
from gradients import spread
from test_transformers import Language

EACH = 4  # samples per rank
SAME = 1e-6  # the same sums in another order
SLOW = """\
name: slow
ranks: {ranks}
device: {{compute: 0.1 GFLOP/s, memory: 10 GB/s}}
network: {{bandwidth: 100 Mb/s, latency: 50 us}}
collectives: {{all-reduce: {{formula: ring}}}}
"""
SLOW_MESSAGES = SLOW.replace("100 Mb/s", "100 Gb/s").replace("50 us", "5 ms")
# Its part for the keys changes no softmax, so that its gradient is rounding alone, of which AdamW
# makes steps of the full rate.
NOISE = "attention.attend.bias"
TABLE, ROWS = "tokens.weight", "tokens.weight:rows"


class Tied(Language):
    words = 997


def tokens(samples, seed=6):
    """Ids of which some stand several times in a text, and in several ranks' texts."""
    random = numpy.random.RandomState(seed)
    ids = random.randint(0, Tied.words, (samples, Tied.length + 1))
    ids[:, 2] = ids[:, 3] = 7
    return ids[:, :-1].copy(), ids[:, 1:].copy()


class TiedTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(2)
        model = Tied()
        spread(model)
        self.path = self.folder / "tied.onnx"
        shape = torch.zeros(2, Tied.length, dtype=torch.int64)
        export.write(model, shape, self.path, 17)

    def plan(self, ranks, label, *extra, cluster=harness.RING, batch=EACH):
        return harness.compile_plan(
            self.path, self.folder, ranks, batch, label=label, cluster=cluster, extra=extra
        )

    def split(self, ranks, *extra, label="-split", **how):
        return self.plan(ranks, label, "--split-tied", "always", *extra, **how)

    def whole(self, ranks, *extra, label="-whole", **how):
        return self.plan(ranks, label, "--split-tied", "never", *extra, **how)

    def train(self, plan, ranks, rate, *run):
        """What each rank has after steps 0 and 3."""
        files = [self.folder / f"{name}.npy" for name in "xy"]
        for file, array in zip(files, tokens(ranks * EACH)):
            numpy.save(file, array)
        out = self.folder / f"{plan.stem}.dump"
        harness.syncline(
            *("run", plan, "-n", ranks, "--data", ",".join(map(str, files)), "--steps", 4),
            *("--lr", rate, "--dump", out, "--dump-steps", "0,3", *run),
        )
        return harness.dumps(out, ranks)

    def assert_same(self, whole, split):
        for step in (0, 3):
            for kind in ("gradients", "parameters"):
                one, two = (getattr(dump[0], kind)(step) for dump in (whole, split))
                self.assertEqual(one.names(), two.names())
                for name in one.names():
                    if name == NOISE:
                        continue
                    error = compare.norm(two[name] - one[name]) / compare.norm(one[name])
                    self.assertLessEqual(error, SAME, f"{kind} of step {step}: {name}")
                for dump in split[1:]:  # to the last bit
                    other = getattr(dump, kind)(step)
                    for name in two.names():
                        numpy.testing.assert_array_equal(other[name], two[name], name)

    def check(self, ranks, *extra, rate=0.1, apart=(), **how):
        """Extra words for both plans; `apart` for the one in parts."""
        whole = self.train(self.whole(ranks, *extra, **how), ranks, rate)
        split = self.train(self.split(ranks, *extra, *apart, **how), ranks, rate)
        self.assert_same(whole, split)

    def buckets(self, plan):
        """The bucket with the dense part, and the one with the rows."""
        found = harness.plan_json(plan)["buckets"]
        (dense,) = [b for b in found if TABLE in b["members"]]
        (rows,) = [b for b in found if ROWS in b["members"]]
        return dense, rows

    def test_as_the_whole_gradient(self):
        for optimizer, rate in (("sgd", 0.1), ("adamw", 0.01)):
            for ranks in repeat((1, 4), (1, 2, 4)):
                with self.subTest(optimizer=optimizer, ranks=ranks):
                    self.check(ranks, "--optimizer", optimizer, rate=rate)

    def test_whole_needs_no_table_beside_the_gradient(self):
        """The dense part is computed in the gradient's place, and the rows are added there."""
        table = f"memref<{Tied.words}x24xf32>"
        for ranks in (1, 2):
            text = (self.whole(ranks) / "plan.mlir").read_text()
            (gradient,) = re.findall(rf'(%\w+) = plan.tensor "{TABLE}" in gradients', text)
            self.assertIn(table, text)
            self.assertNotRegex(text, rf"in arena .*: {table}")
            self.assertRegex(
                text,
                rf"plan.call embeddingBackward .* ins\(%\w+, %\w+, {gradient} :"
                rf".*\) outs\({gradient} :",
            )

    def test_in_each_kind_of_plan(self):
        """Also where one message of all dense gradients comes behind the rows."""
        for label, extra, apart, cluster in (
            ("factors", (), ("--scheme", f"{TABLE}=factors"), harness.RING),
            ("servers", ("--scheme", "*=ps"), (), harness.BY_SERVERS["cluster"]),
            ("clipped", ("--clip-norm", "0.01"), (), harness.RING),
            ("channels", ("--channels", "2"), (), harness.RING),
            ("merged", (), (), SLOW_MESSAGES),
        ):
            with self.subTest(plan=label):
                self.check(2, *extra, apart=apart, cluster=cluster)

    def test_chosen_where_the_step_is_shorter(self):
        for label, cluster, parts in (("-slow", SLOW, True), ("-late", SLOW_MESSAGES, False)):
            with self.subTest(cluster=label):
                plan = self.plan(2, label, cluster=cluster)
                predicted = harness.plan_json(plan)["predicted"]
                whole = harness.plan_json(self.whole(2, label=label + "-whole", cluster=cluster))
                members = [b["members"] for b in harness.plan_json(plan)["buckets"]]
                self.assertEqual([ROWS] in members, parts)
                self.assertLessEqual(predicted["step"], whole["predicted"]["step"])
                if parts:
                    self.assertEqual(predicted["whole"], whole["predicted"]["step"])
                    harness.syncline("verify", plan, "--model", self.path)

    def test_the_dense_part_leaves_early(self):
        plan = self.split(2, cluster=SLOW, label="-early")
        dense, rows = self.buckets(plan)
        end = harness.plan_json(plan)["predicted"]["backward_end"]
        self.assertLess(dense["start"], end)
        self.assertEqual(rows["bytes"], EACH * Tied.length * (4 * 24 + 8))
        report = harness.syncline("inspect", plan)
        self.assertIn(f"the gradient of {TABLE} travels in two parts: dense in bucket", report)
        why = harness.syncline("inspect", plan, "--why", TABLE)
        self.assertIn(f"of which tells --why '{ROWS}'", why)
        why = harness.syncline("inspect", plan, "--why", ROWS)
        self.assertIn("rule of rows: 28 rows on each of 2 ranks are 56", why)
        self.assertIn(f"of that one tells --why '{TABLE}'", why)

    def test_refusals(self):
        for extra, message in (
            (("--overlap", "step"), "both parts have one update"),
            (("--consistency", "local:2"), "gradients stay on their rank"),
            (("--planner", "wfbp"), "follows a system that sends gradients whole"),
            (("--scheme", "*=reduce-scatter"), "before the gradient's rows are added"),
        ):
            with self.subTest(message=message), self.assertRaises(AssertionError) as refused:
                self.split(2, *extra, label="-refused")
            self.assertIn(message, str(refused.exception))

    def test_steps_of_several_batches_are_refused(self):
        with self.assertRaises(AssertionError) as refused:
            self.train(self.split(2), 2, 0.1, "--accumulate", 2)
        self.assertIn(
            f"'--accumulate': bucket 2 brings rows of '{TABLE}'",
            str(refused.exception),
        )


if __name__ == "__main__":
    unittest.main()
