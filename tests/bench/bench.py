#!/usr/bin/python3
"""Measures Syncline against PyTorch on this machine and prints tables of ratios.

    bench.py step [MODEL/BATCH ...]        one rank's step and peak memory, against one thread of
                                           PyTorch (--python, --way, --precision)
    bench.py hosts [MODEL/BATCH ...]       N emulated hosts, against DistributedDataParallel over
                                           Gloo, and against links that are not limited (root,
                                           --rate)
    bench.py torch [MODEL/BATCH ...]       PyTorch on emulated hosts: DistributedDataParallel over
                                           Gloo against plans by its buckets, by the backend and by
                                           wrap() (root, --hosts, --rate, --way, --cluster)
    bench.py servers [MODEL/BATCH ...]     two servers with faster links beside four workers,
                                           against the workers alone (root)
    bench.py prediction [MODEL/BATCH ...]  the step that a plan predicts from a calibrated cluster
                                           and a profile, against the step that is run (root)
    bench.py order [MODEL/BATCH ...]       the same for several planners: whether they come in the
                                           predicted order (root)
    bench.py overlap [MODEL/BATCH ...]     steps with --overlap step against steps with a barrier,
                                           as predicted and as run (root)
    bench.py local [digits fashion]        loss and bytes of DiLoCo against bsp's after equal
                                           samples, on 4 hosts at 10 Mb/s (root)
    bench.py consistency                   seconds to an accuracy by who waits for whom, two
                                           workers of equal speed and at 1:2, 1 Gb/s (root)
    bench.py elastic                       what EASGD's variants cost, on 4 hosts at 1 Gb/s (root)
    bench.py throughput                    six forms of consistency, as simulated and as run (root)
    bench.py errors [MODEL[/BATCH] ...]    rounding errors of gradients against PyTorch float32's
                                           (--ranks, --optimizer, --opset, --seeds)
    bench.py curve                         losses of 200 steps of ResNet-18 beside PyTorch's
    bench.py planning                      the solver's time
    bench.py compile [OPERATORS ...]       how compile and verify grow with the model: 1000, 3000
                                           and 10000 operators of four shapes
    bench.py all

Both sides of a ratio are measured in one run, in turn (A B A B ...), pinned to the same processors,
one thread a rank; a figure is the median over rounds of a round's median step.
"""

import argparse
import functools
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import curve
import errors
import forms
import growth
import measure
import speed
import training
import ways

HERE = pathlib.Path(__file__).resolve().parent
STEP_MODELS = ["resnet50/4", "vgg11/4", "densenet121/4"]
HOST_MODELS = ["resnet50/4", "googlenet/8", "alexnet/16", "vgg11/4"]
PREDICTED_MODELS = ["resnet50/4", "googlenet/8", "vgg11/4"]
ORDERED_MODELS = ["resnet50/4", "googlenet/8"]
PLANNERS = ["optimal", "mg-wfbp", "ddp:25MiB", "wfbp", "single"]
OVERLAP_MODELS = ["resnet50/4", "inception_v3/4"]
OVERLAP_RATES = ["1gbit", "400mbit"]  # where messages take about as long as computation
TORCH_MODELS = ["resnet50/4", "googlenet/4", "alexnet/16", "vgg11/4", "huggingface:gpt2/1"]
SERVED_MODELS = ["resnet50/4", "googlenet/8"]
# tc's words for a link's rate, and what of it TCP is left with behind the frames' headers.
RATES = {"1gbit": "950 Mb/s", "200mbit": "190 Mb/s"}
UNLIMITED = "10 Gb/s"  # what a plan takes links between processes of one machine for
HOSTS = (2, 4)


def alternate(rounds, *sides):
    """Calls the sides in turn, `rounds` times; the median seconds and peak bytes of each."""
    return medians(in_turn(rounds, *sides), "seconds", "peak")


def in_turn(rounds, *sides):
    """The sides' samples, a list a round."""
    return [[side() for side in sides] for _ in range(rounds)]


def medians(samples, *fields):
    """Of each field the sides' medians over rounds."""
    return [
        [statistics.median(getattr(sample, field) for sample in side) for side in zip(*samples)]
        for field in fields
    ]


