"""Cases of test_torch_lives.py: wrapped models that are read, loaded, replaced or forked, and go on.
Each function's result is printed."""

import dataclasses

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


def other_groups(case):
    """A process group without this rank."""
    group = dist.new_group([0])
    return refused(lambda: case.wrapped(process_group=group)) if case.rank == 1 else None


def memory_changed(case):
    """Parameters that lie otherwise in memory than those of which ranks update shards."""
    model = case.net("pictures")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    case.wrapped("pictures.sharded", model, optimizer=optimizer)
    model.to(memory_format=torch.channels_last)
    return refused(lambda: train(case, model, optimizer, steps=1, observe=None))
