"""PyTorch's side of the comparisons: times training steps of a network, one thread a rank, alone or
under DistributedDataParallel over Gloo. Prints one JSON line from rank 0.

    torch_step.py MODEL BATCH STEPS [WAY ...]      (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT as
                                                   torchrun)

WAY: eager, channels-last, compiled (torch.compile), fp32, bf16 (autocast).
"""

import json
import os
import resource
import statistics
import sys
import time

import torch

from torch_case import Case

WARM_UP = 2


def main(name, batch, steps, ways):
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    case = Case(name, batch, rank)
    model, inputs = case.model, case.inputs
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    if "channels-last" in ways:
        model = model.to(memory_format=torch.channels_last)
        inputs = inputs.to(memory_format=torch.channels_last)
    if "compiled" in ways:
        model = torch.compile(model)
    times = []
    for _ in range(WARM_UP + steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in ways):
            loss = case.loss(model(inputs))
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if rank == 0:
        print(json.dumps({"seconds": statistics.median(times[WARM_UP:]), "peak": peak}))
    if ranks > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