def row(label, ours, others, width=36, cell=12):
    """Seconds (or whatever) of ours and the others, each with our ratio to it."""
    cells = "".join(f"{other:{cell}.3f} {ours / other:7.2f}" for other in others)
    print(f"{label:{width}} {ours:10.3f}{cells}", flush=True)


def heading(label, others, width=36, cell=12):
    cells = "".join(f"{name:>{cell}} {'ratio':>7}" for name in others)
    print(f"{label:{width}} {'Syncline':>10}{cells}")


def split(model):
    name, _, batch = model.partition("/")
    return name, int(batch)


def hosts(count, rate="", extra=()):
    """The words before a command that run it on emulated hosts."""
    limit = ["-r", rate] if rate else []
    return [str(HERE / "hosts.sh"), "-n", str(count), *limit, *extra, "-p", "--"]


def bench_step(models, chosen, folder):
    ways, precision = chosen.ways or ["eager"], chosen.precision
    heading(f"one rank, {precision}", [f"PyTorch {way}" for way in ways], cell=32)
    pinned = ["taskset", "-c", "0"]
    for name, batch in map(split, models or STEP_MODELS):
        words = ("--precision", precision)
        plan = measure.make_plan(folder, name, batch, 1, bandwidth=UNLIMITED, extra=words)
        rivals = [
            functools.partial(
                measure.theirs,
                *(name, batch, chosen.steps, pinned),
                python=chosen.python,
                ways=[*way.split("+"), precision],
            )
            for way in ways
        ]
        ours = functools.partial(measure.ours, plan, chosen.steps, pinned)
        seconds, peak = alternate(chosen.rounds, ours, *rivals)
        row(f"{name}/{batch}, s a step", seconds[0], seconds[1:], cell=32)
        row("  peak memory, GiB", peak[0] / 2**30, [one / 2**30 for one in peak[1:]], cell=32)


def bench_hosts(models, chosen, folder):
    """The column of links that are not limited is left out where --rate names what to measure."""
    heading("s a step", ["PyTorch"] if chosen.rates else ["PyTorch", "unlimited"], 40)
    for name, batch in map(split, models or HOST_MODELS):
        for count in HOSTS:
            for rate in chosen.rates or RATES:
                plan = measure.make_plan(folder, name, batch, count, RATES.get(rate, UNLIMITED))
                wrap = hosts(count, rate if rate in RATES else "")
                sides = [
                    functools.partial(measure.ours, plan, chosen.steps, wrap),
                    functools.partial(measure.theirs, name, batch, chosen.steps, wrap),
                    functools.partial(measure.ours, plan, chosen.steps, hosts(count)),
                ]
                seconds, _ = alternate(chosen.rounds, *sides[: 2 if chosen.rates else 3])
                row(f"{name}/{batch}, {count} hosts, {rate}", seconds[0], seconds[1:], 40)


def bench_torch(models, chosen, folder):
    for name, batch in map(split, models or TORCH_MODELS):
        for rate in chosen.rates or ["200mbit"]:
            ways.bench_one(folder, hosts, name, batch, rate, chosen)


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
            lambda: measure.ours(
                served, chosen.steps, hosts(workers, "200mbit", ["-S", str(servers), *faster])
            ),
            lambda: measure.ours(alone, chosen.steps, hosts(workers, "200mbit")),
        )
        row(f"{name}/{batch}, {workers} workers", seconds[0], seconds[1:])


def predicted_and_measured(name, batch, count, rate, planner, chosen, folder):
    """Seconds of a step by `planner`: what its plan predicts from calibrated hosts and a profile
    that knows of no messages, and the median over rounds of what it takes."""
    wrap = hosts(count, rate)
    cluster = measure.calibrate(folder, count, rate, wrap, chosen.calibration)
    times = measure.profile(folder, name, batch, count)
    plan, predicted = measure.compile_measured(folder, name, batch, cluster, times, planner)
    samples = [measure.ours(plan, chosen.steps, wrap) for _ in range(chosen.rounds)]
    return predicted, statistics.median(sample.seconds for sample in samples)


def bench_prediction(models, chosen, folder):
    print(f"{'s a step':36}{'predicted':>10}{'measured':>10}{'error':>10}")
    errors = []
    for name, batch in map(split, models or PREDICTED_MODELS):
        for count in HOSTS:
            for rate in chosen.rates or RATES:
                predicted, measured = predicted_and_measured(
                    name, batch, count, rate, "optimal", chosen, folder
                )
                errors.append(predicted / measured - 1)
                label = f"{name}/{batch}, {count} hosts, {rate}"
                print(f"{label:36}{predicted:10.3f}{measured:10.3f}{errors[-1]:10.1%}", flush=True)
    close = sum(abs(error) <= 0.05 for error in errors)
    print(f"{close} of {len(errors)} within 5 %, the worst {max(errors, key=abs):+.1%}")


