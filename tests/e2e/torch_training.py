"""A rank of test_torch_training.py: torch_training.py KINDS RANK RANKS FOLDER SECONDS. Trains the
net of FOLDER/net.py in each of some ways, separated by commas, by the backend 'syncline' and by
Gloo, and compares gradients."""

import contextlib
import datetime
import os
import sys

import syncline.torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 5


class Skipping(torch.nn.Module):
    """A net that leaves out its last layers in every second step."""

    def __init__(self, layers):
        super().__init__()
        self.layers, self.step = layers, -1

    def forward(self, x):
        self.step += 1
        return self.layers[: len(self.layers) - 2 * (self.step % 2)](x)


class Spare(torch.nn.Module):
    """A net beside a layer that DDP is told to ignore."""

    def __init__(self, layers):
        super().__init__()
        self.layers, self.spare = layers, torch.nn.Linear(3, 3)
        names = ["spare.weight", "spare.bias"]
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(self, names)

    def forward(self, x):
        return self.layers(x)


def backend():
    return dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))


@contextlib.contextmanager
def logged(group=None):
    """The messages of the plan that calls were, without what is shorter than all of them. `group`
    is what has the plan; default: backend()."""
    matcher, log = (group or backend()).planned.matcher, []
    usual, least = matcher.all_reduce, min(matcher.least.values()) // 2

    def decide(size, kind):
        decision = usual(size, kind)
        if size >= least:
            log.append(decision.message)
        return decision

    matcher.all_reduce = decide
    yield log
    matcher.all_reduce = usual


def flat(model):
    """All gradients as one vector. Those of parameters that no rank uses are None."""
    grads = [(each, each.grad) for each in model.parameters()]
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in grads])


def gradients(model, rank, run):
    """Of all parameters behind each step, and the plan's messages of each."""
    torch.manual_seed(2 + rank)
    found, messages = [], []
    with logged() as log:
        for _ in range(STEPS):
            model.zero_grad()
            run(model)
            found.append(flat(model))
            messages.append(list(log))
            log.clear()
    return found, messages


def backward(model):
    model(torch.randn(4, 256)).square().sum().backward()


def compare(net, rank, gloo, run=backward, near=1e-6, first=2, wrap=None, hook=None, **settings):
    """The plan's gradients are those over Gloo, and from step `first` on each message is called
    once, in order."""

    def made(ddp, **more):
        torch.manual_seed(1)
        model = ddp(net(), **settings, **more)
        if hook:
            model.register_comm_hook(more.get("process_group"), hook)
        return wrap(model) if wrap else model

    found, messages = gradients(made(syncline.torch.ddp), rank, run)
    expected, _ = gradients(made(DistributedDataParallel, process_group=gloo), rank, run)
    for step in range(STEPS):
        error = (found[step] - expected[step]).abs().max() / expected[step].abs().max()
        assert error < near, (step, error)
    all_of_them = list(range(len(backend().planned.plan.messages)))
    assert messages[first:] == [all_of_them] * (STEPS - first), messages


def unused(net, rank, gloo):
    """The list of buckets counts from the model's end in every step."""
    compare(lambda: Skipping(net()), rank, gloo, first=0, find_unused_parameters=True)


def ignored(net, rank, gloo):
    """What DDP ignores is no gradient of the plan."""
    compare(lambda: Spare(net()), rank, gloo)


def static(net, rank, gloo):
    compare(net, rank, gloo, static_graph=True)


def static_unused(net, rank, gloo):
    compare(net, rank, gloo, static_graph=True, find_unused_parameters=True)


def hook(net, rank, gloo):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    compare(net, rank, gloo, near=1e-2, hook=default_hooks.bf16_compress_hook)


