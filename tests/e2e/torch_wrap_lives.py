"""Cases of test_torch_lives.py: wrapped models that are loaded, replaced or forked, and go on. Each
function's result is printed."""

import atexit
import copy
import dataclasses
import gc
import os
import weakref

import torch
import torch.distributed as dist
import torch_wrap_nets as nets
from torch_wrap_case import error, gradients, refused, train, weights

import syncline.torch
from syncline.torch.wrapped import model as wrapped


def late(case, plan="mlp.cut"):
    """A wrapped model with updates that are late on rank 0, and its optimizer."""
    model = case.net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped(plan, model, optimizer=optimizer)
    train(case, model, optimizer, steps=2, late=True, observe=None)
    return model, optimizer


def loaded_by_parts(case):
    """Weights behind load_state_dict() of an outer module and of each part, which late updates must
    not change; and how many updates were late."""
    found = {}
    for kind in ("outer", "parts"):
        model, _ = late(case)
        before = len(wrapped.of(model).updates.late)
        values = {name: torch.full_like(each, 0.5) for name, each in model.named_parameters()}
        if kind == "outer":
            torch.nn.ModuleDict({"own": model}).load_state_dict(
                {f"own.{name}": each for name, each in values.items()}
            )
        else:
            for part in (0, 2, 4, 6):
                model[part].load_state_dict(
                    {name: values[f"{part}.{name}"] for name in ("weight", "bias")}
                )
        syncline.torch.finish(model)
        found[kind] = [before, error(weights(model), torch.full_like(weights(model), 0.5))]
    return found


@dataclasses.dataclass
class Output:
    """Without a dict of its attributes."""

    __slots__ = ("logits",)
    logits: torch.Tensor


class Slots(torch.nn.Sequential):
    def forward(self, x):
        return Output(super().forward(x))


def slots(case):
    """Gradients of a model whose output is a dataclass with slots, beside those of another one."""
    plain, model = case.wrapped(), case.wrapped("mlp", Slots(*case.net()))
    data = case.data(plain)
    nets.loss_of(plain(data)).backward()
    nets.loss_of(model(data).logits).backward()
    return error(gradients(model), gradients(plain))


def complex_elements(case):
    model = case.net()
    model[0].bias = torch.nn.Parameter(torch.zeros(20, dtype=torch.complex64))
    return refused(lambda: case.wrapped("mlp", model))


def forked(case):
    """A child that ends, and one that calls the group, leave the parent's group alone."""
    model = case.wrapped()
    train(case, model, steps=1)
    group = wrapped.of(model).group
    children = [in_child(lambda: None), in_child(group.check)]
    return [children, refused(lambda: train(case, model, steps=1))]


