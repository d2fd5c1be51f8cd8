"""Cases of test_torch_factors.py: plans whose linear layers travel by their factors. Each
function's result is printed."""

import contextlib
import copy
import functools
import io
import pickle

import torch
import torch.distributed as dist
import torch_wrap_nets as nets
from torch.nn.functional import linear
from torch.utils.checkpoint import checkpoint
from torch_wrap_case import error, gradients, weights
from torch_wrap_training import OPTIMIZERS, scaled

import syncline.torch
from syncline.torch.wrapped import model as wrapped

STEPS = 4


def batch(case, net, step, rows=None):
    """Of another size in each step and on each rank, where `rows` does not say."""
    values = torch.cat([case.data(net, 10 * step + part) for part in range(3)])
    return values[: rows or 1 + (5 * step + 3 * case.rank) % 11]


def run(case, model, optimizer=None, steps=STEPS, forward=None, late=False):
    """Gradients behind each step's backward pass, or None where they may be under way. Where rank 1
    is late, rank 0 has taken its step() before rank 1 sends its last message."""
    found, token = [], torch.zeros(1)
    waits = late and case.rank == 1
    hook = stopped(model, lambda: dist.recv(token, 0)) if waits else None
    for step in range(steps):
        model.zero_grad()
        nets.loss_of((forward or model)(batch(case, model, step))).backward()
        found.append(None if late else gradients(model))
        if optimizer:
            optimizer.step()
        if late and case.rank == 0:
            dist.send(token, 1)
    if hook:
        hook.remove()
    return found


def stopped(model, wait):
    """Lets a backward pass wait before the model's first layer."""

    def before(_):
        wait()

    first = next(model.children())
    return first.register_forward_hook(lambda *values: values[-1].register_hook(before) and None)


def worst(found, expected):
    return max(map(error, found, expected))


def travelled(model):
    """The schemes of the plan's messages in each step; "sum" for another one."""
    group, factored = wrapped.of(model).group, wrapped.of(model).reducer.factored
    counts = 8 * group.ranks * len(factored)  # bytes of the message with numbers of rows
    steps = {}
    for each in sorted(group.trace(), key=lambda time: time.ticket):
        if each.message >= 0 or each.bytes != counts:
            planned = each.message >= 0
            steps.setdefault(each.step, []).append(each.scheme if planned else "sum")
    return list(steps.values())


def planned(model):
    """A convolution's factors are no matter of a linear layer."""
    messages = wrapped.of(model).group.plan.messages
    return [
        "sum" if each.why_not else messages[each.number].scheme
        for each in wrapped.of(model).reducer.layout.messages
    ]


def have_equal_bits(case, values):
    own = values.contiguous()
    all_ranks = [torch.empty_like(own) for _ in range(case.ranks)]
    dist.all_gather(all_ranks, own)
    return all(torch.equal(each, own) for each in all_ranks)


def factor_gradients(case):
    """Beside DDP's, with batches that differ between ranks and steps."""
    found = {}
    for name in ("mlp", "positions"):
        expected = run(case, case.ddp(name))
        model = case.wrapped(f"{name}.factors", case.net(name))
        mine = run(case, model)
        schemes = travelled(model)
        found[name] = {
            "worst": worst(mine, expected),
            "equal": have_equal_bits(case, torch.cat(mine)),
            "planned": all(step == planned(model) for step in schemes),
            "factors": schemes[-1].count("factors"),
        }
    return found


def factor_weights(case):
    """Behind steps with momentum and Adam, with a barrier and where updates are late."""
    found, late = {}, {}
    for name in ("mlp", "positions"):
        for kind, make in OPTIMIZERS.items():
            plain = case.ddp(name)
            run(case, plain, make(plain.parameters()))
            for overlaps in (False, True):
                model = case.net(name)
                optimizer = make(model.parameters())
                plan = f"{name}.factors.step" if overlaps else f"{name}.factors"
                case.wrapped(plan, model, optimizer=optimizer if overlaps else None)
                run(case, model, optimizer, late=overlaps and case.ranks == 2)
                key = f"{name} {kind} {overlaps}"
                late[key] = len(wrapped.of(model).updates.late) if overlaps else 0
                syncline.torch.finish(model)
                assert "factors" in travelled(model)[-1]
                found[key] = error(weights(model), weights(plain))
                assert have_equal_bits(case, weights(model))
    return {"worst": found, "late": late}


def factor_bytes(case):
    """A rank sends as many rows as the largest batch has."""
    model = case.wrapped("mlp.factors", case.net())
    nets.loss_of(model(batch(case, model, 0, rows=2 + 3 * case.rank))).backward()
    times = wrapped.of(model).group.trace()
    return [each.bytes for each in times if each.scheme == "factors"]


def factor_accumulation(case):
    """Gradients that are there before a step, by no_sync() or of an earlier step."""
    found = {}
    for how in ({"set_to_none": True}, {"set_to_none": False}, None):
        pair = []
        for model, no_sync in (
            (case.ddp(), torch.nn.parallel.DistributedDataParallel.no_sync),
            (case.wrapped("mlp.factors", case.net()), syncline.torch.no_sync),
        ):
            values = []
            for step in range(4):
                if how:
                    model.zero_grad(**how)
                if how and step != 2:  # a step without accumulation, too
                    with no_sync(model):
                        nets.loss_of(model(batch(case, model, step))).backward()
                nets.loss_of(model(batch(case, model, step + 10))).backward()
                values.append(gradients(model))
            pair.append(values)
        found[str(how)] = [worst(pair[1], pair[0]), travelled(model)[2][0]]
    return found


