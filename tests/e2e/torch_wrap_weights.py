"""The case of test_torch_wrap.py in which weights travel in place of gradients."""

import json

import torch
import torch.distributed as dist
import torch_wrap_nets as nets
from torch_wrap_case import error, train, weights

import syncline.torch
from syncline.torch.wrapped import model as wrapped


def exchanges(case):
    """Weights behind seven steps and finish(), by local SGD and DiLoCo and by their formulas."""
    found = {}
    for form in ("local", "diloco"):
        model, plain = case.net(), case.net()
        torch.manual_seed(7)
        plain.load_state_dict(nets.mlp().state_dict())  # as on rank 0
        optimizers = [torch.optim.SGD(each.parameters(), 0.1) for each in (model, plain)]
        case.wrapped(f"mlp.{form}", model, optimizer=optimizers[0])
        rule = Rule(case, form, plain)
        for step in range(7):
            for each, optimizer in zip((model, plain), optimizers):
                train(case, each, optimizer, steps=1)
            rule.after(step + 1)
            if step == 0:
                own = weights(model)
        syncline.torch.finish(model)
        rule.finish()
        mean = own.clone()
        dist.all_reduce(mean)
        found[form] = {
            "worst": error(weights(model), weights(plain)),
            "apart": error(own, mean / case.ranks),
            "bytes": [each.bytes for each in wrapped.of(model).group.trace()],
        }
    return found


class Rule:
    """The formulas of ir/sync/SPEC.md, a parameter at a time."""

    def __init__(self, case, form, model):
        text = (case.folder / f"mlp.{form}-{case.ranks}.plan" / "plan.json").read_text()
        self.ranks, self.named = case.ranks, dict(model.named_parameters())
        self.fragments = json.loads(text)["consistency"]["exchanges"]
        self.is_local, self.period = form == "local", 2 if form == "local" else 4
        self.delay, self.mix = (0, 0.0) if self.is_local else (1, 0.25)
        self.common = {name: each.detach().clone() for name, each in self.named.items()}
        self.velocity = {name: torch.zeros_like(each) for name, each in self.common.items()}
        self.sent, self.steps, self.last = {}, 0, {}

    def after(self, steps):
        self.steps, window = steps, self.period // len(self.fragments)
        for number, fragment in enumerate(self.fragments):
            ends = (number + 1) * window
            if (steps - 1) % self.period + 1 == ends - self.delay:
                self.send(number, fragment)
            if (steps - 1) % self.period + 1 == ends:
                self.take(number, fragment, self.mix)

    def send(self, number, fragment):
        self.last[number] = self.steps
        for name in fragment["members"]:
            value = self.named[name].detach()
            self.sent[name] = value.clone() if self.is_local else self.common[name] - value
            dist.all_reduce(self.sent[name])
            self.sent[name] /= self.ranks

    def take(self, number, fragment, mix):
        for name in fragment["members"]:
            if name not in self.sent:
                continue
            mean, weight = self.sent.pop(name), self.named[name].detach()
            if self.is_local:
                weight.copy_(mean)
                continue
            self.velocity[name] = 0.9 * self.velocity[name] + mean
            self.common[name] -= 0.7 * (mean + 0.9 * self.velocity[name])
            weight.copy_((1 - mix) * self.common[name] + mix * weight)

    def finish(self):
        for number, fragment in enumerate(self.fragments):
            self.take(number, fragment, self.mix)
        for number, fragment in enumerate(self.fragments):
            if self.last.get(number) != self.steps:
                self.send(number, fragment)
                self.take(number, fragment, 0.0)
            for name in fragment["members"] if not self.is_local else ():
                self.named[name].detach().copy_(self.common[name])
