"""Weights of classes: parts of a step that weigh nothing, what a plan carries, and bad files. How a
weighted loss trains stands with the other losses."""

import copy
import json
import unittest

import numpy
import torch

import compare
import export
import harness
import plans
import reference
from refusal import RefusalTest

BATCH, WIDTH, OUT = 8, 6, 4
NOTHING = 2  # the class of weight 0
WEIGHED, SMOOTHED = "cross-entropy:weights=w.npy", "cross-entropy:smoothing=0.1,weights=w.npy"


class ClassWeightsTest(RefusalTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model = torch.nn.Linear(WIDTH, OUT)
        self.random = numpy.random.RandomState(3)
        self.inputs = self.random.standard_normal((BATCH, WIDTH)).astype(numpy.float32)
        self.path = self.folder / "net.onnx"
        export.write(self.model, torch.zeros(2, WIDTH), self.path)

    def told(self, loss, weights=None, name="w.npy"):
        """The loss with a file of these weights."""
        file = self.folder / name
        numpy.save(file, reference.CLASS_WEIGHTS.numpy() if weights is None else weights)
        return loss.replace("w.npy", str(file))

    def compiled(self, loss, ranks=1, batch=BATCH, extra=()):
        return harness.compile_plan(
            self.path, self.folder, ranks, batch, loss=self.told(loss), extra=extra
        )

    def agrees(self, plan, labels, loss, ranks, extra=()):
        data = self.inputs, numpy.array(labels)
        dump = harness.train(plan, self.folder, data, ranks=ranks, extra=extra)
        truth = reference.train(self.model, data, loss=loss)
        for step in (0, 2):
            self.assertLess(abs(dump.loss(step) / truth.losses[step] - 1), 1e-6)
        for name, array in truth.parameters.items():
            found = dump.parameters(2)[name]
            self.assertLess(compare.norm(found - array), 1e-6 * compare.norm(array), name)

    def test_parts_that_weigh_nothing(self):
        """A rank or a micro-batch of labels of weight 0; smoothing adds to their losses."""
        labels = [NOTHING, NOTHING, 0, 1, -100, NOTHING, 3, 3]
        half = [NOTHING] * 4 + [0, 1, 3, -100]
        ones = [NOTHING, 3, 3, 0, 0, 0, NOTHING, NOTHING]  # 1 a sample
        for loss in (WEIGHED, SMOOTHED):
            for ranks, batch in ((2, 4), (2, 2), (1, 1)):
                plan = self.compiled(loss, ranks, batch)
                parts = ("--accumulate", BATCH // (ranks * batch))
                for wanted in (labels, half, ones):
                    with self.subTest(loss=loss, ranks=ranks, batch=batch, wanted=wanted):
                        self.agrees(plan, wanted, loss, ranks, parts)

    def test_steps_that_weigh_nothing(self):
        """PyTorch's loss is not a number. A run names the step."""
        for loss in (WEIGHED, SMOOTHED):
            for ranks in (1, 2):
                with self.subTest(loss=loss, ranks=ranks):
                    plan = self.compiled(loss, ranks, BATCH // ranks)
                    files = harness.save(self.folder, self.inputs, numpy.full(BATCH, NOTHING))
                    words = ("run", plan, "-n", ranks, "--data", files, "--steps", 1)
                    self.refuses(words, "step 0", "nan", code=1)
        done = self.command("run", plan, "-n", 2, "--eval-only", "--eval", files)
        self.assertIn("no test loss: the classes of all labels have weight 0", done.stderr)

    def test_where_weights_travel(self):
        plan = self.compiled(WEIGHED, 2, 4, ("--consistency", "local:2"))
        files = harness.save(self.folder, self.inputs, numpy.arange(BATCH) % 2)
        done = self.command("run", plan, "-n", 2, "--data", files, "--steps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("classes have weights: each rank takes the mean over its own", done.stderr)

    def test_many_classes(self):
        """More than the IR holds; two plans' bytes are the same."""
        self.model = torch.nn.Linear(WIDTH, 1500)
        export.write(self.model, torch.zeros(2, WIDTH), self.path)
        weights = self.random.uniform(0, 2, 1500).astype(numpy.float32)
        loss = self.told(WEIGHED, weights)
        plan = harness.compile_plan(self.path, self.folder, 2, 4, loss=loss)
        labels = self.random.randint(0, 1500, BATCH)
        dump = harness.train(plan, self.folder, (self.inputs, labels), ranks=2)
        truth = torch.nn.functional.cross_entropy(
            self.model.double()(torch.from_numpy(self.inputs).double()),
            torch.from_numpy(labels),
            weight=torch.from_numpy(weights).double(),
        ).item()
        self.assertLess(abs(dump.loss(0) / truth - 1), 1e-6)
        again = harness.compile_plan(self.path, self.folder, 2, 4, loss=loss, label="again")
        for file in ("plan.mlir", "weights.bin"):
            self.assertEqual((plan / file).read_bytes(), (again / file).read_bytes())

    def test_a_plan_needs_no_other_file(self):
        """It runs, evaluates and is judged without the file, in whose place stand its numbers."""
        for loss in (SMOOTHED, SMOOTHED.replace(":", ":targets=probabilities,")):
            with self.subTest(loss=loss):
                plan = self.compiled(loss)
                (self.folder / "w.npy").unlink()
                options = json.loads((plan / "plan.json").read_text())["options"]
                self.assertEqual(options["loss"], loss.replace("w.npy", "class_weights"))
                self.assertEqual(options["class_weights"], reference.CLASS_WEIGHTS.tolist())
                harness.syncline("verify", plan, "--model", self.path)
                self.assertIn("weights=class_weights", harness.syncline("inspect", plan))
                self.assertIn("step", harness.syncline("simulate", plan))
                harness.syncline("run", plan, "--steps", 2)

    def test_verify_judges_weights(self):
        plan = self.compiled(WEIGHED)
        whole = json.loads((plan / "plan.json").read_text())
        for weights, said in (
            ([0.5, 2, 0, 3], "plan.mlir"),
            ([1, 2], "'class_weights': expected 4 weights"),
            ([1, 2, 3, -1], "'class_weights': element 3: expected a weight from 0 to 3.4e38"),
            (None, "'options' are not those of 'syncline compile'"),
        ):
            document = copy.deepcopy(whole)
            document["options"]["class_weights"] = weights
            plans.rehash(plan, document)
            with self.subTest(weights=weights):
                self.refuses(["verify", plan, "--model", self.path], said)

    def test_bad_files(self):
        words = ["compile", self.path, "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        words += ["--batch", 4, "--loss"]
        good = numpy.ones(OUT)
        for weights, said in (
            (numpy.ones(3), f"expected {OUT} weights, one for each class of output 'output' of"),
            (numpy.ones(5), f"expected {OUT} weights"),
            (numpy.ones((1, OUT)), "expected weights of shape [classes], at most 1048576"),
            (numpy.float64(1), "expected weights of shape [classes]"),
            (numpy.ones(0), "expected weights of classes, one above 0, got none"),
            (0 * good, "expected weights of classes, one above 0, got 0 alone"),
            (1e-46 * good.astype("f8"), "expected weights of classes, one above 0, got 0 alone"),
            (good * [1, -1, 1, 1], "element 1: expected a weight from 0 to 3.4e38, got -1"),
            (good * [1, 1, numpy.nan, 1], "element 2: expected a weight from 0 to 3.4e38, got nan"),
            (good * [numpy.inf, 1, 1, 1], "element 0: expected a weight from 0 to 3.4e38, got inf"),
            (good * [1e39, 1, 1, 1], "element 0: expected a weight from 0 to 3.4e38, got 1e+39"),
            (numpy.ones(OUT, "int64"), "expected weights of float32 or float64, got i64"),
            (numpy.ones(OUT, "float16"), "expected weights of float32 or float64, got f16"),
            (numpy.ones(OUT, ">f8"), "element type '>f8' is not supported"),
        ):
            for loss in (WEIGHED, SMOOTHED.replace(":", ":targets=probabilities,")):
                with self.subTest(said=said, loss=loss):
                    self.refuses([*words, self.told(loss, weights)], "w.npy", said)
        for name, content, said in (
            ("none.npy", None, "cannot open"),
            ("w.txt", b"1,1,1,1", "expected a .npy or a .csv file of weights of classes"),
            ("e.npy", b"", "the file is empty"),
            ("t.npy", b"1,1,1,1", "not a .npy file"),
            ("e.csv", b"", "the file is empty"),
            ("s.csv", b"1,2\n1,2\n", "expected one line or one column of weights"),
            ("t.csv", b"1,x\n", "x"),
        ):
            with self.subTest(name=name):
                if content is not None:
                    self.write(name, content)
                file = str(self.folder / name)
                self.refuses([*words, WEIGHED.replace("w.npy", file)], name, said)
        (self.folder / "d.npy").mkdir()
        file = str(self.folder / "d.npy")
        self.refuses([*words, WEIGHED.replace("w.npy", file)], "d.npy", "not a regular file")

    def test_csv(self):
        """A line or a column."""
        plans = []
        for label, separator in (("a", ","), ("b", "\n")):
            file = self.write("w.csv", separator.join(("0.5", "2", "0", "3.25")))
            loss = WEIGHED.replace("w.npy", str(file))
            plans.append(harness.compile_plan(self.path, self.folder, loss=loss, label=label))
        for plan in plans:
            options = json.loads((plan / "plan.json").read_text())["options"]
            self.assertEqual(options["class_weights"], reference.CLASS_WEIGHTS.tolist())


if __name__ == "__main__":
    unittest.main()
