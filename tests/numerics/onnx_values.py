"""The values that ONNX defines for nodes on constants, as NumPy arrays: onnx.reference's, or exact
ones that are rounded once."""

import math

import ml_dtypes
import mpmath
import numpy
from onnx import TensorProto, helper
from onnx.reference.ops._op_list import load_op

mpmath.mp.prec = 160
OPSETS = 17, 18  # from 18 on, the axes of all reductions are an operand
# Digits of the significand, and the exponent of the least number that is not subnormal.
REALS = {
    TensorProto.FLOAT: (numpy.dtype("f4"), 24, -126, 128),
    TensorProto.DOUBLE: (numpy.dtype("f8"), 53, -1022, 1024),
    TensorProto.FLOAT16: (numpy.dtype("f2"), 11, -14, 16),
    TensorProto.BFLOAT16: (numpy.dtype(ml_dtypes.bfloat16), 8, -126, 128),
}
INTEGERS = {
    TensorProto.INT64: numpy.dtype("i8"),
    TensorProto.INT32: numpy.dtype("i4"),
    TensorProto.INT16: numpy.dtype("i2"),
    TensorProto.INT8: numpy.dtype("i1"),
    TensorProto.UINT32: numpy.dtype("u4"),
    TensorProto.UINT16: numpy.dtype("u2"),
    TensorProto.UINT8: numpy.dtype("u1"),
}
TYPES = {**{number: row[0] for number, row in REALS.items()}, **INTEGERS}
TYPES[TensorProto.BOOL] = numpy.dtype(bool)
FUNCTIONS = {
    "Exp": (mpmath.exp, numpy.exp),
    "Log": (mpmath.log, numpy.log),
    "Sin": (mpmath.sin, numpy.sin),
    "Cos": (mpmath.cos, numpy.cos),
    "Pow": (mpmath.power, numpy.power),
}
REDUCTIONS = {
    "Sum": mpmath.fsum,
    "Mean": lambda row: mpmath.fsum(row) / len(row),
    "Prod": mpmath.fprod,
    "L1": lambda row: mpmath.fsum(row, absolute=True),
    "SumSquare": lambda row: mpmath.fsum(row, squared=True),
    "L2": lambda row: mpmath.sqrt(mpmath.fsum(row, squared=True)),
}


def rounded(value, number):
    """The nearest number of the type, to even between two; an exact value as mpmath's."""
    dtype, digits, least, most = REALS[number]
    if mpmath.isnan(value) or mpmath.isinf(value) or value == 0:
        return float(value)
    if abs(value) >= mpmath.mpf(2) ** (most + 1) or abs(value) < mpmath.mpf(2) ** (least - 80):
        return math.copysign(math.inf if abs(value) > 1 else 0, value)
    exponent = max(int(mpmath.floor(mpmath.log(abs(value), 2))) - digits + 1, least - digits + 1)
    scaled = mpmath.ldexp(value, -exponent)
    if abs(scaled) >= 2**digits:  # the logarithm was rounded up
        exponent, scaled = exponent + 1, scaled / 2
    whole = mpmath.nint(scaled)
    result = mpmath.ldexp(whole, exponent)
    is_large = abs(result) >= mpmath.mpf(2) ** most
    return math.copysign(math.inf if is_large else float(abs(result)), value)


def real(function, *operands):
    """The function's value where the operands are finite and it is a real number; else None."""
    if not all(numpy.isfinite(float(x)) for x in operands):
        return None
    try:
        value = function(*(mpmath.mpf(float(x)) for x in operands))
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return None if isinstance(value, mpmath.mpc) else value


def is_defined(op, x, y, number):
    """Whether ONNX defines the operator's result, and onnx.reference computes it."""
    if op == "CumSum":
        sums = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64)
        return x.ndim > 0 and number in sums
    if number in REALS:  # which of 0 and -0 is larger is not defined
        return op not in ("Max", "Min") or not ((x == 0).any() and (y == 0).any())
    if op == "Div" and magnitude(x) >= 2**52:
        return False  # onnx.reference divides in double
    if op in ("Div", "Mod"):  # the only quotient that overflows is one by -1
        return not (y == 0).any() and not (y.astype("f8") == -1).any()
    if op == "Pow":
        return ((0 <= y) & (y <= 20)).all()
    return op != "Neg" or TYPES[number].kind == "i"


def magnitude(x):
    return max(abs(int(value)) for value in x.reshape(-1))


def exact(value):
    return mpmath.mpf(float(value))


def fits(x, dtype):
    bounds = numpy.iinfo(dtype)
    x = x.astype(float)
    return numpy.isfinite(x).all() and (x > bounds.min - 1.0).all() and (x < bounds.max).all()


LOADED = {}


def reference(node, operands, opset=OPSETS[-1]):
    key = node.op_type, opset
    if key not in LOADED:
        LOADED[key] = load_op("", *key)
    params = {"log": lambda *words: None, "opsets": {"": opset}, "verbose": 0, "new_ops": None}
    return numpy.asarray(LOADED[key](node, params).run(*operands)[0])


