"""Steps of a model on this machine, timed by hooks: when its modules begin in the forward pass, and
when its parameters' gradients exist in the backward pass."""

import contextlib
import dataclasses
import re
import statistics
import time

import torch

from syncline.errors import Error

WARM_UP = 1  # steps that do not count
DEVICES = ("cpu", "cuda")
DEEPEST = 8  # lists in lists where tensors are looked for
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Processor:
    """Times on processors."""

    def mark(self):
        return time.perf_counter()

    def wait(self):
        pass

    def seconds(self, begin, end):
        return end - begin


class Graphics:
    """Times on the current GPU, of what its stream computes. It has not run on one yet."""

    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def wait(self):
        torch.cuda.synchronize()

    def seconds(self, begin, end):
        return begin.elapsed_time(end) / 1e3


def clock_of(device):
    return Graphics() if device.type == "cuda" else Processor()


def trained(model):
    """The parameters that training changes, by name; one that is shared has its first name."""
    if not isinstance(model, torch.nn.Module):
        raise Error(f"'model': expected a torch.nn.Module, got {type(model).__name__}")
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        raise Error("'model': expected the module that DistributedDataParallel wraps, got the wrap")
    check_values(model)
    for name, each in (*model.named_parameters(), *model.named_buffers()):
        check_device(each, f"'model': expected '{name}'")
    found = {name: each for name, each in model.named_parameters() if each.requires_grad}
    if not found:
        raise Error("'model': expected a parameter that requires a gradient, got none")
    return found


def check_values(model):
    """Raises where a lazy module has not run."""
    for name, each in (*model.named_parameters(), *model.named_buffers()):
        if torch.nn.parameter.is_lazy(each):
            raise Error(f"'model': expected values in '{name}', got none yet: run the model before")


def check_device(tensor, expected):
    if tensor.device.type not in DEVICES:
        raise Error(f"{expected} on 'cpu' or 'cuda', got '{tensor.device.type}'")


