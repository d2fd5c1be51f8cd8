"""The messages of a backward pass: issued as their gradients become ready, in the plan's order."""

import contextlib

import torch

from syncline import capi
from syncline.torch.wrapped.factors import Counts, Factored
from syncline.torch.wrapped.gradients import Gradients
from syncline.torch.wrapped.hooks import Installed
from syncline.torch.wrapped.names import listed

CHANGED = (
    "gradients were changed before {when}: expected syncline.torch.clip_grad_norm_() for clipping,"
    " and wrap() without 'optimizer' where a script scales or adds to gradients, or zeroes them"
    " without a step"
)
LATE = "their messages had arrived, which this plan leaves under way until the next forward pass"
SHARDED = "step(), though by this plan each rank has but a shard of them"
STALE = (
    "parameter '{name}' was used before its last update: expected each forward pass to call the"
    " module that used it in the first one, and a model that torch.compile has not run before"
    " wrap(): wrap() what torch.compile returns"
)


class Reducer:
    """Hooks of parameters call ready(), hooks of the model's outputs begin_backward()."""

    def __init__(self, fit, group, allows_unused):
        self.layout, self.group, self.allows_unused = fit.layout, group, allows_unused
        self.gradients, self.installed = Gradients(fit.layout, fit.trained), Installed()
        self.factored = {
            place: Factored(self.layout.messages[place], module, self)
            for place, module in fit.linears.items()
        }
        self.counts = Counts(self.factored.values(), group)
        self.leaves_under_way, self.shards = fit.leaves_under_way, fit.shards
        self.by_parameter = {}  # places in layout.messages
        for place, message in enumerate(self.layout.messages):
            for name in message.parameters:
                self.by_parameter.setdefault(name, []).append(place)
        self.late = lambda: ()  # parameters whose last update is still to be applied
        self.before_messages = lambda: None  # called before a step's first gradient is taken
        self.stale = set()  # parameters that were late when this backward pass began
        self.syncs = True  # not within no_sync()
        self.used = set()  # parameters with gradients since the last messages
        self.runs = False  # between a step's first gradient and its last message
        self.is_queued = False  # whether end() is called behind this backward pass
        self.steps = 0
        self.tickets = {}  # of messages under way, by place
        self.versions = None  # of gradients, where messages were left under way
        self.error = None
        self.restart()

    def restart(self):
        self.ready_ones, self.next = set(), 0
        self.missing = [len(set(message.parameters)) for message in self.layout.messages]

    def fail(self, text):
        """Ends the group on all ranks, for the same reason."""
        self.error = self.error or RuntimeError(text)
        try:
            self.group.abort(text)
        except capi.Failed:
            pass  # it had ended already
        raise self.error

    @contextlib.contextmanager
    def failing(self):
        """A context for calls to the group, whose error all later calls have."""
        try:
            yield
        except capi.Failed as failure:
            self.error = failure
            raise

    def check(self):
        if self.error:
            raise self.error

    def begin_backward(self):
        """A backward pass of the outermost graph begins, if it was not told yet."""
        self.is_queued = True
        torch.autograd.Variable._execution_engine.queue_callback(self.end)

    def ready(self, name):
        """A parameter's gradient is complete in this backward pass."""
        self.check()
        self.used.add(name)
        if self.syncs and not self.runs:
            self.begin()
        if name in (self.stale if self.syncs else self.late()):
            self.fail(STALE.format(name=name))
        if not self.syncs:
            return
        places = self.by_parameter[name]
        if any(place < self.next for place in places):
            self.fail(
                f"parameter '{name}' has got a gradient after its message was sent: expected one in"
                " each backward pass, and passes that come to their end; checkpointing needs"
                " use_reentrant=False where checkpoints share parameters"
            )
        self.take(name)
        self.issue()

    def begin(self):
        """The first gradient of a step."""
        if not self.is_queued:
            self.begin_backward()
        self.check_unchanged()
        self.stale.update(self.late())
        self.before_messages()
        self.wait()
        if self.steps > 0:
            self.group.step()
        self.steps += 1
        self.restart()
        self.counts.ask()
        self.runs = True

    def take(self, name):
        try:
            if self.has_own(name):
                with torch.no_grad():
                    self.gradients.take(name)
        except RuntimeError as failure:
            self.fail(str(failure))
        if name not in self.ready_ones:
            self.ready_ones.add(name)
            for place in set(self.by_parameter[name]):
                self.missing[place] -= 1

    def has_own(self, name):
        """Whether a parameter's gradient is not that of factors alone."""
        factored = self.factored.get(self.by_parameter[name][0])
        return factored is None or factored.look(name) or not factored.given

    def issue(self, waits=False):
        """Issues all messages that are ready, and have none before them that is not."""
        while self.next < len(self.layout.messages) and self.missing[self.next] == 0:
            with self.failing():
                ticket = self.send(self.next, waits)
            if ticket is None:
                return
            self.tickets[self.next] = ticket
            self.next += 1

    def send(self, place, waits):
        """A message's ticket. None where it is not known yet whether factors travel, unless it
        `waits`."""
        message, factored = self.layout.messages[place], self.factored.get(place)
        if factored:
            counts = self.counts.of(factored, waits)
            ticket = None if counts is None else factored.issue(counts)
            if counts is None or ticket is not None:
                return ticket
        elements = self.gradients.values(message)
        values = (elements.data_ptr(), len(elements), message.kind)
        if message.why_not or factored:
            return self.group.all_reduce(*values, capi.MEAN)
        if message.is_sharded:
            return self.group.reduce_scatter(message.number, *values, capi.MEAN)
        return self.group.issue(message.number, *values, capi.MEAN)

    def end(self):
        """The end of a backward pass."""
        self.is_queued = False
        self.stale.clear()
        if not self.runs:
            return  # within no_sync(), or of torch.autograd.grad()
        unused = [name for name in self.by_parameter if name not in self.used]
        if unused and not self.allows_unused:
            self.fail(
                f"{listed(unused)}: expected a gradient of each trained parameter, got none: train"
                " without them, or wrap() with allow_unused=True, by which they count as zeros"
            )
        for name in self.by_parameter:
            if name not in self.ready_ones:
                self.take(name)
        self.issue(waits=True)
        self.runs = False
        self.used.clear()
        self.keep_versions()
        if not self.leaves_under_way:
            self.wait()

    def keep_versions(self):
        """Remembers gradients where a script must not change them."""
        if self.leaves_under_way or self.shards:
            self.versions = self.gradients.versions()

    def check_step(self):
        """Raises where a script has changed or replaced gradients that may be under way."""
        self.check()
        if self.leaves_under_way and self.versions is not None:
            for name in self.by_parameter:
                self.has_gradient(name)
        self.check_unchanged()

    def has_gradient(self, name):
        """Whether a step takes a parameter's gradient, which must be what messages bring."""
        gradient, view = self.gradients.parameters[name].grad, self.gradients.views[name]
        if gradient is not None and gradient.data_ptr() != view.data_ptr():
            self.fail(
                f"parameter '{name}': expected step() with the gradient that its message brought,"
                " got another one: a script has replaced it, or a backward pass within no_sync()"
                " has given it"
            )
        return gradient is not None

    def check_unchanged(self):
        """Raises where a script has written into gradients that may be under way, or partial."""
        if self.versions is not None and self.versions != self.gradients.versions():
            self.fail(CHANGED.format(when=LATE if self.leaves_under_way else SHARDED))
        self.versions = None

    def wait(self, places=None):
        """Waits until messages have arrived; default: all."""
        for place in sorted(self.tickets) if places is None else places:
            if place in self.tickets:
                with self.failing():
                    self.group.wait(self.tickets[place])
                self.arrive(place)

    def arrive(self, place):
        del self.tickets[place]
        if place in self.factored:
            self.factored[place].complete()

    def arrived(self):
        """Places of the messages that are no more under way."""
        for place, ticket in list(self.tickets.items()):
            try:
                self.group.wait(ticket, 0.0)
                self.arrive(place)
            except capi.TimedOut:
                pass
        return [place for place in range(len(self.layout.messages)) if place not in self.tickets]