def reduction(node, operands, number, opset):
    """None where ONNX does not define the value, or onnx.reference computes another."""
    x, kind = operands[0], node.op_type.removeprefix("Reduce")
    if kind in ("Max", "Min"):
        if number in REALS and (x == 0).any():
            return None  # which of 0 and -0 is larger is not defined
        wide = x.astype("f4") if number == TensorProto.BFLOAT16 else x
        return reference(node, [wide, *operands[1:]], opset).astype(TYPES[number])
    if number in INTEGERS:
        if kind == "Mean" and magnitude(x) * x.size >= 2**52:
            return None  # it divides in double
        return reference(node, operands, opset).astype(TYPES[number])
    # Which elements each result is of: the reference sums bits that stand for one each.
    bits = (1 << numpy.arange(x.size)).reshape(x.shape)
    sums = helper.make_node("ReduceSum", node.input, ["y"])
    sums.attribute.extend(node.attribute)
    takes_operand = kind == "Sum" or opset >= 18
    parts = reference(sums, [bits, *operands[1:]], opset if takes_operand else 11)
    rows = [[v for i, v in enumerate(x.reshape(-1)) if part >> i & 1] for part in parts.reshape(-1)]
    values = [reduced(kind, row, number) for row in rows]
    return numpy.array(values).astype(TYPES[number]).reshape(parts.shape)


def reduced(kind, row, number):
    """The exact value, rounded once."""
    row = [float(x) for x in row]
    if not numpy.isfinite(row).all():
        return {
            "Prod": numpy.prod,
            "L1": lambda row: numpy.abs(row).sum(),
            "SumSquare": lambda row: numpy.square(row).sum(),
            "L2": lambda row: numpy.square(row).sum(),
        }.get(kind, numpy.sum)(numpy.sign(row) * numpy.where(numpy.isinf(row), numpy.inf, 1))
    value = REDUCTIONS[kind]([mpmath.mpf(x) for x in row])
    if value != 0:
        return rounded(value, number)
    if kind == "Prod":
        return 0.0 * numpy.prod(numpy.copysign(1, row))
    is_negative = kind in ("Sum", "Mean") and (numpy.signbit(row) & (numpy.array(row) == 0)).all()
    return -0.0 if is_negative else 0.0


def evaluate(node, operands, number, opset):
    """The node's right value."""
    op = node.op_type
    with numpy.errstate(all="ignore"):
        if op.startswith("Reduce"):
            return reduction(node, operands, number, opset)
        if op == "Cast":
            return cast(operands[0], node.attribute[0].i)
        if op in ("Max", "Min") and number == TensorProto.BFLOAT16:  # NumPy's lose NaN
            wide = reference(node, [x.astype("f4") for x in operands])
            return wide.astype(TYPES[number])
        if op == "Pow" and number in INTEGERS:
            a, b = numpy.broadcast_arrays(*operands)
            powers = [int(x) ** int(y) for x, y in zip(a.reshape(-1), b.reshape(-1))]
            return wrapped(powers, TYPES[number]).reshape(a.shape)
        if op in FUNCTIONS:
            arrays = numpy.broadcast_arrays(*operands)
            rows = zip(*(x.reshape(-1) for x in arrays))
            values = [nearest(op, row, number) for row in rows]
            return numpy.array(values).astype(TYPES[number]).reshape(arrays[0].shape)
        return reference(node, operands)


def cast(x, to):
    """Rounded once, where NumPy goes by way of another type."""
    is_real = x.dtype.kind not in "iub"
    if to in REALS and is_real:
        values = [rounded(exact(v), to) if numpy.isfinite(float(v)) else v for v in x.reshape(-1)]
        values = numpy.copysign(numpy.array(values, "f8"), x.reshape(-1).astype("f8"))
    elif to in REALS:
        values = numpy.array([rounded(mpmath.mpf(int(v)), to) for v in x.reshape(-1)], "f8")
    elif to == TensorProto.BOOL:
        values = x.reshape(-1) != 0
    else:
        values = (x.astype("f8") if is_real else x).reshape(-1)
    return values.astype(TYPES[to]).reshape(x.shape)


def nearest(op, row, number):
    """The function's value, rounded once; what is no real number or zero as NumPy has it."""
    value = real(FUNCTIONS[op][0], *row)
    if value is None or value == 0:
        return FUNCTIONS[op][1](*(numpy.float64(x) for x in row))
    return rounded(value, number)


def wrapped(values, dtype):
    bits = dtype.itemsize * 8
    half = 1 << (bits - 1)
    if dtype.kind == "i":
        values = [(v + half) % (1 << bits) - half for v in values]
    else:
        values = [v % (1 << bits) for v in values]
    return numpy.array(values, dtype=object).astype(dtype)
