#!/usr/bin/python3
"""Writes texts as pairs of .npy files for `syncline run`: 64 characters, and the character that
follows each. The texts are those of the licences that every Debian has, or files of yours.

    samples/data/text.py                     text-{train,test}-{x,y}.npy beside this file, 14 MB
    samples/data/text.py -o FOLDER A.txt     there, of A.txt

A character is its place in ASCII from the space on; 95 is the end of a line. What is not ASCII
counts as a space. The last tenth of each text is the test set.
"""

import argparse
import pathlib
import sys

import numpy

SOURCE = pathlib.Path("/usr/share/common-licenses")
LENGTH = 64  # characters of a sample
STRIDE = 16  # from one training sample to the next
SPACE, LINE = 0, 95


def ids(path):
    """The ids of a text's characters."""
    try:
        raw = numpy.frombuffer(path.read_bytes(), numpy.uint8).astype(numpy.int64)
    except OSError as error:
        raise SystemExit(f"text: {error}; expected a file of text") from error
    printable = (raw >= ord(" ")) & (raw <= ord("~"))
    return numpy.where(raw == ord("\n"), LINE, numpy.where(printable, raw - ord(" "), SPACE))


def samples(text, stride):
    """Every sample of `text` from `stride` to `stride` characters: its input and its labels."""
    if len(text) <= LENGTH:
        return [numpy.empty((0, LENGTH), numpy.int64)] * 2
    windows = numpy.lib.stride_tricks.sliding_window_view(text, LENGTH + 1)[::stride]
    return windows[:, :-1], windows[:, 1:]


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", nargs="*", type=pathlib.Path, help=f"default: those of {SOURCE}")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    chosen = parser.parse_args(words)
    found = [path for path in sorted(SOURCE.glob("*")) if not path.is_symlink()]
    texts = [ids(path) for path in chosen.texts or found]
    chosen.output.mkdir(parents=True, exist_ok=True)
    for name, stride in (("train", STRIDE), ("test", LENGTH)):
        cuts = [len(text) - len(text) // 10 for text in texts]
        parts = [
            samples(text[:cut] if name == "train" else text[cut:], stride)
            for text, cut in zip(texts, cuts)
        ]
        for end, arrays in zip("xy", zip(*parts)):
            made = numpy.concatenate(arrays)
            if not len(made):
                raise SystemExit(
                    f"text: no sample for the {name} set; expected texts of more than "
                    f"{10 * (LENGTH + 1)} characters"
                )
            numpy.save(chosen.output / f"text-{name}-{end}.npy", made)


if __name__ == "__main__":
    main(sys.argv[1:])
