"""Steps of random nets that move elements: views, parts, rows, sums along dimensions."""

from steps import step


def axis_of(net, x, least=1):
    """A dimension behind the batch, counted from either end."""
    rank = len(net.shape(x))
    axis = net.random.randint(least, rank - 1)
    return axis - rank * net.random.randint(0, 1)


@step()
def reshape(net):
    """The batch stays what it is: by 0, by -1, or computed from the shape."""
    x = net.pick()
    shape = list(net.shape(x))
    if len(shape) > 2 and net.chance():
        place = net.random.randint(1, len(shape) - 2)
        dims = [*shape[1:place], shape[place] * shape[place + 1], *shape[place + 2 :]]
    else:
        place = net.random.randint(1, len(shape) - 1)
        factor = net.random.choice([n for n in range(1, shape[place] + 1) if shape[place] % n == 0])
        dims = [*shape[1:place], factor, shape[place] // factor, *shape[place + 1 :]]
    net.need(len(dims) < 5)
    if net.chance(0.3):
        length = net.add("Gather", net.add("Shape", x), net.integers(0), axis=0)
        return net.add("Reshape", x, net.add("Concat", length, net.integers(*dims), axis=0))
    if net.chance():
        return net.add("Reshape", x, net.integers(-1, *dims))
    if net.chance():
        dims[net.random.randrange(len(dims))] = -1
    return net.add("Reshape", x, net.integers(0, *dims))


@step()
def flatten(net):
    return net.add("Flatten", net.pick(3), **net.some(axis=1))


@step()
def squeeze(net):
    x = net.pick(2, 4)
    axis = net.random.choice((1, -1, len(net.shape(x))))
    y = net.add("Unsqueeze", x, net.integers(axis))
    if net.chance():
        y = net.add("Expand", y, shape_of(net, y, axis, net.random.randint(2, 3)))
        return y
    y = net.add("Neg", y)
    return net.add("Squeeze", y, net.integers(axis)) if net.chance() else net.add("Squeeze", y)


@step()
def tile(net):
    x = net.pick(2, 4)
    counts = [1] * len(net.shape(x))
    counts[axis_of(net, x)] = net.random.randint(2, 3)
    return net.add("Tile", x, net.integers(*counts))


def shape_of(net, x, axis, size):
    """The shape of x with another size of that dimension; one may be written for others."""
    if net.chance():
        dims = [1] * len(net.shape(x))
        dims[axis] = size
        return net.integers(*dims)
    sizes = [1] * len(net.shape(x))
    sizes[axis] = size
    return net.add("Mul", net.add("Shape", x), net.integers(*sizes))


@step()
def transpose(net):
    x = net.pick(3)
    order = list(range(1, len(net.shape(x))))
    net.random.shuffle(order)
    if net.chance(0.3):  # through a place where samples come last
        y = net.add("Tanh", net.add("Transpose", x, perm=[*order, 0]))
        return net.add("Transpose", y, perm=[len(order), *range(len(order))])
    return net.add("Transpose", x, perm=[0, *order])


@step()
def pad(net):
    x = net.pick()
    rank = len(net.shape(x))
    begins, ends = ([0, *(net.random.randint(0, 2) for _ in range(1, rank))] for _ in range(2))
    value = [net.constant(0.6)] if net.chance() else []
    return net.add("Pad", x, net.integers(*begins, *ends), *value)


@step()
def concat(net):
    x = net.pick()
    axis = axis_of(net, x)
    at = axis % len(net.shape(x))
    alike = [
        y
        for y in net.reals
        if net.shape(y)[:at] + net.shape(y)[at + 1 :] == net.shape(x)[:at] + net.shape(x)[at + 1 :]
        and len(net.shape(y)) == len(net.shape(x))
    ]
    return net.add("Concat", *(net.random.choice(alike) for _ in range(2)), x, axis=axis)


@step()
def split(net):
    x = net.pick()
    axis = axis_of(net, x)
    size = net.shape(x)[axis]
    net.need(size >= 4)
    if net.chance(0.4):
        parts = net.constant(2, "i8") if net.chance() else net.integers(size - 3, 2, 1)
        sequence = net.add("SplitToSequence", x, parts, axis=axis)
        which = net.constant(net.random.choice((0, 1, -1)), "i8")
        return net.add("SequenceAt", sequence, which)
    first = net.random.randint(1, size - 1)
    if net.chance() and net.opset >= 18:
        halves = net.add("Split", x, outputs=2, axis=axis, num_outputs=2)
    else:
        halves = net.add("Split", x, net.integers(first, size - first), outputs=2, axis=axis)
    if net.chance():
        return net.add("Concat", *halves[::-1], axis=axis)
    return net.random.choice(halves)


@step()
def slice_(net):
    x = net.pick()
    axis = axis_of(net, x)
    size = net.shape(x)[axis]
    net.need(size >= 3)
    first, last, every = net.random.choice(
        (
            (1, size, 1),
            (0, -1, 1),
            (0, 2**40, 2),
            (-1, -(2**40), -1),
            (size - 1, 0, -2),
            (-3, size, 1),
        )
    )
    return net.add("Slice", x, *map(net.integers, (first, last, axis, every)))


@step()
def gather(net):
    """One index, evenly spaced ones, or others."""
    x = net.pick()
    axis = axis_of(net, x)
    size = net.shape(x)[axis]
    indices = net.random.choice(
        (size - 1, [0], [*range(size)][::-1], [*range(0, size, 2)], [-1], [[size - 1]])
    )
    y = net.add("Gather", x, net.constant(indices, net.random.choice(("i8", "i4"))), axis=axis)
    net.need(len(net.shape(y)) >= 2)
    return y


@step()
def known_rows(net):
    """Rows of a table by numbers that are known."""
    x = net.pick()
    numbers = net.integers(*(net.random.randrange(-5, 5) for _ in range(net.shape(x)[-1])))
    if net.chance():
        return net.add("Add", x, net.add("Gather", net.weight(5, scale=1), numbers))
    return net.add("MatMul", x, net.add("Gather", net.weight(5, 3, scale=1), numbers))


@step()
def cells(net):
    x = net.pick(2, 3)
    rank = len(net.shape(x))
    y = net.add("Transpose", x, perm=[*range(1, rank), 0])
    known = [net.random.randrange(-s, s) for s in net.shape(x)[1:]]
    rows = [[net.random.randrange(s) for s in net.shape(x)[1:]] for _ in range(3)]
    y = net.add("GatherND", y, net.constant([known, *rows], "i8"))
    return net.add("Transpose", y, perm=[1, 0])


@step()
def spectrum(net):
    """The real and the imaginary parts of a transform along one dimension."""
    x = net.pick(2, 3)
    axis = net.random.randint(1, len(net.shape(x)) - 1)
    pairs = net.add("Unsqueeze", x, net.integers(-1))
    onesided = net.some(onesided=1)
    if net.opset < 20:  # the axis is an attribute
        return net.add("DFT", pairs, axis=axis, **onesided)
    return net.add("DFT", pairs, "", net.constant(axis, "i8"), **onesided)


REDUCTIONS = """ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare
    ReduceLogSum ReduceLogSumExp ReduceProd""".split()


@step(3)
def reduce(net):
    op, x = net.random.choice(REDUCTIONS), net.pick()
    if op == "ReduceLogSum":
        x = net.add("Exp", x)
    rank = len(net.shape(x))
    net.need(rank > 2 or net.chance())
    axes = net.random.sample(range(1, rank), net.random.randint(1, rank - 1))
    keep = 1 if len(axes) == rank - 1 else net.random.randint(0, 1)
    if op != "ReduceSum" and net.opset < 18:
        return net.add(op, x, axes=axes, keepdims=keep)
    axes = [a - rank * net.random.randint(0, 1) for a in axes]
    if op in ("ReduceMean", "ReduceSum") and net.chance(0.1):
        return net.add(op, x, noop_with_empty_axes=1)
    return net.add(op, x, net.integers(*axes), keepdims=keep)


@step()
def place_of_extreme(net):
    """Rows of a table by the places, or factors that they are."""
    x = net.pick(2, 3)
    axis = axis_of(net, x)
    op = net.random.choice(("ArgMax", "ArgMin"))
    place = net.add(op, x, axis=axis, **net.some(select_last_index=1))
    if net.chance():
        return net.add("Mul", x, net.add("Cast", place, to=1))
    if net.chance(0.4):
        return net.add("Gather", net.weight(net.shape(x)[axis], 3, scale=1), place)
    return weighed_by_losses(net, x)


def weighed_by_losses(net, x):
    """Scores by what they lose, with the least as labels, in two ways."""
    labels = net.add("ArgMin", x, axis=1, keepdims=0)
    how = {"reduction": "none", **net.some(ignore_index=net.random.randrange(net.shape(x)[1]))}
    weights = [net.weight(net.shape(x)[1], scale=1)] if net.chance() else []
    for op in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
        scores = net.add("LogSoftmax", x, axis=1) if op.startswith("N") else x
        losses = net.add(op, scores, labels, *weights, **how)
        x = net.add("Mul", x, net.add("Tanh", net.add("Unsqueeze", losses, net.integers(1))))
    return x


@step()
def running_sum(net):
    x = net.pick()
    axis = net.constant(axis_of(net, x), net.random.choice(("i8", "i4")))
    return net.add("CumSum", x, axis, **net.some(exclusive=1, reverse=1))
