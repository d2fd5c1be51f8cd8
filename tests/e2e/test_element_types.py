"""Element types: a file of any compiles or is refused, and never meets a fault of the compiler."""

import numpy
from onnx import TensorProto, helper

import models
from depth import LONG
from refusal import RefusalTest

BATCH, CLASSES = 4, 5
SIZES = {
    TensorProto.DOUBLE: 8,
    TensorProto.INT64: 8,
    TensorProto.UINT64: 8,
    TensorProto.FLOAT: 4,
    TensorProto.INT32: 4,
    TensorProto.UINT32: 4,
    TensorProto.FLOAT16: 2,
    TensorProto.BFLOAT16: 2,
    TensorProto.INT16: 2,
    TensorProto.UINT16: 2,
    TensorProto.COMPLEX128: 16,
    TensorProto.COMPLEX64: 8,
}
FLOATS = {
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "double": TensorProto.DOUBLE,
}


def zeros(name, element, shape):
    """A tensor of any element type, also of those that this onnx does not know."""
    count = int(numpy.prod(shape))
    tensor = TensorProto(name=name, data_type=element, dims=shape)
    tensor.raw_data = bytes(count * SIZES.get(element, 1))
    return tensor


def classifier(element, nodes, values):
    """[batch, 6] of `element` → [batch, 5]; the weight `w` of 6x5 is float."""
    weight = numpy.random.RandomState(0).standard_normal((6, CLASSES)).astype("f4")
    proto = models.model(nodes, {"w": weight}, ("batch", 6), element)
    proto.graph.initializer.extend(values)
    return proto


def forms(element):
    node = helper.make_node
    product = node("MatMul", ["input", "w"], ["z"])
    bias = [zeros("b", element, [CLASSES])]
    yield "all", classifier(
        element,
        [node("MatMul", ["input", "v"], ["output"])],
        [zeros("v", element, [6, CLASSES])],
    )
    yield "input", classifier(
        element,
        [node("Cast", ["input"], ["f"], to=1), node("MatMul", ["f", "w"], ["output"])],
        [],
    )
    yield "rows", classifier(
        element,
        [
            node("Transpose", ["input"], ["t"], perm=[1, 0]),
            node("Transpose", ["t"], ["ids"], perm=[1, 0]),
            node("Gather", ["w", "ids"], ["r"]),
            node("ReduceMean", ["r"], ["output"], axes=[1], keepdims=0),
        ],
        [],
    )
    yield "initialiser", classifier(
        TensorProto.FLOAT,
        [product, node("Cast", ["b"], ["c"], to=1), node("Add", ["z", "c"], ["output"])],
        bias,
    )
    yield "cast", classifier(
        TensorProto.FLOAT,
        [product, node("Cast", ["z"], ["c"], to=element), node("Cast", ["c"], ["output"], to=1)],
        [],
    )


class ElementTypesTest(RefusalTest):
    def compiled(self, proto, *words):
        file = self.write("model.onnx", proto.SerializeToString())
        words = ("compile", file, "--cluster", self.cluster, "--batch", BATCH, *words)
        return self.command(*words, "-o", self.folder / "p.plan")

    def test_every_type_compiles_or_is_refused(self):
        every = range(0, 25) if LONG else (TensorProto.INT64, TensorProto.BFLOAT16)
        for element in every:
            for form, proto in forms(element):
                for words in ((), ("--plan-only",)) if LONG else ((),):
                    with self.subTest(element=element, form=form, words=words):
                        done = self.compiled(proto, *words)
                        self.assertIn(done.returncode, (0, 1), done.stderr)

    def test_other_floats_are_refused_for_training(self):
        for name, element in FLOATS.items():
            wanted = f"'input': expected elements of float, got {name}"
            done = self.compiled(next(forms(element))[1])
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(wanted, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_plans_of_shapes_say_what_an_element_takes(self):
        for name, element in FLOATS.items():
            done = self.compiled(next(forms(element))[1], "--plan-only")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"'v': planned with gradients of {name}, {SIZES[element]} B", done.stderr)
