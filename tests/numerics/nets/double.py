"""A model of floats as one of doubles, for onnx.reference."""

from onnx import ModelProto, TensorProto, helper, numpy_helper


def ending(proto, output):
    """The model whose only output is that tensor."""
    model = ModelProto()
    model.CopyFrom(proto)
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, None))
    return model


def widened(tensor):
    if tensor.data_type != TensorProto.FLOAT:
        return tensor
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype("f8"), tensor.name)


def widen(graph):
    """Its nodes, and those of their bodies."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
            if attribute.HasField("t"):
                attribute.t.CopyFrom(widened(attribute.t))
            if attribute.HasField("g"):
                widen(attribute.g)
                for info in [*attribute.g.input, *attribute.g.output]:
                    widen_type(info)


def widen_type(info):
    if info.type.tensor_type.elem_type == TensorProto.FLOAT:
        info.type.tensor_type.elem_type = TensorProto.DOUBLE


def model(proto, output):
    """Up to that tensor."""
    result = ending(proto, output)
    for info in [*result.graph.input, *result.graph.output]:
        widen_type(info)
    for tensor in result.graph.initializer:
        tensor.CopyFrom(widened(tensor))
    widen(result.graph)
    return result
