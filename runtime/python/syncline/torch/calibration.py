"""A cluster file from what a script's process group measures."""

import dataclasses
import os
import socket
import uuid
from pathlib import Path

import torch
import torch.distributed as dist

from syncline.errors import Error
from syncline.torch import files
from syncline.torch.cluster_text import Findings, is_pooled, rising, text_of
from syncline.torch.computing import measure_device, measure_interference
from syncline.torch.team import FEWEST_ROUNDS, Team

SIZES = [1 << power for power in range(10, 27, 2)]  # bytes: 1 KiB to 64 MiB, as `calibrate`
LINK_SIZES = [1 << 10, 1 << 12, 1 << 22, 1 << 24]
# Measured whatever time it takes: two of them are so long that their rate counts.
NEEDED = [1 << 10, 1 << 20, 1 << 22]
# When the parts of a measurement end, as parts of its time.
DEVICE, LINKS, INTERFERENCE = 0.12, 0.25, 0.45
# What an all-reduce is on a backend. Gloo's is a ring for all sizes; NCCL chooses.
SCHEMES = {"gloo": "ring", "syncline": "ring", "nccl": "library"}
WARM_UP = 2  # rounds
MOST_SECONDS = 86400
MORE = 4  # times as many rounds halve the median's uncertainty


@dataclasses.dataclass(frozen=True)
class Calibrated:
    """A cluster file as all ranks have it; rank 0 wrote it to `path`."""

    text: str
    path: Path
    ranks: int
    nodes: int
    backend: str


@dataclasses.dataclass(frozen=True)
class Site:
    """The group's place: `members` has the group's ranks of each node."""

    backend: str
    device: torch.device
    members: list
    hosts: list  # by rank
    is_even: bool  # whether nodes have equally many ranks, in order

    @property
    def scheme(self):
        return SCHEMES.get(self.backend, "library" if self.device.type == "cuda" else "ring")


def calibrate(output, seconds=60, group=None):
    """See syncline.torch.calibrate."""
    if not dist.is_available() or not dist.is_initialized():
        raise Error("expected a process group, got none: call init_process_group() before")
    group = dist.group.WORLD if group is None else group
    ranks = dist.get_world_size(group)
    if ranks < 2:
        raise Error(f"'group': expected two ranks or more, got {max(ranks, 0)}")
    backend, device = carrier_of(group)
    seconds, path = agreed(group, output, seconds, device)
    site = site_of(group, backend, device)
    team = Team(group, device)
    found = measure(team, site, seconds)
    text = text_of(site, found, team.now())
    text, failure = from_first(group, lambda: written(path, text), device)
    if failure:
        raise Error(failure)
    return Calibrated(text, path, ranks, len(site.members), backend)


def carrier_of(group):
    """The backend that carries the group's gradients, and their device."""
    config = str(dist.get_backend_config(group))
    by_device = dict(each.split(":") for each in config.split(",") if ":" in each)
    if torch.cuda.is_available() and by_device.get("cuda") == "nccl":
        return "nccl", torch.device("cuda", torch.cuda.current_device())
    backend = by_device.get("cpu", config)
    if backend == "syncline" and os.environ.get("SYNCLINE_PLAN"):
        raise Error(
            "SYNCLINE_PLAN: expected none for a calibration: messages would travel by the plan"
        )
    return backend, torch.device("cpu")


def from_first(group, made, device):
    """What `made` returns on the group's first rank."""
    values = [made() if dist.get_rank(group) == 0 else None]
    dist.broadcast_object_list(values, dist.get_global_rank(group, 0), group, device)
    return values[0]


def agreed(group, output, seconds, device):
    """Rank 0's seconds and path. Raises the same Error on all ranks where it cannot begin."""

    def first():
        try:
            is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
            if not is_number or not 0 < seconds <= MOST_SECONDS:
                limits = f"more than 0, up to {MOST_SECONDS}"
                raise Error(f"'seconds': expected {limits}, got {seconds!r}")
            path = files.path_of(output)
            files.check_writable(path)
        except Error as failure:
            return None, str(failure)
        return (seconds, path), None

    settings, failure = from_first(group, first, device)
    if failure:
        raise Error(failure)
    return settings


def written(path, text):
    try:
        files.write(path, text)
    except Error as failure:
        return text, str(failure)
    return text, None


