"""What syncline.torch.wrap() does before a model's hooks do the rest."""

import contextlib
import gc
import os
import sys

import torch
import torch.distributed as dist

from syncline import capi
from syncline.torch.wrapped import agreement
from syncline.torch.wrapped.clipping import clip
from syncline.torch.wrapped.exchanges import Exchanges, Form
from syncline.torch.wrapped.factors import modules
from syncline.torch.wrapped.layout import Layout
from syncline.torch.wrapped.model import WRAPPED, LocallyTrained, Wrapped, of
from syncline.torch.wrapped.names import Mismatch, Parameter, listed, match, named
from syncline.torch.wrapped.reducer import Reducer
from syncline.torch.wrapped.shards import settle
from syncline.torch.wrapped.updates import Updates, check_covers


class Fit:
    """A plan beside a model. Raises where one is not the other's, or the optimizer is not."""

    def __init__(self, model, plan, optimizer):
        self.plan = planned(plan)
        named = model.named_parameters()
        self.trained = {name: each for name, each in named if is_trained(each)}
        check_free(self.trained, optimizer)
        consistency = self.plan.about.consistency
        self.form = None if consistency == "bsp" else Form(self.plan)
        self.layout = self.found = None
        self.match(*described(model, self.trained))
        if self.layout:
            self.linears = modules(model, self.layout, self.plan.about.micro_batches)
            settle(self.layout, self.trained, optimizer)
        self.shards = bool(self.layout) and any(each.is_sharded for each in self.layout.messages)
        if self.form and optimizer is None:
            raise ValueError(f"a plan of consistency '{consistency}' needs 'optimizer'")
        self.leaves_under_way = bool(self.plan.about.overlaps_steps) and optimizer is not None
        if self.form or self.leaves_under_way or self.shards:
            why = "shards updates" if self.shards else "overlaps steps"
            check_covers(optimizer, self.trained, why)

    def match(self, *mine):
        try:
            if self.form:
                self.found = match(self.form.members, *mine)
            else:
                self.layout = Layout(self.plan, *mine)
        except Mismatch as failure:
            raise ValueError(
                f"'{self.plan.folder}': the plan does not fit the model: {failure}"
            ) from None


def wrap(model, plan, optimizer, process_group, allow_unused, broadcast_buffers):
    check_arguments(model, optimizer, process_group)
    fit = said = None
    try:
        fit = Fit(model, plan, optimizer)
    except (capi.Failed, OSError, ValueError) as failure:
        said = str(failure)
    settings = {"allow_unused": allow_unused, "broadcast_buffers": broadcast_buffers}
    settings["optimizer"] = type(optimizer).__name__ if optimizer else None
    parameters = {
        name: f"{str(each.dtype)[6:]} of {tuple(each.shape)}, strides {each.stride()}"
        for name, each in model.named_parameters()
    }
    agreement.agree(fit and fit.plan, said, parameters, settings, process_group)
    if not fit.form:
        settle_factors(fit, process_group)
    group = joined(fit.plan, process_group, type(model).__name__)
    try:
        agreement.broadcast([*model.parameters(), *model.buffers()], process_group)
        if fit.form:
            buffers = list(model.buffers()) if broadcast_buffers else []
            exchanges = Exchanges(fit, group, optimizer, buffers, process_group)
            LocallyTrained(model, exchanges)
        else:
            reducer = Reducer(fit, group, allow_unused)
            has_updates = fit.leaves_under_way or fit.shards
            updates = Updates(reducer, optimizer) if has_updates else None
            Wrapped(model, reducer, updates, process_group, broadcast_buffers)
    except BaseException:
        with contextlib.suppress(capi.Failed):
            group.close(0.0)
        raise
    if dist.get_rank(process_group) == 0 and not fit.form:
        say(fit)
    return model


def settle_factors(fit, process_group):
    """Each rank computes gradients from factors, which have equal bits where all do it alike."""
    own = (agreement.computing(), sorted(fit.linears))
    if any(each != own for each in agreement.gathered(own, process_group)):
        for place in fit.linears:
            fit.layout.messages[place].why_not = (
                "ranks differ in processors, threads, PyTorch or layers, so that gradients from"
                " factors would differ in bits"
            )
        fit.linears = {}


