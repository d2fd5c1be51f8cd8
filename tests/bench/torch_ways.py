"""Trains a network by several ways in turn, in one process a rank. Rank 0 writes a JSON line to the
file descriptor TOLD when a way is done, with the step times of the slowest rank.

    torch_ways.py MODEL BATCH STEPS ROUNDS WAY[=PLAN] ... TOLD        (variables as torchrun's)

WAY: ddp, ddp:MB, ddp:bf16, list, backend, wrap or wrap:NAME; ways.py says what they are.
"""

import contextlib
import copy
import datetime
import gc
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.nn.parallel import DistributedDataParallel

import syncline.torch
from torch_case import Case

WARM_UP = 2  # steps: DDP has its buckets then, and wrap() has seen a forward pass
LIMIT = datetime.timedelta(seconds=600)
EQUAL = {"init_sync": False}  # ranks begin with equal weights, which take long to send


def by_ddp(model, _, plan, detail):
    size = {} if detail in ("", "bf16") else {"bucket_cap_mb": float(detail)}
    made = DistributedDataParallel(model, **size, **EQUAL)
    if detail == "bf16":
        made.register_comm_hook(None, bf16_compress_hook)
    return made


def by_list(model, _, plan, detail):
    sizes = syncline.torch.buckets(model, plan)
    return DistributedDataParallel(model, bucket_cap_mb_list=sizes, **EQUAL)


def by_backend(model, _, plan, detail):
    return syncline.torch.ddp(model, plan, **EQUAL)


def by_wrap(model, optimizer, plan, detail):
    return syncline.torch.wrap(model, plan, optimizer=optimizer)


KINDS = {"ddp": by_ddp, "list": by_list, "backend": by_backend, "wrap": by_wrap}


class Ranks:
    """Process groups one behind the other, and what ranks tell each other beside them."""

    def __init__(self):
        self.rank, self.ranks = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE"))
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        self.store = dist.TCPStore(address, port, self.ranks, self.rank == 0, LIMIT)
        self.groups = 0

    @contextlib.contextmanager
    def group(self, kind, plan):
        """The default group; with the plan where the backend carries it."""
        self.groups += 1
        backend = "gloo"
        if kind == "backend":
            backend, os.environ["SYNCLINE_PLAN"] = "cpu:syncline", plan
        store = dist.PrefixStore(f"group/{self.groups}", self.store)
        about = {"store": store, "rank": self.rank, "world_size": self.ranks, "timeout": LIMIT}
        dist.init_process_group(backend, **about)
        try:
            yield
        finally:
            dist.destroy_process_group()
            os.environ.pop("SYNCLINE_PLAN", None)

    def gathered(self, value):
        """Each rank's value, on rank 0, which serves the store; nothing on the others."""
        self.store.set(f"value/{self.groups}/{self.rank}", json.dumps(value))
        if self.rank != 0:
            return []
        keys = [f"value/{self.groups}/{rank}" for rank in range(self.ranks)]
        return [json.loads(self.store.get(key)) for key in keys]


def sent():
    """Bytes that the link has sent."""
    link = pathlib.Path("/sys/class/net", os.environ["GLOO_SOCKET_IFNAME"])
    return int((link / "statistics" / "tx_bytes").read_text())


def train(case, model, optimizer, steps, finish):
    """Seconds of each step behind the warm-up, bytes sent a step, and the last loss. A step's
    messages may end in the next one, or in finish(): bytes are those of all steps."""
    times, before = [], sent()
    for _ in range(WARM_UP + steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = case.loss(model(case.inputs))
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - begin)
    finish(model)
    return times[WARM_UP:], (sent() - before) / (WARM_UP + steps), loss.item()


def measured(case, way, plan, ranks, steps):
    kind, _, detail = way.partition(":")
    with ranks.group(kind, plan):
        module = copy.deepcopy(case.model)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.001, momentum=0.9)
        model = KINDS[kind](module, optimizer, plan, detail)
        dist.barrier()
        finish = syncline.torch.finish if kind == "wrap" else lambda _: None
        found = train(case, model, optimizer, steps, finish)
        del module, model, optimizer
        gc.collect()  # DDP and wrap() end with their models
    return ranks.gathered(found)


def of_slowest(found):
    times, moved, losses = zip(*found)
    return {"times": list(map(max, zip(*times))), "sent": max(moved), "loss": losses[0]}


def main(name, batch, steps, rounds, *rest):
    *ways, told = rest
    ranks = Ranks()
    case = Case(name, int(batch), ranks.rank)
    if not hasattr(dist.Backend, "SYNCLINE"):  # without a wheel's entry point
        syncline.torch.register()
    with open(int(told), "w") as out:
        for number in range(int(rounds)):
            for way, _, plan in (each.partition("=") for each in ways):
                found = measured(case, way, plan, ranks, int(steps))
                if ranks.rank == 0:
                    line = {"round": number + 1, "way": way, **of_slowest(found)}
                    print(json.dumps(line), file=out, flush=True)
    ranks.groups += 1
    ranks.gathered("over")  # until all have come here the store is served


if __name__ == "__main__":
    main(*sys.argv[1:])
