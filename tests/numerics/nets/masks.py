"""Steps of random nets that use integers and truth values: rows of tables by token numbers,
masks, choices."""

from steps import step

RELATIONS = "Equal Less LessOrEqual Greater GreaterOrEqual".split()


def tokens(net):
    net.need("ids" in net.inputs)
    return "ids"


@step(2)
def embedding(net):
    ids = tokens(net)
    table = net.weight(9, net.random.randint(3, 6), scale=1)
    if net.chance(0.3):
        ids = net.add("Slice", ids, *map(net.integers, (1, 4, 1, 1)))
    return net.add("Gather", table, ids)


def integers(net):
    """Numbers computed from the tokens."""
    ids = tokens(net)
    kind = net.inputs["ids"].dtype
    for _ in range(net.random.randint(0, 2)):
        op = net.random.choice("Add Sub Mul CumSum".split())
        if op == "CumSum":
            ids = net.add(op, ids, net.constant(1, "i8"))
            continue
        value = net.random.randint(1, 3)
        length = net.shape(ids)[1]
        known = net.constant(value if net.chance() else [value] * length, kind)
        if op in ("Add", "Mul") and net.chance(0.3):
            known = "ids"
        ids = net.add(op, ids, known)
    return ids, kind


def truth(net):
    """Truth values of each sample's tokens."""
    ids, kind = integers(net)
    op = net.random.choice(RELATIONS)
    y = net.add(op, ids, net.constant(net.random.randint(1, 5), kind))
    if net.chance(0.3):
        y = net.add("Not", y)
    if net.chance(0.4):
        op = net.random.choice(("And", "Or", "Xor"))
        known = net.constant(net.noise.rand(net.shape(y)[1]) < 0.5, bool)
        other = known if net.chance() else net.add("Greater", "ids", net.constant(2, kind))
        y = net.add(op, y, other)
    return y


@step()
def mask(net):
    y = net.add("Cast", truth(net), to=1)
    return y if net.chance(0.3) else net.add("Sub", y, net.constant(0.3))


@step()
def numbers(net):
    ids, _ = integers(net)
    return net.add("Mul", net.add("Cast", ids, to=1), net.constant(0.2))


@step(3)
def bits(net):
    net.need(net.opset >= 18)
    op, (ids, kind) = net.random.choice(("And", "Or", "Xor", "Not")), integers(net)
    known = [] if op == "Not" else [net.constant(net.random.randint(1, 6), kind)]
    y = net.add(f"Bitwise{op}", ids, *known)
    return net.add("Mul", net.add("Cast", y, to=1), net.constant(0.2))


@step(2)
def choice(net):
    """A tensor, or zero, by the tokens of its place."""
    y, x = truth(net), net.pick(2, 4)
    shape = net.shape(x)
    length = net.shape(y)[1]
    net.need(length in shape[1:])
    at = shape.index(length, 1)
    after = [d for d in range(1, len(shape)) if d != at]
    if after:
        y = net.add("Unsqueeze", y, net.integers(*after))
    other = net.random.choice((net.constant(0.0), net.constant(-0.8), net.add("Neg", x)))
    return net.add("Where", *((y, x, other) if net.chance() else (y, other, x)))


@step()
def known_choice(net):
    x = net.pick()
    condition = net.constant(net.noise.rand(*net.shape(x)[1:]) < 0.6, bool)
    other = net.constant(0.4) if net.chance() else net.weight(*net.shape(x)[1:], scale=1)
    return net.add("Where", condition, *((x, other) if net.chance() else (other, x)))


@step()
def sign(net):
    """A choice by a tensor's own numbers."""
    x = net.pick()
    y = net.add(net.random.choice(RELATIONS[1:]), x, net.constant(0.05))
    if net.chance(0.3):
        return net.add("Cast", y, to=1)
    return net.add("Where", y, x, net.add("Mul", x, net.constant(0.2)))


def infinite(net, x):
    """Minus infinity for some places of a matrix, one row of which it hides, and zero elsewhere."""
    *_, rows, columns = net.shape(x)
    hidden = net.noise.rand(rows, columns) < 0.4
    hidden[net.random.randrange(rows)] = True
    return net.constant([[-float("inf") if h else 0.0 for h in row] for row in hidden])


@step()
def hidden_rows(net):
    """A softmax of which a mask hides some rows wholly, with zeros in their place."""
    x = net.pick(3)
    y = net.add("Softmax", net.add("Add", x, infinite(net, x)), axis=-1)
    return net.add("Where", net.add("IsNaN", y), net.constant(0.0), y)


@step()
def hidden_places(net):
    """Zeros where a mask hides."""
    x = net.pick(3)
    y = net.add("IsInf", net.add("Add", x, infinite(net, x)), **net.some(detect_positive=0))
    return net.add("Where", y, net.constant(0.0), x)


@step()
def chosen_rows(net):
    """Rows of a table by computed numbers."""
    ids = tokens(net)
    kind = net.inputs["ids"].dtype
    places = net.add("Cast", net.add("Greater", ids, net.constant(2, kind)), to=7)
    places = net.add("CumSum", places, net.constant(1, "i8")) if net.chance() else places
    return net.add("Gather", net.weight(9, 4, scale=1), places)


@step(2)
def one_of_classes(net):
    """Ones, or other numbers, where the tokens point."""
    values = net.constant((0.0, 1.0) if net.chance() else (-0.2, 0.7))
    axis = net.some(axis=net.random.choice((1, -1)))
    return net.add("OneHot", tokens(net), net.constant(9, "i8"), values, **axis)


@step(2)
def largest(net):
    x = net.pick()
    axis = net.random.randint(1, len(net.shape(x)) - 1)
    count = net.integers(net.random.randint(1, net.shape(x)[axis]))
    return net.add("TopK", x, count, outputs=2, axis=axis, **net.some(largest=0))[0]
