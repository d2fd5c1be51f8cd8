"""Steps of random nets that compute with real numbers: functions, layers, pools."""

import numpy

from steps import step


def positive(net, x):
    return net.add("Add", net.add("Abs", x), net.constant(0.5))


@step(3)
def function(net):
    ops = (
        "Abs Elu Erf HardSigmoid HardSwish LeakyRelu Neg Relu Sigmoid Tanh Identity Softplus "
        "Softsign ThresholdedRelu Celu Selu Sin Cos Atan Asinh"
    ).split()
    newer = {"Mish": 18, "Gelu": 20, "Swish": 24}
    later = [o for o in newer if net.opset >= newer[o]]
    op, attributes = net.random.choice(ops + 3 * later), {}
    if op in ("Elu", "LeakyRelu", "HardSigmoid", "Swish", "ThresholdedRelu", "Celu", "Selu"):
        attributes = net.some(alpha=net.random.choice((0.2, 0.75)))
    if op == "HardSigmoid":
        attributes |= net.some(beta=0.4)
    if op == "Gelu":
        attributes = net.some(approximate=net.random.choice(("none", "tanh")))
    return net.add(op, net.pick(), **attributes)


@step(2)
def function_of_part(net):
    """Functions that are not defined, or not tame, for every number."""
    ops = (
        "Sqrt Log Reciprocal Exp Pow Tan Floor Ceil Round Sign Sinh Cosh Atanh Asin Acos Acosh"
    ).split()
    op, x = net.random.choice(ops), net.pick()
    if op in ("Exp", "Tan", "Sinh", "Cosh"):
        return net.add(op, net.add("Tanh", x))
    if op in ("Atanh", "Asin", "Acos"):
        return net.add(op, net.add("Mul", net.add("Tanh", x), net.constant(0.8)))
    if op == "Acosh":
        return net.add(op, net.add("Add", positive(net, x), net.constant(0.7)))
    if op in ("Floor", "Ceil", "Round", "Sign"):  # beside x, which has a gradient
        return net.add("Add", x, net.add(op, net.add("Mul", x, net.constant(0.8))))
    if op == "Pow" and net.chance():
        kind = net.random.choice(("f4", "i8", "i4"))
        return net.add("Pow", x, net.constant(net.random.choice((1, 2, 3)), kind))
    x = positive(net, x)
    return (
        net.add(op, x, net.constant(net.random.choice((0.5, -1, 1.7))))
        if op == "Pow"
        else net.add(op, x)
    )


@step()
def clip(net):
    bounds = [net.constant(v) if net.chance(0.7) else "" for v in (-0.7, 0.9)]
    while bounds and not bounds[-1]:
        bounds.pop()
    return net.add("Clip", net.pick(), *bounds)


@step()
def dropout(net):
    """Training applies it, so that its ratio is zero."""
    words = [net.constant(0.0), net.constant(True, bool)] if net.chance() else [net.constant(0.0)]
    return net.add("Dropout", net.pick(), *words)


@step()
def cast(net):
    x = net.pick()
    return net.add("CastLike", x, net.constant(1.0)) if net.chance() else net.add("Cast", x, to=1)


def other(net, x):
    """An operand that broadcasts with x: a tensor, a parameter or a constant."""
    shape = net.shape(x)
    alike = [y for y in net.reals if net.shape(y) == shape]
    if net.chance(0.4):
        return net.random.choice(alike)
    dims = [size if net.chance(0.7) else 1 for size in shape[net.random.randint(1, len(shape)) :]]
    if net.chance(0.7):
        return net.weight(*dims, scale=0.8)
    return net.constant(net.noise.standard_normal(dims))


@step(2)
def pair(net):
    op, x = net.random.choice("Add Sub Mul Div Sum PRelu Max Min".split()), net.pick()
    if op == "PRelu":
        dims = [n if net.chance() else 1 for n in net.shape(x)[1:]]
        return net.add(op, x, net.weight(*dims, scale=0.3))
    y = other(net, x)
    if op in ("Sum", "Max", "Min"):
        return net.add(op, *[x, y, other(net, x)][: net.random.randint(1, 3)])
    if op == "Div":
        return net.add(op, x, positive(net, y))
    return net.add(op, *((x, y) if net.chance(0.7) else (y, x)))


@step()
def gemm(net):
    x, width = net.pick(2, 2), net.random.randint(3, 8)
    inner, turned = net.shape(x)[1], net.random.randint(0, 1)
    weight = net.weight(*((width, inner) if turned else (inner, width)), scale=inner**-0.5)
    bias = [net.weight(*net.random.choice(((width,), (1, width), (1,))))] if net.chance() else []
    attributes = net.some(alpha=0.8, beta=1.3)
    return net.add("Gemm", x, weight, *bias, transB=turned, **attributes)


