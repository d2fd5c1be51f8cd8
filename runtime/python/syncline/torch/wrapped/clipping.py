"""Clipping of gradients that are under way, or of which each rank has a shard."""

import torch

from syncline import capi

SMALL = 1e-6  # as torch.nn.utils.clip_grad_norm_() has it


def clip(wrapped, most):
    """Scales gradients so that their norm is at most `most`. Returns the norm before."""
    reducer = wrapped.reducer
    reducer.check()
    reducer.check_unchanged()
    reducer.wait()
    shards = wrapped.updates.shards if wrapped.updates else None
    mine, alike = owned(reducer, shards)
    with torch.no_grad():
        # Equal gradients count once. All ranks need the same bits of the norm.
        counted = mine + alike if reducer.group.rank == 0 else mine
        squares = torch.zeros(1, dtype=torch.float64)
        for each in counted:
            squares += torch.linalg.vector_norm(each, dtype=torch.float64).square()
        with reducer.failing():
            ticket = reducer.group.all_reduce(squares.data_ptr(), 1, "float64", capi.SUM)
            reducer.group.wait(ticket)
        norm = squares[0].sqrt()
        scale = (most / (norm + SMALL)).clamp(max=1.0)
        for each in mine + alike:
            each.mul_(scale.to(each.dtype))
    reducer.keep_versions()
    return norm.float()


def owned(reducer, shards):
    """The gradients of this rank's shards, and those that all ranks have."""
    mine, alike = [], []
    for name, parameter in reducer.gradients.parameters.items():
        if shards is None or name not in shards.pieces:
            alike += [] if parameter.grad is None else [parameter.grad]
        elif reducer.has_gradient(name):
            for piece in shards.pieces[name]:
                is_sharded = shards.messages[piece.place].is_sharded
                (mine if is_sharded else alike).append(piece.values)
    return mine, alike
