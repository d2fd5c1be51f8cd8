#!/usr/bin/env python3
"""Fits the numbers of devices.yaml to published runs, and judges them.

    fit.py rows.csv kernels/ [--write] [--judge]

It needs numpy, scipy and PyYAML, and g++ for the formula, which is that of passes/cost/DeviceModel.
`--judge` fits once for each model without its rows and predicts them: no row judges a fit that it
was part of. `--write` writes the numbers, and how far predictions are off, into devices.yaml.
"""

import argparse
import collections
import csv
import ctypes
import pathlib
import re
import subprocess
import tempfile

import numpy
import yaml
from scipy.optimize import least_squares

from dump import like, name, precision

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TABLE = ROOT / "frontend/files/devices.yaml"
PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
SCALE = {"fp32": 1e12, "tf32": 1e12, "bf16": 1e12, "fp16": 1e12}
# What is fitted for all devices: first value, least, most, and how much its logarithm may differ.
SHARES = {
    "product": (0.7, 0.3, 1.0, 0.2), "batched": (0.5, 0.1, 1.0, 0.3),
    "convolution": (0.5, 0.2, 1.0, 0.3), "grouped": (0.15, 0.01, 1.0, 1.0),
    "depthwise": (0.4, 0.05, 1.0, 0.7), "recurrent": (0.5, 0.05, 1.0, 0.7),
    "pointwise": (0.8, 0.4, 0.95, 0.1), "normalization": (0.7, 0.3, 0.95, 0.3),
    "softmax": (0.7, 0.2, 0.95, 0.3), "pooling": (0.6, 0.15, 0.95, 0.5),
    "move": (0.6, 0.2, 0.95, 0.3), "embedding": (0.3, 0.05, 0.95, 0.7),
    "optimizer": (0.8, 0.4, 0.95, 0.1),
    "vector": (0.8, 0.4, 1.2, 0.2), "winograd": (1.4, 1.0, 2.25, 0.2),
    "unaligned": (0.5, 0.1, 1.0, 0.7),
    "conversion": (1.5, 0.1, 4.0, 0.7), "launch": (3e-6, 1e-6, 8e-6, 0.3),
    "issue": (7e-6, 4e-6, 12e-6, 0.3),
}
# What a generation has of its own, around 1.
OWN = {"matrix": 0.25, "memory": 0.15, "vector": 0.15}


# A generation without runs takes the factors of the one before.
BEFORE = {"blackwell": "hopper"}


