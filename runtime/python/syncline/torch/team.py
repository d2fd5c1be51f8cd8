"""The ranks of a process group, which measure together and decide by numbers that all have."""

import contextlib
import dataclasses
import math
import statistics
import time

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from syncline.torch import hooks, versions

MOST_ROUNDS = 200
FEWEST_ROUNDS = 5
CERTAIN = 0.03  # of the median: a measurement then ends


@dataclasses.dataclass(frozen=True)
class Summary:
    """Seconds of a measurement's rounds, each those of its slowest rank."""

    median: float
    quartiles: tuple
    uncertainty: float  # half of the median's 95 % interval, as a part of it
    samples: int

    @staticmethod
    def of(times):
        times = sorted(times)
        count, middle = len(times), statistics.median(times)
        # The median's interval by order statistics.
        reach = 0.98 * math.sqrt(count)
        low = times[max(math.floor(count / 2 - reach), 0)]
        high = times[min(math.ceil(count / 2 + reach), count - 1)]
        parts = statistics.quantiles(times, n=4) if count > 1 else times * 3
        uncertainty = (high - low) / 2 / middle if middle > 0 else 0.0
        return Summary(middle, (parts[0], parts[2]), uncertainty, count)


@contextlib.contextmanager
def named(name):
    """Gives a process group that is made within this name. PyTorch would count a rank's groups:
    ranks that made unequally many would wait for each other under different names, and a name that
    comes again has a closed group's addresses in the store."""
    of_pytorch = versions.naming()
    distributed_c10d._process_group_name = lambda *_, **__: name
    try:
        yield
    finally:
        distributed_c10d._process_group_name = of_pytorch


class Team:
    def __init__(self, group, device):
        self.group, self.device = group, device
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        self.clock = hooks.clock_of(device)
        self.one = torch.zeros(1, device=device)
        self.begin = time.monotonic()

    def part(self, members, name):
        """The team of some ranks of this one, all of which call it with a new name."""
        ranks = [dist.get_global_rank(self.group, rank) for rank in members]
        # Without it the part would have the backend of init_process_group().
        backend = dist.get_backend_config(self.group)
        with named(name):
            group = dist.new_group(ranks, backend=backend, use_local_synchronization=True)
        return Team(group, self.device)

    def slowest(self, values):
        """The largest of all ranks' values, one by one."""
        shared = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(shared, op=dist.ReduceOp.MAX, group=self.group)
        return shared.tolist()

    def now(self):
        """Seconds since the beginning, by rank 0's clock."""
        return self.slowest([self.elapsed()])[0]

    def elapsed(self):
        return time.monotonic() - self.begin if self.rank == 0 else 0.0

    def align(self):
        dist.all_reduce(self.one, group=self.group)

    def rounds(self, work, count):
        """Seconds of each of so many rounds, and what time it is then."""
        marks = []
        for _ in range(count):
            self.align()
            begin = self.clock.mark()
            work()
            marks.append((begin, self.clock.mark()))
        self.clock.wait()
        *times, now = self.slowest([*(self.clock.seconds(*each) for each in marks), self.elapsed()])
        return times, now

    def measure(self, work, until, warm_up=2):
        """A Summary of rounds until the median is certain, or until that time."""
        (*_, last), now = self.rounds(work, warm_up)
        times = []
        while True:
            fits = int((until - now) / max(last, 1e-7))
            least = max(FEWEST_ROUNDS - len(times), 1)
            count = max(least, min(fits, max(len(times), 10), MOST_ROUNDS - len(times)))
            more, now = self.rounds(work, count)
            times += more
            found = Summary.of(times)
            if now > until or len(times) >= MOST_ROUNDS or found.uncertainty <= CERTAIN:
                return found
