"""Writes what plans of a network are made from into FOLDER: its ONNX file, its parameters and a
profile; without the file, such as where PyTorch has no exporter, a layer trace. Each rank measures,
so that processors are as busy as in training; rank 0 writes.

    torch_profile.py MODEL BATCH FOLDER
"""

import os
import pathlib
import sys
import tempfile

import syncline.torch
from syncline.torch import export
from torch_case import Case


def write(case, folder):
    try:
        listed = export.write(case.model, case.inputs, folder / "model.onnx")
    except export.NotExported as failure:
        print(f"planned by a layer trace: {failure}", file=sys.stderr)
        syncline.torch.profile(case.model, case.inputs, folder / "model.csv", case.loss)
        return
    (folder / "parameters.txt").write_text(listed)
    syncline.torch.profile(case.model, case.inputs, folder / "profile.json", case.loss)


def main(name, batch, folder):
    with tempfile.TemporaryDirectory() as own:
        is_first = os.environ.get("RANK", "0") == "0"
        write(Case(name, batch), pathlib.Path(folder if is_first else own))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
