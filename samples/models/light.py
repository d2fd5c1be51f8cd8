"""Takes the weights out of an ONNX file: each becomes a node that says how it is initialised."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOATING = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def strip(path, names, ranges=None):
    """Rewrites the model at `path` so that every initialiser in `names` is the output, under the
    same name, of a ConstantOfShape (all values equal) or RandomNormal node (mean 0, the values'
    standard deviation), or, where `ranges` names it, of a RandomUniform node between these two
    values. Other initialisers stay, shapes for example, as do integers and booleans."""
    model = onnx.load(str(path))
    graph = model.graph
    kept, made, shapes = [], [], []
    for initializer in graph.initializer:
        if initializer.name not in names or initializer.data_type not in FLOATING:
            kept.append(initializer)
            continue
        node, shape = _initial(initializer, (ranges or {}).get(initializer.name))
        made.append(node)
        shapes += shape
    nodes = [_without_text(node) for node in graph.node]
    for field, values in (("initializer", kept + shapes), ("node", made + nodes)):
        graph.ClearField(field)
        getattr(graph, field).extend(values)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def _initial(initializer, between=None):
    """The node that makes `initializer`, and the initialisers that this node reads."""
    values = numpy_helper.to_array(initializer)
    name = initializer.name
    if not between and values.size and (values == values.flat[0]).all():
        fill = helper.make_tensor("value", initializer.data_type, [1], [values.flat[0].item()])
        shape = numpy_helper.from_array(numpy.array(values.shape, numpy.int64), name + ".shape")
        return helper.make_node("ConstantOfShape", [shape.name], [name], value=fill), [shape]
    if between:
        kind, rule = "RandomUniform", {"low": between[0], "high": between[1]}
    else:
        kind, rule = "RandomNormal", {"scale": float("%.4g" % values.std())}
    return (
        helper.make_node(kind, [], [name], dtype=initializer.data_type, shape=values.shape, **rule),
        [],
    )


def _without_text(node):
    node.ClearField("doc_string")
    return node
