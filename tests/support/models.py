"""Small ONNX models, good and broken, for tests that need no PyTorch."""

import numpy
from onnx import TensorProto, helper, numpy_helper


def linear(inputs=4, outputs=3, operator="Gemm", shape=("batch", 4), element=TensorProto.FLOAT):
    """input -> operator with a weight and a bias -> output."""
    weight = numpy.linspace(-1, 1, inputs * outputs).reshape(inputs, outputs).astype(numpy.float32)
    node = helper.make_node(operator, ["input", "weight", "bias"], ["output"], name="first")
    return model(
        [node], {"weight": weight, "bias": numpy.zeros(outputs, numpy.float32)}, shape, element
    )


def model(nodes, initializers, shape=("batch", 4), element=TensorProto.FLOAT, opset=13):
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("input", element, shape)],
        [helper.make_tensor_value_info("output", element, None)],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def cyclic():
    """Two nodes that read each other's result."""
    nodes = [
        helper.make_node("Add", ["input", "second"], ["output"], name="one"),
        helper.make_node("Relu", ["output"], ["second"], name="two"),
    ]
    return model(nodes, {})


def external(location):
    """A weight whose values lie in the file `location`."""
    broken = linear()
    weight = broken.graph.initializer[0]
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "48")):
        entry = weight.external_data.add()
        entry.key, entry.value = key, value
    return broken


def save(proto, path):
    path.write_bytes(proto.SerializeToString())
    return path
