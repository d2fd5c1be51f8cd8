"""The networks of MG-WFBP's evaluation that no trace has, tensor by tensor as PyTorch's hooks
see them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "traces"))
import architectures  # noqa: E402
from architectures import Network, joined, pool  # noqa: E402

resnet152 = architectures.resnet152
googlenet = architectures.googlenet


def resnet50():
    return architectures.resnet("resnet50", (3, 4, 6, 3))


def densenet(name, growth, first, blocks):
    """Huang et al. 2017: every layer of a block reads all before it."""
    net = Network(name)
    x = pool(net.conv_norm("conv0", (3, 224, 224), first, 7, stride=2, pad=3), 3, 2, pad=1)
    for block, count in enumerate(blocks, 1):
        for i in range(1, count + 1):
            label = f"block{block}/layer{i}"
            net.norm(f"{label}/norm1", x)
            y = net.conv_norm(f"{label}/conv1", x, 4 * growth, 1)
            y = net.conv(f"{label}/conv2", y, growth, 3, pad=1, bias=False)
            x = joined([x, y])
        net.norm(f"norm{block}", x)
        if block < len(blocks):
            x = pool(net.conv(f"transition{block}", x, x[0] // 2, 1, bias=False), 2, 2)
    net.dense("classifier", x[0], 1000)
    return net


def inception_v4():
    """Szegedy et al. 2017, figure 9."""
    net = Network("inception-v4")

    def chain(name, x, *steps):
        """Steps are (channels, kernel, stride, pad); a kernel of 1x7 keeps the size."""
        for i, (out, kernel, *rest) in enumerate(steps, 1):
            same = tuple(k // 2 for k in kernel) if isinstance(kernel, tuple) else kernel // 2
            stride, pad = rest if rest else (1, same)
            x = net.conv_norm(f"{name}_{i}", x, out, kernel, stride, pad)
        return x

    row, column = (1, 7), (7, 1)
    x = chain("stem", (3, 299, 299), (32, 3, 2, 0), (32, 3, 1, 0), (64, 3))
    x = joined([pool(x, 3, 2), chain("stem/3a", x, (96, 3, 2, 0))])
    x = joined([chain("stem/4a0", x, (64, 1), (96, 3, 1, 0)),
                chain("stem/4a1", x, (64, 1), (64, row), (64, column), (96, 3, 1, 0))])  # fmt: skip
    x = joined([chain("stem/5a", x, (192, 3, 2, 0)), pool(x, 3, 2)])
    for i in range(4):
        x = joined([chain(f"a{i}/0", x, (96, 1)), chain(f"a{i}/1", x, (64, 1), (96, 3)),
                    chain(f"a{i}/2", x, (64, 1), (96, 3), (96, 3)),
                    chain(f"a{i}/3", x, (96, 1))])  # fmt: skip
    x = joined(
        [
            chain("ra/0", x, (384, 3, 2, 0)),
            chain("ra/1", x, (192, 1), (224, 3), (256, 3, 2, 0)),
            pool(x, 3, 2),
        ]
    )
    for i in range(7):
        x = joined([chain(f"b{i}/0", x, (384, 1)),
                    chain(f"b{i}/1", x, (192, 1), (224, row), (256, column)),
                    chain(f"b{i}/2", x, (192, 1), (192, column), (224, row), (224, column),
                          (256, row)),
                    chain(f"b{i}/3", x, (128, 1))])  # fmt: skip
    x = joined([chain("rb/0", x, (192, 1), (192, 3, 2, 0)),
                chain("rb/1", x, (256, 1), (256, row), (320, column), (320, 3, 2, 0)),
                pool(x, 3, 2)])  # fmt: skip
    for i in range(3):
        middle = chain(f"c{i}/1", x, (384, 1))
        long = chain(f"c{i}/2", x, (384, 1), (448, (3, 1)), (512, (1, 3)))
        x = joined([chain(f"c{i}/0", x, (256, 1)), chain(f"c{i}/1a", middle, (256, (1, 3))),
                    chain(f"c{i}/1b", middle, (256, (3, 1))),
                    chain(f"c{i}/2a", long, (256, (3, 1))),
                    chain(f"c{i}/2b", long, (256, (1, 3))),
                    chain(f"c{i}/3", x, (256, 1))])  # fmt: skip
    net.dense("fc", x[0], 1000)
    return net


def densenet161():
    return densenet("densenet161", 48, 96, (6, 12, 36, 24))


def densenet201():
    return densenet("densenet201", 32, 64, (6, 12, 48, 32))


# Parameters as published with the authors' models.
PARAMETERS = {
    "resnet152": 60_192_808, "inception-v4": 42_679_816, "densenet161": 28_681_000,
    "densenet201": 20_013_928, "resnet50": 25_557_032, "googlenet": 6_998_552,
}  # fmt: skip


def rows(net, seconds, element):
    """A trace of `seconds` an iteration, a third of it forward, shared out by FLOPs; a row
    a tensor."""
    assert net.parameters() == PARAMETERS[net.name], (net.name, net.parameters())
    total = sum(layer[2] for layer in net.layers)
    yield "name,bytes,forward,backward"
    for name, count, work, product in net.layers:
        forward = seconds / 3 * work / total
        small = product[1] if product else 0
        if name.endswith(("/bn", "/norm1")) or name.startswith("norm"):
            small = count // 2  # scale and shift
        # In backward order the first row of a layer is the last: its gradients exist together.
        yield f"{name},{element * (count - small)}B,{forward * 1e3:.6g}ms,{2 * forward * 1e3:.6g}ms"
        if small:
            yield f"{name}/shift,{element * small}B,0ms,0ms"