def check_arguments(model, optimizer, process_group):
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"wrap(): expected a torch.nn.Module, got {type(model).__name__}")
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"wrap(): expected a torch.optim.Optimizer, got {type(optimizer).__name__}")
    if not dist.is_initialized():
        raise RuntimeError("wrap(): expected torch.distributed.init_process_group() before it")
    if dist.get_rank(process_group) < 0:
        raise ValueError("wrap(): expected a process group that has this rank, got another one")
    if model in WRAPPED:
        raise ValueError("wrap(): expected a model that is not wrapped, got one that is")


def planned(plan):
    folder = plan or os.environ.get("SYNCLINE_PLAN")
    if not folder:
        raise ValueError("expected a plan's folder, or SYNCLINE_PLAN in the environment, got none")
    return capi.Plan(folder)


def claimed(trained, optimizer):
    """What of these another wrapped model has: names of parameters, and 'optimizer'."""
    found = []
    for each in WRAPPED.values():
        theirs = {id(one) for one in each.parameters.values()}
        found += [f"parameter '{name}'" for name, one in trained.items() if id(one) in theirs]
        if optimizer is not None and getattr(each.updates, "optimizer", None) is optimizer:
            found.append("'optimizer'")
    return found


def check_free(trained, optimizer):
    if claimed(trained, optimizer):
        gc.collect()  # a model that is gone may not have been collected
    found = claimed(trained, optimizer)
    if found:
        raise ValueError(f"{found[0]}: expected of this model alone, got that of a wrapped one")


def is_trained(parameter):
    if torch.nn.parameter.is_lazy(parameter):
        raise ValueError("expected a model whose lazy modules have run once, got one with others")
    return parameter.requires_grad and parameter.numel() > 0


def described(model, trained):
    """The trained parameters and all their names, as match() wants them."""
    parameters = {}
    for name, each in trained.items():
        if each.device.type != "cpu":
            raise ValueError(f"parameter '{name}': expected on a processor, got {each.device}")
        if str(each.dtype)[6:] not in capi.WITH_MEAN:
            raise ValueError(
                f"parameter '{name}': expected elements of {', '.join(capi.WITH_MEAN)}, got"
                f" {str(each.dtype)[6:]}"
            )
        size = each.numel() * each.element_size()
        parameters[name] = Parameter(size, str(each.dtype)[6:])
    return parameters, named(model, trained)


def joined(plan, process_group, name):
    """The plan's group of all ranks of a process group."""
    address = agreement.address(process_group)
    limit = agreement.limit(process_group)
    options = {"address": address, "start_seconds": limit, "lost_seconds": limit, "name": name[:64]}
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    if interface:
        options["interface_name"] = interface
    rank, ranks = dist.get_rank(process_group), dist.get_world_size(process_group)
    store = agreement.Announcement(process_group) if ranks > 1 else None
    return capi.Group(plan, rank, ranks, store, **options)


def say(fit):
    """Says what is not done as the plan has it."""
    told = [
        f"{listed([f'message {number}' for number in numbers])} of the plan: {reason}; summed by"
        " the all-reduce that costs least"
        for reason, numbers in fit.layout.uncarried().items()
    ]
    if fit.plan.about.overlaps_steps and not fit.leaves_under_way:
        told.append(
            "the plan overlaps steps, which wrap() does with 'optimizer' alone: each backward pass"
            " waits for its messages"
        )
    for each in told:
        print(f"syncline: {each}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def no_sync(model):
    reducer = of(model).reducer
    if reducer is None:  # ranks train by their own gradients anyway
        yield
        return
    before, reducer.syncs = reducer.syncs, False
    try:
        yield
    finally:
        reducer.syncs = before


def clip_grad_norm(model, most):
    wrapped = of(model)
    if wrapped.reducer is None:  # ranks train by their own gradients
        return torch.nn.utils.clip_grad_norm_(model.parameters(), most)
    return clip(wrapped, most)


def finish(model):
    wrapped = of(model)
    if wrapped.updates:
        wrapped.updates.finish()
