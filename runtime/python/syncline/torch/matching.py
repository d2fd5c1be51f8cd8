"""Which message of the plan an all-reduce is. Knows nothing of PyTorch.

All ranks make the same calls in the same order, and decide by nothing else, so that they agree."""

import dataclasses
import enum

# DistributedDataParallel makes its buckets anew behind its first step, and with static_graph behind
# its second one: until so many times the plan's bytes have passed, another sequence is not said.
WARM_UP = 2
WHOLE, HALVES = "float32", ("float16", "bfloat16")


class Way(enum.Enum):
    PLANNED = enum.auto()  # a message of the plan, by its scheme
    CHEAPEST = enum.auto()  # gradients of another sequence, by the scheme that costs least
    OTHER = enum.auto()  # anything else: the framework's own backend carries it


@dataclasses.dataclass(frozen=True)
class Message:
    bytes: int
    type: str
    told: str = dataclasses.field(default="", compare=False)  # in errors, where it differs

    def __str__(self):
        return self.told or f"{self.bytes} bytes of {self.type}"


@dataclasses.dataclass(frozen=True)
class Decision:
    way: Way
    message: int = -1  # its place in the plan
    begins: bool = False  # a step other than the first: the group must be told
    complaint: str = ""  # said once in a run
    is_halved: bool = False  # its values have been rounded to 16 bits, as by a communication hook


class Matcher:
    """Follows the calls of a run. `step` counts the steps that began, from 0."""

    def __init__(self, messages):
        self.messages = [Message(each.bytes, each.type) for each in messages]
        if not self.messages:
            raise ValueError("expected a plan with messages, got none")
        self.total = sum(each.bytes for each in self.messages)
        self.least = {
            kind: min(each.bytes for each in self.messages if each.type == kind)
            for kind in {each.type for each in self.messages}
        }
        self.step, self.position = -1, 0  # of the message that comes next
        self.complete = False  # whether a whole step has passed
        self.began_warm = True  # whether this step began in the warm-up
        self.said = False
        self.outside = 0  # bytes since the last whole step that were no message of the plan
        self.seen = 0  # bytes of all candidates

    def all_reduce(self, size, kind):
        """Decides on an all-reduce of `size` bytes by addition."""
        if kind in HALVES and kind not in self.least:
            whole = Message(2 * size, WHOLE, told=f"{size} bytes of {kind}")
            return dataclasses.replace(self.decide(whole), is_halved=True)
        return self.decide(Message(size, kind))

    def decide(self, call):
        size, kind = call.bytes, call.type
        # What is shorter than all messages of the plan is a loss or a count, no bucket.
        is_candidate = size >= self.least.get(kind, size + 1)
        if is_candidate:
            self.seen += size
            if call == self.messages[self.position]:
                return self.planned(self.position)
            if self.position > 0:
                return self.astray(call)
        # Between steps all may pass, but not more than a step's bytes without its first message.
        if self.position == 0 and kind in self.least:
            self.outside += size
        excess = self.position == 0 and self.outside > self.total
        return self.unplanned(is_candidate, self.complain(call) if excess else "")

    def planned(self, position, complaint=""):
        begins = position == 0
        if begins:
            self.step += 1
            self.began_warm = self.is_warm()
        self.position = position + 1
        if self.position == len(self.messages):
            self.position, self.outside, self.complete = 0, 0, True
        return Decision(Way.PLANNED, position, begins and self.step > 0, complaint)

    def astray(self, call):
        """A call within a step that is not the message that comes next."""
        complaint = self.complain(call)
        if call == self.messages[0]:
            return self.planned(0, complaint)
        self.position = 0
        self.outside += call.bytes
        return self.unplanned(True, complaint)

    def unplanned(self, is_candidate, complaint):
        way = Way.CHEAPEST if self.said and is_candidate else Way.OTHER
        return Decision(way, complaint=complaint)

    def is_warm(self):
        return not self.complete and self.seen <= WARM_UP * self.total

    def complain(self, call):
        """What is wrong, where that is to be said and has not been."""
        if self.said or (self.began_warm if self.position > 0 else self.is_warm()):
            return ""
        self.said = True
        expected = self.messages[self.position]
        return (
            f"step {max(self.step, 0)}, position {self.position}: expected {expected}, got {call}"
        )
