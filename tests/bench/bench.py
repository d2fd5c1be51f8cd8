#!/usr/bin/python3
"""Measures Syncline against PyTorch on this machine and prints tables of ratios.

    bench.py step [MODEL/BATCH ...]        one rank's step and peak memory, against one PyTorch thread
    bench.py hosts [MODEL/BATCH ...]       N emulated hosts, against DistributedDataParallel over Gloo (root)
    bench.py planning                      the solver's time
    bench.py all

Both sides of a ratio are measured in one run, in turn (A B A B ...), pinned to the same processors,
one thread a rank; a figure is the median over rounds of a round's median step.
"""

import argparse
import dataclasses
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measure

HERE = pathlib.Path(__file__).resolve().parent
STEP_MODELS = ["resnet50/4", "vgg11/4", "densenet121/4"]
HOST_MODELS = ["resnet50/4", "googlenet/8", "alexnet/16"]
RATES = {"1gbit": "1 Gb/s", "200mbit": "200 Mb/s"}
HOSTS = (2, 4)


@dataclasses.dataclass
class Pair:
    """Medians of both sides, and ours divided by PyTorch's."""

    ours: float
    theirs: float

    def __str__(self):
        return f"{self.ours:10.3f} {self.theirs:10.3f} {self.ours / self.theirs:8.2f}"


def alternate(rounds, ours, theirs):
    """Calls both in turn, `rounds` times; a Pair of the steps' seconds and one of peak bytes."""
    samples = [(ours(), theirs()) for _ in range(rounds)]

    def pair(field):
        return Pair(*(statistics.median(getattr(s[side], field) for s in samples) for side in (0, 1)))

    return pair("seconds"), pair("peak")


def split(model):
    name, _, batch = model.partition("/")
    return name, int(batch)


def bench_step(models, chosen, folder):
    print(f"{'one rank':24} {'Syncline':>10} {'PyTorch':>10} {'ratio':>8}")
    pinned = ["taskset", "-c", "0"]
    for name, batch in map(split, models or STEP_MODELS):
        plan = measure.make_plan(folder, name, batch, ranks=1, bandwidth="10 Gb/s")
        seconds, peak = alternate(
            chosen.rounds,
            lambda: measure.ours(plan, chosen.steps, pinned),
            lambda: measure.theirs(name, batch, chosen.steps, pinned),
        )
        print(f"{name + '/' + str(batch) + ', s a step':24} {seconds}")
        peak = Pair(peak.ours / 2**30, peak.theirs / 2**30)
        print(f"{'  peak memory, GiB':24} {peak}", flush=True)


def bench_hosts(models, chosen, folder):
    print(f"{'s a step':34} {'Syncline':>10} {'PyTorch':>10} {'ratio':>8}")
    for name, batch in map(split, models or HOST_MODELS):
        for rate, bandwidth in RATES.items():
            for hosts in HOSTS:
                plan = measure.make_plan(folder, name, batch, hosts, bandwidth)
                wrap = [str(HERE / "hosts.sh"), "-n", str(hosts), "-r", rate, "-p", "--"]
                seconds, _ = alternate(
                    chosen.rounds,
                    lambda: measure.ours(plan, chosen.steps, wrap),
                    lambda: measure.theirs(name, batch, chosen.steps, wrap),
                )
                print(f"{f'{name}/{batch}, {hosts} hosts, {rate}':34} {seconds}", flush=True)


def bench_planning():
    program = measure.BUILD / "bin" / "bench-planning"
    subprocess.run([str(program)], check=True)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=["step", "hosts", "planning", "all"])
    parser.add_argument("models", nargs="*", help="MODEL/BATCH of torchvision, such as resnet50/4")
    parser.add_argument("--rounds", type=int, default=3, help="turns of both sides (default: 3)")
    parser.add_argument("--steps", type=int, default=5, help="timed steps a turn (default: 5)")
    chosen = parser.parse_args(words)
    if chosen.what in ("hosts", "all") and os.geteuid() != 0:
        parser.error("emulated hosts need root")
    print(measure.machine())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if chosen.what in ("step", "all"):
            bench_step(chosen.models, chosen, folder)
        if chosen.what in ("hosts", "all"):
            bench_hosts(chosen.models, chosen, folder)
        if chosen.what in ("planning", "all"):
            bench_planning()


if __name__ == "__main__":
    main(sys.argv[1:])