class Formula:
    """The formula as a shared library."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        library = pathlib.Path(self.folder.name) / "model.so"
        subprocess.run(
            ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{ROOT}", "-o", library,
             HERE / "DeviceModelApi.cpp", ROOT / "passes/cost/DeviceModel.cpp"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.numberName.restype = self.library.kernelClassName.restype = ctypes.c_char_p
        self.library.numberDefault.restype = self.library.stepSeconds.restype = ctypes.c_double
        count = self.library.numberCount()
        self.names = [self.library.numberName(i).decode() for i in range(count)]
        self.usual = [self.library.numberDefault(i) for i in range(count)]
        self.classes = [self.library.kernelClassName(i).decode() for i in range(13)]

    def seconds(self, kernels, place, numbers, classes=None):
        values = numpy.array([numbers.get(n, u) for n, u in zip(self.names, self.usual)])
        classes = numpy.zeros(13) if classes is None else classes
        pointer = ctypes.POINTER(ctypes.c_double)
        return self.library.stepSeconds(
            len(kernels), kernels.ctypes.data_as(pointer), place, values.ctypes.data_as(pointer),
            classes.ctypes.data_as(pointer))


def family(model):
    """Models that are left out together: variants of one size of one architecture."""
    model = re.sub(r"_v1(\.5)?$|_(nchw|nhwc)$", "", model)
    return re.sub(r"^(transformer_xl|tft|bert_base|bart_large|nnunet|efficientnet(?:_widese)?_b4|"
                  r"regnet[xy]|gpt3|vgg16).*", r"\1", model)


class Row:
    def __init__(self, row, kernels, formula):
        self.row, self.kind, self.model = row, row["kind"], row["model"]
        self.family, self.like = family(row["model"]), like(row)
        self.precision = precision(row)
        self.seconds = float(row["batch"]) / float(row["samples_per_second"])
        lines = [line.split() for line in (kernels / name(row)).read_text().splitlines()]
        if row["scope"].startswith("forward"):
            lines = [line for line in lines if line[1] != "optimizer"]
        place = {c: i for i, c in enumerate(formula.classes)}
        self.kernels = numpy.array(
            [[float(line[0]), place[line[1]], *map(float, line[2:])] for line in lines])


def read(path, kernels, table, formula, classes):
    """The rows that can be predicted, and the reasons of those that cannot, with their numbers."""
    rows, left = [], collections.Counter()
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["class"] not in classes:
                continue
            kind = table["kinds"].get(row["kind"])
            if row["left_out"]:
                left[row["left_out"]] += 1
            elif not kind:
                left["no kind of device"] += 1
            elif not kind.get(precision(row)):
                left["no units of this precision"] += 1
            elif not (kernels / name(row)).exists():
                left["the model has no export, or a batch that is no number"] += 1
            else:
                rows.append(Row(row, kernels, formula))
    return rows, left


# What kernels have of their own that are not eager ones, around 1; and which rows say so.
LIKES = {
    "compiled": (lambda row: row["class"] == "compiled", ("matrix", "memory", "issue")),
    "best": (lambda row: row["framework"].startswith("MXNet NGC"), ("matrix", "memory")),
}


class Fit:
    """A fit of the shares and of what generations have of their own, for eager kernels."""

    def __init__(self, rows, table, formula):
        self.rows, self.table, self.formula = rows, table, formula
        self.likes = {}
        self.generations = sorted({table["kinds"][r.kind]["generation"] for r in rows})
        self.names = [("", n) for n in SHARES]
        self.names += [(g, n) for g in self.generations for n in OWN]
        count = collections.Counter(r.family for r in rows)
        self.weights = numpy.array([count[r.family] ** -0.35 for r in rows])

    def start(self):
        return numpy.log([SHARES[n][0] if not g else 1.0 for g, n in self.names])

    def numbers(self, x, kind, like_="pytorch"):
        kind = self.table["kinds"][kind]
        numbers = {n: kind.get(n, 0) * s for n, s in SCALE.items()}
        numbers["bandwidth"] = kind["memory"] * 1e9
        numbers["multiprocessors"] = kind["multiprocessors"]
        for (generation, number), value in zip(self.names, numpy.exp(x)):
            if not generation:
                numbers[number] = value
            elif generation == kind["generation"]:
                numbers[number] = value * numbers.get(number, 1)
        for number, value in self.likes.get(like_, {}).items():
            numbers[number] = value * numbers.get(number, 1)
        return numbers

    def predict(self, x, rows, classes=None):
        known = {(r.kind, r.like): self.numbers(x, r.kind, r.like) for r in rows}
        return numpy.array([
            self.formula.seconds(r.kernels, PRECISIONS.index(r.precision), known[r.kind, r.like],
                                 None if classes is None else classes[i])
            for i, r in enumerate(rows)])

    def solve(self, rows, weights, x0, steps):
        measured = numpy.log([r.seconds for r in rows])
        start = self.start()
        doubt = numpy.array([OWN[n] if g else SHARES[n][3] for g, n in self.names])
        least = numpy.log([0.3 if g else SHARES[n][1] for g, n in self.names])
        most = numpy.log([2.0 if g else SHARES[n][2] for g, n in self.names])

        def residuals(x):
            off = (numpy.log(self.predict(x, rows)) - measured) * weights / 0.15
            off = numpy.sign(off) * numpy.sqrt(2 * (numpy.sqrt(1 + off * off) - 1))
            return numpy.concatenate([off, (x - start) / doubt])

        inside = numpy.clip(x0, least + 1e-6, most - 1e-6)
        return least_squares(residuals, inside, bounds=(least, most), max_nfev=steps,
                             diff_step=1e-3).x

    def solve_like(self, x, one, rows):
        """Sets what the kernels `one` have of their own, with all else as it is."""
        names = LIKES[one][1]
        measured = numpy.log([r.seconds for r in rows])

        def residuals(y):
            self.likes[one] = dict(zip(names, numpy.exp(y)))
            return numpy.concatenate(
                [(numpy.log(self.predict(x, rows)) - measured) / 0.3, y / 0.3])

        start = numpy.zeros(len(names))
        y = least_squares(residuals, start, loss="soft_l1", bounds=(-1.2, 0.7)).x
        residuals(y)

    def judge(self, x):
        """Predictions of every row by a fit without its family."""
        told = numpy.zeros(len(self.rows))
        for one in sorted({r.family for r in self.rows}):
            inside = numpy.array([r.family != one for r in self.rows])
            rest = [r for r, i in zip(self.rows, inside) if i]
            own = self.solve(rest, self.weights[inside], x, 4)
            told[~inside] = self.predict(own, [r for r in self.rows if r.family == one])
        return told


def report(rows, told, key):
    groups = collections.defaultdict(list)
    for row, seconds in zip(rows, told):
        groups[key(row)].append(seconds / row.seconds)
    for group in sorted(groups):
        ratios = numpy.array(groups[group])
        off = numpy.abs(1 / ratios - 1)  # of the rate, as published
        print(f"| {group} | {len(off)} | {numpy.median(off):.0%} | {numpy.quantile(off, 0.9):.0%} "
              f"| {numpy.median(1 / ratios) - 1:+.0%} |")


def doubts(rows, told, key):
    """By kind or family: how many runs, and |error| of half of them and of nine of ten at most."""
    groups = collections.defaultdict(list)
    for row, seconds in zip(rows, told):
        groups[key(row)].append(abs(row.seconds / seconds - 1))
    return {group: (len(off), numpy.median(off), numpy.quantile(off, 0.9))
            for group, off in sorted(groups.items())}


def flow(numbers):
    return "{" + ", ".join(f"{n}: {v:.3g}" for n, v in numbers.items()) + "}"


def write(fit, x, judged):
    """Replaces what lies between BEGIN and END of devices.yaml."""
    values = dict(zip(fit.names, numpy.exp(x)))
    lines = ["# Of all kinds, with PyTorch's eager kernels.", "shares:"]
    lines += [f"  {n}: {v:.3g}" for (g, n), v in values.items() if not g]
    lines += ["# Factors on these by generation.", "generations:"]
    for generation in fit.generations:
        own = {n: v for (g, n), v in values.items() if g == generation}
        lines.append(f"  {generation}: {flow(own)}")
    for generation, one in BEFORE.items():
        if generation not in fit.generations:
            lines.append(next(f"  {generation}:" + line.split(":", 1)[1] + f" # as {one}"
                              for line in lines if line.startswith(f"  {one}:")))
    lines += ["# Factors on these by whose kernels they are.", "likes:"]
    lines += [f"  {one}: {flow(numbers)}" for one, numbers in fit.likes.items()]
    lines += ["# |error| of predicted rates of published runs, by fits without the run's model: of",
              "# half of the runs at most, of nine of ten at most; by kind, by family of models."]
    for key, groups in judged.items():
        lines.append(f"{key}:")
        lines += [f"  {group}: {{runs: {count}, median: {median:.2f}, ninth: {ninth:.2f}}}"
                  for group, (count, median, ninth) in groups.items()]
    text = TABLE.read_text()
    head, rest = text.split("# BEGIN", 1)
    first, tail = rest.split("\n", 1)
    TABLE.write_text(head + "# BEGIN" + first + "\n" + "\n".join(lines) + "\n# END"
                     + tail.split("# END", 1)[1])


def summary(rows, told, title):
    off = numpy.abs(numpy.array([r.seconds for r in rows]) / told - 1)
    print(f"\n{title}: {len(rows)} rows, median {numpy.median(off):.1%}, nine of ten "
          f"{numpy.quantile(off, 0.9):.1%}, within 35 %: {numpy.mean(off <= 0.35):.0%}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--write", action="store_true", help="change devices.yaml")
    parser.add_argument("--rows", dest="each", action="store_true", help="print every row")
    arguments = parser.parse_args()
    table = yaml.safe_load(TABLE.read_text())
    formula = Formula()
    rows, left = read(arguments.rows, arguments.kernels, table, formula, ("pytorch",))
    fit = Fit(rows, table, formula)
    x = fit.solve(rows, fit.weights, fit.start(), 25)
    for (generation, number), value in zip(fit.names, numpy.exp(x)):
        print(generation, number, f"{value:.3g}")
    told = fit.predict(x, rows)
    summary(rows, told, "with all rows")
    if arguments.judge:
        told = fit.judge(x)
        summary(rows, told, "without the model's rows")
    for key in (lambda r: r.kind, lambda r: r.family, lambda r: r.precision):
        report(rows, told, key)
        print()
    judged = {"judged": doubts(rows, told, lambda r: r.kind),
              "families": doubts(rows, told, lambda r: r.family)}
    for one, (chosen, _) in LIKES.items():
        others, _ = read(arguments.rows, arguments.kernels, table, formula, ("compiled", "other"))
        others = [r for r in others if chosen(r.row)]
        for row in others:
            row.like = one
        before = fit.predict(x, others)
        summary(others, before, f"{one}, before its own numbers")
        fit.solve_like(x, one, others)
        summary(others, fit.predict(x, others), f"{one}, with its own numbers (no row left out)")
    if arguments.write:
        write(fit, x, judged)
    if arguments.each:
        classes = numpy.zeros((len(rows), 13))
        fit.predict(x, rows, classes)
        for row, seconds, parts in zip(rows, told, classes):
            shares = sorted(zip(parts / parts.sum(), formula.classes), reverse=True)[:4]
            print(f"{row.seconds / seconds - 1:+.0%} {row.model} {row.kind} {row.precision} "
                  f"{row.like} {row.row['batch']} " + " ".join(f"{n}:{s:.0%}" for s, n in shares),
                  row.row["framework"])
    for reason, count in left.items():
        print(f"left out: {count} {reason}")


if __name__ == "__main__":
    main()
