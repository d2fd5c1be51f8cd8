#!/usr/bin/env python3
"""Fits the protocols of networks.yaml to published all-reduces, and judges them.

    fit.py [--write] [--judge]

It needs numpy, scipy and PyYAML, and g++ for the formula, which is that of passes/problem/NcclCost.
rows.csv says where each row was published, and why some are left out. `--judge` fits once for each
system without its rows and predicts them. `--write` writes the numbers into networks.yaml.
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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TABLE = ROOT / "frontend/files/networks.yaml"
NUMBERS = ("ll", "ll-share", "ll128", "ll128-share", "simple", "simple-share")
SWITCH = ("switch", "switch-share")
# First values, and how much logarithms of latencies and shares may differ from them. NVLink's and
# PCIe's are those of NCCL's src/graph/tuning.cc; what a plug-in carries costs a processor's time.
CLASSES = {
    "nvlink": ((0.6, 0.3, 1.9, 0.72, 3.4, 0.8), 0.7, 0.3),
    "pcie": ((1.0, 0.25, 2.5, 0.6, 5.7, 0.7), 0.7, 0.3),
    "rdma": ((5.0, 0.15, 20.0, 0.6, 60.0, 0.93), 0.7, 0.3),
    "plugin": ((30.0, 0.15, 60.0, 0.6, 200.0, 0.93), 0.7, 0.3),
}
FIRST_SWITCH = (25.0, 0.61)
# The class of what is fitted, and how much it may differ from its class.
OWN = {
    "rdma": ("rdma", 0, 0), "pcie": ("pcie", 0, 0),
    "efa": ("plugin", 0.5, 0.1), "efa-v2": ("plugin", 0.5, 0.1), "tcpxo": ("plugin", 0.5, 0.1),
    "nvlink-v100": ("nvlink", 0.2, 0.08), "nvlink-a100": ("nvlink", 0.2, 0.08),
    "nvlink-h100": ("nvlink", 0.2, 0.08), "nvlink-b200": ("nvlink", 0.2, 0.08),
}
HAVE_SWITCH = ("nvlink-h100", "nvlink-b200")
UNMEASURED = ("nvlink-p100", "nvlink-v100")  # it is taken to be as the other
MOST = 0.97  # of a link's rate; headers and checks take the rest


class Formula:
    """The formula as a shared library."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        library = pathlib.Path(self.folder.name) / "nccl.so"
        includes = [f"-I{ROOT}", f"-I{ROOT}/runtime/include"]
        sources = [HERE / "NcclCostApi.cpp", ROOT / "passes/problem/NcclCost.cpp",
                   ROOT / "passes/problem/CollectiveCost.cpp"]
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", *includes, "-o", library,
                        *sources], check=True)
        self.library = ctypes.CDLL(str(library))

    def seconds(self, scheme, nodes, devices, inside, between, sizes):
        seconds = (ctypes.c_double * len(sizes))()
        self.library.ncclSeconds(
            ("library", "ring", "tree").index(scheme), nodes, devices,
            (ctypes.c_double * 9)(*inside), (ctypes.c_double * 9)(*between), len(sizes),
            (ctypes.c_longlong * len(sizes))(*sizes), seconds)
        return numpy.array(seconds)


