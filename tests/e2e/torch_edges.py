"""A rank of test_torch_edges.py: torch_edges.py KINDS RANK RANKS FOLDER SECONDS. Calls the backend
'syncline' as KINDS say, separated by commas, and prints each of them behind it."""

import datetime
import gc
import os
import resource
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

HOST = "127.0.0.1"


def backend():
    return dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))


def elements():
    """Of each message of the plan."""
    return [each.count for each in backend().planned.plan.messages]


def summed(tensor, **options):
    dist.all_reduce(tensor, **options)
    return tensor


def shapes(rank, ranks):
    """Values of any layout and type are summed, whether or not the plan has their size."""
    count = elements()[0]
    assert summed(torch.ones(0)).tolist() == []
    assert summed(torch.tensor(3.0)).item() == 3 * ranks
    for columns in (count, 5):
        wide = torch.zeros(columns, 2) + rank
        assert summed(wide[:, 0]).unique().tolist() == [sum(range(ranks))]
        assert wide[:, 1].unique().tolist() == [rank]
    tall = torch.arange(float(count // 2 * 2)).view(2, -1)
    expected = tall.t() * ranks
    assert torch.equal(summed(tall.t()), expected)
    weight = torch.nn.Parameter(torch.ones(count, 2)[:, 0])
    with torch.no_grad():
        summed(weight)
    assert weight.unique().tolist() == [ranks]
    for kind in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64):
        assert summed(torch.ones(count, dtype=kind)).unique().tolist() == [ranks]
    for size in (count, 5):
        mean = summed(torch.full((size,), float(rank)), op=dist.ReduceOp.AVG)
        assert mean.unique().tolist() == [(ranks - 1) / 2]


def collectives(rank, ranks):
    """What Gloo carries, with all of PyTorch's calls."""
    mine = torch.full((2,), float(rank))
    found = [torch.empty(2) for _ in range(ranks)]
    dist.all_gather(found, mine)
    assert [each[0].item() for each in found] == list(range(ranks))
    dist.gather(mine, found if rank == 0 else None)
    part = torch.empty(2)
    dist.scatter(part, found if rank == 0 else None)
    assert part.tolist() == [rank, rank]
    dist.reduce(part, 0)
    assert rank or part.tolist() == [sum(range(ranks))] * 2
    dist.reduce_scatter(part, [torch.ones(2)] * ranks)
    assert part.tolist() == [ranks, ranks]
    everyones = torch.empty(ranks)
    dist.all_to_all_single(everyones, torch.full((ranks,), float(rank)))
    assert everyones.tolist() == list(range(ranks))
    dist.all_to_all(found, [mine] * ranks)
    objects = [None] * ranks
    dist.all_gather_object(objects, {"rank": rank})
    assert [each["rank"] for each in objects] == list(range(ranks))
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    got = torch.empty(2)
    sent = dist.P2POp(dist.isend, mine, after), dist.P2POp(dist.irecv, got, before)
    for work in dist.batch_isend_irecv(list(sent)):
        work.wait()
    assert got.tolist() == [before, before]
    assert dist.broadcast(part, 0, async_op=True).get_future().wait()[0] is not None
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=60))
    dist.barrier()


def before_waiting(rank, ranks):
    """A script may call a message again before it waits for it."""
    values = [torch.full((elements()[0],), float(i)) for i in range(20)]
    works = [dist.all_reduce(each, async_op=True) for each in values]
    for work in works:
        work.wait()
    assert [each[0].item() for each in values] == [float(i) * ranks for i in range(20)]


def nested(rank, ranks):
    """A callback of a future may call collectives and wait for them, which may have callbacks."""

    def again(future):
        value = dist.all_reduce(torch.ones(3), async_op=True).get_future().then(deeper).wait()
        return future.value()[0] + value

    def deeper(future):
        summed(torch.ones(2))
        return future.value()[0][0]

    for count in (elements()[0], 7):
        future = dist.all_reduce(torch.ones(count), async_op=True).get_future().then(again)
        assert future.wait().unique().tolist() == [2 * ranks]


def expanded(rank, ranks):
    """A tensor that cannot be written to ends its own call alone, in a callback too."""
    tensor = torch.ones(1).expand(7)
    assert "single memory location" in refused(lambda: dist.all_reduce(tensor))
    future = dist.all_reduce(tensor, async_op=True).get_future()
    assert "single memory location" in refused(future.wait)
    assert summed(torch.ones(7)).unique().tolist() == [ranks]


def operations(rank, ranks):
    """What values cannot do is refused at the call, and the group goes on."""
    count, whole = torch.ones(3), torch.ones(3, dtype=torch.int64)
    expected = "all-reduce by AVG: expected floating-point numbers, got int64"
    assert expected == refused(lambda: dist.all_reduce(whole, dist.ReduceOp.AVG))
    expected = "reduce by BXOR: expected whole numbers, got float32"
    assert expected == refused(lambda: dist.reduce(count, 0, dist.ReduceOp.BXOR))
    expected = "reduce-scatter by AVG: expected floating-point numbers, got int64"
    parts = torch.ones(3 * ranks, dtype=torch.int64)
    scatter = dist.reduce_scatter_tensor
    assert expected == refused(lambda: scatter(whole, parts, dist.ReduceOp.AVG))
    assert summed(whole, op=dist.ReduceOp.BAND).tolist() == [1, 1, 1]
    assert summed(torch.full((3,), 7.0), op=dist.ReduceOp.AVG).tolist() == [7, 7, 7]


