"""A rank of the tests of torch_networks_case.py: torch_networks.py KIND RANK RANKS FOLDER SECONDS.
Trains a network by the plan, by DistributedDataParallel over Gloo, and, where losses differ, by the
latter in float64. Prints as JSON how far gradients are apart, how far losses are from those in
float64, and whether the messages were the plan's. With a KIND of record:KIND it trains by
DistributedDataParallel over the backend 'syncline', which writes a trace."""

import dataclasses
import datetime
import functools
import json
import os
import sys
from collections.abc import Callable

import syncline.torch
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_training import logged

from syncline.torch import versions

SIDE = 64  # of images, in pixels
LENGTH = 32  # of GPT-2's texts, in tokens
RECORDED = 8  # steps
FIRST = 2  # the step from which on buckets are the plan's, and weights change


@dataclasses.dataclass
class Case:
    """`make` gives the network, `sample` its input and targets, `wrap` what sums its gradients by
    the plan. `graph` are the MiB of parameters at which torch.compile cuts graphs; 0: none."""

    make: Callable
    sample: Callable
    steps: int = 50
    parts: int = 1  # backward passes a step
    rate: float = 0.001
    is_half: bool = False  # by autocast
    graph: int = 0
    # Graphs are cut as for Inductor, without its machine code, which takes minutes.
    compiler: str = "aot_eager"
    wrap: Callable = syncline.torch.ddp
    is_planned: bool = True


def resnet50():
    import torchvision

    return torchvision.models.resnet50(weights=None)


def resnet18():
    import torchvision

    return torchvision.models.resnet18(weights=None)


def googlenet():
    import torchvision

    settings = {"aux_logits": False, "init_weights": False, "dropout": 0.0}
    return torchvision.models.googlenet(weights=None, **settings)


def gpt2():
    import language

    return language.gpt2()[0]


def characters():
    import gpt

    return gpt.characters()[0]


def images(generator):
    shape = (4, 3, SIDE, SIDE)
    return torch.randn(shape, generator=generator), torch.randint(1000, (4,), generator=generator)


def texts(words, length, batch=2, last=True):
    """Tokens and their successors, for logits with words in the last dimension or in the second."""

    def sample(generator):
        ids = torch.randint(words, (batch, length + 1), generator=generator)
        return ids[:, :-1], ids[:, 1:]

    return sample


def made(case, wrap, model, **given):
    """The model in DistributedDataParallel or in what stands for it."""
    if not case.graph:
        return wrap(model, **given)
    wrapped = wrap(model, bucket_cap_mb=case.graph, **given)
    return torch.compile(wrapped, backend=case.compiler)


def sharded(model):
    """FSDP2 over half of the ranks, replicated over both halves: two process groups. Blocks are two
    groups of modules."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(
        "cpu", (2, dist.get_world_size() // 2), mesh_dim_names=("replicas", "shards")
    )
    blocks = list(model.blocks)
    for part in (blocks[:2], blocks[2:]):
        fully_shard(part, mesh=mesh)
    return fully_shard(model, mesh=mesh)


SMALL = {"make": characters, "sample": texts(96, 64), "rate": 0.1}
CASES = {
    "resnet50": Case(resnet50, images),
    "googlenet": Case(googlenet, images),
    # Without AVX-512 a processor multiplies halves so slowly that a loss takes half a minute.
    "gpt2": Case(gpt2, texts(50257, LENGTH, 1), steps=3, parts=2, rate=0.02, is_half=True),
    "characters": Case(**SMALL),
    "halves": Case(**SMALL, steps=10, parts=2, is_half=True),
    "compiled": Case(**SMALL, graph=1),
    "compiled resnet18": Case(resnet18, images, steps=10, graph=8),
    "sharded": Case(**SMALL, wrap=sharded, is_planned=False),
}


def loss_of(output, target):
    """Words or classes are the dimension that the target does not have."""
    if output.dim() == 3 and output.shape[:2] == target.shape:
        output = output.transpose(1, 2)
    return nn.functional.cross_entropy(output, target)


def whole(tensor):
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def inner(model):
    """What is compiled."""
    return getattr(model, "_orig_mod", model)


class Training:
    """The losses of all steps on this rank, the gradients of the first step that is the plan's, by
    name, and the plan's messages of each step."""

    def __init__(self, case, rank, wrap, kind=torch.float32):
        torch.manual_seed(1)
        self.case, self.kind = case, kind
        self.model = wrap(case.make().train().to(kind))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=case.rate, momentum=0.9)
        self.generator = torch.Generator().manual_seed(2 + rank)
        self.losses, self.messages = [], []

    def run(self, log):
        for step in range(FIRST + self.case.steps):
            self.optimizer.zero_grad()
            is_warm = step >= FIRST
            self.losses.append(self.step(self.case.parts if is_warm else 1, is_warm))
            if step == FIRST:
                self.gradients = {
                    name.removeprefix("module."): whole(each.grad).clone()
                    for name, each in inner(self.model).named_parameters()
                }
            if step >= FIRST:
                self.optimizer.step()
            self.messages.append(list(log))
            log.clear()
        return self

    def step(self, parts, is_warm):
        """Backward passes that add up gradients; the mean loss. DDP makes its buckets in steps
        that are as short as can be."""
        losses = [self.part(is_warm) / parts for _ in range(parts)]
        for loss in losses[:-1]:
            with self.model.no_sync():
                loss.backward()
        losses[-1].backward()
        return sum(loss.item() for loss in losses)

    def part(self, is_warm):
        data, target = self.case.sample(self.generator)
        data = data.to(self.kind) if data.is_floating_point() else data
        is_half = self.case.is_half and is_warm and self.kind == torch.float32
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            output = self.model(data)
        return loss_of(output.to(self.kind), target)


