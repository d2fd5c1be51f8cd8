"""A plan's initial values and samples in NumPy, bit by bit as the runtime draws them, and
tensors' sketches.

Whoever has plan.json and a seed has all weights: nothing large travels.
`runtime/data/RandomStream.h` says how numbers are drawn. Only constants and uniform distributions
are drawn here: they take no function that rounds differently between libraries.
"""

import json
import math
import pathlib

import numpy

CHUNK = 1 << 14
PROJECTIONS = 16


def stable_hash(text):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def philox(key, counter):
    """Philox4x32-10 of a key of two words; `counter` is a list of four arrays or words."""
    low = numpy.uint64(0xFFFFFFFF)
    half = numpy.uint64(32)
    c = [numpy.asarray(word, numpy.uint64) for word in counter]
    k = list(key)
    for _ in range(10):
        a, b = c[0] * numpy.uint64(0xD2511F53), c[2] * numpy.uint64(0xCD9E8D57)
        c = [
            b >> half ^ c[1] ^ numpy.uint64(k[0]),
            b & low,
            a >> half ^ c[3] ^ numpy.uint64(k[1]),
            a & low,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniform(seed, name, count):
    """The first `count` numbers in [0, 1) of a stream, in float64."""
    stream = stable_hash(name)
    key = (seed & 0xFFFFFFFF, seed >> 32)
    out = numpy.empty(count)
    for begin in range(0, count, CHUNK):
        i = numpy.arange(begin, min(begin + CHUNK, count), dtype=numpy.uint64)
        words = philox(
            key,
            [
                i & numpy.uint64(0xFFFFFFFF),
                i >> numpy.uint64(32),
                stream & 0xFFFFFFFF,
                stream >> 32,
            ],
        )
        bits = (words[1] << numpy.uint64(32) | words[0]) >> numpy.uint64(11)
        out[begin : begin + len(i)] = bits.astype(numpy.float64) * 2.0**-53
    return out


def initial(tensor, seed):
    """The value of one of plan.json's tensors before the first step."""
    rule, shape = tensor["init"], tensor["shape"]
    kind = {"f32": numpy.float32, "i64": numpy.int64}[tensor["type"]]
    if rule["kind"] == "constant":
        return numpy.full(shape, rule["value"], kind)
    if rule["kind"] != "uniform":
        raise ValueError(
            f"'{tensor['name']}': expected a constant or uniform values, got '{rule['kind']}'"
        )
    drawn = uniform(seed, tensor["name"], math.prod(shape))
    return (rule["low"] + (rule["high"] - rule["low"]) * drawn).astype(kind).reshape(shape)


def parameters(plan, seed):
    """All parameters of the plan folder `plan`, by name, one after the other: they may be large."""
    document = json.loads((pathlib.Path(plan) / "plan.json").read_text())
    for tensor in document["tensors"]:
        if tensor["kind"] == "parameter":
            yield tensor["name"], initial(tensor, seed)


def samples(count, shape, classes, seed):
    """Inputs of mean 0 and deviation 1, and labels."""
    drawn = uniform(seed, "check inputs", count * math.prod(shape))
    inputs = ((drawn - 0.5) * math.sqrt(12)).astype(numpy.float32).reshape(count, *shape)
    labels = (uniform(seed, "check labels", count) * classes).astype(numpy.int64)
    return inputs, labels


def sketch(array, name):
    """A short vector whose norm is about the tensor's, and whose distance from another tensor's
    sketch is about the tensors' distance: projections on random signs. With 16 of them an estimate
    is off by a fifth, seldom by half. Has two dimensions where the tensor has several, as
    `compare.gradients` wants to know."""
    flat = array.reshape(-1)
    random = numpy.random.RandomState(stable_hash(name) & 0xFFFFFFFF)
    total = numpy.zeros(PROJECTIONS)
    for begin in range(0, flat.size, CHUNK):
        part = flat[begin : begin + CHUNK].astype(numpy.float64)
        bits = numpy.unpackbits(
            random.randint(0, 256, (part.size * PROJECTIONS + 7) // 8).astype(numpy.uint8)
        )
        signs = bits[: part.size * PROJECTIONS].reshape(part.size, PROJECTIONS)
        total += 2 * (part @ signs) - part.sum()
    total /= math.sqrt(PROJECTIONS)
    return total.reshape(1, -1) if array.ndim > 1 else total
