"""An optimizer's state where ranks update shards: of pieces of parameters, and in whole for those
who read or load it."""

import collections
import contextlib
import json
import weakref

import torch

from syncline import capi
from syncline.torch.wrapped.shards import memory

NUMBERS = {"step", "mu_product"}  # of a parameter, not of its elements


class OfPieces:
    """The state of pieces, which an optimizer has until remove(). Does not hold the optimizer, for
    its hooks may hold the model."""

    def __init__(self, optimizer, pieces):
        self.optimizer, self.pieces = weakref.ref(optimizer), list(pieces)

    def remove(self):
        optimizer = self.optimizer()
        for piece in self.pieces if optimizer else ():
            optimizer.state.pop(piece.tensor, None)


class States:
    """shown() is a call of all ranks."""

    def __init__(self, shards):
        self.shards, self.optimizer = shards, shards.optimizer
        self.parameters, self.group = shards.gradients.parameters, shards.group
        self.split()

    def split(self):
        """State of whole parameters becomes that of this rank's pieces."""
        state = self.optimizer.state
        for name, pieces in self.shards.pieces.items():
            parameter = self.parameters[name]
            whole = state.pop(parameter, None) or {}
            for piece in pieces if whole else ():
                state[piece.tensor] = {
                    key: part(key, value, parameter, piece) for key, value in whole.items()
                }

    @contextlib.contextmanager
    def shown(self):
        """A context in which the optimizer has the state of whole parameters."""
        self.shards.check_parameters()
        own, self.optimizer.state = self.optimizer.state, self.whole()
        try:
            yield
        finally:
            self.optimizer.state = own

    def whole(self):
        """The state by parameters, as without shards."""
        pieces = {piece.tensor for piece in self.shards.all_pieces()}
        found = collections.defaultdict(dict)
        for key, value in self.optimizer.state.items():
            if key not in pieces:
                found[key] = value
        entries = self.entries()
        for name, described in entries.items():
            parameter = self.parameters[name]
            found[parameter] = {key: made(each, parameter) for key, each in described.items()}
        for key in sorted({key for each in entries.values() for key in each}):
            have = [name for name, each in entries.items() if each.get(key) == ELEMENTS]
            self.fill(key, {name: found[self.parameters[name]][key] for name in have})
        return self.ordered(found)

    def ordered(self, state):
        """In the order of the groups' parameters, as step() makes it."""
        found = collections.defaultdict(dict)
        for group in self.optimizer.param_groups:
            found.update((each, state.pop(each)) for each in group["params"] if each in state)
        found.update(state)
        return found

    def fill(self, key, tensors):
        """Brings the elements of all ranks together in {name of a parameter: tensor}."""
        own = [
            piece
            for name in tensors
            for piece in self.shards.pieces[name]
            if key in self.optimizer.state.get(piece.tensor, ())
        ]
        for place, spans in enumerate(self.shards.spans):
            if not any(span.name in tensors for span in spans):
                continue
            message = self.shards.messages[place]
            values = torch.zeros_like(self.shards.gradients.values(message))
            for piece in own:
                if piece.place == place:
                    at, mine = piece.span.at, self.optimizer.state[piece.tensor][key]
                    values[at : at + len(mine)].copy_(mine)
            if message.is_sharded:
                self.shards.wait(self.shards.gather(place, values))
            self.shards.put(place, values, tensors)

    def entries(self):
        """What the state of each parameter has, by name and key: a rank may have no piece."""
        own = {}
        for name, pieces in self.shards.pieces.items():
            states = [self.optimizer.state.get(piece.tensor) for piece in pieces]
            if any(states):
                first = next(each for each in states if each)
                own[name] = {key: entry(key, value) for key, value in first.items()}
        merged = {}
        for rank in gathered(self.group, own, self.shards.wait):
            for name, described in rank.items():
                merged.setdefault(name, described)
        return {name: merged[name] for name in self.shards.pieces if name in merged}


ELEMENTS = ["elements"]


def is_elements(key, value):
    return isinstance(value, torch.Tensor) and key not in NUMBERS


def entry(key, value):
    """A value of a piece's state for json; of elements only that it has them."""
    if is_elements(key, value):
        return ELEMENTS
    if isinstance(value, torch.Tensor):
        return ["tensor", str(value.dtype)[6:], value.item()]
    return ["value", value]


def made(described, parameter):
    """The value that entry() described, for the whole parameter."""
    if described == ELEMENTS:
        return torch.zeros_like(parameter, requires_grad=False)
    if described[0] == "tensor":
        return torch.tensor(described[2], dtype=getattr(torch, described[1]))
    return described[1]


def part(key, value, parameter, piece):
    """What a piece has of a value of its parameter's state."""
    if is_elements(key, value):
        with torch.no_grad():
            return piece.of(torch.empty_like(parameter, dtype=value.dtype).copy_(value)).clone()
    return value.clone() if isinstance(value, torch.Tensor) else value


def gathered(group, value, wait):
    """Each rank's value, which json can write."""
    data = json.dumps(value).encode()
    sizes = torch.zeros(group.ranks, dtype=torch.int64)
    sizes[group.rank] = len(data)
    wait(group.all_reduce(sizes.data_ptr(), len(sizes), "int64", capi.SUM))
    words = -(-int(sizes.max()) // 4)
    texts = torch.zeros(group.ranks, words, dtype=torch.int32)
    own = bytearray(data.ljust(4 * words))
    texts[group.rank].copy_(torch.frombuffer(own, dtype=torch.int32))
    wait(group.all_reduce(texts.data_ptr(), texts.numel(), "int32", capi.SUM))
    return [json.loads(bytes(each.view(torch.uint8).tolist())) for each in texts]
