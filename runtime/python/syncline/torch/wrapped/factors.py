"""Messages by which ranks gather the factors of a linear layer's gradients: its inputs X and the
gradients G of its outputs, a row for each sample and position. Each rank then computes the means,
G'X / ranks of the weight and the sum of G's rows / ranks of the bias, from the rows of all."""

import sys
import weakref

import torch
from torch.nn.functional import linear

from syncline import capi
from syncline.torch.wrapped.names import listed

DENSE = -1  # in place of a number of rows: gradients hold something already


class Call:
    """A forward pass of a layer, as long as its graph lives."""

    def __init__(self, rows):
        self.rows = rows


class Product(torch.autograd.Function):
    """A linear layer whose backward pass may leave the product for its weight to the message."""

    @staticmethod
    def forward(ctx, x, weight, bias, factored):
        ctx.factored, ctx.call = factored, Call(x.shape[0])
        factored.calls.add(ctx.call)
        ctx.save_for_backward(x, weight)
        return linear(x, weight, bias)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        for_x = g @ weight.to(g.dtype) if ctx.needs_input_grad[0] else None
        x = x.to(g.dtype)
        is_taken = ctx.factored.take(ctx.call, x, g)
        for_weight = None if is_taken else g.t() @ x
        is_needed = ctx.needs_input_grad[2] and not (is_taken and ctx.factored.has_bias)
        return for_x, for_weight, g.sum(0) if is_needed else None, None


class Layer:
    """Stands in a torch.nn.Linear for its forward pass. Copies of the module have their own."""

    def __init__(self, module, factored):
        self.module, self.factored, self.method = module, factored, module.forward

    def __call__(self, input):
        if torch.compiler.is_compiling() or not self.is_usual(input):
            return self.method(input)
        x, module = input, self.module
        y = Product.apply(x.reshape(-1, x.shape[-1]), module.weight, module.bias, self.factored)
        return y.view(*x.shape[:-1], y.shape[-1])

    def is_usual(self, x):
        """Whether the pass is one of training, and nobody looks at this rank's own gradients."""
        factored = self.factored
        return (
            torch.is_grad_enabled()
            and not torch._C._are_functorch_transforms_active()  # as in torch.func.vmap()
            and factored.reducer.syncs
            and type(x) in (torch.Tensor, torch.nn.Parameter)
            and x.dim() > 0
            and self.module.weight is factored.weight
            and self.module.bias is factored.bias
            and all(is_own(each) for each in factored.members.values())
        )

    def __reduce__(self):
        return getattr, (self.module, "forward")


def is_own(parameter):
    """Whether no hook but wrap()'s waits for a parameter's gradient."""
    return not parameter._backward_hooks and len(parameter._post_accumulate_grad_hooks) == 1