def site_of(group, backend, device):
    """Nodes are hosts, or parts of one that have LOCAL_WORLD_SIZE ranks each."""
    mine = (socket.gethostname(), os.environ.get("LOCAL_WORLD_SIZE"))
    all_ranks = [None] * dist.get_world_size(group)
    dist.all_gather_object(all_ranks, mine, group)
    return Site(backend, device, *nodes_of(all_ranks))


def nodes_of(ranks):
    """The ranks of each node, the hosts, and whether nodes are alike. `ranks` has (host,
    LOCAL_WORLD_SIZE or None) of each."""
    by_host = {}
    for rank, (host, _) in enumerate(ranks):
        by_host.setdefault(host, []).append(rank)
    members = []
    for of_host in by_host.values():
        stated = ranks[of_host[0]][1] or ""
        size = int(stated) if stated.isdigit() and int(stated) > 0 else len(of_host)
        members += [of_host[at : at + size] for at in range(0, len(of_host), size)]
    in_order = [rank for node in members for rank in node] == list(range(len(ranks)))
    is_even = in_order and len({len(node) for node in members}) == 1
    if not is_even:
        members = [[rank] for rank in range(len(ranks))]
    return members, [host for host, _ in ranks], is_even


def measure(team, site, seconds):
    """What the file is written from. Raises the same Error on all ranks where the longest messages
    took no more time than shorter ones: nothing could be said of longer ones."""
    device = measure_device(team, seconds * DEVICE)
    links = measure_links(team, site, seconds * LINKS)
    interference = measure_interference(team, seconds * INTERFERENCE)
    # What came before may have taken longer than its part.
    end = max(seconds, team.now() + seconds * (1 - INTERFERENCE))
    sizes, unmeasured = measure_sizes(team, SIZES, end)
    times = [(size, sizes[size].median) for size in sorted(sizes)]
    if is_pooled(times):
        wanted = min(MORE * max(seconds, team.now()), MOST_SECONDS)
        raise Error(
            f"'seconds': expected {wanted:.0f} or more, got {seconds}: messages of"
            f" {times[-1][0] >> 20} MiB took no longer than those of {times[-2][0] >> 20} MiB"
        )
    links.setdefault("network", (team.ranks, dict(rising(times))))
    return Findings(device, links, interference, sizes, unmeasured)


def message(team, size):
    """A function that sums so many bytes."""
    values = torch.zeros(size // 4, device=team.device)
    return lambda: dist.all_reduce(values, group=team.group)


def measure_sizes(team, sizes, until, needed=NEEDED):
    """Summaries by size, and the sizes for which there was no time. Goes on to longer messages
    where the longest ones took no more time than shorter ones."""
    found, rounds = {}, WARM_UP + FEWEST_ROUNDS
    order = [*needed, *(size for size in sizes if size not in needed)]
    for place, size in enumerate(order):
        now = team.now()
        if size not in needed and now + rounds * expected(found, size) > until:
            continue
        share = now + max(until - now, 0.0) / (len(order) - place)
        found[size] = team.measure(message(team, size), share, WARM_UP)
    for size in sizes:
        if size > max(found) and is_pooled([(each, found[each].median) for each in sorted(found)]):
            found[size] = team.measure(message(team, size), until, WARM_UP)
    return found, [size for size in sizes if size not in found]


def expected(found, size):
    """Seconds of a message at most, by those of others: as many as those of the next longer one, or
    in proportion to the longest one."""
    longer = [each for each in sorted(found) if each >= size]
    nearest = longer[0] if longer else max(found)
    return found[nearest].median * max(size / nearest, 1.0)


def measure_links(team, site, until):
    """All-reduces inside the nodes, on all nodes at once, and between the nodes' first ranks: the
    ranks of each, and seconds by size. Empty where nodes have one rank each, or all are on one."""
    nodes = site.members
    if len(nodes) == 1 or len(nodes[0]) == 1:
        return {}
    own = next(node for node in nodes if team.rank in node)
    names = from_first(team.group, lambda: f"syncline-{uuid.uuid4().hex}", team.device)
    half = max(until - team.now(), 0.0) / 2
    found = {}
    for name, members in (("inside", own), ("network", [node[0] for node in nodes])):
        times = [0.0] * len(LINK_SIZES)
        if team.rank in members:
            part = team.part(members, f"{names}-{name}-{members[0]}")
            measured, _ = measure_sizes(part, LINK_SIZES, half, LINK_SIZES)
            times = [measured[size].median for size in LINK_SIZES]
            dist.destroy_process_group(part.group)
        times = team.slowest(times)
        found[name] = len(members), dict(zip(LINK_SIZES, times))
    return found
