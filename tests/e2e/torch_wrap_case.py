"""What cases of test_torch_wrap.py share."""

import torch
import torch.distributed as dist
import torch_wrap_nets as nets
from torch.nn.parallel import DistributedDataParallel

import syncline.torch

STEPS = 5


class Case:
    def __init__(self, folder, rank, ranks):
        self.folder, self.rank, self.ranks = folder, rank, ranks

    def plan(self, name):
        return str(self.folder / f"{name}-{self.ranks}.plan")

    def net(self, name="mlp", **options):
        """Ranks begin with other weights, which become those of rank 0."""
        torch.manual_seed(7 + self.rank)
        return nets.NETS[name](**options)

    def wrapped(self, plan="mlp", net=None, **options):
        net = self.net(plan.partition(".")[0]) if net is None else net
        return syncline.torch.wrap(net, self.plan(plan), **options)

    def ddp(self, name="mlp", net=None, **options):
        return DistributedDataParallel(net or self.net(name), **options)

    def data(self, net, seed=0):
        return nets.batch(net, torch.Generator().manual_seed(100 * seed + self.rank))


def gradients(model):
    return torch.cat([each.grad.flatten().clone() for each in model.parameters()])


def weights(model):
    return torch.cat([each.detach().flatten().clone() for each in model.parameters()])


def error(found, expected):
    """The greatest difference, relative to the greatest value."""
    return ((found - expected).abs().max() / expected.abs().max().clamp(min=1e-30)).item()


def train(case, model, optimizer=None, steps=STEPS, late=False, observe=gradients, **how):
    """What `observe` gives behind each step's backward pass; with an optimizer, updates. Where rank
    1 is late, rank 0 has taken its step() before rank 1 sends a message."""
    found, scheduler, token = [], None, torch.zeros(1)
    if optimizer:
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for step in range(steps):
        model.zero_grad(**how)
        loss = nets.loss_of(model(case.data(model, step)))
        if late and case.rank == 1:
            dist.recv(token, 0)
        loss.backward()
        found.append(observe(model) if observe else None)
        if optimizer:
            optimizer.step()
            scheduler.step()
        if late and case.rank == 0:
            dist.send(token, 1)
    return found


def refused(call):
    try:
        call()
    except (RuntimeError, ValueError, TypeError) as failure:
        return str(failure)
    return "nothing was refused"
