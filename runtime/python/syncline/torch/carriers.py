"""PyTorch's own groups below ours: Gloo for CPUs, NCCL for CUDA tensors."""

import datetime
import os

import torch.distributed as dist

from syncline import _library
from syncline.torch import tuner

# Behind the limit, so that the watch finds a lost rank before Gloo does.
GLOO_GRACE = datetime.timedelta(seconds=30)


def gloo(store, rank, ranks, timeout):
    return dist.ProcessGroupGloo(store, rank, ranks, timeout=timeout + GLOO_GRACE)


def nccl(store, rank, ranks, label, timeout, global_ranks, given=None):
    """`given` are the options of NCCL's process group that the user made, or None."""
    if not dist.is_nccl_available():
        raise RuntimeError("cuda:syncline: expected a PyTorch with NCCL, got one without")
    options = given or dist.ProcessGroupNCCL.Options()
    # NCCL's own limit would end the process before the watch has found the rank at fault.
    options._timeout = timeout + GLOO_GRACE
    options.group_name, options.global_ranks_in_group = label, list(global_ranks)
    return dist.ProcessGroupNCCL(dist.PrefixStore("nccl", store), rank, ranks, options)


def follow(folder):
    """Makes NCCL follow the plan in a folder."""
    os.environ.update(tuner.variables(folder, _library.library(), os.environ))
