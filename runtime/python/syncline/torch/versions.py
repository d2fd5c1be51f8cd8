"""What the package needs of PyTorch, and what it says where that is missing."""

import inspect
import re

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d
from torch.nn.parallel import DistributedDataParallel

FIRST = (2, 14)  # the first release whose backends may be Python classes


def release():
    """PyTorch's version as two numbers."""
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", torch.__version__).groups()))


def backend_class():
    """c10d's class of backends. It has no public name, but is the base of one that has."""
    if release() < FIRST:
        raise RuntimeError(
            f"PyTorch {torch.__version__}: the backend 'syncline' needs PyTorch 2.14 or later;"
            " with this one, call init_process_group('gloo') and DistributedDataParallel(model,"
            " process_group=syncline.torch.process_group())"
        )
    gloo = getattr(dist, "ProcessGroupGloo", None)
    found = getattr(gloo, "__base__", None)
    if getattr(found, "__name__", "") != "Backend" or not hasattr(dist, "Work"):
        raise RuntimeError(
            f"PyTorch {torch.__version__}: expected ProcessGroupGloo over c10d's class 'Backend',"
            f" got {found}: this version of syncline does not know this PyTorch; with the backend"
            " 'gloo' in place of 'syncline' the script runs without a plan"
        )
    return found


def check_hooks():
    """Raises where wrap() has no hooks to use."""
    if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"):
        raise RuntimeError(f"wrap(): expected PyTorch 2.1 or later, got {torch.__version__}")


def check_bucket_list():
    """Raises where DDP takes no list of buckets."""
    if "bucket_cap_mb_list" not in inspect.signature(DistributedDataParallel).parameters:
        raise RuntimeError(
            "ddp(): expected a PyTorch whose DistributedDataParallel takes 'bucket_cap_mb_list',"
            f" as 2.13 does, got {torch.__version__}; syncline.torch.wrap() does without"
        )


def naming():
    """c10d's function that names a new process group, in whose place calibrate() has its own."""
    found = getattr(distributed_c10d, "_process_group_name", None)
    if not found:
        raise RuntimeError(
            f"PyTorch {torch.__version__}: calibrate(): expected c10d's '_process_group_name', got"
            " none: this version of syncline does not know this PyTorch; 'syncline calibrate' does"
            " without"
        )
    return found


def backward_pass():
    """The number of the backward pass in which this is called; -1 outside of one, or where PyTorch
    does not tell."""
    found = getattr(torch._C, "_current_graph_task_id", None)
    return found() if found else -1


def known_groups():
    """c10d's tables of all process groups, in which process_group() enters its own."""
    found = getattr(distributed_c10d, "_world", None)
    tables = "pg_map pg_names pg_group_ranks pg_backend_config pg_to_tag tags_to_pg"
    missing = [name for name in tables.split() if not hasattr(found, name)]
    if missing:
        raise RuntimeError(
            f"PyTorch {torch.__version__}: process_group(): expected c10d's table '{missing[0]}',"
            " got none: this version of syncline does not know this PyTorch; with the backend"
            " 'gloo' alone the script runs without a plan"
        )
    return found
