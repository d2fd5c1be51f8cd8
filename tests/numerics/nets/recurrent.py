"""Steps of random nets that go through a sequence: recurrent layers, and the bodies of loops."""

from onnx import TensorProto, helper

from steps import step

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@step(8)
def recurrent(net):
    """The outputs of all time steps, or the last state, of one or both directions."""
    x, op = net.pick(3, 3), net.random.choice(list(GATES))
    _, length, width = net.shape(x)
    size, direction = net.random.randint(3, 6), net.random.choice(("forward", "reverse", "both"))
    count, rows = (2 if direction == "both" else 1), GATES[op] * size
    weights = [net.weight(count, rows, n, scale=n**-0.5) for n in (width, size)]
    if net.chance():
        weights.append(net.weight(count, 2 * rows, scale=0.3))
    attributes = {"hidden_size": size}
    if direction != "forward":
        attributes["direction"] = "bidirectional" if direction == "both" else direction
    if op == "GRU":
        attributes |= net.some(linear_before_reset=1)
    series = net.add("Transpose", x, perm=[1, 0, 2])
    y, last = net.add(op, series, *weights, outputs=2, **attributes)
    if net.chance(0.3):
        return net.add("Transpose", last, perm=[1, 0, 2])
    y = net.add("Transpose", y, perm=[2, 0, 1, 3])
    return net.add("Reshape", y, net.integers(0, length, count * size))


def value(name, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, None)


def graph(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name, inputs, outputs)


def matrix(net, x):
    width = net.shape(x)[-1]
    return net.weight(width, width, scale=width**-0.5)


@step(2)
def loop(net):
    """h ← tanh(h·w) + h or tanh(h·w + i), with a matrix from outside of the body."""
    x, node = net.pick(), helper.make_node
    w = matrix(net, x)
    nodes = [node("Identity", ["go"], ["on"]), node("MatMul", ["h", w], ["m"])]
    if net.chance():
        nodes += [node("Tanh", ["m"], ["t"]), node("Add", ["t", "h"], ["next"])]
    else:
        nodes += [
            node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
            node("Add", ["m", "f"], ["a"]),
            node("Tanh", ["a"], ["next"]),
        ]
    inputs = [value("i", TensorProto.INT64), value("go", TensorProto.BOOL), value("h")]
    body = graph("body", nodes, inputs, [value("on", TensorProto.BOOL), value("next")])
    trips = net.constant(net.random.randint(1, 3), "i8")
    return net.add("Loop", trips, net.constant(True, bool), x, outer=[w], body=body)


@step(2)
def scan(net):
    """s ← tanh(s·w + x[t]), from the first entry on; of each, s·x[t]."""
    x, node = net.pick(3, 3), helper.make_node
    w = matrix(net, x)
    series = net.add("Transpose", x, perm=[1, 0, 2])
    first = net.add("Gather", series, net.constant(0, "i8"), axis=0)
    nodes = [
        node("MatMul", ["s", w], ["m"]),
        node("Add", ["m", "entry"], ["a"]),
        node("Tanh", ["a"], ["next"]),
        node("Mul", ["next", "entry"], ["each"]),
    ]
    body = graph("body", nodes, [value("s"), value("entry")], [value("next"), value("each")])
    last, every = net.add("Scan", first, series, outputs=2, outer=[w], body=body, num_scan_inputs=1)
    return last if net.chance(0.3) else net.add("Transpose", every, perm=[1, 0, 2])


@step(2)
def branch(net):
    """One of two functions, by how many elements a constant has."""
    x, node = net.pick(), helper.make_node
    size = net.add("Size", net.constant(net.noise.standard_normal(net.shape(x)[1:])))
    many = net.add("Greater", size, net.constant(12, "i8"))
    then = graph("then", [node("Sigmoid", [x], ["yes"])], [], [value("yes")])
    other = graph("other", [node("Sin", [x], ["no"])], [], [value("no")])
    return net.add("If", many, outer=[x], then_branch=then, else_branch=other)
