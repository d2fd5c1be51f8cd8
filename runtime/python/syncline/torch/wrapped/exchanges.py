"""Local SGD and streaming DiLoCo: ranks train by their own gradients, and weights travel."""

import json
import pathlib

import torch

from syncline import capi
from syncline.torch.wrapped.agreement import broadcast
from syncline.torch.wrapped.hooks import Installed
from syncline.torch.wrapped.steps import Steps, is_scaled


class Form:
    """What plan.json says of a plan's exchanges. The C interface has checked its hash."""

    def __init__(self, plan):
        said = plan.about.consistency
        self.name = said.partition(":")[0]
        if self.name not in ("local", "diloco"):
            raise ValueError(
                f"by consistency '{said}' weights travel to a centre: expected 'bsp', 'local' or"
                " 'diloco'"
            )
        text = (pathlib.Path(plan.folder) / "plan.json").read_text(encoding="utf-8")
        whole = json.loads(text)
        sizes = {each["name"]: each["bytes"] for each in whole["layers"]}
        read = whole["consistency"]
        names = [name for exchange in read["exchanges"] for name in exchange["members"]]
        self.members = {name: sizes[name] for name in names}  # with their bytes
        self.period, self.exchanges = read["period"], read["exchanges"]
        self.mix, self.rate, self.momentum = read["mix"], read["rate"], read["momentum"]


class Fragment:
    """Parameters that travel in one message, `start` steps after a period's beginning. It has
    arrived after `wait` steps."""

    def __init__(self, parameters, exchange, has_common):
        self.parameters = parameters
        self.start, self.wait = exchange["start"], exchange["wait"]
        self.sent_after = 0  # steps whose training has been sent
        self.ticket = self.sent = None
        self.common = self.values() if has_common else None
        self.velocity = torch.zeros_like(self.common) if has_common else None

    def values(self):
        return torch.cat([each.detach().reshape(-1) for each in self.parameters])

    def put(self, values):
        begin = 0
        for each in self.parameters:
            end = begin + each.numel()
            each.detach().copy_(values[begin:end].view(each.shape))
            begin = end


class Exchanges:
    """Carries out the exchanges of a plan behind the optimizer's steps, as LocalUpdates.h of the
    runtime says. Buffers become those of rank 0 with each."""

    def __init__(self, fit, group, optimizer, buffers, process_group):
        self.form, self.group, self.parameters = fit.form, group, fit.trained
        self.buffers, self.process_group = buffers, process_group
        self.fragments = [
            Fragment(
                [fit.trained[fit.found[name]] for name in exchange["members"]],
                exchange,
                self.form.name == "diloco",
            )
            for exchange in self.form.exchanges
        ]
        self.steps, self.installed = 0, Installed()
        Steps(optimizer, self.installed, self.before_step, self.after_step)

    def before_step(self, optimizer, *_):
        if is_scaled(optimizer):
            raise ValueError(
                f"step() by a GradScaler may leave out one rank's step: by '{self.form.name}' all"
                " ranks need equally many, expected step() without it"
            )

    def after_step(self):
        self.steps += 1
        place = (self.steps - 1) % self.form.period + 1
        for each in self.fragments:
            if each.start == place:
                self.start(each)
        for each in self.fragments:
            if each.wait == place:
                self.arrive(each, self.form.mix)

    def start(self, fragment):
        self.group.step()
        broadcast(self.buffers, self.process_group)
        fragment.sent = fragment.values()
        if fragment.common is not None:
            fragment.sent = fragment.common - fragment.sent
        values = (fragment.sent.data_ptr(), fragment.sent.numel(), str(fragment.sent.dtype)[6:])
        fragment.ticket = self.group.all_reduce(*values, capi.MEAN)
        fragment.sent_after = self.steps

    def arrive(self, fragment, mix):
        """Uses the mean of what ranks sent."""
        if fragment.ticket is None:
            return
        self.group.wait(fragment.ticket)
        fragment.ticket = None
        if fragment.common is None:
            fragment.put(fragment.sent)
            return
        fragment.velocity.mul_(self.form.momentum).add_(fragment.sent)
        change = fragment.sent + self.form.momentum * fragment.velocity
        fragment.common.sub_(self.form.rate * change)
        fragment.put((1 - mix) * fragment.common + mix * fragment.values())

    def finish(self):
        """Uses what is under way, and sends what was not. All ranks then have equal weights."""
        for each in self.fragments:
            self.arrive(each, self.form.mix)
        for each in self.fragments:
            if each.sent_after < self.steps:
                self.start(each)
                self.arrive(each, 0.0)
            if each.common is not None:
                each.put(each.common)
