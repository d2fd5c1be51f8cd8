"""A rank of test_torch_nccl.py: torch_nccl_rank.py KIND RANK RANKS FOLDER SECONDS. Runs the code
for CUDA tensors of the backend 'syncline' on CPUs, with Gloo in NCCL's place."""

import datetime
import os
import sys
import time

import syncline.torch
import torch
import torch.distributed as dist
from syncline.torch import carriers
from torch.nn.parallel import DistributedDataParallel


class StandIn(dist.ProcessGroupGloo):
    """Counts the calls that it is handed."""

    calls = []

    def allreduce(self, tensors, options):
        StandIn.calls.append(tensors[0].numel() * tensors[0].element_size())
        return super().allreduce(tensors, options)

    def _start_coalescing(self):
        StandIn.calls.append("begin")

    def _end_coalescing(self):
        StandIn.calls.append("end")


def made(store, rank, ranks, label, timeout, global_ranks, given):
    assert label and len(global_ranks) in (0, ranks) and given is None
    return StandIn(store, rank, ranks, timeout=timeout * 100)


def registered():
    from syncline.torch.backend import SynclineBackend

    carriers.nccl = made

    def create(options, _):
        return SynclineBackend(options, _, device="cuda")

    dist.Backend.register_backend("stand-in", create, extended_api=True, devices=["cpu"])


def backend():
    return dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))


def train(model, rank, steps):
    torch.manual_seed(2 + rank)
    found = []
    for _ in range(steps):
        model.zero_grad()
        model(torch.randn(4, 256)).square().sum().backward()
        found.append(torch.cat([each.grad.flatten().clone() for each in model.parameters()]))
    return found


def planned(net, rank):
    """All calls are NCCL's, with the plan's sequence from the second step on."""
    group = dist.new_group(backend="gloo")
    torch.manual_seed(1)
    found = train(syncline.torch.ddp(net()), rank, 4)
    torch.manual_seed(1)
    expected = train(DistributedDataParallel(net(), process_group=group), rank, 4)
    assert all(torch.equal(one, other) for one, other in zip(found, expected))
    sizes = [each.bytes for each in backend().planned.plan.messages]
    buckets = [size for size in StandIn.calls if size >= min(sizes)]
    assert buckets[-3 * len(sizes) :] == sizes * 3, buckets
    assert backend().planned.group is None and backend().gloo is None
    assert backend().supports_coalescing
    backend().start_coalescing()
    backend().end_coalescing()
    assert StandIn.calls[-2:] == ["begin", "end"]
    for name in ("NCCL_TUNER_PLUGIN", "SYNCLINE_NCCL_TABLE"):
        print(os.environ.get(name), flush=True)


def wrong(net, rank):
    train(DistributedDataParallel(net()), rank, 5)


def endless(net, rank):
    model = DistributedDataParallel(net())
    for step in range(10**6):
        train(model, rank, 1)
        if step == 3:
            print("works", flush=True)
        time.sleep(0.05)


def devices(rank, ranks):
    """Each device's backend by the name of all, and what carries its tensors."""
    carriers.nccl = made
    store = dist.TCPStore("127.0.0.1", int(os.environ["MEET"].rsplit(":", 1)[1]), is_master=True)
    for name in ("cpu:gloo,cuda:syncline", "cuda:syncline", "syncline", "cpu:syncline"):
        dist.init_process_group(name, store=store, rank=rank, world_size=ranks)
        group = dist.distributed_c10d._get_default_group()
        for device in sorted(each.type for each in group._device_types):
            found = group._get_backend(torch.device(device))
            carried = [each for each in ("gloo", "nccl") if getattr(found, each, None)]
            print(name, device, *carried, flush=True)
        dist.destroy_process_group()


def main(kind, rank, ranks, folder, seconds):
    sys.path.insert(0, folder)
    from net import net

    torch.set_num_threads(1)
    if kind == "devices":
        return devices(int(rank), int(ranks))
    registered()
    dist.init_process_group(
        "cpu:stand-in",
        init_method=os.environ["MEET"],
        rank=int(rank),
        world_size=int(ranks),
        timeout=datetime.timedelta(seconds=float(seconds)),
    )
    globals()[kind](net, int(rank))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
