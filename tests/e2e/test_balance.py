"""Ranks of unequal batches train as one rank with all samples, and as PyTorch does in float64."""

import json
import os
import shutil
import unittest

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import compare
import harness
import refusal
import test_lengths
import varied

MEAN, RANKS, STEPS = 4, 3, 20
ALL = MEAN * RANKS
SAME = 1e-5
RATE = 0.05
UNEQUAL = (
    harness.CLUSTER
    + """\
overrides:
  - nodes: [1]
    device: {{slowdown: 2.5}}
"""
)
LOSSES = {
    "cross-entropy": torch.nn.functional.cross_entropy,
    "mse": torch.nn.functional.mse_loss,
    "bce-with-logits": torch.nn.functional.binary_cross_entropy_with_logits,
}


def write_net(path, inputs=6, hidden=16, outputs=5):
    random = numpy.random.RandomState(0)
    shapes = {"a": (inputs, hidden), "b": (hidden,), "c": (hidden, outputs), "d": (outputs,)}
    values = {name: random.standard_normal(shape) / 2 for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Gemm", ["x", "a", "b"], ["h"]),
        helper.make_node("Tanh", ["h"], ["t"]),
        helper.make_node("Gemm", ["t", "c", "d"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(v.astype("float32"), name) for name, v in values.items()],
    )
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
    return path


def truth(model, data, loss, optimizer, samples=ALL):
    """The first step's gradients, all steps' losses and the trained values, in float64."""
    read = onnx.load(model).graph.initializer
    values = {v.name: torch.tensor(numpy_helper.to_array(v)).double() for v in read}
    for value in values.values():
        value.requires_grad_()
    rule = {
        "sgd": lambda p: torch.optim.SGD(p, lr=RATE, momentum=0.9),
        "adam": lambda p: torch.optim.Adam(p, lr=RATE),
    }[optimizer](list(values.values()))
    x, y = (torch.tensor(part) for part in data)
    gradients, losses = None, []
    for begin in range(0, len(x), samples):
        t = torch.tanh(x[begin : begin + samples].double() @ values["a"] + values["b"])
        target = y[begin : begin + samples]
        target = target if target.dtype == torch.int64 else target.double()
        found = LOSSES[loss](t @ values["c"] + values["d"], target)
        rule.zero_grad()
        found.backward()
        gradients = gradients or {name: v.grad.numpy().copy() for name, v in values.items()}
        rule.step()
        losses.append(found.item())
    return gradients, losses, {name: v.detach().numpy() for name, v in values.items()}


class BalanceTest(refusal.RefusalTest):
    def setUp(self):
        super().setUp()
        self.unequal = self.write("unequal.yaml", UNEQUAL.format(ranks=RANKS))
        self.net = write_net(self.folder / "net.onnx")

    def compile(self, model=None, extra=(), cluster=None, name="net.plan"):
        plan = self.folder / name
        words = ("compile", model or self.net, "--cluster", cluster or self.unequal)
        done = self.command(*words, "--batch", MEAN, "--balance", "-o", plan, *extra)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return plan

    def alone(self, extra=(), batch=ALL):
        """One rank with all samples."""
        plan = self.folder / "one.plan"
        words = ("compile", self.net, "--cluster", self.cluster, "--nodes", 1, "--batch", batch)
        harness.syncline(*words, "-o", plan, "--overlap", "backward", *extra)
        return plan

    def batches(self, plan):
        document = json.loads((plan / "batches.json").read_text())
        return [group["batch"] for group in document["ranks"] for _ in range(group["count"])]

    def data(self, loss, steps=STEPS):
        random = numpy.random.RandomState(3)
        x = random.standard_normal((steps * ALL, 6)).astype("float32")
        if loss == "cross-entropy":
            return x, random.randint(0, 5, len(x))
        return x, random.rand(len(x), 5).astype("float32")

    def run_plan(self, plan, data, extra=()):
        """Losses, what was dumped of the first step, and the trained values."""
        where, saved = harness.save(self.folder, *data), self.folder / "saved.onnx"
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        words = ("run", plan, "--data", where, "--lr", RATE, "--log", "json", "--save", saved)
        said = harness.syncline(*words, "--dump", out, "--dump-steps", 0, *extra).splitlines()
        values = {v.name: numpy_helper.to_array(v) for v in onnx.load(saved).graph.initializer}
        steps = [json.loads(line) for line in said if '"step":' in line and '"test"' not in line]
        return [step["loss"] for step in steps], harness.Dump(out), values

    def test_trains_as_one_rank_with_all_samples(self):
        for loss, optimizer, options in (
            ("cross-entropy", "sgd", ()),
            ("cross-entropy", "adam", ("--scheme", "*=reduce-scatter")),
            ("mse", "sgd", ("--scheme", "*=ring")),
            ("bce-with-logits", "adam", ("--clip-norm", 1000)),
            ("bce-with-logits", "sgd", ("--scheme", "*=parameter-server")),
        ):
            with self.subTest(loss=loss, optimizer=optimizer, options=options):
                how = ("--loss", loss, "--optimizer", optimizer)
                plan = self.compile(extra=(*how, *options))
                self.assertEqual(sum(self.batches(plan)), ALL)
                self.assertGreater(len(set(self.batches(plan))), 1)
                self.compare(plan, loss, optimizer, how)

    def compare(self, plan, loss, optimizer, how):
        data, extra = self.data(loss), ("--momentum", 0.9) if optimizer == "sgd" else ()
        gradients, losses, last = truth(self.net, data, loss, optimizer)
        one = self.run_plan(self.alone(how), data, extra)
        found = self.run_plan(plan, data, extra)
        limit = SAME if optimizer == "sgd" else 1e-4  # Adam divides small gradients by themselves
        for given, (expected_losses, expected) in (
            (gradients, (losses, last)),
            (one[1].gradients(0), (one[0], one[2])),
        ):
            worst = compare.gradients(found[1].gradients(0), {name: given[name] for name in last})
            self.assertLessEqual(worst.error, SAME, worst)
            self.assertEqual(len(found[0]), STEPS)
            numpy.testing.assert_allclose(found[0], expected_losses, rtol=limit)
            self.assertLessEqual(compare.parameters(found[2], expected).error, limit)

    def test_shuffled_steps_have_the_samples_of_one_rank(self):
        data, extra = self.data("cross-entropy", 5), ("--shuffle", "--epochs", 3)
        one = self.run_plan(self.alone(), data, extra)
        found = self.run_plan(self.compile(), data, extra)
        numpy.testing.assert_allclose(found[0], one[0], rtol=SAME)
        self.assertLessEqual(compare.parameters(found[2], one[2]).error, SAME)

    def test_micro_batches(self):
        data = self.data("mse", 8)
        plan = self.compile(extra=("--loss", "mse", "--accumulate", 2))
        found = self.run_plan(plan, data)
        one = self.run_plan(self.alone(("--loss", "mse"), batch=2 * ALL), data)
        numpy.testing.assert_allclose(found[0], one[0], rtol=SAME)
        self.assertLessEqual(compare.parameters(found[2], one[2]).error, SAME)

    def test_labels_count_alike_on_all_ranks(self):
        """Words, of which some pad texts, with and without weights of classes."""
        model, random = self.folder / "words.onnx", numpy.random.RandomState(1)
        varied.write(model, each_word=True)
        ids, classes = test_lengths.texts(random, 5 * ALL, 1, 8, each_word=True)
        batches = [(8, ids[i : i + ALL], classes[i : i + ALL]) for i in range(0, len(ids), ALL)]
        weights = torch.tensor([0.5, 2, 0, 3.25], dtype=torch.float64)
        numpy.save(self.folder / "w.npy", weights.numpy())
        for weigh, loss in (
            (None, "cross-entropy"),
            (weights, f"cross-entropy:weights={self.folder / 'w.npy'}"),
        ):
            with self.subTest(loss=loss):
                how = ("--dim", "seq=8", "--classes-in", "-1", "--loss", loss)
                plan = self.compile(model, how)
                expected = test_lengths.trained(model, batches, True, "sgd", weigh)
                extra = ("--lr", test_lengths.RATE, "--momentum", test_lengths.MOMENTUM)
                where, saved = harness.save(self.folder, ids, classes), self.folder / "saved.onnx"
                harness.syncline("run", plan, "--data", where, "--save", saved, *extra)
                read = onnx.load(saved).graph.initializer
                found = {v.name: numpy_helper.to_array(v) for v in read}
                self.assertLessEqual(compare.parameters(found, expected).error, SAME)

    def test_resumes_with_the_same_bits_and_evaluates(self):
        data, plan = self.data("cross-entropy"), self.compile()
        extra = ("--shuffle", "--momentum", 0.9, "--eval", harness.save(self.folder, *data))
        whole = self.run_plan(plan, data, (*extra, "--steps", 11))
        kept = ("--checkpoint", self.folder / "kept", "--resume")
        self.run_plan(plan, data, (*extra, "--steps", 4, *kept))
        resumed = self.run_plan(plan, data, (*extra, "--steps", 11, "--eval-every", 3, *kept))
        self.assertEqual(resumed[0], whole[0][4:])
        for name, value in whole[2].items():
            numpy.testing.assert_array_equal(resumed[2][name], value, name)

    def test_statistics_are_those_of_each_ranks_samples(self):
        """Rank 0, whose running statistics are saved, has the smaller batch; tests between steps
        compute by the other one's step and leave no trace."""
        slow = UNEQUAL.replace("nodes: [1]", "nodes: [0]").format(ranks=2)
        model, cluster = self.folder / "normalized.onnx", self.write("slow.yaml", slow)
        weight = test_lengths.write_normalized(model, 5, 3)["weight"]
        plan = self.compile(model, ("--dim", "seq=64"), cluster)
        batches = self.batches(plan)
        self.assertLess(batches[0], batches[1])
        random = numpy.random.RandomState(1)
        x = random.standard_normal((6 * sum(batches), 5, 64)).astype("float32")
        y = random.randint(0, 3, len(x))
        weight = torch.tensor(weight).double().requires_grad_()
        norms = [torch.nn.BatchNorm1d(5).double() for _ in batches]
        norms[1].weight, norms[1].bias = norms[0].weight, norms[0].bias
        rule = torch.optim.SGD([*norms[0].parameters(), weight], lr=RATE)
        for step in range(6):
            begin, outputs = step * sum(batches), []
            for norm, batch in zip(norms, batches):
                part = torch.tensor(x[begin + sum(map(len, outputs)) :][:batch]).double()
                outputs.append(torch.relu(norm(part)).mean(2) @ weight)
            labels = torch.tensor(y[begin : begin + sum(batches)])
            rule.zero_grad()
            torch.nn.functional.cross_entropy(torch.cat(outputs), labels).backward()
            rule.step()
        where = harness.save(self.folder, x, y)
        for extra in ((), ("--eval", where, "--eval-every", 2)):
            _, _, found = self.run_plan(plan, (x, y), extra)
            expected = {
                "mean": norms[0].running_mean,
                "variance": norms[0].running_var,
                "scale": norms[0].weight,
                "weight": weight,
            }
            expected = {name: value.detach().numpy() for name, value in expected.items()}
            worst = compare.parameters(found, expected)
            self.assertLessEqual(worst.error, SAME, worst)

    def test_commands_know_the_ranks(self):
        plan, trace = self.compile(), self.folder / "trace.json"
        self.assertIn("rank 1 takes 1 sample,", self.said)
        sources = ("--model", self.net, "--cluster", self.unequal)
        self.assertEqual(harness.syncline("verify", plan, *sources).count("plan valid"), 3)
        shown = harness.syncline("inspect", plan)
        for text in ("batch 12 for all ranks", "rank 1      1       2.5", "with 4 each"):
            self.assertIn(text, shown)
        document = json.loads((plan / "plan.json").read_text())
        step = document["predicted"]["step"]
        simulated = json.loads(harness.syncline("simulate", plan, "--json"))
        self.assertAlmostEqual(simulated["samples_per_second"], ALL / step, delta=1e-3 * ALL / step)
        said = harness.syncline("run", plan, "--steps", 5, "--log", "json", "--trace", trace)
        last = json.loads(said.splitlines()[-1])
        product = last["samples_per_second"] * last["median_step_seconds"]
        self.assertAlmostEqual(product, ALL, delta=0.01)
        harness.syncline("inspect", plan, "--measured", trace)

    def test_predicts_nearly_the_speed_of_all_ranks(self):
        """Two ranks, one half as fast, on a fast network: 1.5 times the faster's speed is ideal."""
        fast = UNEQUAL.replace("10 Gb/s", "1000 Gb/s").replace("20 us", "0 us")
        cluster = self.write("two.yaml", fast.replace("2.5", "2").format(ranks=2))
        model = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        words = ("--batch", 96, "-o")
        plan, one = self.folder / "two.plan", self.folder / "one.plan"
        common = ("compile", model, "--cluster")
        harness.syncline(*common, cluster, "--balance", *words, plan)
        harness.syncline(*common, self.cluster, "--nodes", 1, *words, one)
        both, single = (
            json.loads((p / "plan.json").read_text())["predicted"]["step"] for p in (plan, one)
        )
        ideal = 1.5 * 96 / single
        self.assertLess(abs(2 * 96 / both / ideal - 1), 0.1)

    def test_nothing_to_balance(self):
        plan = self.compile(cluster=self.cluster)
        self.assertIn("nothing to balance", self.said)
        self.assertFalse((plan / "batches.json").exists())
        plain = self.folder / "plain.plan"
        words = ("compile", self.net, "--cluster", self.cluster, "--batch", MEAN, "-o", plain)
        harness.syncline(*words)
        texts = [(p / "plan.json").read_text() for p in (plan, plain)]
        self.assertEqual(*texts)

    def test_refusals(self):
        words = ("compile", self.net, "--cluster", self.unequal, "--balance", "-o")
        self.refuses((*words, self.folder / "p"), "expected the mean samples per rank", code=2)
        words += (self.folder / "p", "--batch", MEAN)
        for extra, said, code in (
            (("--dim", "x=1,2"), "'--balance' and '--dim x=..' exclude each other", 2),
            (("--overlap", "step"), "'--balance' and '--overlap step' exclude", 2),
            (("--consistency", "local:4"), "'--balance' and '--consistency local:4' exclude", 2),
            (("--backend", "cuda"), "'--balance' and '--backend cuda' exclude", 2),
            (("--profile", "p.json"), "'--balance' and '--profile' exclude", 2),
            (("--scheme", "a=factors"), "of which ranks of unequal batches would have", 1),
        ):
            with self.subTest(extra=extra):
                self.refuses((*words, *extra), said, code=code)
        slow = "".join(
            f"  - {{nodes: [{i}], device: {{slowdown: {1 + i / 4}}}}}\n" for i in range(1, 24)
        )
        many = self.write("many.yaml", harness.CLUSTER.format(ranks=24) + "overrides:\n" + slow)
        words = ("compile", self.net, "--cluster", many, "--balance", "--batch", 400)
        self.refuses((*words, "-o", self.folder / "p"), "different batches, expected at most 16")

    def test_lists_that_are_not_the_plans(self):
        plan = self.compile()
        listed = plan / "batches.json"
        document = json.loads(listed.read_text())
        ranks = document["ranks"]
        for change, run, verify in (
            ({"schema": 2}, "expected schema 1", "not the list of plans"),
            ({"ranks": ranks[:2]}, "expected 3 ranks, got 2", "expected the ranks of"),
            ({"ranks": [*ranks, ranks[0]]}, "expected 3 ranks, got more", "expected the ranks of"),
            ({"ranks": [{**ranks[0], "count": 3, "batch": 3}]}, "no plan has the batch 3", "got 9"),
            ({"ranks": [ranks[0], ranks[0], ranks[0]]}, None, "expected batches of 12 samples"),
            ({"ranks": [ranks[2], ranks[1], ranks[0]]}, None, "its slowdowns are not those"),
            ({"ranks": 1}, "is of the wrong type", "not the list of plans"),
        ):
            with self.subTest(change=change):
                listed.write_text(json.dumps({**document, **change}))
                if run:
                    self.refuses(("run", plan, "--steps", 1), run)
                self.refuses(("verify", plan), verify)
        slower = [{**group, "slowdown": 1} for group in ranks]
        listed.write_text(json.dumps({**document, "ranks": slower}))
        self.refuses(("verify", plan), "other batches of its ranks have a shorter step")
        listed.write_text(json.dumps(document))
        for extra in (("--cluster", self.unequal), ("--sweep", "latency=1us..1ms")):
            self.refuses(("simulate", plan, *extra), "expected a plan without '--balance'")
        alike = "counts all ranks alike: expected a plan without '--balance'"
        self.refuses(("inspect", plan, "--advise", "ddp"), alike)
        listed.unlink()
        os.mkfifo(listed)
        self.refuses(("run", plan), "expected a regular file")
        self.refuses(("verify", plan), "expected a regular file")


if __name__ == "__main__":
    unittest.main()