def weight_outside(model, x):
    """The weight also has a gradient that is no product."""
    return model(x) + model[6].weight.square().mean()


def used_twice(model, x):
    return model(x) + 2 * model(x.flip(0))


def without_module(model, x):
    for layer in model:
        x = linear(x, layer.weight, layer.bias) if isinstance(layer, torch.nn.Linear) else layer(x)
    return x


def checkpointed(model, x):
    return checkpoint(model, x, use_reentrant=False)


def reentrant(model, x):
    return checkpoint(model, x.requires_grad_(), use_reentrant=True)


def abandoned(model, x):
    """A forward pass without a backward one stands between."""
    model(x)
    return model(x)


def compiled(model, x):
    return torch.compile(model, backend="aot_eager", dynamic=True)(x)


def vectorized(model, x):
    return torch.func.vmap(model)(x.unsqueeze(1)).squeeze(1)


def factor_uses(case):
    """However the layers are used, gradients are those of DDP."""
    found = {}
    for use in (
        *(weight_outside, used_twice, without_module, checkpointed, reentrant),
        *(abandoned, compiled, vectorized),
    ):
        torch._dynamo.reset()
        plain = case.net()
        expected = reduced(case, plain, use)
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            model = case.wrapped("mlp.factors", case.net())
            model.load_state_dict(plain.state_dict())
            mine = run(case, model, forward=lambda x: use(model, x), steps=3)
        schemes = travelled(model)[-1]
        found[use.__name__] = [worst(mine, expected), schemes, said.getvalue()]
    return found


def reduced(case, model, use):
    """Means of each rank's own gradients."""
    for each in model.parameters():
        dist.broadcast(each.detach(), 0)
    found = run(case, model, forward=lambda x: use(model, x), steps=3)
    for each in found:
        dist.all_reduce(each)
        each /= case.ranks
    return found


def factor_gradients_of_autograd(case):
    """torch.autograd.grad() sends nothing and is right; so is a penalty on gradients."""
    plain, model = case.net(), case.wrapped("mlp.factors", case.net())
    plain.load_state_dict(model.state_dict())
    found = []
    for each in (plain, model):
        x = batch(case, each, 0).requires_grad_()
        own = torch.autograd.grad(nets.loss_of(each(x)), [x, *each.parameters()])
        sent = wrapped.of(model).reducer.steps
        (slope,) = torch.autograd.grad(each(x).square().sum(), x, create_graph=True)
        each.zero_grad()
        (slope.square().sum() + nets.loss_of(each(x))).backward()
        found.append((torch.cat([value.flatten() for value in own]), gradients(each), sent))
    dist.all_reduce(found[0][1])
    pairs = zip(found[1][:2], (found[0][0], found[0][1] / case.ranks))
    return [error(*pair) for pair in pairs] + [found[1][2]]


def factor_precision(case):
    """In autocast factors are of 16 bits; a gradient that is infinite on one rank is on all."""
    model = case.wrapped("mlp.factors", case.net())
    data = functools.partial(batch, case)
    results = [scaled(case, each, data, STEPS) for each in (case.ddp(), model)]
    kinds = {each.buffer.dtype for each in wrapped.of(model).reducer.factored.values()}
    return {
        "worst": error(results[1][0], results[0][0]),
        "scales": [each[1] for each in results],
        "kinds": sorted(map(str, kinds)),
    }


def factor_copies(case):
    """Copies by copy and pickle are plain; the model trains on."""
    model = case.wrapped("mlp.factors", case.net())
    x, found = batch(case, model, 0), []
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        nets.loss_of(twin(x)).backward()
        found.append(twin[0].weight.grad is not None and "Product" not in str(twin[0](x).grad_fn))
    found.append("factors" in (run(case, model, steps=1) and travelled(model)[0]))
    return found


def factor_unused(case):
    """A rank that does not use a layer counts as one with zeros."""
    model = case.wrapped("branches.factors", case.net("branches"), allow_unused=True)
    plain = case.net("branches")
    plain.load_state_dict(model.state_dict())
    found = []
    for used in (("first", "second"), ("second", "second")):
        pair = []
        for each in (plain, model):
            each.zero_grad(set_to_none=True)
            each.at = used[case.rank % 2]
            nets.loss_of(each(batch(case, each, 0))).backward()
            own = [torch.zeros_like(p) if p.grad is None else p.grad for p in each.parameters()]
            pair.append(torch.cat([value.flatten() for value in own]))
        dist.all_reduce(pair[0])
        found.append(error(pair[1], pair[0] / case.ranks))
    return found


def factor_hooks(case):
    """A script that looks at a layer's own gradients has them."""
    model = case.wrapped("mlp.factors", case.net())
    seen = []
    model[0].weight.register_hook(lambda gradient: seen.append(gradient.abs().sum().item()))
    expected = run(case, case.ddp(), steps=2)
    mine = run(case, model, steps=2)
    return [worst(mine, expected), min(seen) > 0, travelled(model)[-1]]


def factor_threads(case):
    """Ranks of unequal threads would compute products with other bits: they send sums."""
    said = io.StringIO()
    torch.set_num_threads(1 + case.rank)
    try:
        with contextlib.redirect_stderr(said):
            model = case.wrapped("mlp.factors", case.net())
            mine = run(case, model, steps=2)
    finally:
        torch.set_num_threads(1)
    expected = run(case, case.ddp(), steps=2)
    return [worst(mine, expected), travelled(model)[-1], said.getvalue()]
