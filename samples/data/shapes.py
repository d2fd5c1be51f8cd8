#!/usr/bin/python3
"""Writes images of circles and squares, and the class of each pixel, as pairs of .npy files for
`syncline run`.

    samples/data/shapes.py                   shapes-{train,test}-{x,y}.npy beside this file, 21 MB
    samples/data/shapes.py -o FOLDER --train 1000 --test 100

An image has one channel of 32 x 32 pixels: noise, and one to three shapes, which are brighter or
darker. Classes are 0 for the background, 1 for a circle, 2 for a square. What is drawn depends on
the numbers of images alone.
"""

import argparse
import pathlib
import sys

import numpy

SIZE = 32
NOISE = 0.2  # standard deviation
CIRCLE, SQUARE = 1, 2


def draw(random):
    """An image and its mask. Later shapes cover earlier ones."""
    image, mask = numpy.zeros((SIZE, SIZE)), numpy.zeros((SIZE, SIZE), numpy.int64)
    rows, columns = numpy.mgrid[:SIZE, :SIZE]
    for _ in range(random.integers(1, 4)):
        radius, kind = random.uniform(4, 8), random.choice([CIRCLE, SQUARE])
        row, column = random.uniform(0, SIZE, 2)
        brightness = random.choice([-1, 1]) * random.uniform(0.5, 1)
        down, right = abs(rows - row), abs(columns - column)
        if kind == CIRCLE:
            inside = down**2 + right**2 < radius**2
        else:
            inside = numpy.maximum(down, right) < radius
        image[inside], mask[inside] = brightness, kind
    return image + random.normal(0, NOISE, image.shape), mask


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--train", type=int, default=1536, help="images (default: 1536)")
    parser.add_argument("--test", type=int, default=256, help="images (default: 256)")
    chosen = parser.parse_args(words)
    if min(chosen.train, chosen.test) < 1:
        parser.error("expected at least 1 image")
    chosen.output.mkdir(parents=True, exist_ok=True)
    for part, count, seed in (("train", chosen.train, 0), ("test", chosen.test, 1)):
        random = numpy.random.default_rng(seed)
        images, masks = map(numpy.stack, zip(*(draw(random) for _ in range(count))))
        numpy.save(chosen.output / f"shapes-{part}-x.npy", images[:, None].astype(numpy.float32))
        numpy.save(chosen.output / f"shapes-{part}-y.npy", masks)
        print(f"{part}: {count} images, {numpy.mean(masks == 0):.1%} of the pixels are background")


if __name__ == "__main__":
    main(sys.argv[1:])
