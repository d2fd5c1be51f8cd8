"""A rank of test_torch_backend.py: torch_rank.py KIND RANK RANKS FOLDER SECONDS. Trains the net of
FOLDER/net.py by the backend 'syncline', as KIND says, and saves its gradients in FOLDER."""

import datetime
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 5


def gradients(net, rank, wrap, steps=STEPS, pause=None):
    """The net's gradients behind each of some steps, as one vector each."""
    torch.manual_seed(1)
    model = wrap(net())
    torch.manual_seed(2 + rank)
    found = []
    for step in range(steps):
        model.zero_grad()
        model(torch.randn(4, 256)).square().sum().backward()
        loss = torch.ones(1)
        dist.all_reduce(loss)  # never advances the plan's step
        assert loss.item() == dist.get_world_size()
        found.append(torch.cat([each.grad.flatten().clone() for each in model.parameters()]))
        if pause:
            pause(step)
    return found


def compare(net, rank, ranks):
    """The plan's gradients are those of DDP over Gloo."""
    import syncline.torch

    found = gradients(net, rank, syncline.torch.ddp)
    gloo = dist.new_group(backend="gloo")
    other = {"process_group": gloo}
    expected = gradients(net, rank, lambda model: DistributedDataParallel(model, **other))
    for step in range(STEPS):
        error = (found[step] - expected[step]).abs().max() / expected[step].abs().max()
        assert error < 1e-6, (step, error)
    backend = dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))
    times = [each for each in backend.planned.group.trace() if each.message >= 0]
    steps = {each.step for each in times}
    count = len(backend.planned.plan.messages)
    full = [step for step in steps if sum(each.step == step for each in times) == count]
    print("steps by the plan:", len(full), "of", count, "messages", flush=True)


def wrong(net, rank, ranks):
    """DDP's own buckets, which are not the plan's."""
    gradients(net, rank, DistributedDataParallel)
    print("done", flush=True)


def endless(net, rank, ranks):
    """Steps until a rank is lost."""

    def pause(step):
        if step == 3:
            print("works", flush=True)
        time.sleep(0.05)

    wrap = DistributedDataParallel
    if "SYNCLINE_PLAN" in os.environ:
        import syncline.torch

        wrap = syncline.torch.ddp
    gradients(net, rank, wrap, 100000, pause)


def late(net, rank, ranks):
    """A rank that does not come to an all-gather."""
    gradients(net, rank, DistributedDataParallel)
    if rank == 1:
        time.sleep(1000)
    dist.all_gather_into_tensor(torch.empty(ranks * 3), torch.ones(3))


def record(net, rank, ranks):
    gradients(net, rank, lambda model: DistributedDataParallel(model, bucket_cap_mb=1))


def shards(net, rank, ranks):
    """FSDP2's gradients are those of one process with all samples."""
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(1)
    alone, model = net(), net()
    model.load_state_dict(alone.state_dict())
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    samples = torch.randn(ranks, 4, 256)
    model(samples[rank]).square().sum().backward()
    (alone(samples.flatten(0, 1)).square().sum() / ranks).backward()
    for whole, part in zip(alone.parameters(), model.parameters()):
        error = (part.grad.full_tensor() - whole.grad).abs().max() / whole.grad.abs().max()
        assert error < 1e-5, error
    print("done", flush=True)


def others(net, rank, ranks):
    """Collectives that are no message of the plan, and a group of some ranks."""
    parts = torch.empty(ranks * 2)
    dist.all_gather_into_tensor(parts, torch.full((2,), float(rank)))
    assert parts.tolist() == [float(i // 2) for i in range(2 * ranks)]
    mine = torch.empty(2)
    dist.reduce_scatter_tensor(mine, torch.ones(2 * ranks))
    assert mine.tolist() == [ranks, ranks]
    text = ["hello" if rank == 0 else None]
    dist.broadcast_object_list(text)
    assert text == ["hello"]
    most = torch.tensor([rank])
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    assert most.item() == ranks - 1
    if rank == 0:
        dist.send(torch.ones(3), 1)
    if rank == 1:
        got = torch.empty(3)
        dist.recv(got, 0)
        assert got.tolist() == [1, 1, 1]
    few = dist.new_group([0, 1])
    if rank < 2:
        value = torch.ones(4)
        dist.all_reduce(value, group=few)
        assert value.tolist() == [2] * 4
    dist.barrier()
    print("done", flush=True)


def main(kind, rank, ranks, folder, seconds):
    sys.path.insert(0, folder)
    from net import net

    torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:syncline",
        init_method=os.environ["MEET"],
        rank=int(rank),
        world_size=int(ranks),
        timeout=datetime.timedelta(seconds=float(seconds)),
    )
    globals()[kind](net, int(rank), int(ranks))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
