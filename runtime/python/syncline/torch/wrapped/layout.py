"""Where gradients lie in memory, so that each message is one piece of it. Knows nothing of PyTorch.

A message's gradients lie one behind the other. Where a plan cuts a gradient, the message with the
rest lies behind that with the beginning, so that the gradient is in one piece, too."""

import dataclasses

from syncline.torch.wrapped.names import Mismatch, is_rows, match


@dataclasses.dataclass
class Part:
    """What a message has of a parameter's gradient."""

    parameter: str
    skipped: int  # bytes of the gradient before it
    bytes: int
    whole: int

    @property
    def end(self):
        return self.skipped + self.bytes


@dataclasses.dataclass
class Message:
    number: int  # its place in the plan
    kind: str  # of its elements
    parts: list
    why_not: str  # why it does not travel by the plan's scheme; empty where it does
    gathers: bool = False  # whether by that scheme ranks gather factors
    shards: bool = False  # whether by that scheme ranks update shards
    buffer: int = -1
    offset: int = -1  # bytes of the buffer before it

    @property
    def bytes(self):
        return sum(part.bytes for part in self.parts)

    @property
    def is_sharded(self):
        return self.shards and not self.why_not

    @property
    def parameters(self):
        return [part.parameter for part in self.parts]


class Layout:
    """`messages` in the plan's order, without those that carry nothing here; `buffers`: the bytes
    and kind of each; `places`: for each parameter, its buffer and the bytes before it."""

    def __init__(self, plan, parameters, names):
        """`plan` is a capi.Plan; the others are as match() has them. Raises Mismatch."""
        members = [plan.members(number) for number in range(len(plan.messages))]
        sizes = {each.name: each.whole for message in members for each in message}
        kept = {name: size for name, size in sizes.items() if not is_rows(name, sizes)}
        found = match(kept, parameters, names)
        self.messages = []
        for number, message in enumerate(plan.messages):
            parts = [
                Part(found[each.name], each.skipped, each.bytes, each.whole)
                for each in members[number]
                if each.name in kept and each.bytes > 0
            ]
            if parts:
                self.messages.append(self.message(number, message, parts, parameters))
        self.buffers, self.places = [], {}
        self.check_parts()
        self.place()

    @staticmethod
    def message(number, planned, parts, parameters):
        kinds = sorted({parameters[part.parameter].kind for part in parts})
        if len(kinds) > 1:
            two = {parameters[part.parameter].kind: part.parameter for part in parts}
            said = " and ".join(f"'{two[kind]}' of {kind}" for kind in kinds)
            raise Mismatch(f"message {number} has {said}: expected one type of elements")
        gathers, shards = bool(planned.is_gathered), bool(planned.is_sharded)
        why_not = "" if gathers or shards else planned.why_not
        made = Message(number, kinds[0], parts, why_not, gathers, shards)
        if not made.why_not and kinds[0] != planned.type:
            made.why_not = f"its gradients are {kinds[0]}, the plan's {planned.type}"
        if not made.why_not and not made.gathers and made.bytes != planned.bytes:
            made.why_not = "a part of it travels with another message"
        return made

    def check_parts(self):
        """Raises where a gradient does not travel as a whole."""
        parts = {}
        for message in self.messages:
            for part in message.parts:
                parts.setdefault(part.parameter, []).append(part)
        for name, found in parts.items():
            found.sort(key=lambda part: part.skipped)
            ends = [0, *(part.end for part in found)]
            if [part.skipped for part in found] != ends[:-1] or ends[-1] != found[0].whole:
                raise Mismatch(f"parameter '{name}': expected each byte in one message of the plan")

    def place(self):
        """Chains of messages that share a cut gradient become buffers."""
        begins = {}  # the message that begins within a gradient
        for message in self.messages:
            first = message.parts[0]
            if first.skipped > 0:
                begins[first.parameter, first.skipped] = message
        heads = [message for message in self.messages if message.parts[0].skipped == 0]
        for head in heads:
            message, size = head, 0
            while message:
                message.buffer, message.offset = len(self.buffers), size
                for part in message.parts:
                    if part.skipped == 0:
                        self.places[part.parameter] = (message.buffer, size)
                    size += part.bytes
                last = message.parts[-1]
                message = begins.get((last.parameter, last.end))
            self.buffers.append((size, head.kind))
        for message in self.messages:
            if message.buffer < 0:
                raise Mismatch(
                    f"message {message.number} cuts gradients in a circle: expected a plan whose"
                    " messages have one order of gradients"
                )

    def uncarried(self):
        """{reason: numbers of messages that do not travel by the plan's scheme}."""
        reasons = {}
        for message in self.messages:
            if message.why_not:
                reasons.setdefault(message.why_not, []).append(message.number)
        return reasons
