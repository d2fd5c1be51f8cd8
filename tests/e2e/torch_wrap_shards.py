"""Cases of test_torch_shards.py: plans by which ranks update shards of parameters. Each function's
result is printed."""

import contextlib
import io
import json
import pathlib

import torch
import torch_wrap_nets as nets
from torch_wrap_case import error, gradients, refused, train, weights
from torch_wrap_factors import have_equal_bits

import syncline.torch
from syncline.torch.wrapped import model as wrapped
from syncline.torch.wrapped.shards import ELEMENTWISE

# Whether updates are late by the plan.
PLANS = {"sharded": False, "sharded.step": True, "sharded.some": True, "sharded.cut": True}


MOST = 0.002  # norm of clipped gradients


def groups_of(model):
    """Two groups of parameters with rates and decays of their own."""
    named = list(model.named_parameters())
    biases = [each for name, each in named if name.endswith("bias")]
    others = [each for name, each in named if not name.endswith("bias")]
    return [{"params": biases, "lr": 0.02, "weight_decay": 0.0}, {"params": others}]


OPTIMIZERS = {
    "sgd": lambda groups: torch.optim.SGD(groups, 0.1, momentum=0.9, weight_decay=1e-2),
    "adamw": lambda groups: torch.optim.AdamW(groups, 0.01, weight_decay=0.1, amsgrad=True),
}


def sharded(case, kind, net="mlp", plan="sharded", **options):
    """A wrapped model and its optimizer."""
    model = case.net(net)
    optimizer = OPTIMIZERS[kind](groups_of(model))
    case.wrapped(f"{net}.{plan}", model, optimizer=optimizer, **options)
    return model, optimizer


def expected_of(case, kind, net="mlp", steps=5):
    """DistributedDataParallel's model and its optimizer, behind steps."""
    model = case.ddp(net)
    optimizer = OPTIMIZERS[kind](groups_of(model))
    train(case, model, optimizer, steps=steps, observe=None)
    return model, optimizer


def elements(optimizer):
    """How many elements an optimizer's state has, beside its counts of steps."""
    return sum(
        value.numel()
        for state in optimizer.state.values()
        for name, value in state.items()
        if name != "step"
    )


def halves(model):
    """Which halves of messages travelled in the last step: (message, half), in order."""
    group = wrapped.of(model).group
    times = sorted(group.trace(), key=lambda time: time.ticket)
    last = max(each.step for each in times)
    return [(each.message, each.half) for each in times if each.step == last]


def planned_halves(plan):
    """The sharded messages of a plan in the order of their sums, and in that of their gathers."""
    buckets = json.loads((pathlib.Path(plan) / "plan.json").read_text())["buckets"]
    sharded = [(number, each) for number, each in enumerate(buckets) if is_sharded(each)]
    first = [number for number, _ in sharded]
    if not all(each.get("all_gather") for _, each in sharded):
        return [first, first[::-1]]
    return [first, [n for n, _ in sorted(sharded, key=lambda it: it[1]["all_gather"]["place"])]]


def is_sharded(bucket):
    return bucket["scheme"] == "reduce-scatter"


def difference(found, expected, strides=True):
    """The greatest relative difference of two states; a text where they are of other forms."""
    worst = 0.0
    if found["param_groups"] != expected["param_groups"]:
        return f"{found['param_groups']} and {expected['param_groups']}"
    for key, state in expected["state"].items():
        mine = found["state"].get(key, {})
        if list(mine) != list(state):
            return f"{key}: {list(mine)} and {list(state)}"
        for name, value in state.items():
            if mine[name].shape != value.shape or mine[name].dtype != value.dtype:
                return f"{key} {name}: {mine[name].shape}, {mine[name].dtype}"
            if strides and mine[name].stride() != value.stride():
                return f"{key} {name}: strides {mine[name].stride()}"
            worst = max(worst, error(mine[name], value))
    return worst if list(found["state"]) == list(expected["state"]) else "another order"


