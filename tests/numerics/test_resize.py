"""Resizing, forward and backward: against float64 PyTorch, and against what ONNX says that its
nodes compute."""

import pathlib
import tempfile
import unittest

import numpy
import onnx
import torch
from onnx import helper
from onnx.backend.test.case.node import resize as cases

import compare
import export
import harness
import reference
import resizes

BATCH = 3
# ONNX computes by the size before it is rounded down, PyTorch by the one after.
ANOTHER_SIZE = [
    f"test_resize_downsample_scales_{mode}_align_corners" for mode in ("linear", "cubic")
]


def image_labels(shape, seed):
    random = numpy.random.RandomState(seed)
    inputs = random.standard_normal((BATCH, *shape)).astype("f4")
    return inputs, random.randint(0, 5, (BATCH, *shape[1:]))


class ResizeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(5)

    def check(self, model, data, opset, limit=compare.LIMIT, edit=lambda _: None):
        path = self.folder / "model.onnx"
        export.write(model, torch.from_numpy(data[0]), path, opset)
        edit(path)
        plan = harness.compile_plan(path, self.folder, batch=BATCH)
        dump = harness.train(plan, self.folder, data)
        truth = reference.train(model, data)
        self.assertEqual(dump.gradients(0).names(), set(truth.gradients))
        first = compare.gradients(dump.gradients(0), truth.gradients)
        last = compare.parameters(dump.parameters(2), truth.parameters)
        print(f"\n  {type(model).__name__}, opset {opset}: gradients {first}, parameters {last}")
        self.assertLessEqual(abs(dump.loss(2) - truth.losses[2]) / truth.losses[2], limit)
        self.assertLessEqual(first.error, limit)
        self.assertLessEqual(last.error, limit)

    def of_vectors(self, model, opset, **options):
        random = numpy.random.RandomState(2)
        inputs = random.standard_normal((BATCH, *model.shape)).astype("f4")
        self.check(model, (inputs, random.randint(0, 5, BATCH)), opset, limit=1e-5, **options)

    def test_every_way(self):
        for opset in (11, 13, 17):
            with self.subTest(opset=opset):
                self.of_vectors(resizes.Branches(list(resizes.IMAGES.values())), opset)

    def test_former_operator_sets(self):
        """Upsample and the first Resize."""
        for opset in (9, 10):
            with self.subTest(opset=opset):
                ways = [resizes.IMAGES[name] for name in resizes.FORMER]
                self.of_vectors(resizes.Branches(ways), opset)

    def test_antialias(self):
        model = resizes.Branches(list(resizes.NEWER.values()))
        self.of_vectors(model, 17, edit=resizes.antialias)

    def test_signals_and_volumes(self):
        self.of_vectors(resizes.OtherRanks(), 17)

    def test_unet(self):
        self.check(resizes.Unet(), image_labels(resizes.Unet.shape, 1), 13)

    def test_segformer(self):
        self.check(resizes.Segformer(), image_labels(resizes.Segformer.shape, 1), 17)


def onnx_cases():
    """Node, input and expected output of each test that ONNX has, with the operands' constants."""
    found = {}

    def expect(node, inputs, outputs, name):
        found[name] = node, inputs, outputs[0]

    original, cases.expect = cases.expect, expect
    try:
        for name in dir(cases.Resize):
            if name.startswith("export_"):
                getattr(cases.Resize, name)()
    finally:
        cases.expect = original
    return found


class OnnxCasesTest(unittest.TestCase):
    def test_every_case(self):
        """All in one model, whose loss, the mean square of all errors, has to be that of
        rounding."""
        chosen = {
            name: case
            for name, case in onnx_cases().items()
            if "tf_crop" not in name and name not in ANOTHER_SIZE
        }
        self.assertGreaterEqual(len(chosen), 19)
        nodes, constants, given, wanted = [], {}, [], []
        for i, (node, inputs, expected) in enumerate(chosen.values()):
            begin = sum(map(numpy.size, given))
            given.append(inputs[0])
            wanted.append(expected)
            for key, value in {
                "begin": [begin],
                "end": [begin + inputs[0].size],
                "shape": inputs[0].shape,
                "count": [1, -1],
            }.items():
                constants[f"{key}{i}"] = numpy.array(value, "i8")
            operands = iter(inputs[1:])
            names = [f"image{i}"]
            for name in node.input[1:]:
                names.append(f"{name}{i}" if name else "")
                if name:
                    constants[names[-1]] = next(operands)
            nodes += [
                helper.make_node("Slice", ["h", f"begin{i}", f"end{i}", "axis"], [f"flat{i}"]),
                helper.make_node("Reshape", [f"flat{i}", f"shape{i}"], [f"image{i}"]),
                onnx.NodeProto.FromString(node.SerializeToString()),
                helper.make_node("Reshape", [f"resized{i}", f"count{i}"], [f"y{i}"]),
            ]
            del nodes[-2].input[:], nodes[-2].output[:]
            nodes[-2].input.extend(names)
            nodes[-2].output.append(f"resized{i}")
        inputs = numpy.concatenate([x.ravel() for x in given])[None].astype("f4")
        outputs = numpy.concatenate([y.ravel() for y in wanted])[None].astype("f4")
        constants["axis"] = numpy.array([1], "i8")
        constants["weight"] = numpy.ones(inputs.shape[1], "f4")
        graph = helper.make_graph(
            [
                helper.make_node("Mul", ["x", "weight"], ["h"]),
                *nodes,
                helper.make_node("Concat", [f"y{i}" for i in range(len(given))], ["y"], axis=1),
            ],
            "cases",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, inputs.shape)],
            [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, outputs.shape)],
            [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
        )
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        path = folder / "cases.onnx"
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        onnx.save(model, str(path))
        plan = harness.compile_plan(path, folder, batch=1, loss="mse")
        dump = harness.train(plan, folder, (inputs, outputs), steps=1, dump=(0,))
        print(f"\n  {len(chosen)} cases: mean square of errors {dump.loss(0):.1e}")
        self.assertLessEqual(dump.loss(0) * outputs.size, 1e-8)


if __name__ == "__main__":
    unittest.main()
