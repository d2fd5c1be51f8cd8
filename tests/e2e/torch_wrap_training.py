"""Cases of test_torch_wrap.py in which wrapped models train: each function's result is printed."""

import os
import pathlib
from unittest import mock

import torch
import torch.distributed as dist
import torch_wrap_nets as nets
from torch.nn.parallel import DistributedDataParallel
from torch_wrap_case import STEPS, error, gradients, refused, train, weights

import syncline.torch
from syncline.torch.wrapped import model as wrapped
from syncline.torch.wrapped.gradients import like


def same_gradients(case):
    """Beside DDP's; and the messages that travelled, step by step, are exactly the plan's."""
    worst, travelled = {}, {}
    for name in ("mlp", "mixed"):
        expected = train(case, case.ddp(name))
        for plan in (name, f"{name}.cut", f"{name}.trace"):
            if not pathlib.Path(case.plan(plan)).exists():
                continue
            model = case.wrapped(plan, case.net(name))
            found = train(case, model)
            worst[plan] = max(error(*pair) for pair in zip(found, expected))
            travelled[plan] = is_plans(wrapped.of(model).group)
    return {"worst": worst, "travelled": travelled}


def is_plans(group):
    """Whether each step's messages were the plan's, in bytes, schemes and the order of issue."""
    planned = [
        (number, each.bytes, each.scheme) for number, each in enumerate(group.plan.messages)
    ]
    steps = [[] for _ in range(STEPS)]
    for each in sorted(group.trace(), key=lambda time: time.ticket):
        steps[each.step].append((each.message, each.bytes, each.scheme))
    return len(planned) if steps == [planned] * STEPS else str(steps)


OPTIMIZERS = {
    "sgd": lambda values: torch.optim.SGD(values, 0.1, momentum=0.9, weight_decay=1e-2),
    "adam": lambda values: torch.optim.Adam(values, 0.01),
    "adamw": lambda values: torch.optim.AdamW(values, 0.01, weight_decay=0.1),
}


def same_weights(case):
    """Behind steps with a scheduler: beside DDP, with a barrier and with updates that are late, by
    plans of programs and of layers. How many updates were late on rank 0."""
    worst, late = {}, {}
    for name in ("mlp", "mixed"):
        for kind, make in OPTIMIZERS.items():
            model = case.ddp(name)
            train(case, model, make(model.parameters()))
            expected = weights(model)
            plans = {name: False, f"{name}.cut": True, f"{name}.layers": True}
            for plan, overlaps in plans.items():
                model = case.net(name)
                optimizer = make(model.parameters())
                case.wrapped(plan, model, optimizer=optimizer if overlaps else None)
                observed = observed_updates(model) if overlaps else []
                observe = None if overlaps else gradients
                train(case, model, optimizer, late=overlaps, observe=observe)
                syncline.torch.finish(model)
                key = f"{plan} {kind} {'late' if overlaps else 'barrier'}"
                worst[key], late[key] = error(weights(model), expected), len(observed)
    return {"worst": worst, "late": late}


def observed_updates(model):
    """A list that gets the module before whose forward pass each late update happens."""
    updates, found = wrapped.of(model).updates, []
    apply = updates.apply

    def observed(unit):
        found.extend([unit.names] if unit in updates.late else [])
        apply(unit)

    updates.apply = observed
    return found


def updates_where_used(case):
    """Which parameters a pass has updated before each module runs."""
    model = case.net("mixed")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("mixed.cut", model, optimizer=optimizer)
    train(case, model, optimizer, steps=2, late=True, observe=None)
    updates, seen = wrapped.of(model).updates, {}
    late = {name for unit in updates.late for name in unit.names}
    for name in ("table", "attention", "norm", "wide", "narrow"):

        def look(*_, name=name):
            now = {each for unit in updates.late for each in unit.names}
            seen[name] = sorted(late - now)

        getattr(model, name).register_forward_pre_hook(look)
    model(case.data(model))
    return {"late": sorted(late), "seen": seen} if case.rank == 0 else None


