#!/usr/bin/python3
"""Writes the Fashion-MNIST images, 70,000 of 28 x 28 pixels in 10 classes, as pairs of .npy files
for `syncline run`. Debian's package dataset-fashion-mnist has them:

    apt-get install dataset-fashion-mnist
    samples/data/fashion.py              fashion-{train,test}-{x,y}.npy beside this file, 220 MB
    samples/data/fashion.py -o FOLDER    there
"""

import argparse
import gzip
import pathlib
import sys

import numpy

SOURCE = pathlib.Path("/usr/share/datasets/fashion-mnist")
PARTS = {"train": "train", "test": "t10k"}
BYTES = 8  # the IDX format's code of unsigned bytes


def read_idx(path):
    """The array of a gzipped IDX file of bytes: 0, 0, the type's code, the dimensions' number,
    each dimension as a big-endian number of four bytes, the elements row by row."""
    try:
        raw = gzip.open(path).read()
    except OSError as error:
        raise SystemExit(
            f"fashion: {error}; expected the files of Debian's package dataset-fashion-mnist, "
            "or of another folder that --source names"
        ) from error
    dimensions = raw[3] if len(raw) > 3 else 0
    shape = numpy.frombuffer(raw, ">u4", dimensions, 4) if len(raw) >= 4 + 4 * dimensions else []
    values = raw[4 + 4 * dimensions :]
    if raw[:3] != bytes((0, 0, BYTES)) or len(values) != numpy.prod(shape, dtype=int):
        raise SystemExit(f"fashion: '{path}': expected a whole IDX file of bytes")
    return numpy.frombuffer(values, numpy.uint8).reshape(shape)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--source", type=pathlib.Path, default=SOURCE, help=f"default: {SOURCE}")
    chosen = parser.parse_args(words)
    chosen.output.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        images = read_idx(chosen.source / f"{part}-images-idx3-ubyte.gz")
        labels = read_idx(chosen.source / f"{part}-labels-idx1-ubyte.gz")
        if len(images) != len(labels):
            raise SystemExit(f"fashion: {len(images)} images and {len(labels)} labels of '{part}'")
        pixels = images[:, None].astype(numpy.float32) / numpy.float32(255)
        numpy.save(chosen.output / f"fashion-{name}-x.npy", pixels)
        numpy.save(chosen.output / f"fashion-{name}-y.npy", labels.astype(numpy.int64))


if __name__ == "__main__":
    main(sys.argv[1:])
