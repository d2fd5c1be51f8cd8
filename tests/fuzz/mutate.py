"""Changes inputs at random: bytes, text, JSON trees, ONNX graphs. Every choice comes from the
`random.Random` that is given, so that a seed says the whole input."""

import copy

NUMBERS = [
    *("0", "-1", "1", "2", "7", "255", "65536", "2147483647", "2147483648", "4294967296"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "1" + "0" * 400),
    *(
        "-0",
        "0.5",
        "-2.5",
        "1e-320",
        "1e308",
        "1e309",
        "-1e30",
        "nan",
        "inf",
        "-inf",
        "0x10",
        "1_000",
    ),
]
WORDS = [
    *(
        "",
        " ",
        "\n",
        "\t",
        "\0",
        '"',
        "'",
        "\\",
        "/",
        "..",
        "../../x",
        "%s%n",
        "*",
        "?",
        "[",
        "]",
        "{",
        "}",
    ),
    *(
        "(",
        ")",
        ",",
        ":",
        ";",
        "#",
        "-",
        "--",
        "&a",
        "*a",
        "<!--",
        "]]>",
        "&lt;",
        "null",
        "true",
        "~",
        "é",
        "\u202e",
    ),
    *(
        "10 Gb/s",
        "1 us",
        "5 GiB",
        "-1 s",
        "0 B",
        "1e300 GB/s",
        "NaN ms",
        "ring",
        "tree",
        "optimal",
        "\ud800",
    ),
    *(
        "[" * 100_000,
        '{"a":' * 50_000,
        "<a>" * 50_000,
    ),  # more levels than a recursive reader's stack holds
]
MOST_BYTES = 1 << 20


def data(rng, original, words=WORDS):
    """`original` (bytes) after one or a few changes of bytes, ranges, numbers or words."""
    changed = bytearray(original)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(BYTE_CHANGES)(rng, changed, words)
        del changed[MOST_BYTES:]
    return bytes(changed)


def span(rng, changed):
    begin = rng.randrange(len(changed) + 1)
    return begin, min(len(changed), begin + rng.choice((1, 2, 4, 8, 40, 300, 4000)))


def flip(rng, changed, words):
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)


def overwrite(rng, changed, words):
    begin, end = span(rng, changed)
    changed[begin:end] = rng.randbytes(end - begin)


def remove(rng, changed, words):
    begin, end = span(rng, changed)
    del changed[begin:end]


def repeat(rng, changed, words):
    begin, end = span(rng, changed)
    changed[begin:begin] = changed[begin:end] * rng.choice((1, 1, 1, 2, 10, 1000))


def move(rng, changed, words):
    begin, end = span(rng, changed)
    piece = bytes(changed[begin:end])
    at = rng.randrange(len(changed) + 1)
    changed[at:at] = piece


def cut(rng, changed, words):
    del changed[rng.randrange(len(changed) + 1) :]


def insert(rng, changed, words):
    at = rng.randrange(len(changed) + 1)
    changed[at:at] = rng.choice(words).encode("utf-8", "surrogatepass")


def renumber(rng, changed, words):
    """Another number in place of the first one after a place chosen at random."""
    begin = rng.randrange(len(changed) + 1)
    while begin < len(changed) and not 48 <= changed[begin] <= 57:
        begin += 1
    end = begin
    while end < len(changed) and (48 <= changed[end] <= 57 or changed[end] in b".e"):
        end += 1
    if end > begin:
        changed[begin:end] = rng.choice(NUMBERS).encode()


def swap_lines(rng, changed, words):
    lines = bytes(changed).split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    changed[:] = b"\n".join(lines)


BYTE_CHANGES = (
    flip,
    flip,
    overwrite,
    remove,
    repeat,
    move,
    cut,
    insert,
    insert,
    renumber,
    renumber,
    swap_lines,
)


def text(rng, original, words=WORDS):
    """`original` (str) changed as bytes; the result is bytes and need not be UTF-8."""
    return data(rng, original.encode(), words)


def tree(rng, document):
    """A copy of a JSON document after one or a few changes of its nodes."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = [place for place in children(changed)]
        if places:
            change_node(rng, *rng.choice(places), places)
    return changed


def children(node):
    """(container, key) of every node below `node`."""
    keys = (
        node.keys()
        if isinstance(node, dict)
        else range(len(node)) if isinstance(node, list) else ()
    )
    for key in list(keys):
        yield node, key
        yield from children(node[key])


def change_node(rng, container, key, places):
    choice = rng.randrange(8)
    if choice == 0:
        del container[key]
    elif choice == 1 and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif choice == 2:
        other, name = rng.choice(places)
        container[key] = copy.deepcopy(other[name]) if name_in(other, name) else None
    elif choice == 3:
        container[key] = nested(rng)
    else:
        container[key] = scalar(rng, container[key])


def name_in(container, key):
    return key in container if isinstance(container, dict) else key < len(container)


def nested(rng):
    """Lists in lists, up to what a parser's stack may not hold."""
    node = []
    for _ in range(rng.choice((1, 10, 300))):
        node = [node]
    return node