def bench_order(models, chosen, folder):
    """Whether planners come in the order that their plans predict, where predictions differ by more
    than 5 %."""
    print(f"{'s a step':48}{'predicted':>10}{'measured':>10}{'error':>10}")
    pairs, wrong = 0, []
    for name, batch in map(split, models or ORDERED_MODELS):
        for count in HOSTS:
            for rate in RATES:
                label = f"{name}/{batch}, {count} hosts, {rate}"
                steps = {}
                for planner in PLANNERS:
                    steps[planner] = predicted_and_measured(
                        name, batch, count, rate, planner, chosen, folder
                    )
                    predicted, measured = steps[planner]
                    print(
                        f"{label + ', ' + planner:48}{predicted:10.3f}{measured:10.3f}"
                        f"{predicted / measured - 1:10.1%}",
                        flush=True,
                    )
                for a, b in itertools.permutations(PLANNERS, 2):
                    if steps[a][0] * 1.05 < steps[b][0]:
                        pairs += 1
                        if steps[a][1] >= steps[b][1]:
                            wrong.append(f"{label}: {a} is slower than {b}")
    print(f"{pairs - len(wrong)} of {pairs} pairs of planners in the predicted order")
    print("".join(f"  not so: {line}\n" for line in wrong), end="")


def bench_overlap(models, chosen, folder):
    """Both plans are by `optimal`; their runs take turns. Predictions are means over steps, so a
    round's figure is the mean of its steps. Cluster and profile are measured on an idle machine,
    also where busy loops stand beside the runs."""
    columns = ("barrier", "error", chosen.second, "error", "gain", "predicted")
    print(f"{'s a step, measured':36}" + "".join(f"{column:>11}" for column in columns))
    for name, batch in map(split, models or OVERLAP_MODELS):
        for count in HOSTS:
            for rate in chosen.rates or OVERLAP_RATES:
                wrap = hosts(count, rate)
                cluster = measure.calibrate(folder, count, rate, wrap, chosen.calibration)
                times = measure.profile(folder, name, batch, count)
                plans = [
                    measure.compile_measured(
                        folder, name, batch, cluster, times, "optimal", ("--overlap", overlap)
                    )
                    for overlap in ("backward", chosen.second)
                ]
                (barrier, waited), (carrying, carried) = plans
                with measure.busy_loops(chosen.busy):
                    samples = in_turn(
                        chosen.rounds,
                        lambda: measure.ours(barrier, chosen.steps, wrap),
                        lambda: measure.ours(carrying, chosen.steps, wrap),
                    )
                ((before, after),) = medians(samples, "mean")
                print(
                    f"{f'{name}/{batch}, {count} hosts, {rate}':36}"
                    f"{before:11.3f}{waited / before - 1:11.1%}{after:11.3f}"
                    f"{carried / after - 1:11.1%}{before / after:11.3f}{waited / carried:11.3f}",
                    flush=True,
                )


