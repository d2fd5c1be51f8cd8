#!/usr/bin/env python3
"""Counts what Syncline makes of the exported models, beside what is known of them.

    count.py SYNCLINE FOLDER [-o models.csv]     FOLDER has NAME.onnx of make.py

The table has the parameters and the FLOPs of forward and backward pass of one sample, which a
device of 1 GFLOP/s with a memory too fast to matter takes as seconds, or why a model is refused.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import rows
from known import KNOWN

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("onnx", "parameters", "gflop", "known_gflop", "ratio", "known_from", "planned", "why")
CLUSTER = """name: counts
nodes: 1
device: {compute: 1 GFLOP/s, memory: 100000 TB/s, launch-overhead: 0 us}
network: {kind: ethernet-1g}
"""
BATCH = {"ncf": 65536}  # where a sample has so few FLOPs that updates would count


def planned(syncline, path, folder):
    """The plan in JSON and how it was made, or None and the message by which it is refused."""
    cluster, plan = folder / "cluster.yaml", folder / "x.plan"
    cluster.write_text(CLUSTER)
    words = [syncline, "compile", path, "--plan-only", "--cluster", cluster, "-o", plan]
    words += ["--batch", BATCH.get(path.stem, 8)]
    words += rows.OPTIONS.get(path.stem, "").split()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    by_nodes = [line for line in done.stderr.splitlines() if "no step can be made" in line]
    return json.loads((plan / "plan.json").read_text()), "".join(by_nodes)


def counted(syncline, path):
    """A row of the table."""
    known, source = KNOWN.get(path.stem, ("", ""))
    row = {"onnx": path.stem, "known_from": source}
    row["known_gflop"] = f"{known:.4g}" if known else ""
    with tempfile.TemporaryDirectory() as folder:
        plan, why = planned(syncline, path, pathlib.Path(folder))
    row["why"] = " ".join(why.replace(str(path), path.name).split())
    row["planned"] = "refused" if plan is None else "by its nodes" if why else "as a step"
    if plan is not None:
        gflop = plan["predicted"]["step"] / BATCH.get(path.stem, 8)
        row["parameters"] = sum(bucket["bytes"] for bucket in plan["buckets"]) // 4
        row["gflop"] = f"{gflop:.5g}"
        row["ratio"] = f"{gflop / known:.3f}" if known else ""
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("syncline")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", default=HERE / "models.csv")
    chosen = parser.parse_args()
    with open(chosen.output, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for path in sorted(chosen.folder.glob("*.onnx")):
            writer.writerow(counted(chosen.syncline, path))


if __name__ == "__main__":
    main()
