"""A rank of test_python_api.py: python_rank.py PLAN RANK RANKS PORT. Sums the plan's messages, and
one outside of the plan, in two steps, and prints their trace as JSON."""

import json
import sys

import numpy

from syncline import capi


def main(folder, rank, ranks, port):
    rank, ranks = int(rank), int(ranks)
    plan = capi.Plan(folder)
    group = capi.Group(plan, rank, ranks, port=int(port), lost_seconds=20.0)
    for step in range(2):
        if step > 0:
            group.step()
        arrays = [numpy.full(each.count, rank + 1, each.type) for each in plan.messages]
        arrays.append(numpy.full(5, rank + 1, "int64"))
        tickets = [
            group.issue(number, array.ctypes.data, array.size, "float32", capi.MEAN)
            for number, array in enumerate(arrays[:-1])
        ]
        tickets.append(group.all_reduce(arrays[-1].ctypes.data, 5, "int64"))
        for ticket in tickets:
            group.wait(ticket)
        for array in arrays[:-1]:
            assert (array == (ranks + 1) / 2).all()
        assert (arrays[-1] == ranks * (ranks + 1) // 2).all()
    group.check()
    print(json.dumps([[each.step, each.message, each.bytes] for each in group.trace()]))
    group.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
