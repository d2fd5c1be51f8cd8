"""Trials of torch_kills.py: torch_kills_rank.py FOLDER AT_ONCE. Reads a trial as JSON from each
line, and prints what became of its ranks. All processes are forks of this one, which has imported
PyTorch; it runs so many trials at once."""

import datetime
import gc
import json
import mmap
import os
import signal
import sys
import tempfile
import time
import types

import syncline.torch
import torch
import torch._dynamo  # which optimizers load: seconds in each rank
import torch.distributed as dist
from syncline import capi
from torch.nn.parallel import DistributedDataParallel

HOST = "127.0.0.1"
LOOK = 0.01  # seconds between two looks at processes


class Forked(BaseException):
    """Leaves this program in a fork, which then goes on with `call`."""

    def __init__(self, call):
        self.call = call


def fork(call):
    """The number of a process that calls `call` and ends as any program does."""
    process = os.fork()
    if process == 0:
        raise Forked(call)
    return process


def serve(pipe, ranks):
    """Serves the store of a job, as torchrun does."""
    store = dist.TCPStore(HOST, 0, ranks, is_master=True, wait_for_workers=False)
    os.write(pipe, f"{store.port}\n".encode())
    time.sleep(100000)


def train(trial, rank, steps, errors):
    """A rank that trains until another is lost."""
    os.dup2(errors.fileno(), 2)
    ranks, limit = trial.ranks, datetime.timedelta(seconds=trial.limit)
    torch.set_num_threads(1)
    is_server = trial.is_served_by_rank_0 and rank == 0
    store = dist.TCPStore(HOST, trial.port, ranks, is_server)
    if trial.way == "plan":
        os.environ["SYNCLINE_PLAN"] = trial.plan
    backend = "gloo" if trial.way == "wrap" else "cpu:syncline"
    dist.init_process_group(backend, store=store, rank=rank, world_size=ranks, timeout=limit)
    torch.manual_seed(1)
    model = sys.modules["net"].net()
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    if trial.way == "wrap":
        model = syncline.torch.wrap(model, trial.plan, optimizer=optimizer)
    else:
        wrap = syncline.torch.ddp if trial.way == "plan" else DistributedDataParallel
        model = wrap(model)
    for step in range(10**6):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 256)).square().mean()
        loss.backward()
        optimizer.step()
        if trial.way != "wrap" and step % 2:
            dist.all_reduce(loss.detach())
            dist.barrier()
        steps[rank] = min(step + 1, 255)


def run(trial):
    """What became of a trial's ranks but the lost one: their codes and errors, and how many seconds
    the last one took to end, or -1 where one ended before any was lost."""
    started, files, steps = [], [], mmap.mmap(-1, trial.ranks)
    if not trial.is_served_by_rank_0:
        ours, theirs = os.pipe()
        started.append(fork(lambda: serve(theirs, trial.ranks)))
        trial.port = int(os.read(ours, 100))
    ranks = []
    for rank in range(trial.ranks):
        errors = tempfile.TemporaryFile()
        files.append(errors)
        ranks.append(fork(lambda rank=rank, errors=errors: train(trial, rank, steps, errors)))
    try:
        is_reached = reach(trial, ranks, steps)
        seconds = lose(trial, ranks) if is_reached else -1
        codes = [ended(process) for process in ranks]
    finally:
        for process in started + ranks:
            kill(process, signal.SIGKILL)
    errors = []
    for file in files:
        file.seek(0)
        errors.append(file.read().decode(errors="replace"))
    found = {"codes": codes, "errors": errors, "seconds": seconds}
    print(json.dumps({**vars(trial), **found}), flush=True)


def reach(trial, ranks, steps):
    """Waits for the moment of the loss. False where it does not come."""
    end = time.monotonic() + trial.patience
    while steps[trial.victim] < trial.steps and time.monotonic() < end:
        if any(ended(process) is not None for process in ranks):
            return False
        time.sleep(LOOK)
    time.sleep(trial.delay)
    return steps[trial.victim] >= trial.steps


def lose(trial, ranks):
    """Seconds until all other ranks have ended."""
    kill(ranks[trial.victim], trial.signal)
    others = [process for rank, process in enumerate(ranks) if rank != trial.victim]
    begin = time.monotonic()
    while any(ended(process) is None for process in others):
        if time.monotonic() - begin > trial.limit + trial.patience:
            break
        time.sleep(LOOK)
    return time.monotonic() - begin


CODES = {}  # of processes that have ended


def ended(process):
    """Its exit code, or None."""
    if process not in CODES:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            CODES[process] = os.waitstatus_to_exitcode(status)
    return CODES.get(process)


def kill(process, number):
    if ended(process) is None:
        os.kill(process, number)


def main():
    sys.path.insert(0, sys.argv[1])
    __import__("net")
    torch.set_num_threads(1)
    syncline.torch.register()
    capi.version()
    gc.freeze()  # the collector would copy in each rank what all share
    under_way, most = [], int(sys.argv[2])
    for line in iter(sys.stdin.readline, ""):
        trial = types.SimpleNamespace(**json.loads(line))
        under_way.append(fork(lambda trial=trial: run(trial)))
        while len(under_way) >= most:
            under_way = [each for each in under_way if ended(each) is None]
            time.sleep(LOOK)
    for each in under_way:
        os.waitpid(each, 0)


if __name__ == "__main__":
    call = main
    while call:
        try:
            call()
            call = None
        except Forked as forked:
            call = forked.call
