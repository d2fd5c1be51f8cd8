#!/usr/bin/python3
"""Measures Syncline against PyTorch on this machine and prints tables of ratios.

    bench.py step [MODEL/BATCH ...]        one rank's step and peak memory, against one PyTorch thread
    bench.py hosts [MODEL/BATCH ...]       N emulated hosts, against DistributedDataParallel over Gloo and
                                           against the same on links that are not limited (root)
    bench.py servers [MODEL/BATCH ...]     two servers with faster links beside four workers, against the
                                           workers alone (root)
    bench.py prediction [MODEL/BATCH ...]  the step that a plan predicts from a calibrated cluster and a
                                           profile, against the step that is run (root)
    bench.py planning                      the solver's time
    bench.py all

Both sides of a ratio are measured in one run, in turn (A B A B ...), pinned to the same processors,
one thread a rank; a figure is the median over rounds of a round's median step.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measure

HERE = pathlib.Path(__file__).resolve().parent
STEP_MODELS = ["resnet50/4", "vgg11/4", "densenet121/4"]
HOST_MODELS = ["resnet50/4", "googlenet/8", "alexnet/16", "vgg11/4"]
SERVED_MODELS = ["resnet50/4", "googlenet/8"]
# tc's words for a link's rate, and what of it TCP is left with behind the frames' headers.
RATES = {"1gbit": "950 Mb/s", "200mbit": "190 Mb/s"}
UNLIMITED = "10 Gb/s"  # what a plan takes links between processes of one machine for
HOSTS = (2, 4)


def alternate(rounds, *sides):
    """Calls the sides in turn, `rounds` times; the median seconds and peak bytes of each."""
    samples = [[side() for side in sides] for _ in range(rounds)]

    def medians(field):
        return [statistics.median(getattr(s[i], field) for s in samples) for i in range(len(sides))]

    return medians("seconds"), medians("peak")


def row(label, ours, others, width=36):
    """Seconds (or whatever) of ours and the others, each with our ratio to it."""
    cells = "".join(f"{other:12.3f} {ours / other:7.2f}" for other in others)
    print(f"{label:{width}} {ours:10.3f}{cells}", flush=True)


def heading(label, others, width=36):
    print(f"{label:{width}} {'Syncline':>10}" + "".join(f"{name:>12} {'ratio':>7}" for name in others))


def split(model):
    name, _, batch = model.partition("/")
    return name, int(batch)


def hosts(count, rate="", extra=()):
    """The words before a command that run it on emulated hosts."""
    limit = ["-r", rate] if rate else []
    return [str(HERE / "hosts.sh"), "-n", str(count), *limit, *extra, "-p", "--"]


def bench_step(models, chosen, folder):
    heading("one rank", ["PyTorch"])
    pinned = ["taskset", "-c", "0"]
    for name, batch in map(split, models or STEP_MODELS):
        plan = measure.make_plan(folder, name, batch, ranks=1, bandwidth=UNLIMITED)
        seconds, peak = alternate(
            chosen.rounds,
            lambda: measure.ours(plan, chosen.steps, pinned),
            lambda: measure.theirs(name, batch, chosen.steps, pinned),
        )
        row(f"{name}/{batch}, s a step", seconds[0], seconds[1:])
        row("  peak memory, GiB", peak[0] / 2**30, [peak[1] / 2**30])


def bench_hosts(models, chosen, folder):
    heading("s a step", ["unlimited", "PyTorch"])
    for name, batch in map(split, models or HOST_MODELS):
        for count in HOSTS:
            for rate, bandwidth in RATES.items():
                plan = measure.make_plan(folder, name, batch, count, bandwidth)
                seconds, _ = alternate(
                    chosen.rounds,
                    lambda: measure.ours(plan, chosen.steps, hosts(count, rate)),
                    lambda: measure.ours(plan, chosen.steps, hosts(count)),
                    lambda: measure.theirs(name, batch, chosen.steps, hosts(count, rate)),
                )
                row(f"{name}/{batch}, {count} hosts, {rate}", seconds[0], seconds[1:])


def bench_servers(models, chosen, folder):
    """Workers on 200 Mb/s, servers on 1 Gb/s: the links of ranks 4 and 5 are the servers'."""
    heading("s a step", ["no servers"])
    workers, servers = 4, 2
    faster = [word for i in range(servers) for word in ("-s", f"{workers + i}:1gbit")]
    for name, batch in map(split, models or SERVED_MODELS):
        served = measure.make_plan(
            *(folder, name, batch, workers, RATES["200mbit"]),
            servers=measure.SERVERS.format(count=servers, bandwidth=RATES["1gbit"]),
        )
        alone = measure.make_plan(folder, name, batch, workers, RATES["200mbit"])
        seconds, _ = alternate(
            chosen.rounds,
            lambda: measure.ours(served, chosen.steps, hosts(workers, "200mbit", ["-S", str(servers), *faster])),
            lambda: measure.ours(alone, chosen.steps, hosts(workers, "200mbit")),
        )
        row(f"{name}/{batch}, {workers} workers", seconds[0], seconds[1:])


