#!/usr/bin/python3
"""Writes folders of .npy files for `syncline run`: texts of 4 to 128 words, and the class of each.

    samples/data/texts.py                  texts-{train,test}/ beside this file, 2 MB
    samples/data/texts.py -o FOLDER

The word behind the mark tells the class. It has four values, which occur elsewhere in the text too,
so that who counts words is right for 42 %. Files are as wide as their longest text; shorter ones
end with zeros. Plans for three lengths take the texts as they are sorted here:

    samples/data/texts.py -o .
    samples/models/export.py texts:classifier --open 1=seq -o texts.onnx
    syncline compile texts.onnx --cluster local4 --batch 16 --optimizer adam \\
        --dim seq=32,64,128 -o texts.plan
    syncline run texts.plan -n 4 --epochs 4 --lr 0.01 --shuffle \\
        --data texts-train --eval texts-test
"""

import argparse
import pathlib

import numpy

WORDS, CLASSES = 40, 4
MARK = 1  # values are the words 2 to 5, which are half of a text; others mean nothing
SAMPLES = {"train": 4000, "test": 600}
LENGTHS = {"short": (4, 30), "middle": (31, 60), "long": (61, 128)}
SHARES = {"short": 0.7, "middle": 0.2, "long": 0.1}


def texts(count, least, most, random):
    """Ids [count, most] and classes [count]."""
    ids = random.randint(MARK + 1 + CLASSES, WORDS, (count, most))
    values = random.randint(MARK + 1, MARK + 1 + CLASSES, (count, most))
    ids = numpy.where(random.random_sample((count, most)) < 0.5, values, ids)
    lengths = random.randint(least, most + 1, count)
    marks = (random.random_sample(count) * (lengths - 1)).astype(int)
    classes = random.randint(0, CLASSES, count)
    rows = numpy.arange(count)
    ids[rows, marks] = MARK
    ids[rows, marks + 1] = MARK + 1 + classes
    ids[numpy.arange(most) >= lengths[:, None]] = 0
    return ids[:, : lengths.max()], classes


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder = parser.parse_args(words).output
    random = numpy.random.RandomState(0)
    for part, samples in SAMPLES.items():
        place = folder / f"texts-{part}"
        place.mkdir(parents=True, exist_ok=True)
        for name, (least, most) in LENGTHS.items():
            ids, classes = texts(round(samples * SHARES[name]), least, most, random)
            numpy.save(place / f"{name}-x.npy", ids)
            numpy.save(place / f"{name}-y.npy", classes)


if __name__ == "__main__":
    main()
