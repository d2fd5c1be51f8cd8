"""What the package needs of PyTorch, and what it says where that is missing."""

import re

import torch
import torch.distributed as dist

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