def apart(found, expected):
    """The greatest distance of a gradient from the expected one, in parts of the latter's length,
    but for gradients that are zero but for rounding; NaN where one of either is."""
    longest = max(each.norm().item() for each in expected.values())
    distances = [
        ((found[name] - each).norm() / each.norm()).item()
        for name, each in expected.items()
        if not each.norm() <= 1e-6 * longest
    ]
    return max(distances, key=lambda each: float("inf") if each != each else each)


def far(losses, exact):
    """The root of the mean square of distances."""
    squares = [(one - other) ** 2 for one, other in zip(losses, exact)]
    return (sum(squares) / len(squares)) ** 0.5


def of_plan(planned, messages):
    """How many messages each step has, where from that step on the calls, and in the last step what
    travelled, were exactly the plan's; else 0."""
    expected = [(i, each.bytes, each.scheme) for i, each in enumerate(planned.plan.messages)]
    steps = messages[FIRST:]
    called = steps == [list(range(len(expected)))] * len(steps)
    times = [each for each in planned.group.trace() if each.message >= 0]
    times = sorted(times, key=lambda each: each.ticket)[-len(expected) :]
    last = [(each.message, each.bytes, each.scheme) for each in times]
    return len(expected) if called and last == expected else 0


def compare(case, rank, process_group, backend):
    """`process_group` is the backend's where PyTorch does not find it by its name."""
    given = {"process_group": process_group} if process_group else {}
    if case.is_planned:
        with logged(backend) as log:
            wrap = functools.partial(made, case, case.wrap, **given)
            found = Training(case, rank, wrap).run(log)
        planned = of_plan(backend.planned, found.messages)
    else:
        found, planned = Training(case, rank, case.wrap).run([]), None
    losses, gradients = found.losses, found.gradients
    del found
    gloo = dist.new_group(backend="gloo")

    def ddp(model, **settings):
        settings |= {"process_group": gloo, "gradient_as_bucket_view": True}
        return DistributedDataParallel(model, **settings)

    other = Training(case, rank, functools.partial(made, case, ddp)).run([])
    worst, theirs = apart(gradients, other.gradients), other.losses
    del other, gradients
    exact = losses  # which is nearer to the true ones matters where they differ
    if losses != theirs:
        exact = Training(case, rank, ddp, torch.float64).run([]).losses
    return {
        "apart": worst,
        "equal": losses == theirs,
        "far": far(losses, exact),
        "DDP is far": far(theirs, exact),
        "losses": [losses[0], losses[-1]],
        "count": len(losses),
        "planned": planned,
    }


def record(case, rank):
    """Steps by DDP's own buckets."""
    case = dataclasses.replace(case, steps=RECORDED)
    Training(case, rank, functools.partial(made, case, DistributedDataParallel)).run([])
    return {}


def main(kind, rank, ranks, seconds):
    rank, ranks = int(rank), int(ranks)
    torch.set_num_threads(1)
    has_backend = versions.release() >= versions.FIRST
    timeout = datetime.timedelta(seconds=float(seconds))
    dist.init_process_group(
        "cpu:syncline" if has_backend else "gloo",
        init_method=os.environ["MEET"],
        rank=rank,
        world_size=ranks,
        timeout=timeout,
    )
    group = None if has_backend else syncline.torch.process_group(timeout)
    world = dist.distributed_c10d._get_default_group()
    backend = world._get_backend(torch.device("cpu")) if has_backend else group
    what, _, name = kind.rpartition(":")
    case = CASES[name]
    found = record(case, rank) if what else compare(case, rank, group, backend)
    print(json.dumps(found), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[5])
