"""An optimizer whose updates are applied where they are due: at step(), or where their gradients or
other ranks' shards arrive later, before the next forward pass uses their parameters."""

import contextlib

import torch

from syncline.torch.wrapped.shards import Shards
from syncline.torch.wrapped.states import OfPieces, States
from syncline.torch.wrapped.steps import Steps, is_scaled


class Unit:
    """Parameters whose gradients travel in the same messages."""

    def __init__(self, places):
        self.places, self.names = places, []


class Updates:
    """`reducer` leaves messages under way, or shards them. A step's late updates have the
    hyperparameters of its step()."""

    def __init__(self, reducer, optimizer):
        self.reducer, self.optimizer = reducer, optimizer
        self.gradients = reducer.gradients
        self.units, self.unit_of = [], {}
        for name, places in reducer.by_parameter.items():
            self.add(name, tuple(sorted(set(places))))
        self.shards = Shards(reducer, optimizer) if reducer.shards else None
        self.states = States(self.shards) if self.shards else None
        if self.states:
            reducer.installed.add(OfPieces(optimizer, self.shards.all_pieces()))
        self.late = {}  # groups of parameters, by unit; None where these are under way themselves
        self.cut = None  # the groups' own parameters, while step() sees those that have arrived
        reducer.before_messages, reducer.late = self.finish, self.late_names
        self.steps = Steps(optimizer, reducer.installed, self.before_step, self.after_step)

    def add(self, name, places):
        for unit in self.units:
            if unit.places == places:
                break
        else:
            unit = Unit(places)
            self.units.append(unit)
        unit.names.append(name)
        self.unit_of[name] = unit

    def before_step(self, optimizer, arguments, named):
        """Leaves out of step() what has not arrived."""
        self.restore()
        given = [each for each in (*arguments, *named.values()) if each is not optimizer]
        has_closure = any(each is not None for each in given)
        # A GradScaler would scale what is under way, or partial, without a trace.
        if has_closure or is_scaled(optimizer):
            how = "with a closure" if has_closure else "by a GradScaler"
            raise ValueError(
                f"step() {how} needs all gradients: expected wrap() without 'optimizer'"
            )
        self.reducer.check_step()
        self.finish()
        present = {}
        if self.shards:
            for unit in self.sharded_units():
                self.reducer.wait(unit.places)
            present = self.shards.take()
        arrived = set(self.reducer.arrived())
        for unit in self.units:
            if not arrived.issuperset(unit.places):
                self.late[unit] = self.groups_of(unit)
        present.update({id(self.gradients.parameters[name]): [] for name in self.late_names()})
        self.cut = [group["params"] for group in self.optimizer.param_groups]
        for group, whole in zip(self.optimizer.param_groups, self.cut):
            group["params"] = [part for each in whole for part in present.get(id(each), [each])]

    def sharded_units(self):
        return [unit for unit in self.units if not set(self.shards.places).isdisjoint(unit.places)]

    def after_step(self):
        """Gradients are gone behind step(), so that zero_grad() does not touch any under way."""
        self.restore()
        for parameter in self.gradients.parameters.values():
            parameter.grad = None
        if self.shards:
            self.shards.send()
            sent = [each for each in self.units if self.shards.are_sent(each.places)]
            self.late.update(dict.fromkeys(sent))
        if not self.reducer.leaves_under_way:
            self.finish()

    def restore(self):
        if self.cut is not None:
            for group, parameters in zip(self.optimizer.param_groups, self.cut):
                group["params"] = parameters
            self.cut = None

    def groups_of(self, unit):
        """The optimizer's groups with the unit's parameters alone, as they are now. A script may
        have dropped a gradient, whose parameter then is not updated."""
        parameters = (self.gradients.parameters[name] for name in unit.names)
        own = {id(each) for each in parameters if each.grad is not None}
        found = []
        for group in self.optimizer.param_groups:
            parameters = [each for each in group["params"] if id(each) in own]
            if parameters:
                found.append({name: kept(value) for name, value in group.items()})
                found[-1]["params"] = parameters
        return found

    def apply(self, unit):
        """Waits for a unit's messages and updates its parameters, where that is to be done."""
        if unit not in self.late:
            return
        self.reducer.wait(unit.places)
        groups = self.late.pop(unit)
        if groups is None:
            self.shards.arrive(unit.places)
            return
        whole = self.optimizer.param_groups
        saved = {name: self.gradients.parameters[name].grad for name in unit.names}
        for name in unit.names:
            self.gradients.parameters[name].grad = self.gradients.views[name]
        self.optimizer.param_groups = groups
        try:
            with self.steps.paused(), torch.inference_mode(False), torch.no_grad():
                bare_step(self.optimizer)
        finally:
            self.optimizer.param_groups = whole
            for name, gradient in saved.items():
                self.gradients.parameters[name].grad = gradient

    def late_names(self):
        return [name for unit in self.late for name in unit.names]

    def apply_to(self, names):
        """Updates these parameters, and those that travel with them."""
        for name in names if self.late else ():
            self.apply(self.unit_of[name])

    def finish(self):
        """Applies all updates that are due."""
        for unit in list(self.late):
            self.apply(unit)

    @contextlib.contextmanager
    def finished(self):
        self.finish()
        yield

    @contextlib.contextmanager
    def shown(self):
        """A context in which the optimizer's state is that of whole parameters."""
        self.restore()  # behind a step() that an exception ended
        self.finish()
        with self.states.shown() if self.states else contextlib.nullcontext():
            yield

    @contextlib.contextmanager
    def loaded(self):
        """A context whose end takes the optimizer's new state, that of whole parameters."""
        self.finish()
        yield
        if self.states:
            self.states.split()


def check_covers(optimizer, parameters, why):
    """Raises where a parameter of {name: tensor} is not the optimizer's."""
    own = {id(each) for group in optimizer.param_groups for each in group["params"]}
    for name, parameter in parameters.items():
        if id(parameter) not in own:
            raise ValueError(
                f"parameter '{name}': expected in 'optimizer', since the plan {why}"
            )


def kept(value):
    """A hyperparameter that a scheduler will not change any more."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def bare_step(optimizer):
    """step() without the hooks of a script, which run once a step."""
    step = type(optimizer).step
    if getattr(step, "hooked", False):
        step = step.__wrapped__
    step(optimizer)
