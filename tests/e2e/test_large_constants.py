"""Constants that lie in weights.bin: values, sizes, and what is saved."""

import pathlib
import tempfile
import unittest

import numpy
import onnx
from onnx import helper, numpy_helper

import harness
import models

COUNT, CLASSES = 40, 5


def model():
    """The table m, [1, COUNT, COUNT], of which m[i, j] is i - 2j, is added to each sample."""
    weight = numpy.random.RandomState(0).standard_normal((COUNT, CLASSES)).astype("f4") * 1e-2
    nodes = [
        helper.make_node("Range", ["zero", "count", "one"], ["range"]),
        helper.make_node("Unsqueeze", ["range", "first"], ["row"]),
        helper.make_node("Unsqueeze", ["range", "second"], ["column"]),
        helper.make_node("Mul", ["row", "two"], ["twice"]),
        helper.make_node("Sub", ["column", "twice"], ["table"]),
        helper.make_node("Shape", ["input"], ["shape"]),
        helper.make_node("Cast", ["table"], ["real"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Expand", ["real", "shape"], ["all"]),
        helper.make_node("Add", ["input", "all"], ["x"]),
        helper.make_node("MatMul", ["x", "weight"], ["y"]),
        helper.make_node("ReduceMean", ["y"], ["output"], axes=[1], keepdims=0),
    ]
    numbers = {"zero": 0, "count": COUNT, "one": 1, "two": 2, "first": [0], "second": [1]}
    arrays = {name: numpy.array(value, "i8") for name, value in numbers.items()}
    return models.model(nodes, {"weight": weight, **arrays}, ("batch", COUNT, COUNT))


def loss(weight, x, y):
    i = numpy.arange(COUNT)
    logits = ((x + i[:, None] - 2.0 * i[None]) @ weight.astype(float)).mean(axis=1)
    logits -= logits.max(axis=1, keepdims=True)
    picked = logits[numpy.arange(len(y)), y]
    return (numpy.log(numpy.exp(logits).sum(axis=1)) - picked).mean()


def largest():
    """Its output is the mean of 2^40 equal numbers, which a loop writes."""
    numbers = {"side": numpy.array([2**20] * 2), "one": numpy.ones((1, 1), "f4")}
    weight = {"weight": numpy.ones((1, CLASSES), "f4")}
    nodes = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array))
        for name, array in numbers.items()
    ] + [
        helper.make_node("Expand", ["one", "side"], ["all"]),
        helper.make_node("ReduceMean", ["all"], ["mean"], keepdims=0),
        helper.make_node("Add", ["input", "mean"], ["x"]),
        helper.make_node("MatMul", ["x", "weight"], ["output"]),
    ]
    return models.model(nodes, weight, ("batch", 1))


class LargeConstantsTest(unittest.TestCase):
    def test_beyond_the_machine(self):
        """A plan that no memory holds is refused before any is taken."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            plan = harness.compile_plan(models.save(largest(), folder / "model.onnx"), folder)
            data = numpy.ones((4, 1), "f4"), numpy.zeros(4, "i8")
            with self.assertRaisesRegex(
                AssertionError, r"exit code 1\n(.|\n)*the plan needs 4096.0 GiB, this machine has"
            ):
                harness.train(plan, folder, data, steps=1, dump=(0,))

    def test_train_and_save(self):
        random = numpy.random.RandomState(1)
        with tempfile.TemporaryDirectory() as name:
            folder, sizes = pathlib.Path(name), set()
            file = models.save(model(), folder / "model.onnx")
            weight = numpy_helper.to_array(onnx.load(str(file)).graph.initializer[0])
            for batch in (1, 3):
                x = random.standard_normal((batch, COUNT, COUNT)).astype("f4")
                y = numpy.arange(batch) % CLASSES
                plan = harness.compile_plan(file, folder, batch=batch)
                kept = [
                    tensor
                    for tensor in harness.plan_json(plan)["tensors"]
                    if tensor["kind"] == "constant"
                ]
                self.assertEqual([tensor["bytes"] for tensor in kept], [4 * COUNT * COUNT])
                self.assertIsNotNone(kept[0]["offset"])
                sizes.add((plan / "weights.bin").stat().st_size)
                saved = folder / "saved.onnx"
                dump = harness.train(
                    plan, folder, (x, y), steps=2, dump=(0, 1), extra=("--save", saved)
                )
                self.assertAlmostEqual(dump.loss(0) / loss(weight, x, y), 1, delta=1e-5)
                # The model that is saved has the same names, and its nodes make the table again.
                names = {tensor.name for tensor in onnx.load(str(saved)).graph.initializer}
                self.assertEqual(names, {t.name for t in model().graph.initializer})
                weight = dump.parameters(1)["weight"]
                file = saved
            self.assertEqual(len(sizes), 1)


if __name__ == "__main__":
    unittest.main()