def shard_weights(case):
    """Behind steps with a scheduler, beside DDP: weights, the optimizer's state and its size."""
    found = {}
    # On more ranks sums have another order, which Adam makes much of where gradients are noise, as
    # those of the keys' bias in an attention are.
    for net in ("mlp", "mixed") if case.ranks == 2 else ("mlp",):
        for kind in OPTIMIZERS:
            plain, theirs = expected_of(case, kind, net)
            for plan, is_late in PLANS.items():
                if not pathlib.Path(case.plan(f"{net}.{plan}")).exists():
                    continue
                model, optimizer = sharded(case, kind, net, plan)
                train(case, model, optimizer, observe=None)
                late = len(wrapped.of(model).updates.late)
                syncline.torch.finish(model)
                travelled = halves(model)
                own = elements(optimizer) / elements(theirs)
                state = difference(optimizer.state_dict(), theirs.state_dict())
                found[f"{net} {kind} {plan}"] = {
                    "worst": error(weights(model), weights(plain)),
                    "state": state,
                    "equal": have_equal_bits(case, weights(model)),
                    "share": own,
                    "late": late > 0 if is_late else late,
                    "halves": travelled,
                    "planned": planned_halves(case.plan(f"{net}.{plan}")),
                }
    return found


def shard_states(case):
    """State goes from a run without shards into one with them, and from there into one that
    continues, by all optimizers."""
    found = {}
    for make in ELEMENTWISE:
        plain, model, again = case.net(), case.net(), case.net()
        theirs, own = make(plain.parameters(), 0.01), make(model.parameters(), 0.5)
        ddp = case.ddp(net=plain)
        train(case, ddp, theirs, steps=2, observe=None)
        case.wrapped("mlp.sharded", model, optimizer=own)
        model.load_state_dict(plain.state_dict())
        own.load_state_dict(theirs.state_dict())
        loaded = difference(own.state_dict(), theirs.state_dict())
        for each, optimizer in ((ddp, theirs), (model, own)):
            train(case, each, optimizer, steps=3, observe=None)
        resumed = make(again.parameters(), 0.5)
        resumed.load_state_dict(own.state_dict())  # before wrap()
        again.load_state_dict(model.state_dict())
        case.wrapped("mlp.sharded.step", again, optimizer=resumed)
        for each, optimizer in ((ddp, theirs), (model, own), (again, resumed)):
            train(case, each, optimizer, steps=2, observe=None)
        syncline.torch.finish(again)
        found[make.__name__] = {
            "loaded": loaded,
            "resumed": error(weights(again), weights(model)),
            "resumed state": difference(resumed.state_dict(), own.state_dict()),
            "worst": error(weights(model), weights(ddp)),
            "state": difference(own.state_dict(), theirs.state_dict()),
        }
    return found


def channels_last(model):
    model.to(memory_format=torch.channels_last)


def transposed(model):
    weight = model[0].weight
    weight.data = weight.data.transpose(0, 1).contiguous().transpose(0, 1)


def shard_formats(case):
    """Parameters in another memory format have weights and state as by DDP."""
    found = {}
    for change in (channels_last, transposed):
        pair, said = [], io.StringIO()
        for is_sharded in (False, True):
            model = case.net("pictures")
            change(model)
            optimizer = OPTIMIZERS["sgd"](groups_of(model))
            with contextlib.redirect_stderr(said):
                if is_sharded:
                    case.wrapped("pictures.sharded", model, optimizer=optimizer)
            called = model if is_sharded else case.ddp(net=model)
            train(case, called, optimizer, steps=3, observe=None)
            pair.append((weights(model), optimizer.state_dict()))
        worst = error(pair[1][0], pair[0][0])
        states = difference(pair[1][1], pair[0][1], strides=change is channels_last)
        found[change.__name__] = [worst, states, said.getvalue()]
    return found


def shard_steps(case):
    """Accumulation by no_sync(), steps without gradients and without step()."""
    pair = []
    for is_sharded in (False, True):
        if is_sharded:
            model, optimizer = sharded(case, "adamw")
        else:
            model = case.ddp()
            optimizer = OPTIMIZERS["adamw"](groups_of(model))
        no_sync = syncline.torch.no_sync if is_sharded else type(model).no_sync
        optimizer.step()  # without gradients
        for step in range(3):
            optimizer.zero_grad()
            with no_sync(model):
                nets.loss_of(model(case.data(model, 10 + step))).backward()
            nets.loss_of(model(case.data(model, step))).backward()
            if step != 1:  # its gradients are dropped
                optimizer.step()
                optimizer.step() if is_sharded else None  # again, without gradients
        pair.append(weights(model))
    return error(pair[1], pair[0])


