"""DistributedDataParallel with a plan's buckets: that of the process group and of the model."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from syncline import capi
from syncline.torch import changes, hooks, versions
from syncline.torch.collectives import Collectives
from syncline.torch.planned import unfit_for_calls
from syncline.torch.wrapped.hooks import Hook
from syncline.torch.wrapped.names import Mismatch, Parameter, check, is_rows, named

# torch.compile cuts graphs by one number of bytes, and refuses one that is smaller.
LEAST_GRAPH = 1 << 20  # bytes


def made(model, plan, settings):
    """The model in DistributedDataParallel."""
    sizes = buckets(model, group_plan(model, plan, settings))
    is_as_first = settings.get("find_unused_parameters") and not settings.get("static_graph")
    # With unused parameters DDP counts the list from the model's first parameter, in every step.
    if is_as_first:
        sizes.reverse()
    # Without views DDP copies all gradients back behind the last message.
    settings = {"gradient_as_bucket_view": True, **settings}
    made = DistributedDataParallel(model, bucket_cap_mb_list=sizes, **settings)
    made.bucket_bytes_cap = max(graph_bytes(made, settings), LEAST_GRAPH)
    watch(made)
    return made


def graph_bytes(made, settings):
    """By how many bytes of parameters torch.compile cuts graphs. In which order gradients become
    ready depends on it."""
    given = settings.get("bucket_cap_mb")
    return made.bucket_bytes_cap if given is None else int(given * (1 << 20))


def watch(model):
    """Raises at a forward pass where a parameter is not the one of which DDP sums gradients."""
    known = changes.Known(model.module, may_freeze=True)

    def look(wrapped, _):
        change = known.change(wrapped.module) if torch.is_grad_enabled() else ""
        if change:
            raise RuntimeError(f"the model was changed after ddp(): {change}")

    model.register_forward_pre_hook(Hook(look))


def opened(plan):
    folder = plan or os.environ.get("SYNCLINE_PLAN")
    if not folder:
        raise ValueError("expected a plan's folder, or SYNCLINE_PLAN in the environment, got none")
    return capi.Plan(folder)


def buckets(model, plan):
    """The sizes of the plan's messages in MiB, whose members are the model's gradients."""
    hooks.check_values(model)
    ignored = set(getattr(model, "_ddp_params_and_buffers_to_ignore", ()))
    unfit = unfit_for_calls(plan.about)
    if unfit:
        raise ValueError(f"'{plan.folder}': {unfit}")
    every = model.named_parameters()
    trained = {name: each for name, each in every if each.requires_grad and name not in ignored}
    try:
        fit(plan, *described(model, trained))
    except Mismatch as failure:
        raise ValueError(f"'{plan.folder}': the plan does not fit the model: {failure}") from None
    return [each.bytes / (1 << 20) for each in plan.messages]


def described(model, trained):
    """The trained parameters and all their names, as check() wants them."""
    return {
        name: Parameter(each.numel() * each.element_size(), str(each.dtype)[6:])
        for name, each in trained.items()
    }, named(model, trained)


def fit(plan, parameters, names):
    """Raises Mismatch where a plan's messages cannot be sums of the parameters' gradients."""
    members = {
        each.name: Parameter(each.whole, message.type)
        for number, message in enumerate(plan.messages)
        for each in plan.members(number)
    }
    members = {name: each for name, each in members.items() if not is_rows(name, members)}
    check(members, parameters, names)
    planned = sum(each.bytes for each in plan.messages)
    total = sum(each.bytes for each in parameters.values())
    if planned != total:
        raise Mismatch(
            f"its messages have {planned} bytes, the model's gradients {total}: expected a plan"
            " by '--planner ddp-list'"
        )


def told(plan):
    """A plan in errors."""
    return f"'{plan.folder}' (hash {plan.about.hash})"


def group_plan(model, plan, settings):
    """The plan of the process group that DDP takes, which must be the given one."""
    if not dist.is_initialized():
        raise ValueError(
            "ddp(): expected torch.distributed.init_process_group('cpu:syncline') before it"
        )
    has = planned(group_of(settings), device_of(model))
    folder = plan or os.environ.get("SYNCLINE_PLAN")
    if has and (not folder or str(folder) == has.folder):
        return has
    mine = opened(folder)
    if has is None:
        raise ValueError(f"ddp(): {without(model, mine, settings)}")
    if has.about.hash != mine.about.hash:
        raise ValueError(
            f"ddp(): expected the plan of the process group, {told(has)}, got {told(mine)}: leave"
            f" out 'plan', or set SYNCLINE_PLAN={mine.folder} before init_process_group()"
        )
    return has


def without(model, mine, settings):
    """What to do where the process group has no plan."""
    name = dist.get_backend(group_of(settings))
    first = planned(dist.group.WORLD, device_of(model))
    if first:
        return (
            f"expected the process group with the plan {told(first)}, the first one, got another"
            f" one, of '{name}', without a plan: leave out 'process_group'"
        )
    begin = "init_process_group('cpu:syncline')"
    if versions.release() < versions.FIRST:
        begin = "process_group=syncline.torch.process_group()"
    return (
        f"expected a process group with the plan {told(mine)}, got one of '{name}' without a plan:"
        f" set SYNCLINE_PLAN={mine.folder} and call {begin}, or for its buckets alone"
        " DistributedDataParallel(model, bucket_cap_mb_list=syncline.torch.buckets(model, plan))"
    )


def group_of(settings):
    mesh = settings.get("device_mesh")
    group = mesh.get_group(0) if mesh is not None else settings.get("process_group")
    return group or dist.group.WORLD


def device_of(model):
    return next((each.device for each in model.parameters()), torch.device("cpu"))


def planned(group, device):
    """The plan of a process group, which is a backend itself before PyTorch 2.14; None for none."""
    if not isinstance(group, Collectives):
        try:
            group = group._get_backend(device)
        except RuntimeError:
            return None
        group = getattr(group, "wrapped_pg", group)  # with TORCH_DISTRIBUTED_DEBUG=DETAIL
    has = getattr(group, "planned", None)
    return has.plan if has else None