@step()
def matmul(net):
    x, width = net.pick(), net.random.randint(3, 8)
    shape = net.shape(x)
    if len(shape) > 2 and net.chance(0.4):
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        y = net.add("Transpose", x, perm=order)
        return net.add("MatMul", *((x, y) if net.chance() else (y, x)))
    if len(shape) > 2 and net.chance(0.2):
        return net.add("MatMul", net.weight(width, shape[-2]), x)
    y = net.add("MatMul", x, net.weight(shape[-1], width, scale=shape[-1] ** -0.5))
    return net.add("Add", y, net.weight(width)) if net.chance() else y


@step()
def einsum(net):
    x = net.pick(2, 3)
    shape, width = net.shape(x), net.random.randint(3, 6)
    if len(shape) == 2:
        text, dims = net.random.choice(
            (("bi,ij->bj", (shape[1], width)), ("bi,ji->bj", (width, shape[1])))
        )
    else:
        text, dims = net.random.choice(
            (
                ("bti,ij->btj", (shape[2], width)),
                ("bti,tj->bij", (shape[1], width)),
                ("bti,tji->btj", (shape[1], width, shape[2])),
                ("bti,bsi->bts", None),
                ("bti,btj->bij", None),
                ("bti,btj", None),
            )
        )
    return net.add("Einsum", x, net.weight(*dims) if dims else x, equation=text)