def shard_clipping(case):
    """Weights and norms beside DDP's; whether all ranks have equal bits of both."""

    def observed(clip, norms):
        def observe(model):
            norms.append(clip(model))

        return observe

    expected = []
    plain = case.ddp()
    theirs = OPTIMIZERS["adamw"](groups_of(plain))
    clip = observed(lambda it: torch.nn.utils.clip_grad_norm_(it.parameters(), MOST), expected)
    train(case, plain, theirs, observe=clip)
    found = {}
    for plan in ("ring", *PLANS):
        model, norms = case.net(), []
        optimizer = OPTIMIZERS["adamw"](groups_of(model))
        case.wrapped(f"mlp.{plan}", model, optimizer=optimizer)
        clip = observed(lambda it: syncline.torch.clip_grad_norm_(it, MOST), norms)
        train(case, model, optimizer, observe=clip)
        syncline.torch.finish(model)
        own = torch.cat([weights(model), torch.stack(norms)])
        far = error(torch.stack(norms), torch.stack(expected))
        found[plan] = [error(weights(model), weights(plain)), far, have_equal_bits(case, own)]
    assert min(expected) > MOST
    return found


def shard_refusals(case):
    """One message each."""
    found = {}

    def tried(name, change, plan="sharded"):
        model, optimizer = sharded(case, "sgd", plan=plan)
        train(case, model, optimizer, steps=1, observe=None)
        found[name] = refused(lambda: change(model, optimizer))

    def clipped(model, optimizer):
        train(
            case,
            model,
            optimizer,
            steps=1,
            observe=lambda model: torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01),
        )

    def scaled(model, optimizer):
        scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
        scaler.scale(nets.loss_of(model(case.data(model)))).backward()
        scaler.step(optimizer)

    def added(model, optimizer):
        for _ in range(2):
            nets.loss_of(model(case.data(model))).backward()

    def own(model, optimizer):
        with syncline.torch.no_sync(model):
            nets.loss_of(model(case.data(model))).backward()
        optimizer.step()

    def removed(model, optimizer):
        del optimizer.param_groups[1]["params"][0]
        train(case, model, optimizer, steps=1, observe=None)

    def closure(model, optimizer):
        optimizer.step(lambda: nets.loss_of(model(case.data(model))))

    for each in (clipped, scaled, added, own, removed, closure):
        for plan in ("sharded", "sharded.step"):
            tried(f"{each.__name__} {plan}", each, plan)
    tried("scaled ring", scaled, "ring")
    for name, make in (("lbfgs", torch.optim.LBFGS), ("own", Own)):
        model = case.net()
        found[name] = refused(
            lambda: case.wrapped("mlp.sharded", model, optimizer=make(model.parameters()))
        )
    model = case.net()
    other = torch.optim.SGD(case.net().parameters(), 0.1)
    found["covers"] = refused(lambda: case.wrapped("mlp.sharded", model, optimizer=other))
    if case.ranks > 1:
        kind = (torch.optim.SGD, torch.optim.Adam)[case.rank % 2]
        optimizer = kind(model.parameters(), 0.1)
        found["ranks"] = refused(lambda: case.wrapped("mlp.sharded", model, optimizer=optimizer))
    return found


class Own(torch.optim.SGD):
    """Whose step() may do anything."""


def shard_alone(case):
    """Rank 0 asks for the state, which the other rank does not."""
    model, optimizer = sharded(case, "sgd")
    train(case, model, optimizer, steps=2, observe=None)
    if case.rank == 0:
        optimizer.state_dict()
    train(case, model, optimizer, steps=1, observe=None)


def shard_groups(case):
    """A group that is added, and a rate that is changed, count from then on."""
    pair = []
    for is_sharded in (False, True):
        model = case.net() if is_sharded else case.ddp()
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        if is_sharded:
            case.wrapped("mlp.sharded", model, optimizer=optimizer)
        extra = torch.nn.Parameter(torch.ones(3))
        train(case, model, optimizer, steps=1, observe=None)
        optimizer.add_param_group({"params": [extra], "lr": 0.5})
        optimizer.param_groups[0]["lr"] = 0.05
        extra.grad = torch.ones(3)
        train(case, model, optimizer, steps=2, observe=None)
        pair.append((torch.cat([weights(model), extra.detach()]), optimizer.state_dict()))
    return [error(pair[1][0], pair[0][0]), difference(pair[1][1], pair[0][1])]


def shard_gradients(case):
    """Without the optimizer they are sums."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        found = train(case, case.wrapped("mlp.sharded", case.net()), steps=2)
    expected = train(case, case.ddp(), steps=2, observe=gradients)
    return [max(map(error, found, expected)), said.getvalue()]
