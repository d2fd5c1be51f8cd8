#!/usr/bin/env python3
"""Writes the layer traces beside this file (or into the folder given): exact sizes, times
distributed by FLOPs.

Plain Python 3, no input, the same bytes every time. README.md says where the figures come from.
"""

import pathlib
import sys

import architectures

# Samples per rank; images/s of one node (None: unknown, then FLOPs at RATE).
TRACES = [
    (architectures.alexnet(), 256, None),
    (architectures.googlenet(), 128, 257),
    (architectures.InceptionV3().whole(), 32, None),
    (architectures.resnet152(), 32, None),
    (architectures.vgg19(), 32, 35.5),
    (architectures.vgg19("vgg19-22k", 21841), 32, 34.6),
]
RATE = 3.3e12  # FLOP/s: half of a Titan X's 6.6 TFLOP/s
BYTES = 4  # an element


def flops(layer, batch, is_first):
    """Forward and backward. The gradient by the input, half of the backward pass, is not needed of
    the first layer."""
    forward = 2 * layer[2] * batch
    return forward, forward if is_first else 2 * forward


def rows(net, batch, images_per_second):
    work = [flops(layer, batch, i == 0) for i, layer in enumerate(net.layers)]
    total = sum(f + b for f, b in work)
    rate = total * images_per_second / batch if images_per_second else RATE
    yield "name,bytes,forward,backward,M,N,K"
    for (name, count, _, product), (forward, backward) in zip(net.layers, work):
        shape = f"{product[0]},{product[1]},{batch}" if product else ",,"
        yield (
            f"{name},{BYTES * count}B,{1e3 * forward / rate:.4g}ms,"
            f"{1e3 * backward / rate:.4g}ms,{shape}"
        )


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for net, batch, images_per_second in TRACES:
        text = "\n".join(rows(net, batch, images_per_second)) + "\n"
        (folder / f"{net.name}.csv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
