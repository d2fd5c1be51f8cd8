"""Small models of texts of any length: ids of 0 are padding."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS, CLASSES, WIDTH = 50, 4, 16


def _constants(seed):
    random = numpy.random.RandomState(seed)
    shapes = {
        "table": (WORDS, WIDTH),
        "hidden.weight": (WIDTH, WIDTH),
        "hidden.bias": (WIDTH,),
        "fc.weight": (WIDTH, CLASSES),
        "fc.bias": (CLASSES,),
    }
    values = {
        name: random.standard_normal(shape).astype("float32") / 4 for name, shape in shapes.items()
    }
    values |= {"zero": numpy.int64(0), "last": numpy.array([2]), "places": numpy.array([1])}
    return [numpy_helper.from_array(value, name) for name, value in values.items()]


def _linear(x, name, y):
    return [
        helper.make_node("MatMul", [x, f"{name}.weight"], [f"{name}.product"]),
        helper.make_node("Add", [f"{name}.product", f"{name}.bias"], [y]),
    ]


def _mean_of_words():
    """The mean of the words that are no padding."""
    return [
        helper.make_node("Equal", ["ids", "zero"], ["padding"]),
        helper.make_node("Not", ["padding"], ["words"]),
        helper.make_node("Cast", ["words"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["masks"]),
        helper.make_node("Mul", ["x", "masks"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "places"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "places"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
    ]


def write(path, each_word=False, seed=0):
    """A class of each text, or of each word."""
    nodes = [helper.make_node("Gather", ["table", "ids"], ["rows"])]
    nodes += _linear("rows", "hidden", "sums") + [helper.make_node("Relu", ["sums"], ["x"])]
    nodes += _linear("x", "fc", "output") if each_word else _mean_of_words()
    nodes += [] if each_word else _linear("mean", "fc", "output")
    shape = ["batch", "seq", CLASSES] if each_word else ["batch", CLASSES]
    graph = helper.make_graph(
        nodes,
        "varied",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "seq"])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)],
        _constants(seed),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
