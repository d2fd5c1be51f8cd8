"""Trains a small network on handwritten digits by DistributedDataParallel, under torchrun."""

import pathlib

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
BATCH, EPOCHS = 32, 3


def cnn():
    """For images of 8 x 8 pixels; 1.2 million parameters."""
    return nn.Sequential(
        *(nn.Conv2d(1, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()),
        *(nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(128 * 4 * 4, 512), nn.ReLU()),
        nn.Linear(512, 10),
    )


def load(name):
    """Images and their digits."""
    return [torch.from_numpy(numpy.load(DATA / f"digits-{name}-{part}.npy")) for part in "xy"]


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(cnn())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    images, digits = load("train")
    steps = len(images) // (BATCH * ranks)
    for epoch in range(EPOCHS):
        order = torch.randperm(len(images))  # the same on all ranks
        for step in range(steps):
            first = (step * ranks + rank) * BATCH
            mine = order[first : first + BATCH]
            loss = nn.functional.cross_entropy(model(images[mine]), digits[mine])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.all_reduce(loss.detach())
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item() / ranks:.4f}")
    model.eval()
    images, digits = load("test")
    with torch.no_grad():
        right = (model.module(images).argmax(1) == digits).float().mean().item()
    if rank == 0:
        print(f"right: {100 * right:.1f} %")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