def bench_prediction(models, chosen, folder):
    """Predicted and measured steps: of a plan by a profile taken without messages, then of one by a
    profile of that plan's run."""
    columns = "".join(f"{word:>10}" for word in ("predicted", "measured", "error"))
    print(f"{'s a step':36}{columns}{columns}   the right ones by a profile of the run")

    def cells(name, batch, cluster, times, wrap):
        plan, predicted = measure.compile_measured(folder, name, batch, cluster, times)
        samples = [measure.ours(plan, chosen.steps, wrap) for _ in range(chosen.rounds)]
        measured = statistics.median(sample.seconds for sample in samples)
        return plan, f"{predicted:10.3f}{measured:10.3f}{predicted / measured - 1:10.1%}"

    for name, batch in map(split, models or HOST_MODELS):
        for count in HOSTS:
            times = measure.profile(folder, name, batch, count)
            for rate in RATES:
                wrap = hosts(count, rate)
                cluster = measure.calibrate(folder, count, rate, wrap, chosen.calibration)
                plan, left = cells(name, batch, cluster, times, wrap)
                again = measure.profile_of_run(plan, chosen.steps, wrap)
                _, right = cells(name, batch, cluster, again, wrap)
                label = f"{name}/{batch}, {count} hosts, {rate}"
                print(f"{label:36}{left}{right}", flush=True)


def bench_planning():
    program = measure.BUILD / "bin" / "bench-planning"
    subprocess.run([str(program)], check=True)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=["step", "hosts", "servers", "prediction", "planning", "all"])
    parser.add_argument("models", nargs="*", help="MODEL/BATCH of torchvision, such as resnet50/4")
    parser.add_argument("--rounds", type=int, default=3, help="turns of both sides (default: 3)")
    parser.add_argument("--steps", type=int, default=5, help="timed steps a turn (default: 5)")
    parser.add_argument("--calibration", type=int, default=120, help="seconds to calibrate hosts (default: 120)")
    chosen = parser.parse_args(words)
    if chosen.what in ("hosts", "servers", "prediction", "all") and os.geteuid() != 0:
        parser.error("emulated hosts need root")
    print(measure.machine())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if chosen.what in ("step", "all"):
            bench_step(chosen.models, chosen, folder)
        if chosen.what in ("hosts", "all"):
            bench_hosts(chosen.models, chosen, folder)
        if chosen.what in ("servers", "all"):
            bench_servers(chosen.models, chosen, folder)
        if chosen.what in ("prediction", "all"):
            bench_prediction(chosen.models, chosen, folder)
        if chosen.what in ("planning", "all"):
            bench_planning()


if __name__ == "__main__":
    main(sys.argv[1:])
