#!/usr/bin/env python3
"""Poseidon's arithmetic (ATC 2017) from Syncline's plans: bytes a node moves, crossovers, speed-ups
on VGG19-22K.

Usage: poseidon.py [SYNCLINE]: the command, found on the PATH by default. Prints Markdown; exit code
1 where bytes or crossovers are not those of the paper's formulas.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parent.parent
CLUSTER = SAMPLES / "clusters" / "poseidon-titanx-40gbe.yaml"
BASE = 32 / 34.6  # seconds an iteration of plain Caffe on one node, VGG19-22K

# GB a node and iteration at 8, 16 and 32 nodes: Poseidon's formulas on the networks' shapes.
TRAFFIC = {
    ("vgg19", "ps"): (2.01, 2.15, 2.23),
    ("vgg19", "poseidon"): (0.36, 0.46, 0.65),
    ("vgg19-22k", "ps"): (3.21, 3.44, 3.55),
    ("vgg19-22k", "poseidon"): (0.39, 0.54, 0.81),
}
# Nodes up to which factors move fewer bytes: 2MN / (K(M + N)).
CROSSOVERS = {
    ("vgg19", "fc6"): 220, ("vgg19", "fc7"): 128, ("vgg19", "fc8"): 50, ("vgg19-22k", "fc8"): 216,
    ("googlenet", "loss3/classifier"): 7.9, ("inception-v3", "fc"): 42, ("resnet152", "fc"): 42,
    ("alexnet", "fc6"): 22, ("alexnet", "fc7"): 16, ("alexnet", "fc8"): 6.3,
}  # fmt: skip
# The authors' own measurements, VGG19-22K on 40 GbE, Poseidon on Caffe; then Caffe with WFBP, all
# through servers.
SPEEDUPS = {2: 1.96, 4: 3.83, 8: 7.63, 16: 15.03, 32: 29.45}
WFBP = {2: 1.78, 4: 3.28, 8: 6.12, 16: 11.56, 32: 21.37}


class Planner:
    def __init__(self, command, folder):
        self.command, self.plan = command, str(pathlib.Path(folder) / "out.plan")

    def run(self, *arguments):
        return subprocess.run(
            [self.command, *arguments], check=True, capture_output=True, text=True
        ).stdout

    def compile(self, trace, nodes, planner):
        trace = str(SAMPLES / "traces" / f"{trace}.csv")
        self.run(
            "compile",
            trace,
            "--cluster",
            str(CLUSTER),
            "--nodes",
            str(nodes),
            "--planner",
            planner,
            "-o",
            self.plan,
        )
        return json.loads((pathlib.Path(self.plan) / "plan.json").read_text())["predicted"]

    def scaling(self, trace, planner):
        """Seconds a step by nodes, simulated from 2 to 32 nodes, planned anew at each number."""
        self.compile(trace, 2, planner)
        table = pathlib.Path(self.plan).with_suffix(".csv")
        self.run("simulate", self.plan, "--sweep", "ranks=2..32", "--csv", str(table))
        with table.open(encoding="utf-8", newline="") as file:
            return {int(row["ranks"]): float(row["step_s"]) for row in csv.DictReader(file)}

    def crossover(self, trace, layer):
        """The last number of nodes at which Poseidon's planner sends the layer by factors."""
        self.compile(trace, 2, "poseidon")
        found = re.search(
            r"nodes, .* from (\d+) nodes on: parameter-server",
            self.run("inspect", self.plan, "--why", layer),
        )
        return int(found.group(1)) - 1 if found else None


def traffic_table(planner):
    print("| GB a node and iteration, at 8 / 16 / 32 nodes | formulas | planned |\n|---|---|---|")
    good = True
    for (trace, name), expected in TRAFFIC.items():
        got = [planner.compile(trace, nodes, name)["traffic"] / 1e9 for nodes in (8, 16, 32)]
        good &= all(abs(a - b) <= 0.006 for a, b in zip(got, expected))
        print(
            f"| {trace}, {name} | {' / '.join(map(str, expected))} |"
            f" {' / '.join(f'{g:.2f}' for g in got)} |"
        )
    return good


def crossover_table(planner):
    print("\n| factors up to so many nodes | formula | planned |\n|---|---|---|")
    good = True
    for (trace, layer), expected in CROSSOVERS.items():
        got = planner.crossover(trace, layer)
        # Traces count a layer's bias with it, and the formula's values are rounded.
        good &= got is not None and abs(got - expected) <= 1
        print(f"| {trace} {layer} | {expected} | {got} |")
    return good


def speedup_table(planner):
    print(
        "\n| VGG19-22K, 40 GbE, over one node | Poseidon, measured | `poseidon`, predicted |"
        " `optimal`, predicted |\n|---|---|---|---|"
    )
    for nodes, measured in SPEEDUPS.items():
        steps = [
            planner.compile("vgg19-22k", nodes, name)["step"] for name in ("poseidon", "optimal")
        ]
        print(
            f"| {nodes} nodes | {measured} |"
            f" {' | '.join(f'{nodes * BASE / step:.2f}' for step in steps)} |"
        )


def scaling_table(planner):
    print(
        "\n| VGG19-22K, 40 GbE, simulated / measured | `poseidon` | WFBP through servers"
        " |\n|---|---|---|"
    )
    steps = [planner.scaling("vgg19-22k", name) for name in ("poseidon", "ps")]
    for nodes in SPEEDUPS:
        cells = []
        for step, measured in zip(steps, (SPEEDUPS, WFBP)):
            got = nodes * BASE / step[nodes]
            cells.append(
                f"{got:.2f} / {measured[nodes]:.2f} ({100 * (got / measured[nodes] - 1):+.0f} %)"
            )
        print(f"| over one node, {nodes} nodes | {' | '.join(cells)} |")


def main():
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(sys.argv[1] if len(sys.argv) > 1 else "syncline", folder)
        good = traffic_table(planner)
        good = crossover_table(planner) and good
        speedup_table(planner)
        scaling_table(planner)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
