"""A process group for DistributedDataParallel(process_group=..), where PyTorch's backends cannot be
Python classes: before 2.14."""

import torch.distributed as dist
from torch.distributed import distributed_c10d

from syncline.torch import versions
from syncline.torch.collectives import Collectives

NAME = "syncline"


class SynclineProcessGroup(Collectives, dist.ProcessGroup):
    """Between all ranks of init_process_group(). Lives until destroy_process_group()."""

    def __init__(self, store, rank, ranks, timeout):
        super().__init__(rank, ranks)
        self.begin(store, rank, ranks, NAME, timeout)

    def getBackendName(self):
        return "syncline"


def made(timeout):
    """The group, which PyTorch then knows as one of its own. There is one at a time."""
    known = versions.known_groups()
    world = distributed_c10d._get_default_group()
    for group, name in known.pg_names.items():
        if name == NAME:
            if timeout not in (None, group.timeout):
                raise ValueError(
                    "process_group(): expected the timeout of the first call,"
                    f" {group.timeout.total_seconds():g} s, got {timeout.total_seconds():g} s"
                )
            return group
    rank, ranks = dist.get_rank(), dist.get_world_size()
    store = dist.PrefixStore(NAME, distributed_c10d._get_default_store())
    group = SynclineProcessGroup(store, rank, ranks, timeout or dist.default_pg_timeout)
    known.pg_map[group] = ("syncline", store)
    known.pg_names[group] = NAME
    known.pg_group_ranks[group] = dict(known.pg_group_ranks[world])
    known.pg_backend_config[group] = "cpu:syncline"
    known.pg_to_tag[group] = NAME
    known.tags_to_pg.setdefault(NAME, []).append(group)
    return group
