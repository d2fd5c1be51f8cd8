"""What ranks agree on before they train together, by collectives of the script's process group."""

import contextlib
import os
import platform
import socket

import torch
import torch.distributed as dist

from syncline.torch.planned import verdict

CHUNK = 64 << 20  # bytes of a broadcast, which are copied


def gathered(value, group):
    """Each rank's value."""
    values = [None] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group=group)
    return values


def computing():
    """On what the bits of a product of matrices depend, besides the matrices."""
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line for line in file if line.startswith("model name")), "")
            return model, torch.get_num_threads(), torch.__version__
    return platform.machine(), torch.get_num_threads(), torch.__version__


def agree(plan, failure, parameters, settings, group):
    """Raises on all ranks, for the same reason, where they differ. `failure` is why this rank
    cannot go on, or None; `parameters` describes each by its name."""
    own = failure or (f"plan '{plan.about.hash}'" if plan else "no plan")
    ranks = gathered((own, failure is not None, parameters, settings), group)
    by_plan = {}
    for rank, (said, *_) in enumerate(ranks):
        by_plan.setdefault(said, []).append(str(rank))
    has_failed = any(failed for _, failed, *_ in ranks)
    wrong = verdict(by_plan, None if has_failed else plan, len(ranks))
    if wrong != "same":
        raise ValueError(f"wrap(): {wrong}")
    _, _, first, expected = ranks[0]
    for rank, (_, _, others, got) in enumerate(ranks):
        check_same(first, others, rank)
        if got != expected:
            raise ValueError(
                f"wrap(): expected equal arguments on all ranks, got {expected} on rank 0 and {got}"
                f" on rank {rank}"
            )


def check_same(first, others, rank):
    for name in {**first, **others}:
        if first.get(name) != others.get(name):
            raise ValueError(
                f"wrap(): parameter '{name}': expected the same on all ranks, got"
                f" {first.get(name, 'none')} on rank 0, {others.get(name, 'none')} on rank {rank}"
            )


def broadcast(tensors, group):
    """Makes tensors equal to those of the group's rank 0."""
    source = dist.get_global_rank(group or dist.group.WORLD, 0)
    for chunk in chunks([each.detach() for each in tensors if each.numel() > 0]):
        data = torch.cat([each.contiguous().reshape(-1).view(torch.uint8) for each in chunk])
        dist.broadcast(data, source, group=group)
        if dist.get_rank(group) == 0:
            continue
        begin = 0
        for each in chunk:
            end = begin + each.numel() * each.element_size()
            each.copy_(data[begin:end].clone().view(each.dtype).view(each.shape))
            begin = end


def chunks(tensors):
    """The tensors in lists that are small enough to copy, each on one device."""
    found, size = [], 0
    for each in tensors:
        if found and (size > CHUNK or found[0].device != each.device):
            yield found
            found, size = [], 0
        found.append(each)
        size += each.numel() * each.element_size()
    if found:
        yield found


class Announcement:
    """A store with one key, for capi.Group: rank 0 sets it, which all others wait for."""

    def __init__(self, group):
        self.group = group
        self.source = dist.get_global_rank(group or dist.group.WORLD, 0)

    def set(self, key, value):
        dist.broadcast_object_list([value], self.source, group=self.group)

    def get(self, key, seconds):
        found = [None]
        dist.broadcast_object_list(found, self.source, group=self.group)
        return found[0]


def address(group):
    """Where the others reach the group's rank 0: MASTER_ADDR where that is its host; 127.0.0.1
    where all run on one host; else the address by which rank 0 reaches MASTER_ADDR, or its name."""
    master = os.environ.get("MASTER_ADDR", "")
    host = own = socket.gethostname()
    if master:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect((master, 9))  # sends nothing
            own = one.getsockname()[0]
    if dist.get_global_rank(group or dist.group.WORLD, 0) == 0:
        own = master or own
    ranks = gathered((host, own, bool(master)), group)
    _, first, is_told = ranks[0]
    is_one_host = len({host for host, *_ in ranks}) == 1
    return "127.0.0.1" if is_one_host and not is_told else first


def limit(group):
    """How long a collective of the group may take, in seconds."""
    try:
        backend = (group or dist.group.WORLD)._get_backend(torch.device("cpu"))
        watch = getattr(backend, "watch", None)  # of the backend 'syncline'
        return watch.limit if watch else backend.options._timeout.total_seconds()
    except (AttributeError, RuntimeError):
        return 1800.0  # PyTorch's default