def power_sgd(net, rank, gloo):
    """PowerSGD's callbacks wait for all-reduces of their own. One bucket, as with several their
    all-reduces would cross those of the backward pass."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    found = []
    for group in (None, gloo):
        torch.manual_seed(1)
        model = DistributedDataParallel(net(), process_group=group, bucket_cap_mb=100)
        state = powerSGD_hook.PowerSGDState(group, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        found.append(gradients(model, rank, backward)[0])
    for one, other in zip(*found):
        assert (one - other).abs().max() < 1e-4 * other.abs().max()


def accumulation(net, rank, gloo):
    def run(model):
        with model.no_sync():
            backward(model)
            backward(model)
        backward(model)

    compare(net, rank, gloo, run)


def autocast(net, rank, gloo):
    def run(model):
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(torch.randn(4, 256)).float().square().sum()
        loss.backward()

    compare(net, rank, gloo, run)


def uneven(net, rank, gloo):
    """Rank 1 has a batch more than rank 0, which sends zeros meanwhile."""

    def run(model):
        with model.join():
            for _ in range(1 + rank):
                model.zero_grad()
                backward(model)

    torch.manual_seed(1)
    found = []
    for ddp, more in ((syncline.torch.ddp, {}), (DistributedDataParallel, {"process_group": gloo})):
        torch.manual_seed(1)
        model = ddp(net(), **more)
        torch.manual_seed(2 + rank)
        for _ in range(2):
            run(model)
        found.append(flat(model))
    error = (found[0] - found[1]).abs().max() / found[1].abs().max()
    assert error < 1e-6, error


def shards(net, rank, gloo):
    """FSDP2 with groups of several modules: gradients are those of one process."""
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(1)
    alone, model = net(), net()
    model.load_state_dict(alone.state_dict())
    fully_shard([model[0], model[1], model[2]])
    fully_shard([model[3], model[4]])
    fully_shard(model)
    samples = torch.randn(dist.get_world_size(), 4, 256)
    for _ in range(2):
        model.zero_grad()
        model(samples[rank]).square().sum().backward()
    (alone(samples.flatten(0, 1)).square().sum() / len(samples)).backward()
    for whole, part in zip(alone.parameters(), model.parameters()):
        error = (part.grad.full_tensor() - whole.grad).abs().max() / whole.grad.abs().max()
        assert error < 1e-5, error


def redistributed(net, rank, gloo):
    """DTensor's placements, by all-reduce, all-gather, reduce-scatter and all-to-all."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

    ranks = dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))
    torch.manual_seed(1)
    parts = torch.randn(ranks, 4 * ranks, 2 * ranks)
    whole = parts.sum(0)
    part = DTensor.from_local(parts[rank], mesh, [Partial()])
    near = {"rtol": 1e-5, "atol": 1e-5}
    torch.testing.assert_close(part.redistribute(mesh, [Replicate()]).to_local(), whole, **near)
    rows = part.redistribute(mesh, [Shard(0)])
    torch.testing.assert_close(rows.to_local(), whole.chunk(ranks)[rank], **near)
    columns = rows.redistribute(mesh, [Shard(1)])
    torch.testing.assert_close(columns.to_local(), whole.chunk(ranks, 1)[rank], **near)
    torch.testing.assert_close(columns.redistribute(mesh, [Replicate()]).to_local(), whole, **near)


def compiled(net, rank, gloo):
    compare(net, rank, gloo, wrap=lambda model: torch.compile(model, backend="aot_eager"))


def inductor(net, rank, gloo):
    compare(net, rank, gloo, near=1e-5, wrap=torch.compile)


def main(kinds, rank, ranks, folder, seconds):
    sys.path.insert(0, folder)
    from net import net

    torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:syncline",
        init_method=os.environ["MEET"],
        rank=int(rank),
        world_size=int(ranks),
        timeout=datetime.timedelta(seconds=float(seconds)),
    )
    gloo = dist.new_group(backend="gloo")
    for kind in kinds.split(","):
        globals()[kind](net, int(rank), gloo)
        print(kind, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
