#!/usr/bin/env python3
"""Predicts how published runs of plain data parallel training scale, and judges that.

    scaling.py SYNCLINE FOLDER-OF-ONNX-FILES [--planner PLANNER] [-o scaling.csv]

FOLDER has the models of devices/make.py; the runs are those of devices/multi_rows.csv. Efficiency
is the rate of N devices over N times that of one. Runs of one model on equal devices, with the same
batch and precision, count as one: the median over frameworks, of the published and of the predicted
efficiency. DDP's buckets are taken for PyTorch's runs and Horovod's for others, or all runs go by
PLANNER; updates come last, as in these. Nothing here is fitted to these runs; devices.yaml is, to
those of one device, and networks.yaml to NCCL's all-reduces.
"""

import argparse
import collections
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEVICES = HERE.parent / "devices"
sys.path.insert(0, str(DEVICES))

import dump  # noqa: E402
import multi_rows  # noqa: E402

COLUMNS = (
    *("model", "variant", "kind", "system", "precision", "batch", "nodes", "gpus", "runs"),
    *("published", "predicted"),
)
PLANNERS = {"pytorch": "ddp:25MiB", "compiled": "ddp:25MiB", "other": "horovod:64MiB"}
NEAR, VERDICT, DECIDED = 0.08, 0.9, 0.05


class Predictor:
    def __init__(self, syncline, onnx, planner, folder):
        self.syncline, self.onnx, self.planner = syncline, onnx, planner
        self.folder, self.known = pathlib.Path(folder), {}

    def step(self, row, batch, system, nodes, gpus):
        """The predicted seconds of a step, or None where the model is refused."""
        key = (row["onnx"], batch, row["class"], row["layout"], dump.precision(row), system, nodes,
               gpus, dump.optimizer(row), row["options"])
        if key not in self.known:
            self.known[key] = self.planned(row, batch, system, nodes, gpus)
        return self.known[key]

    def planned(self, row, batch, system, nodes, gpus):
        # Activations are not counted, since frameworks recompute and accumulate as they like.
        text = multi_rows.cluster(system, nodes, gpus).replace(
            f"device: {{kind: {row['kind']}}}",
            f"device: {{kind: {row['kind']}, memory-size: 10 TB}}")
        cluster, plan = self.folder / "cluster.yaml", self.folder / "x.plan"
        cluster.write_text(text)
        words = [self.syncline, "compile", self.onnx / f"{row['onnx']}.onnx", "--plan-only"]
        words += ["--cluster", cluster, "--batch", batch, "--precision", dump.precision(row)]
        words += ["--like", dump.like(row), "--optimizer", dump.optimizer(row), "--dropout", "off"]
        words += ["--planner", self.planner or PLANNERS[row["class"]]]
        words += [*row["options"].split(), "-o", plan]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode:
            print(f"{row['onnx']}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return None
        return json.loads((plan / "plan.json").read_text())["predicted"]["planner"]["step"]

    def efficiency(self, row):
        nodes, gpus = int(row["nodes"]), int(row["gpus"])
        one = self.step(row, row["one_gpu_batch"], row["kind"], 1, 1)
        all_ = self.step(row, row["batch"], row["system"], nodes, gpus)
        if not one or not all_:
            return None
        return float(row["batch"]) / float(row["one_gpu_batch"]) * one / all_


def judge(table):
    """The judge's lines, of all and by system."""
    lines = []
    systems = sorted({row["system"] for row in table})
    for name in [*systems, "all"]:
        rows = [row for row in table if name in ("all", row["system"])]
        errors = [round(abs(row["predicted"] - row["published"]), 3) for row in rows]
        near = sum(error <= NEAR for error in errors)
        decided = [row for row in rows if round(abs(row["published"] - VERDICT), 3) > DECIDED]
        right = sum((r["published"] > VERDICT) == (r["predicted"] > VERDICT) for r in decided)
        lines.append(
            f"| {name} | {len(rows)} | {100 * statistics.median(errors):.1f} | {near} "
            f"({near / len(rows):.0%}) | {right} of {len(decided)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("syncline")
    parser.add_argument("onnx", type=pathlib.Path)
    parser.add_argument("--planner", default="")
    parser.add_argument("-o", "--output", default=HERE / "scaling.csv")
    chosen = parser.parse_args()
    groups = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(chosen.syncline, chosen.onnx, chosen.planner, folder)
        for row in multi_rows.read(DEVICES / "multi_rows.csv"):
            if row["left_out"] or (predicted := predictor.efficiency(row)) is None:
                continue
            key = tuple(row[name] for name in COLUMNS[:-3])
            groups[key].append((float(row["efficiency"]), predicted))
    table = []
    for key, runs in groups.items():
        # Rounded, so that the file shows what is judged.
        published, predicted = (round(statistics.median(values), 3) for values in zip(*runs))
        table.append(dict(zip(COLUMNS, (*key, len(runs), published, predicted))))
    with open(chosen.output, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in table:
            shown = {name: f"{row[name]:.3f}" for name in ("published", "predicted")}
            writer.writerow(row | shown)
    print("| system | runs | median error, points | within 8 points | verdicts |")
    print("|---|---|---|---|---|")
    print("\n".join(judge(table)))


if __name__ == "__main__":
    main()