def scalar(rng, old):
    if isinstance(old, (int, float)) and not isinstance(old, bool) and rng.random() < 0.5:
        return rng.choice(
            (old + 1, old - 1, -old, old * 2, old / 2, old * 1e6, float(old), int(min(old, 1e18)))
        )
    return rng.choice(
        (
            0,
            1,
            -1,
            2**31,
            2**63 - 1,
            2**64,
            1e308,
            5e-324,
            "",
            "x",
            rng.choice(WORDS),
            None,
            True,
            [],
            {},
        )
    )


def onnx_graph(rng, original):
    """A copy of an ONNX model after one or a few changes of its nodes, attributes, shapes
    and names."""
    changed = copy.deepcopy(original)
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(GRAPH_CHANGES)(rng, changed.graph)
    if rng.random() < 0.05:
        changed.opset_import[0].version = rng.choice((0, 1, 6, 7, 11, 14, 21, 22, 2**40))
    return changed


def rewire(rng, graph):
    node = rng.choice(graph.node) if graph.node else None
    if node is not None and node.input:
        names = [name for other in graph.node for name in (*other.input, *other.output)]
        node.input[rng.randrange(len(node.input))] = rng.choice((*names, "", "nowhere"))


def retype(rng, graph):
    if graph.node:
        rng.choice(graph.node).op_type = rng.choice((*(n.op_type for n in graph.node), *OPERATORS))


def reorder(rng, graph):
    if graph.node:
        at = rng.randrange(len(graph.node))
        node = copy.deepcopy(graph.node[at])
        del graph.node[at]
        if rng.random() < 0.5:
            graph.node.append(node)


def duplicate(rng, graph):
    if graph.node:
        graph.node.append(rng.choice(graph.node))


def change_attribute(rng, graph):
    attributes = [a for node in graph.node for a in node.attribute]
    if not attributes:
        return
    attribute = rng.choice(attributes)
    value = rng.choice((0, 1, -1, 2, 3, 7, 2**31, 2**62, -(2**63)))
    if attribute.ints and rng.random() < 0.8:
        attribute.ints[rng.randrange(len(attribute.ints))] = value
    elif rng.random() < 0.3:
        attribute.ints.append(value)
    elif rng.random() < 0.3:
        attribute.f = rng.choice((0.0, -1.0, 2.0, 1e38, float("nan"), float("inf")))
    else:
        attribute.i = value


def change_shape(rng, graph):
    values = [*graph.input, *graph.output, *graph.value_info]
    if not values:
        return
    dimensions = rng.choice(values).type.tensor_type.shape.dim
    if dimensions and rng.random() < 0.8:
        dimension = rng.choice(dimensions)
        if rng.random() < 0.3:
            dimension.dim_param = rng.choice(("", "n", "batch"))
        else:
            dimension.dim_value = rng.choice((0, 1, 2, 3, -1, 2**31, 2**62))
    else:
        dimensions.add().dim_value = rng.choice((1, 2, 5))


def change_weight(rng, graph):
    if not graph.initializer:
        return
    tensor, choice = rng.choice(graph.initializer), rng.randrange(4)
    if choice == 0 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice((0, 1, 2, 3, -1, 2**31, 2**62))
    elif choice == 1:
        tensor.dims.append(rng.choice((1, 2, 0)))
    elif choice == 2:
        tensor.data_type = rng.randrange(20)
    else:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]


def rename(rng, graph):
    named = [*graph.node, *graph.initializer, *graph.input, *graph.output]
    if named:
        rng.choice(named).name = (
            rng.choice((*WORDS[:30], "a" * 300, "x")).encode("utf-8", "ignore").decode()
        )


OPERATORS = (
    *(
        "Add",
        "Mul",
        "Relu",
        "Conv",
        "Gemm",
        "MatMul",
        "MaxPool",
        "AveragePool",
        "Flatten",
        "Reshape",
        "Transpose",
    ),
    *(
        "Concat",
        "Slice",
        "Pad",
        "Expand",
        "Softmax",
        "BatchNormalization",
        "Dropout",
        "Identity",
        "LRN",
        "If",
        "Loop",
    ),
    *(
        "Gather",
        "GatherND",
        "Constant",
        "Shape",
        "Cast",
        "ReduceMean",
        "GlobalAveragePool",
        "Clip",
        "NoSuchOperator",
    ),
)
GRAPH_CHANGES = (
    rewire,
    rewire,
    retype,
    reorder,
    duplicate,
    change_attribute,
    change_attribute,
    change_shape,
    change_weight,
    rename,
)
