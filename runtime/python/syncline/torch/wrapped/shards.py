"""Messages of which each rank gets the means of a shard, and updates its parameters there: the
optimizer steps on views of them, and then all ranks gather all parameters."""

import dataclasses
import json
import pathlib

import torch

from syncline.torch.wrapped.gradients import format_of
from syncline.torch.wrapped.names import listed

# Optimizers whose update of an element depends on what that element was alone.
ELEMENTWISE = (
    *(torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad),
    *(torch.optim.RMSprop, torch.optim.Adadelta, torch.optim.Adamax, torch.optim.NAdam),
    *(torch.optim.RAdam, torch.optim.Rprop),
)


@dataclasses.dataclass
class Span:
    """Elements of a parameter, as they lie in memory, that a message has."""

    name: str
    begin: int
    end: int
    at: int  # elements of the message before it

    def within(self, first, last):
        """What lies in these elements of the message; None where nothing does."""
        low, high = max(self.at, first), min(self.at + self.end - self.begin, last)
        shift = self.begin - self.at
        return Span(self.name, low + shift, high + shift, low) if low < high else None


class Piece:
    """What this rank updates of a parameter: `tensor`, over the parameter's memory, stands for it
    in the optimizer. `values` is where a message has it."""

    def __init__(self, span, place, parameter, values):
        self.span, self.place = span, place
        self.values = values[span.at : span.at + span.end - span.begin]
        self.tensor = torch.nn.Parameter(self.of(parameter), parameter.requires_grad)

    def of(self, whole):
        """The piece of what lies in memory as the parameter does."""
        return memory(whole)[self.span.begin : self.span.end]


class Shards:
    """`places` of the messages, in the order in which parameters are gathered; `pieces` of all
    parameters that these have a part of, by name."""

    def __init__(self, reducer, optimizer):
        self.reducer, self.group, self.optimizer = reducer, reducer.group, optimizer
        self.gradients = reducer.gradients
        self.messages = reducer.layout.messages
        self.spans = [spans(message, self.gradients) for message in self.messages]
        self.places = in_order(self.messages, self.group.plan)
        self.pieces = {span.name: [] for place in self.places for span in self.spans[place]}
        self.strides = {name: self.gradients.parameters[name].stride() for name in self.pieces}
        for place in range(len(self.messages)):
            self.add(place)
        self.fresh = []  # places of messages whose parameters are updated by this step
        self.tickets = {}  # of parameters under way, by place

    def add(self, place):
        message, parameters = self.messages[place], self.gradients.parameters
        values = self.gradients.values(message)
        begin, count = 0, len(values)
        if message.is_sharded:
            begin, count = self.group.shard(message.number)
        for whole in self.spans[place]:
            span = whole.within(begin, begin + count)
            if span and span.name in self.pieces:
                piece = Piece(span, place, parameters[span.name], values)
                self.pieces[span.name].append(piece)

    def take(self):
        """{id of a parameter: what stands for it in a step}, behind the arrival of gradients."""
        self.check_parameters()
        self.fresh, found = [], {}
        for name, pieces in self.pieces.items():
            parameter = self.gradients.parameters[name]
            has_gradient = self.reducer.has_gradient(name)
            for piece in pieces:
                piece.tensor.data = piece.of(parameter)
                piece.tensor.grad = piece.values if has_gradient else None
            if has_gradient:
                self.fresh += self.reducer.by_parameter[name]
            found[id(parameter)] = [piece.tensor for piece in pieces]
        return found

    def check_parameters(self):
        own = {id(each) for group in self.optimizer.param_groups for each in group["params"]}
        parameters = self.gradients.parameters
        missing = [name for name in self.pieces if id(parameters[name]) not in own]
        if missing:
            self.reducer.fail(
                f"{listed(missing)}: expected in a group of 'optimizer', as when the model was"
                " wrapped, since ranks update shards by this plan"
            )
        for name, strides in self.strides.items():
            if parameters[name].stride() != strides:
                self.reducer.fail(
                    f"parameter '{name}': expected strides {strides}, as when the model was"
                    " wrapped, since ranks update shards of what lies in memory by this plan, got"
                    f" {parameters[name].stride()}"
                )

    def send(self):
        """Begins to gather what ranks have updated."""
        for piece in self.all_pieces():
            piece.tensor.grad = None
            if piece.place in self.fresh and self.messages[piece.place].is_sharded:
                piece.values.copy_(piece.tensor.detach())
        for place in self.places:
            if place in self.fresh:
                values = self.gradients.values(self.messages[place])
                self.tickets[place] = self.gather(place, values)

    def all_pieces(self):
        return (piece for pieces in self.pieces.values() for piece in pieces)

    def gather(self, place, values):
        """The ticket of a message's elements, of which this rank's own are there."""
        message = self.messages[place]
        with self.reducer.failing():
            return self.group.all_gather(
                message.number, values.data_ptr(), len(values), message.kind
            )

    def are_sent(self, places):
        return not self.tickets.keys().isdisjoint(places)

    def arrive(self, places):
        """Waits for parameters under way."""
        for place in places:
            if place in self.tickets:
                self.wait(self.tickets.pop(place))
                values = self.gradients.values(self.messages[place])
                self.put(place, values, self.gradients.parameters)

    def wait(self, ticket):
        with self.reducer.failing():
            self.group.wait(ticket)

    def put(self, place, values, tensors):
        """Copies a message's elements into tensors {name of a parameter: tensor}."""
        with torch.inference_mode(False), torch.no_grad():
            for span in self.spans[place]:
                if span.name in tensors:
                    to = memory(tensors[span.name])[span.begin : span.end]
                    to.copy_(values[span.at : span.at + len(to)])


def in_order(messages, plan):
    """The places of sharded messages in the plan's order of their all-gathers. Where these are no
    messages of their own, the last one is first, as the next forward pass needs it."""
    text = (pathlib.Path(plan.folder) / "plan.json").read_text(encoding="utf-8")
    gathers = {each["id"]: each.get("all_gather") for each in json.loads(text)["buckets"]}

    def when(place):
        gather = gathers[plan.messages[messages[place].number].id]
        return gather["place"] if gather else -place

    return sorted((place for place, each in enumerate(messages) if each.is_sharded), key=when)


def spans(message, gradients):
    size, found, at = gradients.values(message).element_size(), [], 0
    for part in message.parts:
        found.append(Span(part.parameter, part.skipped // size, part.end // size, at))
        at += part.bytes // size
    return found


def memory(tensor):
    """A dense tensor's elements as they lie in memory."""
    return tensor.detach().as_strided((tensor.numel(),), (1,), tensor.storage_offset())


def settle(layout, trained, optimizer):
    """Gives messages that ranks cannot shard the reason why. Raises for an optimizer that cannot
    update shards."""
    for message in layout.messages:
        if not message.is_sharded:
            continue
        loose = [name for name in message.parameters if format_of(trained[name]) is None]
        if optimizer is None:
            message.why_not = "ranks update shards of it, which wrap() does with 'optimizer' alone"
        elif loose:
            message.why_not = f"{listed(loose)}: not contiguous in memory"
    if any(each.is_sharded for each in layout.messages) and type(optimizer) not in ELEMENTWISE:
        own = type(optimizer)
        known = ", ".join(each.__name__ for each in ELEMENTWISE)
        raise ValueError(
            f"'optimizer': expected one of torch.optim's {known}, which update each element by"
            f" itself, since ranks update shards by this plan, got {own.__module__}.{own.__name__}:"
            " wrap() without 'optimizer' sums these messages"
        )