class Factored:
    """A message of the gradients of `module`, a torch.nn.Linear: `members`, {name: parameter}."""

    def __init__(self, message, module, reducer):
        self.message, self.reducer = message, reducer
        parameters = reducer.gradients.parameters
        self.members = {name: parameters[name] for name in message.parameters}
        self.weight, self.bias = module.weight, module.bias
        self.has_bias = any(each is module.bias for each in self.members.values())
        with torch.enable_grad():
            self.node = self.weight.expand_as(self.weight).grad_fn.next_functions[0][0]
        self.calls = weakref.WeakSet()  # whose backward pass may come
        self.is_told = False
        self.kind = self.weight.dtype  # of the last factors
        self.buffer = torch.empty(0)
        self.restart()
        reducer.installed.put(module, "forward", Layer(module, self))

    def restart(self):
        self.given, self.expected, self.before, self.others = [], set(), {}, set()
        self.rows = 0  # of each rank in a message under way

    def expect(self):
        """At the beginning of a step: the rows that its backward pass has at most, or DENSE."""
        self.restart()
        gradients = {name: each.grad for name, each in self.members.items()}
        if any(each is not None and bool(each.any()) for each in gradients.values()):
            return DENSE
        self.before = {name: (each, version(each)) for name, each in gradients.items()}
        self.expected = set(self.calls)
        return sum(call.rows for call in self.expected)

    def take(self, call, x, g):
        """Whether the message takes a pass's factors, in place of the gradients."""
        if torch.is_grad_enabled() or not self.reducer.syncs or not will_run(self.node):
            return False
        if not self.reducer.runs:
            self.reducer.begin()
        if call not in self.expected:
            return False
        self.expected.remove(call)
        self.calls.discard(call)
        self.given.append((x, g))
        return True

    def look(self, name):
        """Whether a parameter's own gradient holds anything that the factors do not give."""
        gradient, (before, count) = self.members[name].grad, self.before.get(name, (None, 0))
        if gradient is not before or version(gradient) != count:
            self.others.add(name)
        return name in self.others

    def issue(self, counts):
        """The ticket of the gathered message; None where the gradients must travel, which are then
        in their places. `counts` has each rank's rows."""
        most = int(counts.max())
        gathers = bool((counts >= 0).all()) and most > 0 and not self.others
        for name, parameter in self.members.items():
            if gathers or self.given:
                parameter.grad = self.reducer.gradients.views[name]
        if not gathers:
            self.say(counts)
            self.multiply(self.given, 1.0, kept=self.others)
            return None
        self.rows = most
        count = self.pack()
        kind = str(self.buffer.dtype)[6:]
        return self.reducer.group.gather(self.message.number, self.buffer.data_ptr(), count, kind)

    def say(self, counts):
        is_new = not self.is_told and bool((counts >= 0).all())
        if is_new and self.reducer.group.rank == 0:
            self.is_told = True
            print(
                f"syncline: message {self.message.number} of the plan: its layer's gradients are"
                " not of its own passes alone, or torch.compile computes them; summed by the"
                " all-reduce that costs least",
                file=sys.stderr,
                flush=True,
            )

    def pack(self):
        """Puts this rank's factors in their place, and zeros behind them."""
        for _, g in self.given:
            self.kind = g.dtype
        outputs, inputs = self.weight.shape
        count = self.rows * (inputs + outputs)
        shape = (self.reducer.group.ranks, count)
        if self.buffer.shape != shape or self.buffer.dtype != self.kind:
            self.buffer = torch.empty(shape, dtype=self.kind)
        own = self.buffer[self.reducer.group.rank]
        parts = own[: self.rows * inputs], own[self.rows * inputs :]
        for which, part in enumerate(parts):
            begin = 0
            for pair in self.given:
                values = pair[which].reshape(-1)
                part[begin : begin + len(values)].copy_(values)
                begin += len(values)
            part[begin:].zero_()
        return count

    def complete(self):
        """Computes the means of what has arrived, if anything was gathered."""
        if self.rows == 0:
            return
        outputs, inputs = self.weight.shape
        split = self.rows * inputs
        x = self.buffer[:, :split].reshape(-1, inputs)
        g = self.buffer[:, split:].reshape(-1, outputs)
        with torch.inference_mode(False):
            self.multiply([(x, g)], 1 / self.reducer.group.ranks)
        self.rows = 0

    def multiply(self, pairs, scale, kept=()):
        """Computes the gradients of pairs of factors into their places, which those in `kept` have
        something in already. A script does not see that as a change."""
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            for name, parameter in self.members.items():
                view, adds = self.reducer.gradients.views[name].data, name in kept
                for x, g in pairs:
                    x, g = x.to(view.dtype), g.to(view.dtype)
                    if parameter is self.weight:
                        view.addmm_(g.t(), x, beta=float(adds), alpha=scale)
                    elif adds:
                        view.add_(g.sum(0), alpha=scale)
                    else:
                        torch.mul(g.sum(0), scale, out=view)
                    adds = True
        self.given = []


def version(gradient):
    """A number that changes with the gradient."""
    return 0 if gradient is None else gradient._version


def will_run(node):
    """Whether this backward pass adds to a parameter's `grad`."""
    try:
        return torch._C._will_engine_execute_node(node)
    except RuntimeError:
        return False  # torch.autograd.grad() of this parameter


class Counts:
    """How many rows each rank has of each message's factors, at the beginning of a step."""

    def __init__(self, factored, group):
        self.factored, self.group = list(factored), group
        self.rows = torch.zeros(group.ranks, len(self.factored), dtype=torch.int64)
        self.ticket = 0

    def ask(self):
        """Begins to tell the other ranks."""
        if self.factored:
            self.rows.zero_()
            own = [each.expect() for each in self.factored]
            self.rows[self.group.rank] = torch.tensor(own)
            values = (self.rows.data_ptr(), self.rows.numel(), "int64")
            self.ticket = self.group.all_reduce(*values, capi.SUM)

    def of(self, factored, waits):
        """Each rank's rows; None where they are not known yet, unless it `waits`."""
        try:
            self.group.wait(self.ticket, -1.0 if waits else 0.0)
        except capi.TimedOut:
            return None
        return self.rows[:, self.factored.index(factored)]


def modules(model, layout, micro_batches):
    """{place: module} of the layout's messages whose factors can travel; the others are given the
    reason why theirs cannot."""
    linears = {
        id(each.weight): each
        for each in model.modules()
        if type(each) is torch.nn.Linear and "forward" not in vars(each)
    }
    parameters, found = dict(model.named_parameters()), {}
    for place, message in enumerate(layout.messages):
        if not message.gathers or message.why_not:
            continue
        own = [parameters[name] for name in message.parameters]
        module = next((linears[id(each)] for each in own if id(each) in linears), None)
        if micro_batches > 1:
            message.why_not = "its factors would travel in each micro-batch"
        elif not module or not {*map(id, own)} <= {id(module.weight), id(module.bias)}:
            message.why_not = f"{listed(message.parameters)}: not of one torch.nn.Linear"
        else:
            found[place] = module
    return found
