"""Models of several inputs: files by name, in shards and shuffled alike on all ranks; masks and
types of tokens; synthetic samples; messages for bad files with rank, file and input."""

import json

import numpy
from onnx import TensorProto, helper, numpy_helper

import harness
from refusal import RefusalTest

WORDS, KINDS, LENGTH, WIDTH = 11, 2, 5, 3
SAMPLES, BATCH = 16, 2


def language():
    """The logits of the next token, [batch, length, words]: tokens and their types embedded, where
    the mask is 1, plus -10000 for words where it is 0. One input is not needed."""
    random = numpy.random.RandomState(0)
    values = {
        "words": random.standard_normal((WORDS, WIDTH)).astype("f4"),
        "kinds": random.standard_normal((KINDS, WIDTH)).astype("f4"),
        "weight": random.standard_normal((WIDTH, WORDS)).astype("f4"),
    }
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["word_rows"], name="words"),
        helper.make_node("Gather", ["kinds", "token_type_ids"], ["kind_rows"], name="kinds"),
        helper.make_node("Add", ["word_rows", "kind_rows"], ["rows"], name="sum"),
        helper.make_node("Constant", [], ["last"], value_ints=[2]),
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["column"], name="column"),
        helper.make_node("Cast", ["column"], ["kept"], to=TensorProto.FLOAT, name="kept"),
        helper.make_node("Mul", ["rows", "kept"], ["masked"], name="masked"),
        helper.make_node("MatMul", ["masked", "weight"], ["output"], name="head"),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ("batch", LENGTH))
        for name in ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    ]
    graph = helper.make_graph(
        nodes,
        "language",
        inputs,
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class SeveralInputsTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.model = self.write("language.onnx", language().SerializeToString())
        self.plan = harness.compile_plan(self.model, self.folder, ranks=2, batch=BATCH)
        random = numpy.random.RandomState(1)
        self.labels = random.randint(0, WORDS, (SAMPLES, LENGTH))
        self.inputs = {
            "input_ids": random.randint(0, WORDS, (SAMPLES, LENGTH)),
            "attention_mask": random.randint(0, 2, (SAMPLES, LENGTH)),
            "token_type_ids": random.randint(0, KINDS, (SAMPLES, LENGTH)),
        }

    def data(self, labels=None, **changed):
        inputs = {**self.inputs, **changed}
        return harness.save(self.folder, inputs, self.labels if labels is None else labels)

    def run_lines(self, *words, plan=None, ranks=2):
        said = harness.syncline("run", plan or self.plan, "-n", ranks, "--log", "json", *words)
        return [json.loads(line) for line in said.splitlines()]

    def losses(self, *words, **more):
        return [line["loss"] for line in self.run_lines(*words, **more) if "step" in line]

    def expected(self, order):
        """The initial loss of these samples."""
        values = {t.name: numpy_helper.to_array(t) for t in language().graph.initializer}
        ids, mask, kinds = (self.inputs[name][order] for name in self.inputs)
        rows = (values["words"][ids] + values["kinds"][kinds]) * mask[..., None]
        logits = rows.astype("f8") @ values["weight"]
        logits -= logits.max(-1, keepdims=True)
        chosen = numpy.take_along_axis(logits, self.labels[order][..., None], -1)[..., 0]
        return float((numpy.log(numpy.exp(logits).sum(-1)) - chosen).mean())

    def test_each_rank_reads_its_block_of_every_input(self):
        losses = self.losses("--data", self.data(), "--lr", 0, "--epochs", 1)
        self.assertEqual(len(losses), SAMPLES // 4)
        for step, loss in enumerate(losses):
            self.assertAlmostEqual(loss, self.expected(slice(4 * step, 4 * step + 4)), 5)

    def test_inputs_are_shuffled_alike(self):
        """Samples of which each has its own loss: the sum over an epoch is that of all samples."""
        data = self.data()
        words = ("--data", data, "--lr", 0, "--epochs", 1, "--shuffle")
        losses = self.losses(*words)
        self.assertAlmostEqual(numpy.mean(losses), self.expected(slice(None)), 5)
        self.assertNotAlmostEqual(losses[0], self.expected(slice(0, 4)), 5)
        alone = harness.compile_plan(self.model, self.folder, ranks=1, batch=2 * BATCH)
        for one, two in zip(self.losses(*words, plan=alone, ranks=1), losses):
            self.assertAlmostEqual(one, two, 5)

    def test_training_and_evaluation(self):
        lines = self.run_lines(
            *("--data", self.data(), "--epochs", 40, "--lr", 0.5, "--eval", self.data())
        )
        losses = [line["loss"] for line in lines if "step" in line]
        self.assertLess(losses[-1], 0.9 * losses[0])
        self.assertLess(lines[-1]["test_loss"], 0.9 * self.expected(slice(None)))

    def test_without_files(self):
        for loss in self.losses("--steps", 3):
            self.assertLess(loss, 20)

    def test_inputs_that_the_output_does_not_need(self):
        plan = harness.plan_json(self.plan)
        self.assertEqual(plan["unneeded_inputs"], ["position_ids"])
        self.assertEqual([i["name"] for i in plan["inputs"]], list(self.inputs))
        self.assertEqual([i.get("of") for i in plan["inputs"]], [None, "attention_mask", None])
        self.assertEqual([i.get("rows") for i in plan["inputs"]], [WORDS, None, KINDS])
        data = self.data(position_ids=self.labels)
        self.assertEqual(
            self.losses("--data", data, "--steps", 2),
            self.losses("--data", self.data(), "--steps", 2),
        )

    def test_bad_files(self):
        """One message with rank, file, input, what was found and what was expected."""
        ids, mask, kinds = (self.inputs[name].copy() for name in self.inputs)
        ids[3, 2], kinds[0, 1] = WORDS, -3
        half = mask * 0.5
        half[0, 0] = 0.5
        for changed, *words in (
            ({"input_ids": ids}, "input_ids.npy': element 17", "from 0 to 10", "got 11"),
            ({"token_type_ids": kinds}, "token_type_ids.npy': element 1", "from 0 to 1", "got -3"),
            ({"attention_mask": half}, "attention_mask.npy': element 0", "a whole number"),
            ({"attention_mask": mask[:, :4]}, "expected samples of shape [5], got [4] for input"),
            ({"attention_mask": mask[:, None]}, "shape [5], got [1, 5] for input 'attention_mask'"),
            ({"input_ids": numpy.tile(mask, 2)}, "shape [5], got [10] for input 'input_ids'"),
            ({"attention_mask": mask[:8]}, "has 8 samples", f"has {SAMPLES} samples"),
        ):
            with self.subTest(words=words):
                data = self.data(**changed)
                self.refuses(
                    ("run", self.plan, "-n", 2, "--data", data, "--steps", 1),
                    *(next(iter(changed)), "error: rank ", *words),
                )

    def test_bad_words(self):
        files = self.data().split(",")
        run = ("run", self.plan, "-n", 2, "--steps", 1, "--data")
        form = "input_ids=X,attention_mask=X,token_type_ids=X,Y"
        self.refuses((*run, ",".join(files[:3])), form, code=2)
        self.refuses((*run, ",".join(files[-1:] * 2)), form, code=2)
        self.refuses((*run, ",".join(files[1:])), "expected a file for input 'input_ids'")
        self.refuses((*run, "mask=m.npy," + ",".join(files)), "the model has no input 'mask'")
        self.refuses((*run, ",".join(files[:1] + files)), "input 'input_ids' has two files")