def failing_pass(case):
    """A first forward pass that ends by an exception: what is observed of it is forgotten."""
    model = case.net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("mlp.cut", model, optimizer=optimizer)
    said = refused(lambda: model(torch.zeros(2, 3)))
    modes = torch.overrides._len_torch_function_stack()
    uses = wrapped.of(model).uses
    before = uses.is_known
    train(case, model, optimizer, steps=2, observe=None)
    return ["shapes" in said, modes, before, uses.is_known, len(uses.needed["2"])]


def memory_formats(case):
    """Gradients lie in memory as their parameters do."""
    piece, found = torch.zeros(100)[7:55], []
    for kind in (torch.contiguous_format, torch.channels_last):
        weight = torch.nn.Conv2d(3, 4, 2).to(memory_format=kind).weight
        view = like(piece, weight)
        view.copy_(weight.detach())
        found.append(view.stride() == weight.stride() and view.storage_offset() == 7)
        found.append(torch.equal(piece.sort().values, weight.detach().flatten().sort().values))
    return found


def finishes_before_reading(case):
    """eval(), state_dict() of model and optimizer and a forward pass without training apply what is
    late."""
    found = {}
    for kind, read in (
        ("eval", lambda model, _: model.eval()),
        ("state", lambda model, _: model.state_dict()),
        ("part", lambda model, _: model[2].state_dict()),
        ("optimizer", lambda _, optimizer: optimizer.state_dict()),
        ("load", lambda model, _: model.load_state_dict(case.net().state_dict())),
        ("finish", lambda model, _: syncline.torch.finish(model)),
    ):
        model = case.net()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        case.wrapped("mlp.cut", model, optimizer=optimizer)
        train(case, model, optimizer, steps=2, late=True, observe=None)
        updates = wrapped.of(model).updates
        before = len(updates.late)
        read(model, optimizer)
        found[kind] = [before > 0 or case.rank != 0, len(updates.late)]
    return found


def accumulation(case):
    """Several backward passes a step, with gradients that are kept or zeroed in place; and weights
    where updates are late."""
    worst = {}
    for how in ({"set_to_none": True}, {"set_to_none": False}):
        expected = accumulated(case, case.ddp(), DistributedDataParallel.no_sync, **how)
        found = accumulated(case, case.wrapped(), syncline.torch.no_sync, **how)
        worst[str(how)] = error(found, expected)
        found = []
        for is_late in (False, True):
            model = case.net()
            optimizer = OPTIMIZERS["sgd"](model.parameters())
            if is_late:
                called = case.wrapped("mlp.cut", model, optimizer=optimizer)
            else:
                called = case.ddp(net=model)
            no_sync = syncline.torch.no_sync if is_late else DistributedDataParallel.no_sync
            accumulated(case, called, no_sync, optimizer, **how)
            found.append(torch.cat([each.flatten() for each in model.state_dict().values()]))
        worst[f"late, {how}"] = error(found[1], found[0])
    return worst


def accumulated(case, model, no_sync, optimizer=None, **how):
    """The gradients of some steps of three batches each."""
    found = []
    for step in range(3):
        model.zero_grad(**how)
        with no_sync(model):
            for part in range(2):
                nets.loss_of(model(case.data(model, 3 * step + part))).backward()
        nets.loss_of(model(case.data(model, 3 * step + 2))).backward()
        found.append(gradients(model))
        if optimizer:
            optimizer.step()
    return torch.stack(found)


def clipping(case):
    """By a barrier as DDP; refused where messages may be under way."""
    norms = []

    def clipped(model):
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01).item())
        return gradients(model)

    expected = train(case, case.ddp(), observe=clipped)
    found = train(case, case.wrapped(), observe=clipped)
    model = case.net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("mlp.cut", model, optimizer=optimizer)
    said = refused(lambda: train(case, model, optimizer, observe=clipped))
    return {"worst": max(map(error, found, expected)), "norms": norms[:2], "said": said}


