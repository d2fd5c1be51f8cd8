#!/usr/bin/env python3
"""MG-WFBP's tables (INFOCOM 2019, TPDS 2021) in simulation: iteration times on 16 V100, images/s
on K80.

Usage: mg_wfbp.py [SYNCLINE]: the command, found on the PATH by default. Prints Markdown; exit code
1 where the merging planners are not ordered as the model says they must be, or where less than the
stated part of the paper's comparisons between planners comes out the same way.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import mg_wfbp_networks as networks

SAMPLES = pathlib.Path(__file__).resolve().parent.parent
CLUSTERS = {"10GbE": "mg-wfbp-v100-10gbe", "56Gb IB": "mg-wfbp-v100-56gib"}
PLANNERS = ("wfbp", "single", "mg-wfbp", "optimal")

# Seconds an iteration: computing alone, WFBP, one big all-reduce, MG-WFBP; measured by the authors.
MEASURED = {
    ("resnet152", "10GbE", "fp32"): (0.883, 1.233, 1.360, 1.126),
    ("resnet152", "10GbE", "fp16"): (0.389, 0.757, 0.636, 0.630),
    ("resnet152", "56Gb IB", "fp32"): (0.883, 1.082, 1.143, 1.089),
    ("resnet152", "56Gb IB", "fp16"): (0.389, 0.531, 0.518, 0.486),
    ("inception-v4", "10GbE", "fp32"): (0.611, 0.944, 0.900, 0.781),
    ("inception-v4", "10GbE", "fp16"): (0.280, 0.591, 0.477, 0.423),
    ("inception-v4", "56Gb IB", "fp32"): (0.611, 0.767, 0.746, 0.661),
    ("inception-v4", "56Gb IB", "fp16"): (0.280, 0.430, 0.373, 0.364),
    ("densenet161", "10GbE", "fp32"): (0.478, 0.832, 0.683, 0.628),
    ("densenet161", "10GbE", "fp16"): (0.253, 0.615, 0.399, 0.360),
    ("densenet161", "56Gb IB", "fp32"): (0.478, 0.602, 0.597, 0.527),
    ("densenet161", "56Gb IB", "fp16"): (0.253, 0.400, 0.330, 0.321),
    ("densenet201", "10GbE", "fp32"): (0.361, 0.764, 0.513, 0.457),
    ("densenet201", "10GbE", "fp16"): (0.215, 0.614, 0.406, 0.362),
    ("densenet201", "56Gb IB", "fp32"): (0.361, 0.512, 0.438, 0.406),
    ("densenet201", "56Gb IB", "fp16"): (0.215, 0.398, 0.354, 0.331),
}
NETWORKS = {
    "resnet152": networks.resnet152, "inception-v4": networks.inception_v4,
    "densenet161": networks.densenet161, "densenet201": networks.densenet201,
}  # fmt: skip
# K80, 10 GbE, Caffe: batch and images/s on one node. Then images/s on 2, 4 and 8 nodes by WFBP, by
# one big all-reduce and by MG-WFBP.
K80 = {
    "googlenet": (
        64,
        163.4,
        {2: (299.3, 250.3, 316.1), 4: (599.3, 461.4, 600.2), 8: (1006.4, 889.3, 1210.9)},
    ),
    "resnet50": (
        32,
        76.9,
        {2: (151.1, 120.0, 151.2), 4: (294.7, 222.8, 295.2), 8: (465.6, 406.4, 566.6)},
    ),
}
# Comparisons between two of the paper's three planners that must come out the same way.
AGREEMENT = 0.75


class Simulator:
    def __init__(self, command, folder):
        self.command, self.folder = command, pathlib.Path(folder)

    def run(self, *arguments):
        return subprocess.run(
            [self.command, *map(str, arguments)], check=True, capture_output=True, text=True
        ).stdout

    def steps(self, rows, cluster, *options):
        """Seconds a step by planner."""
        trace, plan = self.folder / "net.csv", self.folder / "net.plan"
        trace.write_text("\n".join(rows) + "\n", encoding="utf-8")
        cluster = SAMPLES / "clusters" / f"{cluster}.yaml"
        result = {}
        for planner in PLANNERS:
            self.run(
                "compile", trace, "--cluster", cluster, "--planner", planner, "-o", plan, *options
            )
            result[planner] = json.loads(self.run("simulate", plan, "--json"))["step"]
        return result


def cell(simulated, measured):
    return f"{simulated:.3f} / {measured:.3f} ({100 * (simulated / measured - 1):+.0f} %)"


def v100_table(simulator):
    print(
        "| 16 V100, s an iteration: simulated / measured | WFBP | one big | MG-WFBP | optimal"
        " |\n|---|---|---|---|---|"
    )
    errors, agreed, compared, good, gains = [], 0, 0, True, []
    for case, (compute, *measured) in MEASURED.items():
        name, link, precision = case
        rows = networks.rows(NETWORKS[name](), compute, 2 if precision == "fp16" else 4)
        steps = simulator.steps(rows, CLUSTERS[link])
        simulated = [steps[planner] for planner in PLANNERS[:3]]
        good &= steps["optimal"] <= min(simulated) * (1 + 1e-9)
        good &= simulated[2] <= simulated[0] * (1 + 1e-9)
        errors += [s / m - 1 for s, m in zip(simulated, measured)]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            compared += 1
            agreed += (simulated[a] < simulated[b]) == (measured[a] < measured[b])
        gains.append((simulated[0] / simulated[2], measured[0] / measured[2]))
        print(
            f"| {', '.join(case)} | {' | '.join(map(cell, simulated, measured))} |"
            f" {steps['optimal']:.3f} |"
        )
    mean = sum(map(abs, errors)) / len(errors)
    print(
        f"\nof {compared} comparisons between two planners {agreed} come out as measured; times"
        f" differ by {100 * mean:.0f} % on average, at most {100 * max(map(abs, errors)):.0f} %"
    )
    ours, theirs = (sum(g[i] for g in gains) / len(gains) for i in (0, 1))
    print(f"MG-WFBP is {ours:.2f} times as fast as WFBP on average, measured {theirs:.2f}")
    return good and agreed >= AGREEMENT * compared


def k80_table(simulator):
    print(
        "\n| K80, 10 GbE, images/s: simulated / measured | WFBP | one big | MG-WFBP | optimal"
        " |\n|---|---|---|---|---|"
    )
    nets = {"googlenet": networks.googlenet, "resnet50": networks.resnet50}
    errors = []
    for name, (batch, alone, scaling) in K80.items():
        rows = list(networks.rows(nets[name](), batch / alone, 4))
        for nodes, measured in scaling.items():
            steps = simulator.steps(rows, "mg-wfbp-k80-10gbe", "--nodes", nodes)
            rates = [nodes * batch / steps[planner] for planner in PLANNERS]
            errors += [r / m - 1 for r, m in zip(rates, measured)]
            cells = [
                f"{r:.0f} / {m:.0f} ({100 * (r / m - 1):+.0f} %)" for r, m in zip(rates, measured)
            ]
            print(f"| {name}, {nodes} nodes | {' | '.join(cells)} | {rates[3]:.0f} |")
    print(f"\nrates differ by {100 * sum(map(abs, errors)) / len(errors):.0f} % on average")


def main():
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(sys.argv[1] if len(sys.argv) > 1 else "syncline", folder)
        good = v100_table(simulator)
        k80_table(simulator)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