def in_child(call):
    """How a forked process ended, and what it was refused. PyTorch itself does not end in one."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, refused(call).encode())
        atexit._run_exitfuncs()
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as said:
        return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.read()]


def wrapped_again(case):
    """Layers and optimizer of a wrapped model that is gone train in another one as by DDP; and
    what is refused while it is there."""
    found = {}
    for plan in ("mlp", "mlp.cut", "mlp.sharded", "mlp.factors"):
        model = case.net()
        is_sharded = plan == "mlp.sharded"  # whose state goes with the model
        momentum = 0.9 if is_sharded else 0.0
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=momentum)
        given = {"optimizer": None if plan in ("mlp", "mlp.factors") else optimizer}
        case.wrapped(plan, model, **given)
        train(case, model, optimizer, steps=1, observe=None)
        syncline.torch.finish(model)
        layers, gone = list(model), weakref.ref(model)
        said = refused(lambda: case.wrapped(plan, torch.nn.Sequential(*layers), **given))
        del model
        plain = case.ddp(net=copy.deepcopy(torch.nn.Sequential(*layers)))
        model = case.wrapped(plan, torch.nn.Sequential(*layers), **given)
        theirs = torch.optim.SGD(plain.parameters(), 0.1, momentum=momentum)
        train(case, plain, theirs, steps=2, observe=None)
        train(case, model, optimizer, steps=2, observe=None)
        syncline.torch.finish(model)
        states = len(optimizer.state_dict()["state"]) if is_sharded else 8
        found[plan] = [gone() is None, said, error(weights(model), weights(plain)), states]
    return found


def one_optimizer(case):
    """Two wrapped models whose plans change the steps of one optimizer."""
    one, other = case.net(), case.net()
    optimizer = torch.optim.SGD([*one.parameters(), *other.parameters()], 0.1)
    case.wrapped("mlp.cut", one, optimizer=optimizer)
    return refused(lambda: case.wrapped("mlp.cut", other, optimizer=optimizer))


def scaled_steps(case):
    """A GradScaler where weights travel."""
    model, scaler = case.net(), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("mlp.local", model, optimizer=optimizer)
    scaler.scale(nets.loss_of(model(case.data(model)))).backward()
    return refused(lambda: scaler.step(optimizer))


def other_groups(case):
    """A process group without this rank."""
    group = dist.new_group([0])
    return refused(lambda: case.wrapped(process_group=group)) if case.rank == 1 else None


def interrupted_step(case):
    """The optimizer's groups in its state behind a step() that an exception ended."""
    found = []
    for plan in ("mlp.cut", "mlp.sharded"):
        model = case.net()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        case.wrapped(plan, model, optimizer=optimizer)
        nets.loss_of(model(case.data(model))).backward()
        hook = optimizer.register_step_pre_hook(missing)
        said = refused(optimizer.step)
        hook.remove()
        found.append([said, optimizer.state_dict()["param_groups"][0]["params"]])
    return found


def missing(*_):
    raise ValueError("no rate")


def memory_changed(case):
    """Parameters that lie otherwise in memory than those of which ranks update shards."""
    model = case.net("pictures")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("pictures.sharded", model, optimizer=optimizer)
    model.to(memory_format=torch.channels_last)
    return refused(lambda: train(case, model, optimizer, steps=1, observe=None))


class Derived(torch.optim.AdamW):
    """Calls the step() of its base class, and with it all hooks again."""

    def step(self, closure=None):
        return super().step(closure)


def derived_optimizer(case):
    """Weights behind its steps beside those by DDP, where updates are late; and how many messages
    travelled where weights do so in each second step."""
    plain, model, local = case.ddp(), case.net(), case.net()
    train(case, plain, torch.optim.AdamW(plain.parameters(), 0.01), observe=None)
    optimizer = Derived(model.parameters(), 0.01)
    case.wrapped("mlp.cut", model, optimizer=optimizer)
    train(case, model, optimizer, late=True, observe=None)
    syncline.torch.finish(model)
    optimizer = Derived(local.parameters(), 0.01)
    case.wrapped("mlp.local", local, optimizer=optimizer)
    train(case, local, optimizer, steps=4)
    travelled = len(wrapped.of(local).group.trace())
    return [error(weights(model), weights(plain)), travelled]


def dropped_gradients(case):
    """Weights where a script drops gradients before each step(), beside those by DDP."""

    def drop(_):
        model[2].weight.grad = model[4].bias.grad = None

    found = []
    for called in (case.ddp, lambda net: case.wrapped("mlp.cut", net, optimizer=optimizer)):
        model = case.net()
        optimizer = torch.optim.SGD(model.parameters(), 0.1, weight_decay=0.1)
        called = called(net=model)
        train(case, called, optimizer, observe=drop, late=called is model)
        syncline.torch.finish(model) if called is model else None
        found.append(weights(model))
    return error(found[1], found[0])


def replaced_gradients(case):
    """What step() says of gradients that a script has replaced by others, late updates or not."""

    def scale(_):
        model[2].weight.grad = model[2].weight.grad * 0.5

    found = []
    for plan, steps in (("mlp.cut", 2), ("mlp", 2)):
        model = case.net()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        case.wrapped(plan, model, optimizer=optimizer)
        found.append(refused(lambda: train(case, model, optimizer, steps=steps, observe=scale)))
    return found
