"""Steps of random nets that make images larger, smaller, or from columns."""

from steps import step


@step(2)
def resize(net):
    x = net.pick(4, 4)
    sizes = net.shape(x)[2:]
    mode = net.random.choice(("nearest", "linear"))
    attributes = {"mode": mode}
    places = ("half_pixel", "asymmetric", "align_corners")
    attributes |= net.some(coordinate_transformation_mode=net.random.choice(places))
    if net.chance():
        scales = net.constant([1, 1, *(net.random.choice((1, 2)) for _ in sizes)])
        return net.add("Resize", x, "", scales, **attributes)
    wanted = [net.random.randint(2, 2 * size) for size in sizes]
    shape = net.add("Shape", x, start=0, end=2)
    wanted = net.add("Concat", shape, net.integers(*wanted), axis=0)
    return net.add("Resize", x, "", "", wanted, **attributes)


@step(2)
def columns(net):
    """An image that overlapping blocks of 2x2 are added up to."""
    net.need(net.opset >= 18)
    x = net.add("Flatten", net.pick())
    height, width, channels = (net.random.randint(2, 4) for _ in range(3))
    size, count = net.shape(x)[1], (height - 1) * (width - 1)
    x = net.add("MatMul", x, net.weight(size, 4 * channels * count, scale=size**-0.5))
    x = net.add("Reshape", x, net.integers(0, 4 * channels, count))
    return net.add("Col2Im", x, net.integers(height, width), net.integers(2, 2))