def bench_planning():
    name = "bench-planning"
    subprocess.run(["cmake", "--build", str(measure.BUILD), "--target", name], check=True)
    program = measure.BUILD / "bin" / name
    subprocess.run([str(program)], check=True)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "what",
        choices=[
            *("step", "hosts", "servers", "prediction", "order", "overlap", "local", "consistency"),
            *("elastic", "throughput", "errors", "curve", "planning", "compile", "torch", "all"),
        ],
    )
    parser.add_argument(
        "--rate",
        action="append",
        dest="rates",
        help="of overlap and prediction: a link's rate, as tc writes it; of hosts: 1gbit, 200mbit "
        "or unlimited; of torch: as tc writes it or unlimited (default: 200mbit); may be repeated",
    )
    parser.add_argument(
        "--second",
        choices=("step", "auto"),
        default="step",
        help="of overlap: the plan that is compared with the barrier's (default: step)",
    )
    parser.add_argument(
        "--busy", type=int, default=0, help="of overlap: busy loops beside the runs (default: 0)"
    )
    parser.add_argument(
        "--python",
        default=measure.PYTHON,
        help="of step and torch: the interpreter whose PyTorch is the rival; torch wants 2.14 "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--way",
        action="append",
        dest="ways",
        help="of step: how PyTorch runs, such as eager, channels-last or channels-last+compiled "
        f"(default: eager); {ways.HELP} (default: {' '.join(ways.WAYS)}); may be repeated",
    )
    parser.add_argument("--hosts", type=int, default=2, help="of torch (default: 2)")
    parser.add_argument(
        "--cluster", metavar="FILE", help="of torch: in place of a calibration of the hosts"
    )
    parser.add_argument(
        "--precision", choices=("fp32", "bf16"), default="fp32", help="of step (default: fp32)"
    )
    parser.add_argument(
        "models",
        nargs="*",
        help="MODEL/BATCH, such as resnet50/4 of torchvision or language:gpt2/1 of samples/models; "
        "of compile: numbers of operators; of local: digits, fashion",
    )
    parser.add_argument("--ranks", type=int, default=1, help="of errors (default: 1)")
    parser.add_argument("--seeds", type=int, default=3, help="of errors (default: 3)")
    parser.add_argument("--opset", type=int, default=17, help="of errors (default: 17)")
    parser.add_argument(
        "--optimizer",
        choices=("sgd", "adamw"),
        default="sgd",
        help="of errors: adamw compares what three steps have changed (default: sgd, gradients)",
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns of both sides (default: 3)")
    parser.add_argument("--steps", type=int, default=5, help="timed steps a turn (default: 5)")
    parser.add_argument(
        "--keep", metavar="FOLDER", help="keep what is made there, and use what already is"
    )
    parser.add_argument(
        "--calibration", type=int, default=120, help="seconds to calibrate hosts (default: 120)"
    )
    chosen = parser.parse_intermixed_args(words)  # models may stand behind options
    alone = ("step", "errors", "curve", "planning", "compile")
    if chosen.what not in alone and os.geteuid() != 0:
        parser.error("emulated hosts need root")
    if chosen.what == "hosts" and not {*RATES, "unlimited"}.issuperset(chosen.rates or ()):
        parser.error("hosts: --rate: expected 1gbit, 200mbit or unlimited")
    if chosen.what == "torch" and not all(map(ways.is_way, chosen.ways or ())):
        parser.error(f"torch: --way: expected one {ways.HELP}")
    print(measure.machine(chosen.python))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(chosen.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        if chosen.what in ("step", "all"):
            bench_step(chosen.models, chosen, folder)
        if chosen.what in ("hosts", "all"):
            bench_hosts(chosen.models, chosen, folder)
        if chosen.what == "torch":  # needs an interpreter of its own
            bench_torch(chosen.models, chosen, folder)
        if chosen.what in ("servers", "all"):
            bench_servers(chosen.models, chosen, folder)
        if chosen.what in ("prediction", "all"):
            bench_prediction(chosen.models, chosen, folder)
        if chosen.what in ("order", "all"):
            bench_order(chosen.models, chosen, folder)
        if chosen.what in ("overlap", "all"):
            bench_overlap(chosen.models, chosen, folder)
        if chosen.what in ("local", "all"):
            names = chosen.models if chosen.what == "local" else ()
            counted = functools.partial(hosts, extra=("-b", "-t", "3600"))
            training.bench_local(folder, counted, chosen.rounds, names)
        if chosen.what in ("consistency", "all"):
            speed.bench(folder, hosts, chosen.rounds)
        if chosen.what in ("elastic", "all"):
            forms.bench_elastic(folder, hosts)
        if chosen.what in ("throughput", "all"):
            forms.bench_throughput(folder, hosts, chosen.calibration, chosen.rounds)
        if chosen.what in ("errors", "all"):
            errors.bench(folder, chosen.models if chosen.what == "errors" else (), chosen)
        if chosen.what in ("curve", "all"):
            curve.bench(folder, chosen.python)
        if chosen.what in ("planning", "all"):
            bench_planning()
        if chosen.what in ("compile", "all"):
            sizes = chosen.models if chosen.what == "compile" else ()
            growth.bench(folder, [int(size) for size in sizes] or growth.SIZES)


if __name__ == "__main__":
    main(sys.argv[1:])