def scaled(case, model, data, steps):
    """Weights and scales of steps on data(model, step); in one of them a loss is infinite."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=2)
    scales = []
    for step in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nets.loss_of(model(data(model, step)))
        if step == 2 and case.rank == 1:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return weights(model), scales


def scaling(case):
    """GradScaler with autocast; a gradient that is infinite on one rank skips the step on all."""
    found = [scaled(case, model, case.data, STEPS) for model in (case.ddp(), case.wrapped())]
    return {"worst": error(found[1][0], found[0][0]), "scales": [found[0][1], found[1][1]]}


def checkpointing(case):
    """Reentrant checkpoints may not share parameters with what is outside."""
    worst = {}
    for reentrant, scales in ((False, True), (False, False), (True, False)):
        net = nets.Mixed(scales=scales)
        expected = train(case, case.ddp(net=net), steps=3)
        options = {"checkpoints": reentrant, "scales": scales}
        model = case.wrapped("mixed", case.net("mixed", **options))
        with torch.no_grad():
            for mine, theirs in zip(model.parameters(), net.parameters()):
                mine.copy_(theirs)
        worst[str(options)] = max(map(error, train(case, model, steps=3), expected))
    shared = case.wrapped("mixed", case.net("mixed", checkpoints=True))
    return {"worst": worst, "said": refused(lambda: train(case, shared, steps=1))}

def buffers(case):
    """As DDP has them on each rank, and as rank 0 has them where they are not broadcast."""
    found = []
    for model in (
        case.ddp("mixed"),
        case.wrapped("mixed"),
        case.ddp("mixed", broadcast_buffers=False),
        case.wrapped("mixed", broadcast_buffers=False),
    ):
        train(case, model, steps=3)
        found.append(torch.cat([each.flatten().float() for each in model.buffers()]))
    return [error(found[1], found[0]), error(found[3], found[2]), error(found[2], found[0]) > 0]


def names(case):
    """Behind other wrappers' prefixes, compiled before or after; by the plan of a variable."""
    worst = {}
    expected = train(case, case.ddp(), steps=3)
    for kind in ("module", "compiled", "compiled late", "variable"):
        model = case.net()
        if kind == "module":
            model = torch.nn.DataParallel(model)
        elif kind == "compiled":
            model = torch.compile(model, backend="aot_eager")
        if kind == "variable":
            with mock.patch.dict(os.environ, SYNCLINE_PLAN=case.plan("mlp")):
                syncline.torch.wrap(model)
        else:
            case.wrapped("mlp", model)
        if kind == "compiled late":
            model = torch.compile(model, backend="aot_eager")
        worst[kind] = max(map(error, train(case, model, steps=3), expected))
        with syncline.torch.no_sync(model):
            pass
    return worst


def compiled_late_updates(case):
    """Late updates of models that torch.compile compiled, whole or a part."""
    plain = case.ddp()
    train(case, plain, OPTIMIZERS["adamw"](plain.parameters()))
    worst = {}
    for kind in ("late", "whole", "part"):
        torch._dynamo.reset()  # code of other models would not see the hooks of this one
        model = case.net()
        if kind == "part":
            model[2] = torch.compile(model[2], backend="aot_eager")
        optimizer = OPTIMIZERS["adamw"](model.parameters())
        called = torch.compile(model, backend="aot_eager") if kind == "whole" else model
        case.wrapped("mlp.cut", called, optimizer=optimizer)
        if kind == "late":
            called = torch.compile(model, backend="aot_eager")
        train(case, called, optimizer, late=True, observe=None)
        syncline.torch.finish(called)
        worst[kind] = error(weights(model), weights(plain))
    return worst


def groups(case):
    """Two halves of the ranks train apart."""
    halves = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    half = halves[case.rank // 2]
    expected = train(case, case.ddp(process_group=half), steps=2)
    plan = f"{case.folder}/mlp-2.plan"
    model = syncline.torch.wrap(case.net(), plan, process_group=half)
    return max(map(error, train(case, model, steps=2), expected))


def other_gradients(case):
    """torch.autograd.grad() sends nothing; a penalty on gradients trains as with one process."""
    model = case.wrapped()
    data = case.data(model).requires_grad_()
    torch.autograd.grad(model(data).sum(), data)
    assert wrapped.of(model).reducer.steps == 0
    (slope,) = torch.autograd.grad(model(data).square().sum(), data, create_graph=True)
    slope.square().sum().backward()
    found = gradients(model)
    model.zero_grad()
    with syncline.torch.no_sync(model):
        (slope,) = torch.autograd.grad(model(data).square().sum(), data, create_graph=True)
        slope.square().sum().backward()
    expected = gradients(model)
    dist.all_reduce(expected)
    return error(found, expected / case.ranks)
