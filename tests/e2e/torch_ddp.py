"""A rank of test_torch_ddp.py: torch_ddp.py KIND RANK RANKS FOLDER SECONDS. Prints what is refused
as JSON. OTHER is the folder of another plan, ORDERED that of one that overlaps steps."""

import json
import os
import sys
from unittest import mock

import syncline.torch
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from syncline.torch import versions as needs
from torch_models import refusal
from torch_wrap_case import refused


def joined(backend, rank=0, ranks=1):
    meet = os.environ["MEET"] if ranks > 1 else f"file://{os.environ['HERE']}/{backend}"
    dist.init_process_group(backend, init_method=meet, rank=rank, world_size=ranks)


def other_models(net):
    wider, frozen = net(), net()
    wider[2] = nn.Linear(512, 644)
    frozen[1].bias.requires_grad_(False)
    more = nn.ModuleDict({"net": net(), "more": nn.Linear(3, 3)})
    return {
        name: refused(lambda: syncline.torch.ddp(model))
        for name, model in {
            "wider": wider,
            "frozen": frozen,
            "more": more,
            "double": net().double(),
            "half": net().bfloat16(),
        }.items()
    }


def other_plans(net):
    other = os.environ["OTHER"]
    found = {"given": refused(lambda: syncline.torch.ddp(net(), other))}
    with mock.patch.dict(os.environ, SYNCLINE_PLAN=other):
        found["variable"] = refused(lambda: syncline.torch.ddp(net()))
    found["missing"] = refused(lambda: syncline.torch.ddp(net(), "/none.plan"))
    for name in ("gloo", "cpu:syncline"):
        second = dist.new_group(backend=name)
        found[f"second {name}"] = refused(lambda: syncline.torch.ddp(net(), process_group=second))
    with mock.patch.dict(os.environ):
        del os.environ["SYNCLINE_PLAN"]
        found["group's"] = refused(lambda: syncline.torch.ddp(net()))
    return found


def changes(net):
    """Of a model in ddp(), told at its next forward pass on all ranks."""

    def replace(model):
        model[0].weight = nn.Parameter(model[0].weight.detach().clone())

    def cast(model):
        model[2].bias.data = model[2].bias.data.double()

    def freeze(model):
        model[1].bias.requires_grad_(False)

    found = {}
    for change in (replace, cast, freeze, lambda model: model.append(nn.Linear(10, 2))):
        model = syncline.torch.ddp(net(), find_unused_parameters=True)
        model(torch.ones(2, 256)).sum().backward()
        change(model.module)
        with torch.no_grad():
            model.module[0](torch.ones(2, 256))
        found[change.__name__] = refused(lambda: model(torch.ones(2, 256)).sum().backward())
    return found


def views(net):
    """Whether gradients are views of messages, by default and where that is given."""
    made = (syncline.torch.ddp(net()), syncline.torch.ddp(net(), gradient_as_bucket_view=False))
    return " ".join(str(each.gradient_as_bucket_view) for each in made)


def with_plan(net, rank, ranks):
    joined("cpu:syncline", rank, ranks)
    found = {**other_models(net), **other_plans(net), **changes(net), "views": views(net)}
    dist.destroy_process_group()
    return found


def detailed(net, rank, ranks):
    """PyTorch wraps the backend where it compares all calls."""
    joined("cpu:syncline", rank, ranks)
    syncline.torch.ddp(net())
    dist.destroy_process_group()
    return {}


def without_plan(net, rank, ranks):
    other = os.environ["OTHER"]
    found = {"no group": refused(lambda: syncline.torch.ddp(net(), other))}
    for backend in ("gloo", "cpu:syncline"):
        joined(backend)
        found[backend] = refused(lambda: syncline.torch.ddp(net(), other))
        found[f"{backend}, none"] = refused(lambda: syncline.torch.ddp(net()))
        dist.destroy_process_group()
    found["buckets"] = len(syncline.torch.buckets(net(), other))
    lazy = nn.Sequential(nn.LazyLinear(4))
    found["lazy"] = refusal(lambda: syncline.torch.buckets(lazy, other))
    found["ordered"] = refused(lambda: syncline.torch.buckets(net(), os.environ["ORDERED"]))
    return found


def versions(net, rank, ranks):
    """A PyTorch that lacks what is used."""
    groups = mock.patch.object(dist.distributed_c10d, "_world", object())
    hooks = mock.patch.object(torch, "Tensor", object())

    def old(self, module, bucket_cap_mb=None):
        pass

    found = {}
    with mock.patch.object(dist.distributed_c10d, "_process_group_name", None):
        found["calibrate"] = refused(needs.naming)
    with mock.patch.object(DistributedDataParallel, "__init__", old):
        found["ddp"] = refused(lambda: syncline.torch.ddp(net()))
        found["buckets"] = refused(lambda: syncline.torch.buckets(net()))
    with groups:
        found["group"] = refused(syncline.torch.process_group)
    with hooks:
        found["wrap"] = refused(lambda: syncline.torch.wrap(None))
    return found


if __name__ == "__main__":
    kind, rank, ranks, folder = sys.argv[1:5]
    sys.path.insert(0, folder)
    from net import net

    torch.set_num_threads(1)
    print(json.dumps(globals()[kind](net, int(rank), int(ranks))), flush=True)
