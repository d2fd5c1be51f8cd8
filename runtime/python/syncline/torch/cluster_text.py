"""Writes what a process group has measured as a cluster file."""

import collections
import dataclasses

import torch

from syncline.torch.computing import MOST_FACTOR

LONG = 1 << 20  # bytes from which a message's rate counts
KNOWN = 0.1  # uncertainty of a time that can be measured again


@dataclasses.dataclass(frozen=True)
class Findings:
    device: dict
    links: dict  # 'network', and 'inside' where nodes have several ranks: (ranks, seconds by size)
    interference: dict
    sizes: dict  # summaries by size, of all-reduces of the whole group
    unmeasured: list


def time_text(seconds):
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.5g}{unit}"
    return f"{seconds:.5g}s"


def size_text(size):
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % scale == 0:
            return f"{size // scale}{unit}"
    return f"{size}B"


def spread(summary):
    low, high = map(time_text, summary.quartiles)
    percent = 100 * summary.uncertainty
    within = f"{percent:.2g}" if percent < 10 else f"{percent:.0f}"
    return f"quartiles {low} to {high}, median within {within} %, {summary.samples} samples"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def rising(points):
    """The points (size, seconds), where neighbours of which a longer message took less time have
    their mean: a table must not fall."""
    pools = []
    for size, seconds in points:
        pools.append(([size], seconds))
        while len(pools) > 1 and pools[-2][1] > pools[-1][1]:
            (sizes, one), (more, other) = pools[-2:]
            mean = (one * len(sizes) + other * len(more)) / (len(sizes) + len(more))
            pools[-2:] = [(sizes + more, mean)]
    return [(size, seconds) for sizes, seconds in pools for size in sizes]


def is_pooled(points):
    """Whether the longest messages took no more time than shorter ones."""
    pooled = rising(points)
    return len(pooled) > 1 and pooled[-1][1] == pooled[-2][1]


def link_of(ranks, times):
    """Latency and bandwidth of messages by which a ring of so many ranks takes these times by size:
    2(ranks - 1) messages one behind the other, each of a part of 1/ranks."""
    messages = 2 * (ranks - 1)
    sizes = sorted(times)
    first, last = sizes[0], sizes[-1]
    longer = [size for size in sizes if size >= LONG][:1]
    before = longer[0] if longer and longer[0] < last else first
    slope = (times[last] - times[before]) / (last - before) if last > before else 0.0
    # Times that do not grow say that no more than the last one's rate is known.
    slope = slope if slope > 0 else times[last] / last
    beta = slope * ranks / messages
    latency = max(times[first] / messages - beta * first / ranks, 0.0)
    return latency, 1.0 / beta


def head(site, findings, seconds):
    ranks = len(site.hosts)
    hosts = ", ".join(f"{n} on {name}" for name, n in collections.Counter(site.hosts).items())
    device = site.device.type
    kind = f"a {torch.cuda.get_device_name(site.device)}" if device == "cuda" else "processors"
    lines = [
        f"# Measured by syncline.torch.calibrate on {ranks} ranks ({hosts}), in {seconds:.0f} s:",
        f"# all-reduces by the backend {site.backend} of PyTorch {torch.__version__}, and {kind}.",
        "# Times are medians of the slowest rank's, while no rank computes. Other collectives, and"
        " two",
        "# messages at once, were not measured.",
    ]
    known = sum(summary.uncertainty <= KNOWN for summary in findings.sizes.values())
    if known < 3 / 4 * len(findings.sizes):
        lines += [
            "# They are hardly reproducible: less than three quarters of messages' are known within"
            " 10 %."
        ]
    if site.backend not in ("gloo", "syncline", "nccl"):
        lines += [
            f"# What {site.backend} does in an all-reduce is not known: its times stand under"
            f" '{site.scheme}'."
        ]
    if device == "cuda":
        lines += ["# Times of GPUs are by their events; this way of measuring is not tested yet."]
    if not site.is_even:
        lines += ["# Hosts have unequal numbers of ranks, or ranks not in order: a rank is a node."]
    lines += [f"name: {quoted(f'{site.backend} on {ranks} ranks')}"]
    nodes = len(site.members)
    if 1 < nodes < ranks:
        return [*lines, f"nodes: {nodes}", f"devices-per-node: {ranks // nodes}"]
    return [*lines, f"ranks: {ranks}"]


def device_lines(device):
    return [
        "device: # all ranks at once",
        f"  # a product of two matrices of {device['rows']} rows: {spread(device['product'])}",
        f"  compute: {device['compute'] / 1e9:.5g} GFLOP/s",
        f"  # a copy: {spread(device['copy'])}",
        f"  memory: {device['memory'] / 1e9:.5g} GB/s",
        f"  launch-overhead: {time_text(device['overhead'])} # a sum of 16 numbers",
    ]


def link_lines(name, ranks, times):
    latency, bandwidth = link_of(ranks, times)
    of = {"network": f"all-reduces of {ranks} ranks", "inside": f"a node's {ranks} ranks"}[name]
    return [
        f"{name}: # as if {of} were by ring; sums are in the bandwidth",
        f"  bandwidth: {bandwidth / 1e6:.5g} MB/s",
        f"  latency: {time_text(latency)}",
    ]


def interference_lines(found):
    is_most = found["factor"] >= MOST_FACTOR
    at_least = f" # at least: factors above {MOST_FACTOR:g} are not told apart" if is_most else ""
    return [
        "interference:",
        f"  # Beside all-reduces of {size_text(found['bytes'])} products take"
        f" {found['computing']:.4g} times as long, and these beside",
        f"  # products {found['messages']:.4g} times; medians of {found['rounds']} rounds.",
        f"  computation: {found['factor']:.4g}{at_least}",
    ]


def collective_lines(site, findings):
    lines = [
        f"# There was no time for all-reduces of {size_text(size)}." for size in findings.unmeasured
    ]
    lines += ["collectives:", "  all-reduce:", f"    {site.scheme}:", "      table:"]
    measured = [(size, findings.sizes[size].median) for size in sorted(findings.sizes)]
    for (size, before), (_, seconds) in zip(measured, rising(measured)):
        note = spread(findings.sizes[size])
        if seconds != before:
            note = f"measured {time_text(before)}; a table must not fall; {note}"
        lines.append(f"        - [{size_text(size)}, {time_text(seconds)}] # {note}")
    return lines


def text_of(site, findings, seconds):
    """The cluster file."""
    lines = [*head(site, findings, seconds), *device_lines(findings.device)]
    for name in ("network", "inside"):
        if name in findings.links:
            lines += link_lines(name, *findings.links[name])
    lines += interference_lines(findings.interference)
    lines += collective_lines(site, findings)
    return "\n".join(lines) + "\n"
