"""Steps of random nets with operators that are computed at import."""

import numpy
from onnx import numpy_helper

from steps import step


def vector(net, size):
    """So many numbers, all computed."""
    if net.chance():
        kind = net.random.choice(("i8", "i4", "f4"))
        y = net.add("Range", *(net.constant(value, kind) for value in (1, size + 1, 1)))
    else:
        ones = net.add("ConstantOfShape", net.integers(size), value=tensor([1], "i8"))
        y = net.add("CumSum", ones, net.constant(0, "i8"))
        kind = "i8"
    for _ in range(net.random.randint(0, 2)):
        op = net.random.choice("Add Sub Mul Div Mod Max Min Abs Neg".split())
        known = [] if op in ("Abs", "Neg") else [net.constant(net.random.randint(2, 4), kind)]
        y = net.add(op, y, *known, **({"fmod": 1} if op == "Mod" and kind == "f4" else {}))
    return y if kind == "f4" else net.add("Cast", y, to=1)


def tensor(values, kind):
    return numpy_helper.from_array(numpy.asarray(values, kind))


def changed(net, y):
    size = net.shape(y)[0]
    op = net.random.choice(
        "Sin Cos Exp Floor Ceil Sqrt Log Reciprocal Pow Where Gather GatherElements GatherND "
        "ScatterND ScatterElements Slice MatMul Einsum Compare Fmod Transpose Reshape".split()
    )
    if op in ("Sqrt", "Log", "Reciprocal"):
        return net.add(op, net.add("Add", net.add("Abs", y), net.constant(0.5)))
    if op == "Exp":
        return net.add(op, net.add("Min", y, net.constant(1.5)))
    if op in ("Floor", "Ceil"):
        return net.add(op, net.add("Mul", y, net.constant(0.37)))
    if op == "Pow":
        return net.add(
            op, y, net.constant(net.random.choice((2, 3)), net.random.choice(("f4", "i8")))
        )
    if op == "Fmod":
        return net.add("Mod", y, net.constant(1.7), fmod=1)
    order = [net.random.randrange(size) for _ in range(size)]
    if op == "Gather":
        return net.add(op, y, net.integers(*order))
    if op == "GatherElements":
        return net.add(op, y, net.integers(*order), axis=0)
    if op == "GatherND":
        return net.add(op, y, net.constant([[i] for i in order], "i8"))
    if op == "ScatterND":
        return net.add(op, y, net.constant([[1], [0]], "i8"), net.constant([0.3, -0.4]))
    if op == "ScatterElements":
        return net.add(op, y, net.integers(1, 0), net.constant([0.3, -0.4]), axis=0)
    if op == "Slice":
        return net.add(op, y, *map(net.integers, (-1, -(2**40), 0, -1)))
    if op in ("MatMul", "Einsum"):
        matrix = net.add(
            "Trilu",
            net.constant(net.noise.standard_normal((size, size))),
            upper=net.random.randint(0, 1),
        )
        if op == "Einsum":
            return net.add(op, matrix, y, equation="ij,j->i")
        row = net.add("Unsqueeze", y, net.integers(0))
        return net.add("Squeeze", net.add("MatMul", row, matrix), net.integers(0))
    if op in ("Where", "Compare"):
        return chosen(net, y)
    if op in ("Transpose", "Reshape"):
        y = net.add("Unsqueeze", y, net.integers(0))
        y = net.add("Transpose", y, perm=[1, 0]) if op == "Transpose" else net.add("Flatten", y)
        return (
            net.add("Squeeze", y) if op == "Transpose" else net.add("Reshape", y, net.integers(-1))
        )
    return net.add(op, y)


def chosen(net, y):
    """A choice by truth values of constants."""
    op = net.random.choice("Equal Less LessOrEqual Greater GreaterOrEqual".split())
    first = net.add(op, y, net.constant(1.0))
    second = net.add("Less", y, net.constant(3.0))
    both = net.add(net.random.choice("And Or Xor".split()), first, second)
    if net.chance():
        both = net.add("Not", both)
    if net.chance(0.3):
        both = net.add("IsNaN", net.add("Log", net.add("Sub", y, net.constant(1.2))))
    return net.add("Where", both, y, net.constant(0.7))


@step(4)
def computed_vector(net):
    x = net.pick()
    y = vector(net, net.shape(x)[-1])
    for _ in range(net.random.randint(1, 3)):
        y = changed(net, y)
        net.need(abs(net.values[y][1]).max() < 1e4)
    return net.add(net.random.choice(("Add", "Mul")), x, net.add("Sin", y) if net.chance() else y)


@step(2)
def eye(net):
    """A product with ones on a diagonal."""
    x = net.pick()
    size = net.shape(x)[-1]
    other = net.constant(net.noise.standard_normal((size, size + net.random.randint(0, 1))))
    return net.add("MatMul", x, net.add("EyeLike", other, **net.some(k=net.random.choice((-1, 1)))))


@step(2)
def places_of_ones(net):
    """Chosen entries, by where a known mask has ones."""
    x = net.pick()
    known = net.noise.rand(net.shape(x)[-1]) < 0.6
    net.need(known.any())
    places = net.add("NonZero", net.constant(known, "i8"))
    return net.add("Gather", x, net.add("Reshape", places, net.integers(-1)), axis=-1)


@step()
def triangle(net):
    """The mask of causal attention."""
    x = net.pick(3)
    rows, columns = net.shape(x)[-2:]
    shape = net.integers(rows, columns)
    y = net.add("Expand", net.constant(-2.0), shape)
    diagonal = [net.constant(net.random.randint(-1, 1), "i8")] if net.chance() else []
    return net.add("Add", x, net.add("Trilu", y, *diagonal, upper=net.random.randint(0, 1)))


@step(4)
def share_of_size(net):
    """Divides by a number of elements, or by another number that a shape is reduced to."""
    x = net.pick()
    reductions = "ReduceProd ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare".split()
    count = net.random.choice(("Size", *reductions))
    known = net.constant(net.noise.standard_normal(net.shape(x)[1:]))
    if count == "Size":
        number = net.add("Size", known)
    else:
        shape = net.add("Shape", known)
        shape = net.add("Cast", shape, to=1) if count == "ReduceL2" else shape
        number = net.add(count, shape, keepdims=0)
    root = net.add("Sqrt", net.add("Cast", number, to=1))
    return net.add("Mul", net.add("Div", x, root), net.constant(3.0))


@step()
def made_parameter(net):
    """A parameter without values in the file: these have the same values from any seed."""
    x = net.pick()
    size = net.shape(x)[-1]
    op = net.random.choice(("RandomNormal", "RandomUniform", "ConstantOfShape"))
    if op == "RandomNormal":
        y = net.add(op, dtype=1, shape=[size], mean=0.7, scale=0.0)
    elif op == "RandomUniform":
        y = net.add(op, dtype=1, shape=[size], low=0.7, high=0.7)
    else:
        y = net.add(op, net.integers(size), value=tensor([0.7], "f4"))
    return net.add(net.random.choice(("Add", "Mul")), x, y)
