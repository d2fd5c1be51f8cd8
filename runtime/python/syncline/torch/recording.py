"""What a script's all-reduces say about its model, as a layer trace to plan from.

Knows nothing of PyTorch."""

import collections
import dataclasses
import statistics

MOST_CALLS = 20000  # the last ones are kept
REPEATS = 3  # so many equal sequences of calls behind each other are steps
LONGEST = 1000  # calls of a step
STRIDE = 16  # calls between two looks for steps, so that looking takes seconds at most


@dataclasses.dataclass
class Call:
    bytes: int
    type: str
    time: float  # seconds when it was called
    backward: int = -1  # the number of the backward pass that called; -1 for none or unknown
    end: float = 0.0  # seconds when it was over; 0 for not yet

    @property
    def kind(self):
        return (self.bytes, self.type)


def period(kinds):
    """The length of the step that repeats at the end of a list; 0 where none does. Takes time in
    proportion to the list, by the Z function: `same[i]` calls from i on are those from 0 on."""
    back = kinds[::-1]
    same, left, right = [0] * len(back), 0, 0
    for i in range(1, len(back) // REPEATS * (REPEATS - 1) + 1 if back else 0):
        length = min(same[i - left], right - i) if i < right else 0
        while i + length < len(back) and back[length] == back[i + length]:
            length += 1
        same[i] = length
        if i + length > right:
            left, right = i, i + length
        if length >= (REPEATS - 1) * i:
            return i
    return 0


def stretch(kinds):
    """The calls from `first` up to `end` that repeat a step of some `length`: the repetition that
    moves most bytes, since evaluations and ends of epochs have calls of their own. Zeros where no
    step repeats. `kinds` are bytes and types."""
    best, most, end = (0, 0, 0), 0, len(kinds)
    while end > 0:
        from_here = max(end - LONGEST * REPEATS, 0)
        length = period(kinds[from_here:end])
        if not length:
            end -= 1 if len(kinds) - end < STRIDE else STRIDE
            continue
        while end < len(kinds) and kinds[end] == kinds[end - length]:
            end += 1
        first = end - length
        while first > 0 and kinds[first - 1] == kinds[first - 1 + length]:
            first -= 1
        moved = sum(size for size, _ in kinds[first:end])
        if moved > most:
            best, most = (first, end, length), moved
        end = first
    return best


class Recording:
    def __init__(self):
        self.calls = collections.deque(maxlen=MOST_CALLS)
        self.made = 0

    def add(self, size, kind, time, backward=-1):
        call = Call(size, kind, time, backward)
        self.calls.append(call)
        self.made += 1
        return call

    def where(self, made):
        """The step, and the message in it, before which so many calls were made, as far as calls
        repeat; (-1, -1) where they do not yet."""
        length = period([call.kind for call in self.calls])
        return divmod(made, length) if length else (-1, -1)

    def steps(self):
        """The whole steps of training, the last first. Gradients travel within backward passes;
        losses and counts, which do not, are left out."""
        calls = [call for call in self.calls if call.backward >= 0] or list(self.calls)
        first, end, length = stretch([call.kind for call in calls])
        calls, found = calls[first:end], []
        while length and len(calls) >= length:
            step, calls = calls[-length:], calls[:-length]
            if found and [one.kind for one in step] != [one.kind for one in found[0]]:
                break
            found.append(step)
        return self.rotated(found)

    @staticmethod
    def rotated(steps):
        """The steps, cut where a backward pass begins. Where that is unknown, or a step has several
        ones, the longest pause decides: the forward pass is before the first message."""
        if len(steps) < 2 or len(steps[0]) < 2:
            return steps
        calls = [call for step in reversed(steps) for call in step]
        length = len(steps[0])
        pauses = [
            statistics.median(
                calls[i].time - calls[i - 1].time for i in range(first, len(calls), length) if i > 0
            )
            for first in range(length)
        ]
        begins = [
            first
            for first in range(length)
            if all(
                calls[i].backward != calls[i - 1].backward
                for i in range(first, len(calls), length)
                if i > 0
            )
        ]
        first = max(begins or range(length), key=pauses.__getitem__)
        whole = range(first, len(calls) - length + 1, length)
        return [calls[at : at + length] for at in reversed(whole)]

    def trace(self):
        """A layer trace in CSV, in forward order: each message is a layer. Its backward pass lasts
        from the call before to its own. Before the first message lie the forward pass and the first
        layer's backward pass: all backward passes are taken to last twice as long as the forward
        one. Empty where no step repeats."""
        steps = self.steps()
        if len(steps) < 2:
            return ""
        sizes = [call.bytes for call in steps[0]]
        gaps = [
            statistics.median(step[i].time - step[i - 1].time for step in steps)
            for i in range(1, len(sizes))
        ]
        idle = statistics.median(
            max(after[0].time - max(call.end or call.time for call in before), 0.0)
            for after, before in zip(steps, steps[1:])
        )
        forward = (idle + sum(gaps)) / 3
        backward = [max(2 * forward - sum(gaps), 0.0), *gaps]
        rows = ["name,bytes,forward,backward"]
        for place in reversed(range(len(sizes))):
            part = forward * backward[place] / (sum(backward) or 1.0)
            rows.append(
                f"message-{place},{sizes[place]}B,{1e9 * part:.0f}ns,{1e9 * backward[place]:.0f}ns"
            )
        return "\n".join(rows) + "\n"
