"""A rank of test_torch_group.py under PyTorch before 2.14: torch_group_rank.py KIND RANK RANKS
FOLDER SECONDS. Trains the net of FOLDER/net.py by syncline.torch.process_group()."""

import datetime
import os
import sys

import syncline.torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 5


def gradients(net, rank, ddp, run, **settings):
    torch.manual_seed(1)
    model = ddp(net(), **settings)
    torch.manual_seed(2 + rank)
    found = []
    for _ in range(STEPS):
        model.zero_grad()
        run(model)
        found.append(torch.cat([each.grad.flatten().clone() for each in model.parameters()]))
    return found


def compare(net, rank, group, run):
    """The plan's gradients are those over Gloo."""
    found = gradients(net, rank, syncline.torch.ddp, run, process_group=group)
    expected = gradients(net, rank, DistributedDataParallel, run)
    for step in range(STEPS):
        error = (found[step] - expected[step]).abs().max() / expected[step].abs().max()
        assert error < 1e-6, (step, error)


def planned(net, rank, group):
    def run(model):
        model(torch.randn(4, 256)).square().sum().backward()

    compare(net, rank, group, run)
    times = [each for each in group.planned.group.trace() if each.message >= 0]
    count = len(group.planned.plan.messages)
    steps = [each.step for each in times]
    full = [step for step in set(steps) if steps.count(step) == count]
    print("steps by the plan:", len(full), "of", count, "messages", flush=True)


def others(net, rank, group):
    """Collectives that DDP and its users call, and a training with uneven inputs."""
    ranks = dist.get_world_size(group)
    value = torch.full((3,), float(dist.get_rank(group)))
    dist.broadcast(value, ranks - 1, group=group)
    assert value.tolist() == [ranks - 1] * 3
    found = [torch.empty(3) for _ in range(ranks)]
    dist.all_gather(found, torch.full((3,), float(rank)), group=group)
    assert [each[0].item() for each in found] == list(range(ranks))
    work = dist.all_reduce(value, group=group, async_op=True)
    work.wait()
    assert work.is_completed()
    dist.barrier(group=group)
    assert syncline.torch.process_group() is group
    assert syncline.torch.process_group(group.timeout) is group
    try:
        syncline.torch.process_group(datetime.timedelta(seconds=7))
    except ValueError as failure:
        assert str(failure).startswith("process_group(): expected the timeout of the first call, ")
        assert str(failure).endswith(" s, got 7 s")
    else:
        raise AssertionError("another timeout was not refused")

    def run(model):
        with model.join():
            for _ in range(1 + rank):
                model.zero_grad()
                model(torch.randn(4, 256)).square().sum().backward()

    compare(net, rank, group, run)
    print("done", flush=True)


def endless(net, rank, group):
    model = DistributedDataParallel(net(), process_group=group)
    for step in range(10**6):
        model(torch.randn(4, 256)).square().sum().backward()
        if step == 3:
            print("works", flush=True)


def main(kind, rank, ranks, folder, seconds):
    sys.path.insert(0, folder)
    from net import net

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=os.environ["MEET"], rank=int(rank), world_size=int(ranks)
    )
    group = syncline.torch.process_group(datetime.timedelta(seconds=float(seconds)))
    globals()[kind](net, int(rank), group)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
