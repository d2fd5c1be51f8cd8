"""What `verify --model` compares: plans that keep every rule, and train something else."""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import numpy
import onnx
from onnx import helper

import harness
import models
import plans
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
SQUARES = "memref<8x8xf32>, memref<8x8xf32>"


def dropped_out():
    """Two layers of equal shape with dropout between, and a head."""
    random = numpy.random.RandomState(0)
    nodes = [
        helper.make_node("MatMul", ["input", "w1"], ["a"]),
        helper.make_node("Dropout", ["a", "ratio", "train"], ["b"]),
        helper.make_node("MatMul", ["b", "w2"], ["c"]),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("MatMul", ["d", "w3"], ["output"]),
    ]
    weights = {"w1": (8, 8), "w2": (8, 8), "w3": (8, 5)}
    tensors = {name: random.standard_normal(shape).astype("f4") for name, shape in weights.items()}
    tensors |= {"ratio": numpy.float32(0.25), "train": numpy.bool_(True)}
    return models.model(nodes, tensors, ("batch", 8))


def replaced(old, new, count=1):
    def change(text):
        found = re.search(old, text)
        assert found, old
        return re.sub(old, new, text, count=count)

    return change


class VerifyModelTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.dropout = models.save(dropped_out(), folder / "dropout.onnx")
        cls.plans = {
            DIGITS: harness.compile_plan(DIGITS, folder, ranks=2, batch=8),
            cls.dropout: harness.compile_plan(cls.dropout, folder, ranks=2, batch=8),
        }

    def changed(self, model, text=None):
        """A copy of the model's plan, with the text of its program put in place."""
        plan = self.folder / "changed.plan"
        shutil.rmtree(plan, ignore_errors=True)
        shutil.copytree(self.plans[model], plan)
        if text:
            plans.reseal(plan, text((plan / "plan.mlir").read_text()))
        return plan

    def verify(self, plan, *words):
        done = self.command("verify", plan, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused_with_model(self, plan, model, *names):
        """The rules alone let the plan pass, and say that its model was not compared."""
        self.assertIn(
            "not compared: program, values and model.onnx with the model", self.verify(plan)
        )
        self.refuses(["verify", plan, "--model", model], *names)
        said = self.command("verify", plan, "--model", model).stderr
        if quoted := re.search("expected '(.*)', got '(.*)'", said):
            self.assertNotEqual(*quoted.groups())

    def test_says_what_it_compared(self):
        plan = self.plans[DIGITS]
        cluster = self.cluster
        self.assertTrue(
            self.verify(plan, "--model", DIGITS, "--cluster", cluster).endswith(
                "bound proved; program, values and model.onnx as the model gives them, the cluster "
                "as its file says; not compared: options of training, step.so with its source\n"
            )
        )
        self.assertTrue(
            self.verify(plan).endswith(
                "bound proved; not compared: program, values and model.onnx with the model, the "
                "cluster with its file, step.so with its source\n"
            )
        )
        named = shutil.copy(DIGITS, self.folder / "renamed.onnx")
        self.verify(plan, "--model", named)

    def test_what_is_not_compared(self):
        """A plan by other options of training is a good one, and step.so is trusted."""
        said = "with its file, options of training, step.so with its source\n"
        extra = ("--optimizer", "adam", "--clip-norm", "1")
        plan = harness.compile_plan(DIGITS, self.folder, ranks=2, batch=8, extra=extra)
        text = replaced(r"clip_norm = 1\.0*e", "clip_norm = 2.0e")((plan / "plan.mlir").read_text())
        plans.reseal(plan, replaced('"adam"', '"adamw"')(text))
        self.assertTrue(self.verify(plan, "--model", DIGITS).endswith(said))
        shown = harness.syncline("inspect", plan)
        self.assertIn("optimizer adamw", shown)
        self.assertIn("clipped to a norm of 2.0", shown)
        shutil.copy(self.plans[self.dropout] / "step.so", plan / "step.so")
        plans.rehash(plan)
        self.assertTrue(self.verify(plan, "--model", DIGITS).endswith(said))

    def test_programs(self):
        """Each passes the rules: they cannot know what the model computes."""
        for model, what, change in (
            (DIGITS, "a derivative's comparison", replaced("cmpf ole", "cmpf olt")),
            (
                DIGITS,
                "a derivative's constant",
                replaced(r"(select %\d+, )%cst(, %arg1)", r"\1%arg1\2"),
            ),
            (
                DIGITS,
                "an activation",
                replaced(r"(conv \"/conv2.*)<activation relu>", r"\1<activation none>"),
            ),
            (
                self.dropout,
                "an operand of another layer",
                replaced(r'("a", "b", "y"\] ins\(%\d+, )%3( : ' + SQUARES + r"\))", r"\g<1>%4\2"),
            ),
            (
                self.dropout,
                "an operand's transpose",
                replaced(
                    r"(matmul .*ins\(%\d+, %\d+ : " + SQUARES + r"\).*), transpose_b",
                    r"\1",
                ),
            ),
            (self.dropout, "a ratio", replaced(r"ratio = 2\.5\d*e-01", "ratio = 5.0e-01", 0)),
            (self.dropout, "values", exchanged_values),
        ):
            with self.subTest(what=what):
                plan = self.changed(model, change)
                self.refused_with_model(plan, model, "plan.mlir", "gives something else: expected")

    def test_values(self):
        plan = self.changed(self.dropout)
        values = bytearray((plan / "weights.bin").read_bytes())
        values[5] ^= 1
        (plan / "weights.bin").write_bytes(values)
        plans.rehash(plan)
        self.refused_with_model(plan, self.dropout, "weights.bin", "differs from what")

    def test_skeletons(self):
        """What is no model, or none of the plan's, is refused without the model too."""
        whole = onnx.load(str(self.plans[DIGITS] / "model.onnx"))
        without = onnx.ModelProto.FromString(whole.SerializeToString())
        del without.graph.node[:]
        renamed = onnx.ModelProto.FromString(whole.SerializeToString())
        renamed.graph.input[0].name = renamed.graph.node[0].input[0] = "other"
        unread = onnx.ModelProto.FromString(whole.SerializeToString())
        unread.graph.node[0].input[1] = "fc.weight"
        tanh = onnx.ModelProto.FromString(whole.SerializeToString())
        for node in tanh.graph.node:
            node.op_type = {"Relu": "Tanh"}.get(node.op_type, node.op_type)
        cut = whole.SerializeToString()[:100]
        for content, said in (
            (b"", "is empty"),
            (cut, "is not an ONNX model, or is cut short"),
            (bytes(range(256)), "is not an ONNX model"),
            (without.SerializeToString(), "it has no graph with nodes"),
            (renamed.SerializeToString(), "does not need input 'input' of the plan"),
            (unread.SerializeToString(), "does not need parameter 'conv1.weight' of the plan"),
        ):
            plan = self.changed(DIGITS)
            (plan / "model.onnx").write_bytes(content)
            plans.rehash(plan)
            with self.subTest(said=said):
                self.refuses(["verify", plan], "model.onnx", said)
        (plan / "model.onnx").write_bytes(tanh.SerializeToString())
        plans.rehash(plan)
        self.refused_with_model(plan, DIGITS, "model.onnx", "differs from what")

    def test_saves_into_models_only(self):
        plan = self.changed(DIGITS)
        (plan / "model.onnx").write_bytes((plan / "model.onnx").read_bytes()[:100])
        plans.rehash(plan)
        words = ["run", plan, "-n", 2, "--steps", 1, "--save", self.folder / "saved.onnx"]
        self.refuses(words, "model.onnx", "expected an ONNX model, into which '--save' writes")

    def test_unneeded_inputs(self):
        for unneeded, said in (
            (["input"], "its inputs differ from the plan's"),
            (["nosuch"], "its inputs differ from the plan's"),
            ([5], "'unneeded_inputs': expected names"),
        ):
            plan = self.changed(DIGITS)
            document = json.loads((plan / "plan.json").read_text())
            document["unneeded_inputs"] = unneeded
            plans.rehash(plan, document)
            with self.subTest(unneeded=unneeded):
                self.refuses(["verify", plan], said)

    def test_options(self):
        """A plan by options that it does not record is another plan."""
        for change, said in (
            ({"freeze": ["fc.*"]}, "gives something else"),
            ({"batch": 4}, "gives something else"),
            ({"dropout": 3}, "'options' are not those of 'syncline compile'"),
            (None, "it does not record 'options'; compile the model again"),
        ):
            plan = self.changed(DIGITS)
            document = json.loads((plan / "plan.json").read_text())
            document["options"] = {**document["options"], **change} if change else None
            plans.rehash(plan, document)
            with self.subTest(change=change):
                self.verify(plan)
                self.refuses(["verify", plan, "--model", DIGITS], said)

    def test_clusters(self):
        other = self.write("other.yaml", harness.CLUSTER.format(ranks=4))
        plan = self.changed(DIGITS, replaced(r'(spec<name = )"[^"]*"', r'\1"elsewhere"'))
        self.refuses(["verify", plan, "--cluster", self.cluster], "its cluster differs from what")
        self.refuses(["verify", plan, "--cluster", other], "its hash differs")


def exchanged_values(text):
    """Two weights of one shape with each other's values."""
    first, second = (
        int(re.search(rf'plan.tensor "{name}" in parameters .*values = (\d+)', text)[1])
        for name in ("w1", "w2")
    )
    swap = {first: second, second: first}
    return re.sub(
        r"(in parameters .*values = )(\d+)",
        lambda found: found[1] + str(swap.get(int(found[2]), int(found[2]))),
        text,
    )


if __name__ == "__main__":
    unittest.main()
