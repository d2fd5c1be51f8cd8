#!/usr/bin/python3
"""Writes pairs of .npy files for `syncline run`: 32 characters, and the character that follows
each. Words of four opening brackets, drawn at random, and the four that close them, last one first.

    samples/data/mirrors.py                mirrors-{train,test}-{x,y}.npy beside this file, 2 MB
    samples/data/mirrors.py -o FOLDER

Brackets that open cannot be known, and a quarter of them is right by chance: at most 62.5 % of the
characters can be told. Who sees only the character before tells 22 %. An LSTM of two layers needs
some 100 steps:

    samples/data/mirrors.py -o .
    samples/models/export.py lstm:characters -o lstm.onnx
    syncline compile lstm.onnx --cluster local4 --batch 16 --optimizer adam -o lstm.plan
    syncline run lstm.plan -n 4 --steps 250 --lr 0.01 --shuffle \\
        --data mirrors-train-x.npy,mirrors-train-y.npy \\
        --eval mirrors-test-x.npy,mirrors-test-y.npy
"""

import argparse
import pathlib

import numpy

KINDS, DEPTH, LENGTH = 4, 4, 32  # kinds of brackets, brackets of a word, characters of a sample
SAMPLES = {"train": 4000, "test": 500}


def text(words, random):
    """Ids: openers are 0 to KINDS - 1, and a closer is its opener's and KINDS."""
    openers = random.randint(0, KINDS, (words, DEPTH))
    return numpy.concatenate((openers, openers[:, ::-1] + KINDS), 1).reshape(-1)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder = parser.parse_args(words).output
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.RandomState(0)
    for name, samples in SAMPLES.items():
        ids = text(samples * LENGTH // (2 * DEPTH) + 1, random)[: samples * LENGTH + 1]
        numpy.save(folder / f"mirrors-{name}-x.npy", ids[:-1].reshape(samples, LENGTH))
        numpy.save(folder / f"mirrors-{name}-y.npy", ids[1:].reshape(samples, LENGTH))


if __name__ == "__main__":
    main()