@step(2)
def convolution(net):
    x = net.pick(3, 5)
    _, channels, *sizes = net.shape(x)
    groups = net.random.choice([g for g in (1, 1, 2, channels) if channels % g == 0])
    results = groups * net.random.randint(1, 3)
    kernel = [net.random.randint(1, min(3, size)) for size in sizes]
    attributes = net.some(strides=[net.random.randint(1, 2) for _ in sizes], kernel_shape=kernel)
    if net.chance(0.3):
        attributes["auto_pad"] = net.random.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        attributes |= net.some(pads=[net.random.randint(0, 1) for _ in 2 * sizes])
        attributes["dilations"] = [2 if net.chance(0.3) and size >= 5 else 1 for size in sizes]
    weight = net.weight(results, channels // groups, *kernel)
    bias = [net.weight(results)] if net.chance() else []
    return net.add("Conv", x, weight, *bias, group=groups, **attributes)


# onnx.reference has no others: it mistakes groups, and output_shape without auto_pad.
@step()
def transposed_convolution(net):
    x = net.pick(3, 5)
    _, channels, *sizes = net.shape(x)
    kernel = [net.random.randint(1, 3) for _ in sizes]
    strides = [net.random.randint(1, 2) for _ in sizes]
    dilations = [net.random.randint(1, 2) for _ in sizes]
    attributes = {"strides": strides, "dilations": dilations, **net.some(kernel_shape=kernel)}
    attributes |= net.some(output_padding=[net.random.randint(0, s - 1) for s in strides])
    if net.chance(0.3):
        attributes["auto_pad"] = net.random.choice(("SAME_UPPER", "SAME_LOWER"))
        attributes["output_shape"] = [
            stride * (size - 1) + 1 + net.random.randint(0, dilation * (width - 1))
            for size, width, stride, dilation in zip(sizes, kernel, strides, dilations)
        ]
    else:
        attributes |= net.some(pads=[net.random.randint(0, 1) for _ in 2 * sizes])
    weight = net.weight(channels, net.random.randint(1, 6), *kernel)
    bias = [net.weight(net.shape(weight)[1])] if net.chance() else []
    return net.add("ConvTranspose", x, weight, *bias, **attributes)


@step(2)
def blocks(net):
    x = net.pick(4, 4)
    _, channels, height, width = net.shape(x)
    if net.chance():
        net.need(channels % 4 == 0)
        return net.add("DepthToSpace", x, blocksize=2, **net.some(mode="CRD"))
    net.need(height % 2 == width % 2 == 0)
    return net.add("SpaceToDepth", x, blocksize=2)


@step(3)
def pool(net):
    x = net.pick(3, 5)
    op = net.random.choice(
        "MaxPool MaxPool AveragePool GlobalAveragePool GlobalMaxPool GlobalMaxPool LRN".split()
    )
    # onnx.reference has no others of GlobalMaxPool, and loses padding of MaxPool's.
    net.need(len(net.shape(x)) == 4 or op in ("AveragePool", "GlobalAveragePool"))
    if op == "LRN":
        return net.add(
            op, x, size=net.random.choice((1, 3, 5)), **net.some(alpha=0.1, beta=0.6, bias=1.3)
        )
    if op.startswith("Global"):
        return net.add(op, x)
    sizes = net.shape(x)[2:]
    kernel = [net.random.randint(1, min(3, size)) for size in sizes]
    pads = [net.random.randint(0, k // 2) for k in kernel * 2]
    if op == "MaxPool":  # onnx.reference mistakes one side for another
        pads = [min(pads)] * len(pads)
    attributes = net.some(strides=[net.random.randint(1, 2) for _ in sizes], pads=pads)
    if op == "AveragePool" and min(kernel) > 1:  # else ONNX counts a window behind the image
        attributes |= net.some(ceil_mode=1)
    if op == "AveragePool":
        attributes |= net.some(count_include_pad=1)
    return net.add(op, x, kernel_shape=kernel, **attributes)


@step(4)
def normalization(net):
    kinds = "Batch Layer Instance Softmax LogSoftmax".split()
    kinds += ["Group"] * 3 * (net.opset >= 21) + ["RMS"] * (net.opset >= 23)
    kind = net.random.choice(kinds)
    x = net.pick(3 if kind in ("Instance", "Group") else 2)
    shape = net.shape(x)
    if kind.endswith("Softmax"):
        axis = net.random.choice(
            [d - len(shape) * net.random.randint(0, 1) for d in range(1, len(shape))]
        )
        return (
            net.add(kind, x, **net.some(axis=axis)) if axis == -1 else net.add(kind, x, axis=axis)
        )
    op, more = f"{kind}Normalization", net.some(epsilon=1e-3)
    if kind in ("Layer", "RMS"):
        axis = net.random.choice((-1, net.random.randint(1, len(shape) - 1)))
        scale, shift = (net.weight(*shape[axis:], scale=1) for _ in range(2))
        return net.add(
            op, x, scale, *([shift] if kind == "Layer" and net.chance() else []), axis=axis, **more
        )
    scale, shift = (net.weight(shape[1], scale=1) for _ in range(2))
    if kind == "Batch":
        net.batches.discard(1)  # training takes the statistics of the whole batch
        mean, variance = net.weight(shape[1]), net.stored(net.noise.rand(shape[1]) + 0.5)
        return net.add(op, x, scale, shift, mean, variance, outputs=3, training_mode=1, **more)[0]
    if kind == "Group":
        groups = net.random.choice([g for g in range(1, shape[1] + 1) if shape[1] % g == 0])
        more["num_groups"] = groups
    return net.add(op, x, scale, shift, **more)


@step(8)
def attention(net):
    net.need(net.opset >= 23)
    x = net.pick(3, 3)
    _, length, width = net.shape(x)
    heads, each = net.random.choice((1, 2, 4)), net.random.choice((2, 4))
    fewer = net.random.choice([h for h in (1, 2, 4) if heads % h == 0])

    def projected(count):
        return net.add("MatMul", x, net.weight(width, count * each, scale=width**-0.5))

    q, k, v = projected(heads), projected(fewer), projected(fewer)
    counts = {"q_num_heads": heads, "kv_num_heads": fewer}
    if net.chance():  # heads are a dimension
        q, k, v = (split(net, y, n, each) for y, n in ((q, heads), (k, fewer), (v, fewer)))
        counts = {}
        if net.chance(0.7):
            q, k = rotary(net, q, length, each), rotary(net, k, length, each)
    mask = []
    if net.chance():
        values = net.noise.rand(length, length) < 0.7
        values[:, 0] = True
        if net.chance():
            mask = [net.constant(values, bool)]
        else:
            mask = [net.constant(net.noise.standard_normal((length, length)))]
    more = net.some(scale=0.4, is_causal=1)
    y = net.add("Attention", q, k, v, *mask, **counts, **more)
    return y if counts else net.add("Transpose", y, perm=[0, 2, 1, 3])


def split(net, x, heads, each):
    """[batch, length, heads * each] as [batch, heads, length, each]"""
    x = net.add("Reshape", x, net.integers(0, 0, heads, each))
    return net.add("Transpose", x, perm=[0, 2, 1, 3])


def rotary(net, x, length, each):
    angles = net.noise.standard_normal((length + 2, each // 2))
    tables = [net.constant(f(angles)) for f in (numpy.cos, numpy.sin)]
    first = net.add("Shape", x, start=0, end=1)
    shape = net.add("Concat", first, net.integers(length), axis=0)
    numbers = net.integers(*(net.random.randint(0, length + 1) for _ in range(length)))
    places = net.add("Expand", numbers, shape)
    return net.add("RotaryEmbedding", x, *tables, places, **net.some(interleaved=1))
