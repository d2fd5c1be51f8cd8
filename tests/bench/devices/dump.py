#!/usr/bin/env python3
"""Writes the kernels of every step that the rows of a table of published runs need.

    dump.py rows.csv FOLDER-OF-ONNX-FILES kernels/ --bin build/bin

A row's kernels lie in kernels/MODEL-BATCH-PRECISION-LIKE-OPTIMIZER.txt, as 'syncline-opt
--print-kernels' prints them. Files that are there are kept.
"""

import argparse
import csv
import pathlib
import subprocess
import sys

FUSE = "differentiate,fuse-activations,fuse-rows,fuse-pointwise,print-kernels{like=%s}"
OPTIMIZERS = ("sgd", "adam", "adamw", "lamb")


def precision(row):
    """The precision that the product names, of the name in the table."""
    name = row["precision"]
    return "fp32" if name == "fp32" else "tf32" if name == "tf32" else (
        "bf16" if "bf16" in name else "fp16")


def like(row):
    """Whose kernels a row's run had."""
    if row["class"] == "compiled":
        return "compiled"
    if row["class"] == "other":
        return "best"
    return "pytorch" if row["layout"] == "NHWC" else "pytorch-nchw"


def optimizer(row):
    return row["optimizer"] if row["optimizer"] in OPTIMIZERS else "adam"


def name(row):
    """The file of a row's kernels."""
    return "-".join((row["onnx"], row["batch"], precision(row), like(row), optimizer(row))) + ".txt"


def step(row, onnx, programs):
    """The text of the row's step before it is differentiated."""
    options = [o.replace("--loss-on", "--output") for o in row["options"].split()]
    for k, option in enumerate(options):
        if option == "--classes-in":
            options[k : k + 2] = []
            break
    command = [programs / "syncline-import", onnx / f"{row['onnx']}.onnx", "--shapes",
               f"--batch={row['batch']}", "--dropout=false", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def kernels(row, text, programs):
    attributes = [f'nn.precision = "{precision(row)}"'] if precision(row) != "fp32" else []
    if optimizer(row) != "sgd":
        attributes.append(f'nn.optimizer = "{optimizer(row)}"')
    if attributes:
        text = text.replace("module {", "module attributes {" + ", ".join(attributes) + "} {", 1)
    passes = FUSE % like(row)
    command = [programs / "syncline-opt", f"--pass-pipeline=builtin.module(nn.step({passes}))",
               "-o", "/dev/null"]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for argument in ("rows", "onnx", "out"):
        parser.add_argument(argument, type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)
    with open(arguments.rows, encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if not r["left_out"] and r["batch"].isdigit()]
    rows.sort(key=lambda r: (r["class"] != "pytorch", r["onnx"], r["batch"]))
    last, text = None, ""
    for row in rows:
        out = arguments.out / name(row)
        if out.exists() or not (arguments.onnx / f"{row['onnx']}.onnx").exists():
            continue
        try:
            if last != (row["onnx"], row["batch"]):
                last, text = (row["onnx"], row["batch"]), ""
                text = step(row, arguments.onnx, arguments.bin)
            if text:
                out.write_text(kernels(row, text, arguments.bin))
        except subprocess.CalledProcessError as error:
            print(f"{out.name}: {error.stderr.strip()[:300]}", file=sys.stderr)


if __name__ == "__main__":
    main()
