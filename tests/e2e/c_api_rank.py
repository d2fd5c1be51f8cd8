"""A rank of test_c_api.py: c_api_rank.py PLAN RANK RANKS PORT LOST [STORE]. Sums the plan's
messages until rank 0 is told to end on its input, or until a call fails, and prints a JSON object
at its end. With STORE, a folder, ranks meet by files there instead of by the port."""

import ctypes
import json
import os
import pathlib
import select
import sys
import time

import numpy

import c_api


def part(rank, message, step):
    """What each rank adds; sums of few ranks are exact in 16 bits, too."""
    return (rank + 1) * (1 + (message + step) % 5)


class Folder:
    """A store of files, as PyTorch's FileStore."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.struct = c_api.Store(None, c_api.SET(self.set), c_api.GET(self.get))

    def path(self, key):
        return self.folder / key.decode().replace("/", "_")

    def set(self, _, key, value, size):
        draft = self.folder / "draft"
        draft.write_bytes(ctypes.string_at(value, size))
        os.replace(draft, self.path(key))
        return 0

    def get(self, _, key, value, capacity, seconds):
        end = time.monotonic() + seconds
        while not self.path(key).exists():
            if time.monotonic() > end:
                return -1
            time.sleep(0.01)
        found = self.path(key).read_bytes()
        ctypes.memmove(value, found, min(capacity, len(found)))
        return len(found)


def told_to_end():
    return bool(select.select([sys.stdin], [], [], 0)[0])


def work(group, rank, ranks):
    """Steps until the end of the input, which rank 0 tells the others in each step's last sum."""
    carried = {number: info for number, info in enumerate(group.messages()) if info.is_carried}
    step = 0
    while True:
        arrays = {
            number: numpy.full(info.count, part(rank, number, step), "float32")
            for number, info in carried.items()
        }
        tickets = {number: group.issue(number, array) for number, array in arrays.items()}
        for number, ticket in tickets.items():
            group.wait(ticket)
            total = sum(part(each, number, step) for each in range(ranks))
            assert (arrays[number] == total).all(), (number, step)
        ends = numpy.array([rank == 0 and told_to_end()], "float32")
        ticket = ctypes.c_uint64()
        group.call(
            *("all_reduce", group.group, ctypes.c_void_p(ends.ctypes.data), ctypes.c_int64(1)),
            *(c_api.F32, c_api.SUM, ctypes.byref(ticket)),
        )
        group.wait(ticket)
        if ends[0] > 0:
            return step + 1
        if step == 2:
            print("works", flush=True)
        step += 1
        group.step()


def main(plan, rank, ranks, port, lost, *store):
    rank, ranks = int(rank), int(ranks)
    options = {"rank": rank, "ranks": ranks, "port": int(port), "lost_seconds": float(lost)}
    folder = Folder(*store) if store else None
    if folder:
        options["store"] = ctypes.pointer(folder.struct)
    result = {}
    try:
        group = c_api.Group(plan, **options)
        result["steps"] = work(group, rank, ranks)
        group.close()
    except c_api.Failed as error:
        result.update(vars(error), text=str(error))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