def read():
    """The rows that are fitted, and the reasons of the others, with their numbers."""
    rows, left = [], collections.Counter()
    with open(HERE / "rows.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["left_out"]:
                left[row["left_out"]] += 1
            else:
                rows.append(row)
    return rows, left


class Fit:
    """A fit of classes and of what protocols differ from them."""

    def __init__(self, table, formula):
        self.table, self.formula = table, formula
        self.places, widths = {}, []

        def add(name, number, width):
            self.places[name, number] = len(widths)
            widths.append(width)

        for name, (_, latency, share) in CLASSES.items():
            for number in NUMBERS:
                add(name, number, share if "share" in number else latency)
        for name, (class_, latency, share) in OWN.items():
            few = ("ll", "simple", "simple-share")  # generations of NVLink differ in these
            for number in few if class_ == "nvlink" else NUMBERS if latency else ():
                add(name, number, share if "share" in number else latency)
        add("switch", "switch", 0.5)
        add("switch", "switch-share", 0.3)
        add("nvlink-b200", "switch-share", 0.15)
        self.widths = numpy.array(widths)

    def numbers(self, x, name):
        """The protocols of a name: latencies in us, and shares."""
        if name not in OWN:
            return self.table["protocols"][name]
        class_ = OWN[name][0]

        def value(first, number, *names):
            found = [x[self.places[n, number]] for n in dict.fromkeys(names)
                     if (n, number) in self.places]
            value = first * numpy.exp(sum(found))
            return min(value, MOST) if "share" in number else value

        result = {n: value(first, n, class_, name)
                  for n, first in zip(NUMBERS, CLASSES[class_][0])}
        if name in HAVE_SWITCH:
            for first, number in zip(FIRST_SWITCH, SWITCH):
                result[number] = value(first, number, "switch", name)
        return result

    def link(self, x, kind, place, cards=1):
        """The nine numbers of NcclCostApi for a kind of link."""
        if not kind:
            return [1] * 7 + [0, 0]
        found = self.table[place][kind]
        unit = 1e9 / 8 if place == "between" else 1e9
        numbers = self.numbers(x, found["protocols"])
        result = [1 / (found["rate"] * unit * cards)]
        for number in NUMBERS + SWITCH:
            result.append(numbers.get(number, 0) * (1 if "share" in number else 1e-6))
        return result

    def predict(self, x, rows):
        systems, seconds = collections.defaultdict(list), numpy.zeros(len(rows))
        for i, row in enumerate(rows):
            keys = ("scheme", "nodes", "devices", "inside", "network", "cards")
            systems[tuple(row[k] for k in keys)].append(i)
        for (scheme, nodes, devices, inside, network, cards), which in systems.items():
            seconds[which] = self.formula.seconds(
                scheme, int(nodes), int(devices), self.link(x, inside, "inside"),
                self.link(x, network, "between", int(cards)),
                [int(rows[i]["bytes"]) for i in which])
        return seconds

    def fit(self, rows, start=None, steps=40):
        seconds = numpy.array([float(row["microseconds"]) * 1e-6 for row in rows])
        count = collections.Counter(row["system"] for row in rows)
        weights = numpy.array([count[row["system"]] ** -0.35 for row in rows])

        def residuals(x):
            errors = numpy.log(self.predict(x, rows) / seconds) / 0.15
            robust = numpy.sign(errors) * numpy.sqrt(2 * (numpy.sqrt(1 + errors**2) - 1))
            return numpy.concatenate([weights * robust, x / self.widths / 2])

        start = numpy.zeros(len(self.widths)) if start is None else start
        return least_squares(residuals, start, max_nfev=steps, diff_step=1e-3).x


def machines(row):
    """What is left out together: a system, however many of its nodes and devices a run used."""
    return re.sub(r" (x\d+|node)$", "", row["system"].split(",")[0].split(" (")[0])


def judge(fit, rows, start):
    """Prints a line for each system, predicted by a fit without it, and one for all."""
    every = []
    for name in sorted({machines(row) for row in rows}):
        out = [row for row in rows if machines(row) == name]
        x = fit.fit([row for row in rows if machines(row) != name], 0.7 * start, 10)
        seconds = numpy.array([float(row["microseconds"]) * 1e-6 for row in out])
        errors = abs(fit.predict(x, out) / seconds - 1)
        every.extend(errors)
        print(f"| {name} | {len(out)} | {numpy.median(errors):.0%} | {errors.max():.0%} |",
              flush=True)
    print(f"| all | {len(every)} | {numpy.median(every):.1%} | "
          f"{numpy.quantile(every, 0.9):.1%} (nine of ten) |")


def write(fit, x):
    text = TABLE.read_text(encoding="utf-8")
    for name, like in [(name, name) for name in OWN] + [UNMEASURED]:
        numbers = ", ".join(f"{n}: {v:.3g}" for n, v in fit.numbers(x, like).items())
        text, count = re.subn(rf"(?m)^  {name}: {{ll: .*}}$", f"  {name}: {{{numbers}}}", text)
        assert count == 1, name
    TABLE.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    rows, left = read()
    fit = Fit(yaml.safe_load(TABLE.read_text(encoding="utf-8")), Formula())
    x = fit.fit(rows)
    seconds = numpy.array([float(row["microseconds"]) * 1e-6 for row in rows])
    errors = abs(fit.predict(x, rows) / seconds - 1)
    print(f"{len(rows)} rows fitted: median {numpy.median(errors):.1%}, nine of ten within "
          f"{numpy.quantile(errors, 0.9):.1%}")
    for reason, count in left.most_common():
        print(f"  {count} left out: {reason}")
    if options.judge:
        judge(fit, rows, x)
    if options.write:
        write(fit, x)


if __name__ == "__main__":
    main()
