"""Steps of random nets with sequences of tensors."""

from shapes import axis_of
from steps import step


def items(net, x):
    """A sequence of tensors of x's shape."""
    alike = [y for y in net.reals if net.shape(y) == net.shape(x)]
    drawn = [x, *(net.random.choice(alike) for _ in range(net.random.randint(1, 2)))]
    if net.chance():
        y = net.add("SequenceConstruct", *drawn)
    else:
        y = net.add("SequenceEmpty", dtype=1)
        for tensor in drawn:
            y = net.add("SequenceInsert", y, tensor)
    if net.chance():
        place = net.constant(net.random.randint(0, 1), "i8")
        y = net.add("SequenceInsert", y, net.add("Neg", x), place)
    if net.chance():
        y = net.add("SequenceErase", y, net.constant(net.random.choice((0, -1)), "i8"))
    return y


@step(3)
def sequence(net):
    x = net.pick(2, 4)
    y = items(net, x)
    if net.chance(0.3):
        return net.add("SequenceAt", y, net.constant(net.random.choice((0, -1)), "i8"))
    if net.chance():
        return net.add("ConcatFromSequence", y, axis=axis_of(net, x))
    axis = net.random.randint(1, len(net.shape(x)))
    count = net.add("Cast", net.add("SequenceLength", y), to=1)
    return net.add("Div", net.add("ConcatFromSequence", y, axis=axis, new_axis=1), count)