def refused(call):
    try:
        call()
    except (RuntimeError, ValueError) as failure:
        return str(failure)
    return "nothing was refused"


def late(rank, ranks):
    """Rank 1 comes to each collective when the others' threads have asked for its end."""
    mine, parts = torch.full((2,), float(rank)), [torch.empty(2) for _ in range(ranks)]
    sums, everyones = torch.empty(2), torch.empty(ranks)
    for call in (
        lambda: dist.all_reduce(sums.fill_(1), async_op=True),
        lambda: dist.reduce_scatter(sums, [torch.ones(2)] * ranks, async_op=True),
        lambda: dist.reduce_scatter_tensor(sums, torch.ones(2 * ranks), async_op=True),
        lambda: dist.all_gather(parts, mine, async_op=True),
        lambda: dist.all_to_all_single(everyones, torch.ones(ranks) * rank, async_op=True),
        lambda: dist.barrier(async_op=True),
    ):
        if rank == 1:
            time.sleep(1)
        call().wait()
        assert sums.tolist() == [ranks, ranks]
    assert [each[0].item() for each in parts] == everyones.tolist() == list(range(ranks))


def receives(rank, ranks):
    """Rank 0 waits for a message of a rank that ends."""
    pids = [None] * ranks
    dist.all_gather_object(pids, os.getpid())
    if rank == 1:
        time.sleep(1000)
    threading.Timer(1.0, os.kill, (pids[1], signal.SIGKILL)).start()
    print(refused(lambda: dist.recv(torch.empty(2), 1)), flush=True)


class AtTheEnd:
    """Ends another process while the interpreter ends, and gives its own threads time to notice."""

    def __init__(self, process):
        self.process = process

    def __del__(self):
        os.kill(self.process, signal.SIGKILL)
        time.sleep(3)


def leaves_waiting(rank, ranks):
    """Rank 0 ends by an error while a thread waits for Gloo, which then gets an answer."""
    pids = [None] * ranks
    dist.all_gather_object(pids, os.getpid())
    if rank == 1:
        time.sleep(1000)
    globals()["kept"] = AtTheEnd(pids[1]), dist.all_reduce(torch.ones(3), async_op=True)
    raise ValueError("wrong data")


def forked(rank, ranks):
    """A child cannot use the group, and does not end its parent's."""
    child = os.fork()
    if child == 0:
        try:
            summed(torch.ones(3))
        except RuntimeError as error:
            backend().at_exit()
            os._exit(0 if "which made the group, got one of process" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert summed(torch.ones(elements()[0])).unique().tolist() == [ranks]


def limits(rank, ranks):
    dist.set_timeout(datetime.timedelta(seconds=77))
    assert backend().watch.limit == 77


def steps(rank, ranks):
    """Memory does not grow by steps, and tensors are free when their collective is over."""
    count, sizes = int(os.environ["STEPS"]), elements()
    used = []
    for step in range(count):
        works = [dist.all_reduce(torch.ones(size), async_op=True) for size in sizes]
        for work in works:
            work.wait()
        summed(torch.ones(1))
        if step in (count // 2, count - 1):
            used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    work = works = None
    held, end = 1, time.monotonic() + 60
    while held and time.monotonic() < end:  # threads may just be leaving the last ones
        held = sum(type(each).__name__ == "Pending" for each in gc.get_objects())
    assert held == 0 and not backend().watch.pending, held
    assert used[1] - used[0] < 8192, used  # KiB
    assert backend().planned.matcher.step == count - 1


def twice(rank, ranks):
    """A group can be made again over the same store, with the plan and with fewer ranks' groups."""
    few = dist.new_group([0, 1])
    if rank < 2:
        assert summed(torch.ones(3), group=few).tolist() == [2, 2, 2]
    old = dist.distributed_c10d._get_default_group()
    dist.destroy_process_group()
    try:
        old.allreduce([torch.ones(3)]).wait()
    except RuntimeError as error:
        assert "syncline: group '0' has been shut down" in str(error), error
    else:
        raise AssertionError("expected an error")
    joined(rank, ranks)
    assert summed(torch.ones(elements()[0])).unique().tolist() == [ranks]
    few = dist.new_group([ranks - 2, ranks - 1])
    if rank >= ranks - 2:
        assert summed(torch.ones(3), group=few).tolist() == [2, 2, 2]


def leaves(rank, ranks):
    """The program ends without destroy_process_group()."""
    print("leaves", flush=True)
    sys.exit()


def fails(rank, ranks):
    """A rank ends with an error; the others wait for it."""
    if rank == int(os.environ["FAILS"]):
        raise ValueError("wrong data")
    summed(torch.ones(7))


def joined(rank, ranks):
    """Joins by a store that outlives the group, as that of torchrun does."""
    dist.init_process_group(
        "cpu:syncline", store=store, rank=rank, world_size=ranks, timeout=timeout
    )


if __name__ == "__main__":
    kinds, rank, ranks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    timeout = datetime.timedelta(seconds=float(sys.argv[5]))
    port = int(os.environ["MEET"].rsplit(":", 1)[1])
    torch.set_num_threads(1)
    store = dist.TCPStore(HOST, port, ranks, rank == 0)
    joined(rank, ranks)
    for kind in kinds.split(","):
        globals()[kind](rank, ranks)
        print(kind, flush=True)
    dist.destroy_process_group()
