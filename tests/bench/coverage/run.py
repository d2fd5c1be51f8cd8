#!/usr/bin/env python3
"""Tries public models as PyTorch exports them, until 150 were exported: which train, which are only
planned, and how far their gradients are from PyTorch's. It goes on where models.csv ends.

    run.py PYTHON [--most N] [--again OUTCOME] [--default]

PYTHON has torch, torchvision, timm, transformers and onnxscript. --again tries the models of an
outcome again (refused, planned, failed). --default exports as PyTorch does by default, in training
mode, to models-default.csv.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("model", "outcome", "batch", "ratio", "ours", "theirs", "turned", "ratio of 2 ranks",
           "tensor", "operators", "why")  # fmt: skip
WANTED = 150  # exported models
LIMIT = 1500  # seconds a model


def drawn(python):
    """The names in their order, drawn once: a library's later version must not move them."""
    file = HERE / "drawn.txt"
    if not file.exists():
        code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import pool; print(*pool.draw())"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
        file.write_text("\n".join(done.stdout.split()[-1000:]) + "\n")
    return file.read_text().split()


def tried(python, name, default):
    """A row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        words = [python, str(HERE / "attempt.py"), name, folder, *["--default"] * default]
        here = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, env=here)
            lines = [line for line in done.stdout.splitlines() if line.startswith('{"name"')]
            killed = {"outcome": "failed", "why": done.stderr[-300:]}
            said = json.loads(lines[-1]) if lines else killed
        except subprocess.TimeoutExpired:
            said = {"outcome": "failed", "why": f"took more than {LIMIT} s"}
    one, two = said.get("ranks1", {}), said.get("ranks2", {})
    row = {"model": name, "outcome": said["outcome"], "batch": said.get("batch", "")}
    row |= {key: one.get(key, "") for key in ("ratio", "tensor", "turned")}
    row |= {key: f"{one[key]:.1e}" if key in one else "" for key in ("ours", "theirs")}
    row["ratio of 2 ranks"] = two.get("ratio", "")
    row["operators"] = " ".join(said.get("operators", ()))
    row["why"] = " ".join(str(said.get("why", "")).split())
    if one.get("missing") and not default:  # which renames what it transposes
        row["why"] += "without gradients in the plan: " + " ".join(one["missing"][:3])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--most", type=int, default=10**6, help="models to try now")
    parser.add_argument("--again", action="append", default=[])
    parser.add_argument("--default", action="store_true")
    chosen = parser.parse_args()
    table = HERE / ("models-default.csv" if chosen.default else "models.csv")
    rows = {}
    if table.exists():
        with open(table, newline="") as file:
            rows = {row["model"]: row for row in csv.DictReader(file)}
    left = chosen.most
    for name in drawn(chosen.python):
        exported = sum(row["outcome"] != "not exported" for row in rows.values())
        again = name in rows and rows[name]["outcome"] in chosen.again
        if left == 0 or (name in rows and not again) or (not again and exported >= WANTED):
            continue
        left -= 1
        rows[name] = tried(chosen.python, name, chosen.default)
        print(name, rows[name]["outcome"], rows[name]["ratio"], rows[name]["why"][:150], flush=True)
        with open(table, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows.values())


if __name__ == "__main__":
    sys.exit(main())