def tensors(value, depth=0):
    """All tensors in a model's output or in a sample, which may contain itself."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, each.name) for each in dataclasses.fields(value)]
    if not isinstance(value, (list, tuple)) or depth > DEEPEST:
        return []
    return [tensor for each in value for tensor in tensors(each, depth + 1)]


def arguments(sample):
    """A sample as positional arguments and arguments by name: it is a tensor, a tuple or list of
    arguments, or a dict of them by name."""
    for each in tensors(sample):
        check_device(each, "'sample': expected tensors")
    if isinstance(sample, torch.Tensor):
        return (sample,), {}
    if not tensors(sample):
        raise Error(
            "'sample': expected a tensor, a tuple of the model's arguments or a dict of them by"
            f" name, got {type(sample).__name__} without tensors"
        )
    return ((), dict(sample)) if isinstance(sample, dict) else (tuple(sample), {})


def batch_of(sample):
    """The samples in a sample: dimension 0 of its first tensor that has one; None for none."""
    return next((each.shape[0] for each in tensors(sample) if each.dim()), None)


def mean_of_outputs(output):
    """The loss where none is given: the mean of all numbers that depend on parameters."""
    found = [each for each in tensors(output) if each.requires_grad]
    if not found:
        raise Error("'model': expected an output that depends on its parameters, got none")
    return sum(each.float().mean() for each in found)


@contextlib.contextmanager
def kept(model):
    """Leaves the model as it was: mode, buffers, gradients, and the random numbers to come."""
    modes = [(module, module.training) for module in model.modules()]
    buffers = {name: each.detach().clone() for name, each in model.named_buffers()}
    gradients = [(each, each.grad) for each in model.parameters()]
    graphics = {each.device for each, _ in gradients if each.device.type == "cuda"}
    with torch.random.fork_rng(devices=list(graphics)):
        try:
            if not model.training:
                model.train()
            yield
        finally:
            for module, mode in modes:
                module.training = mode
            with torch.no_grad():
                for name, each in model.named_buffers():
                    if name in buffers:
                        each.copy_(buffers[name])
            for each, gradient in gradients:
                each.grad = gradient


def refusal(failure):
    """An exception in one line: the one that the others were raised from."""
    while failure.__cause__ is not None:
        failure = failure.__cause__
    said = COLOUR.sub("", str(failure)).strip().split("\n")[0]
    return f"{type(failure).__name__}: {said}" if said else type(failure).__name__


@dataclasses.dataclass(frozen=True)
class Times:
    """A step's times, medians over steps, in seconds. The backward pass of a parameter begins where
    that of the one before it ends."""

    modules: dict  # forward, of modules with parameters of their own, in the order of their calls
    calls: list  # of these modules, in order
    parameters: dict  # backward, in the order in which their gradients exist
    loss: float
    steps: int

    @property
    def forward(self):
        return sum(self.modules.values())

    @property
    def backward(self):
        return sum(self.parameters.values())

    @property
    def step(self):
        return self.forward + self.loss + self.backward


class Watcher:
    """Hooks on a model. What a module without parameters computes counts to the module with
    parameters that was called before it."""

    def __init__(self, model, parameters, clock):
        self.model, self.parameters, self.clock = model, parameters, clock
        self.calls, self.ready, self.is_forward = [], [], False

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            if any(each.requires_grad for each in module.parameters(recurse=False)):
                # A module that is called by the backward pass computes activations again.
                called = self.hook(self.calls, name, lambda: self.is_forward)
                self.handles.append(module.register_forward_pre_hook(called))
        for name, each in self.parameters.items():
            hook = self.hook(self.ready, name, lambda: True)
            self.handles.append(each.register_post_accumulate_grad_hook(hook))
        return self

    def __exit__(self, *_):
        for handle in self.handles:
            handle.remove()

    def hook(self, marks, name, counts):
        def mark(*_):
            if counts():
                marks.append((name, self.clock.mark()))

        return mark

    def step(self, sample, loss):
        """Runs a step; seconds of modules and parameters, in order, and of the loss."""
        self.calls.clear()
        self.ready.clear()
        for each in self.parameters.values():
            each.grad = None
        positional, named = arguments(sample)
        mark, self.is_forward = self.clock.mark, True
        begin = mark()
        try:
            output = self.model(*positional, **named)
        except Exception as failure:
            raise Error(f"'sample': the model refuses it: {refusal(failure)}") from failure
        self.is_forward, forward_end = False, mark()
        value = self.value(loss, output)
        loss_end = mark()
        try:
            value.backward()
        except Exception as failure:
            raise Error(f"'model': no backward pass: {refusal(failure)}") from failure
        end = mark()
        self.clock.wait()
        return self.spans(begin, forward_end, loss_end, end)

    def value(self, loss, output):
        try:
            value = loss(output)
        except Error:
            raise
        except Exception as failure:
            raise Error(f"'loss': it fails: {refusal(failure)}") from failure
        is_number = isinstance(value, torch.Tensor) and value.numel() == 1 and value.requires_grad
        if not is_number:
            got = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
            raise Error(f"'loss': expected a number that depends on parameters, got {got}")
        return value

    def spans(self, begin, forward_end, loss_end, end):
        if not self.calls:
            raise Error("'model': expected calls of modules that have parameters, got none")
        seconds = self.clock.seconds
        marks = [begin, *(mark for _, mark in self.calls[1:]), forward_end]
        calls = [
            (name, seconds(*marks[place : place + 2])) for place, (name, _) in enumerate(self.calls)
        ]
        marks = [loss_end, *(mark for _, mark in self.ready[:-1]), end]
        ready = [
            (name, seconds(*marks[place : place + 2])) for place, (name, _) in enumerate(self.ready)
        ]
        return calls, ready, seconds(forward_end, loss_end)


def times(model, sample, loss=None, steps=3):
    """The Times of the model's steps, which leave it as it was."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 100000:
        raise Error(f"'steps': expected a number from 1 to 100000, got {steps!r}")
    parameters = trained(model)
    clock = clock_of(next(iter(parameters.values())).device)
    with kept(model), torch.enable_grad(), Watcher(model, parameters, clock) as watcher:
        for _ in range(WARM_UP):
            watcher.step(sample, loss or mean_of_outputs)
        seen = [watcher.step(sample, loss or mean_of_outputs) for _ in range(steps)]
    calls, ready, _ = seen[-1]
    if not ready:
        raise Error("'model': expected gradients of its parameters, got none")
    modules = dict.fromkeys(name for name, _ in calls)
    for name in modules:
        modules[name] = statistics.median(
            sum(seconds for each, seconds in step[0] if each == name) for step in seen
        )
    backward = {
        name: statistics.median(sum(s for each, s in step[1] if each == name) for step in seen)
        for name, _ in ready
    }
    spent = statistics.median(step[2] for step in seen)
    return Times(modules, [name for name, _ in calls], backward, spent, steps)
