"""Cases of test_torch_wrap.py: what is refused, told or lost. Each function's result is printed."""

import contextlib
import copy
import io
import pickle
import time

import torch
import torch_wrap_nets as nets
from torch_wrap_case import error, refused, train, weights

import syncline.torch


def unused(case):
    """Refused by name, on the other ranks too; or zeros."""
    said = {}
    for kind, used in (("all", "first"), ("one", "first" if case.rank == 1 else "both")):
        model = case.wrapped("branches")
        said[kind] = refused(lambda: branch_loss(case, model, used).backward())
    model = case.wrapped("branches", allow_unused=True)
    found = []
    for used in ("first", "first" if case.rank == 1 else "both"):
        model.zero_grad()
        branch_loss(case, model, used).backward()
        found.append([name for name, each in model.named_parameters() if each.grad.any()])
        if used == "both":
            model.zero_grad()
    return {"said": said, "with gradients": found}


def stale(case):
    """A forward pass that does not call the module which used a parameter before."""
    model = case.net("branches")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("branches.cut", model, optimizer=optimizer, allow_unused=True)
    train(case, model, optimizer, steps=2, late=True, observe=None)
    model.by_module = False
    return refused(lambda: train(case, model, steps=1))


def branch_loss(case, model, used):
    loss = 0
    for at in ("first", "second") if used == "both" else (used,):
        model.at = at
        loss = loss + nets.loss_of(model(case.data(model)))
    return loss


def changes(case):
    """Each change of a wrapped model is told at the next step."""

    def replace(model):
        model[0].weight = torch.nn.Parameter(model[0].weight.detach().clone())

    def resize(model):
        model[0].bias.data = torch.zeros(3)

    def freeze(model):
        model[2].bias.requires_grad_(False)

    found = {}
    for change in (
        replace,
        resize,
        freeze,
        lambda model: model.append(torch.nn.Linear(10, 2)),
        lambda model: model.pop(6),
    ):
        model = case.wrapped()
        train(case, model, steps=2)
        change(model)
        found[change.__name__ + str(len(found))] = refused(lambda: train(case, model, steps=1))
    return list(found.values())


def not_carried(case):
    """What is said once, and gradients beside DDP's."""
    said, worst = {}, {}
    expected = train(case, case.ddp(), steps=2)
    for plan in ("mlp.sharded", "mlp.parts"):
        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            found = train(case, case.wrapped(plan, case.net()), steps=2)
        said[plan], worst[plan] = out.getvalue(), max(map(error, found, expected))
    return {"said": said, "worst": worst}


def barrier_is_told(case):
    """Without the optimizer, a plan that overlaps steps waits, which is said."""
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        case.wrapped("mlp.cut")
    return out.getvalue()


def other_models(case):
    """A plan of another model, and ranks that differ."""
    wide = torch.nn.Sequential(torch.nn.Linear(24, 41))
    mine = case.net()
    mine[0].bias.requires_grad_(False)
    more = case.net()
    if case.rank == 1:
        more.extra = torch.nn.Parameter(torch.zeros(2), requires_grad=False)
    ranks_differ = case.net() if case.rank == 0 else torch.nn.Sequential(*case.net(), wide[0])
    return {
        "other": refused(lambda: case.wrapped("mlp", wide)),
        "frozen": refused(lambda: case.wrapped("mlp", mine)),
        "double": refused(lambda: case.wrapped("mlp", case.net().double())),
        "model": refused(lambda: case.wrapped("mlp", ranks_differ)),
        "extra": refused(lambda: case.wrapped("mlp", more)),
        "plan": refused(lambda: case.wrapped("mlp" if case.rank == 0 else "mlp.cut", case.net())),
        "none": refused(lambda: syncline.torch.wrap(case.net())),
        "missing": refused(lambda: case.wrapped("no", case.net())),
        "twice": refused(lambda: case.wrapped("mlp", case.wrapped())),
        "type": refused(lambda: case.wrapped("mlp", "net")),
        "optimizer": refused(lambda: case.wrapped("mlp", optimizer="sgd")),
        "covers": refused(
            lambda: case.wrapped(
                "mlp.cut", optimizer=torch.optim.SGD(case.net().parameters(), 0.1)
            )
        ),
        "no_sync": refused(lambda: syncline.torch.no_sync(case.net()).__enter__()),
        "arguments": refused(lambda: case.wrapped(allow_unused=case.rank == 1)),
        "ranks": refused(lambda: syncline.torch.wrap(case.net(), f"{case.folder}/mlp-4.plan")),
        "served": refused(lambda: case.wrapped("mlp.served")),
        "local": refused(lambda: case.wrapped("mlp.local")),
    }


def sparse_gradients(case):
    model = case.wrapped("branches")
    rows = torch.nn.functional.embedding(torch.tensor([1, 2]), model.first.weight, sparse=True)
    return refused(lambda: rows.sum().backward())


def copies(case):
    """Copies and files of a wrapped model have its values, and no hooks."""
    model = case.net()
    keys = list(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("mlp.cut", model, optimizer=optimizer)
    train(case, model, optimizer, steps=2, observe=None)
    syncline.torch.finish(model)
    same = []
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.eval()
        other.train()
        nets.loss_of(other(case.data(other))).backward()  # sends nothing
        same.append(error(weights(other), weights(model)) == 0 and other.training)
    return [*same, list(model.state_dict()) == keys, len(optimizer.state_dict())]


def endless(case, plan="mlp"):
    """Steps until a rank is lost."""
    model = case.wrapped(plan)
    train(case, model, steps=3)
    print("works", flush=True)
    train(case, model, steps=100000, observe=lambda _: time.sleep(0.02))


def endless_with_buffers(case):
    endless(case, "mixed")


def uneven(case):
    """Rank 1 has fewer batches, and is busy with something else then."""
    model = case.wrapped()
    train(case, model, steps=3)
    if case.rank == 1:
        print("works", flush=True)
        time.sleep(1000)
    train(case, model, steps=1)


def raising(case):
    """Rank 1 ends by an exception."""
    model = case.wrapped()
    train(case, model, steps=3)
    if case.rank == 1:
        raise KeyError("no such picture")
    train(case, model, steps=1)
