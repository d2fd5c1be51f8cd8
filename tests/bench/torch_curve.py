"""PyTorch's side of `bench.py curve`: writes every step's loss.

    torch_curve.py LOSSES.npy fp32|fp64|bf16 X.npy Y.npy
"""

import pathlib
import sys
import warnings

import numpy
import torch
from torch.optim import lr_scheduler

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "samples" / "models"))
import curve  # noqa: E402
import export  # noqa: E402


def main(out, number, x, y):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # SequentialLR steps its schedulers in a deprecated way
    kind = torch.float64 if number == "fp64" else torch.float32
    model = export.build("resnet18", classes=curve.CLASSES).to(kind)
    optimizer = torch.optim.AdamW(model.parameters(), curve.RATE, weight_decay=curve.DECAY)
    rising = lr_scheduler.LinearLR(optimizer, 1 / curve.WARM, 1, curve.WARM - 1)
    later = lr_scheduler.CosineAnnealingLR(optimizer, curve.STEPS - curve.WARM)
    scheduler = lr_scheduler.SequentialLR(optimizer, [rising, later], [curve.WARM])
    images, labels = numpy.load(x, mmap_mode="r"), torch.from_numpy(numpy.load(y))
    losses = []
    for step in range(curve.STEPS):
        optimizer.zero_grad()
        total = 0.0
        for part in range(curve.PARTS):
            first = (step * curve.PARTS + part) * curve.PART
            rows = slice(first, first + curve.PART)
            batch = torch.from_numpy(numpy.array(images[rows])).to(kind)
            with torch.autocast("cpu", torch.bfloat16, enabled=number == "bf16"):
                logits = model(batch)
            logits = logits.float() if number == "bf16" else logits
            loss = torch.nn.functional.cross_entropy(logits, labels[rows]) / curve.PARTS
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), curve.NORM)
        optimizer.step()
        scheduler.step()
        losses.append(total)
    numpy.save(out, losses)


if __name__ == "__main__":
    main(*sys.argv[1:])
