"""The truth: the same training steps in PyTorch, on one thread, in float32 or float64."""

import copy
import dataclasses
import functools

import torch
import torch.nn.functional as functional

torch.set_num_threads(1)

# The weights of four classes, which a test writes to the file w.npy.
CLASS_WEIGHTS = torch.tensor([0.5, 2.0, 0.0, 3.25], dtype=torch.float64)

LOSSES = {
    "cross-entropy": functional.cross_entropy,
    "cross-entropy:targets=probabilities": functional.cross_entropy,
    "cross-entropy:smoothing=0.1": functools.partial(functional.cross_entropy, label_smoothing=0.1),
    "cross-entropy:targets=probabilities,smoothing=0.1": functools.partial(
        functional.cross_entropy, label_smoothing=0.1
    ),
    **{
        f"cross-entropy:{soft}{smooth}weights=w.npy": functools.partial(
            functional.cross_entropy, label_smoothing=smoothing, weight=CLASS_WEIGHTS
        )
        for soft in ("", "targets=probabilities,")
        for smooth, smoothing in (("", 0), ("smoothing=0.1,", 0.1))
    },
    "mse": functional.mse_loss,
    "l1": functional.l1_loss,
    "smooth-l1": functional.smooth_l1_loss,
    "smooth-l1:beta=0.25": functools.partial(functional.smooth_l1_loss, beta=0.25),
    "bce-with-logits": functional.binary_cross_entropy_with_logits,
}


def classes_second(outputs, targets):
    """Outputs whose classes are last, as PyTorch's loss expects them."""
    is_last = outputs.dim() > 2 and outputs.shape[:-1] == targets.shape
    return outputs.movedim(-1, 1) if is_last else outputs


def in_double(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


@dataclasses.dataclass
class Trace:
    losses: list  # of every step
    gradients: dict  # after the first step, by parameter name, as NumPy arrays
    parameters: dict  # after the last update


def train(
    model,
    data,
    steps=3,
    loss="cross-entropy",
    shards=1,
    double=True,
    settings=None,
    nesterov=False,
    schedule=None,
    optimizer=None,
    weights=(1,),
):
    """SGD as `harness.train` asks `syncline run` for it, on one global batch; several inputs are a
    dictionary in the order of the model's arguments. With several shards
    every shard goes through the model by itself, with batch statistics of its own, and gradients
    are averaged: PyTorch DDP in one process. `optimizer` makes another one of the parameters,
    `schedule` a scheduler of the optimizer. Where the model returns several outputs, their losses
    are added by `weights`. Does not change `model`."""
    options = {"lr": 0.001, "momentum": 0.9, "weight-decay": 1e-4, **(settings or {})}
    model = copy.deepcopy(model).train()
    arrays = data[0].values() if isinstance(data[0], dict) else data[:1]
    inputs, targets = [torch.from_numpy(array) for array in arrays], torch.from_numpy(data[1])
    if double:
        model, inputs = model.double(), [in_double(tensor) for tensor in inputs]
        targets = in_double(targets)
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    sgd = functools.partial(
        torch.optim.SGD,
        lr=options["lr"],
        momentum=options["momentum"],
        weight_decay=options["weight-decay"],
        nesterov=nesterov,
    )
    optimizer = (optimizer or sgd)(trained.values())
    following = schedule(optimizer) if schedule else None
    trace = Trace([], {}, {})
    for step in range(steps):
        optimizer.zero_grad()
        total = 0.0
        chunks = (tensor.chunk(shards) for tensor in (*inputs, targets))
        for *parts, wanted in zip(*chunks):
            outputs = model(*parts)
            losses = [
                weight * LOSSES[loss](classes_second(output, wanted), wanted)
                for weight, output in zip(
                    weights, outputs if isinstance(outputs, tuple) else (outputs,)
                )
            ]
            value = sum(losses) / shards
            value.backward()
            total += value.item()
        trace.losses.append(total)
        if step == 0:
            trace.gradients = {name: p.grad.numpy().copy() for name, p in trained.items()}
        optimizer.step()
        if following:
            following.step()
    trace.parameters = {name: p.detach().numpy() for name, p in trained.items()}
    return trace
