"""A step of PyTorch training on emulated hosts by DistributedDataParallel and by plans, in turn:
`bench.py torch`."""

import json
import os
import statistics
import subprocess
import sys

import measure

# Options of `compile` for the plan of a way that has one. Plans that can be run may overlap steps.
RING = ("--scheme", "*=ring")
BUCKETS = ("--plan-only", "--planner", "ddp-list", *RING)
OWN = ("--loss", "cross-entropy")
SUMS = (*OWN, *RING)
PLANS = {
    "list": BUCKETS,
    "backend": BUCKETS,
    "wrap": OWN,
    "wrap:sums": SUMS,
    "wrap:bf16": (*OWN, "--wire", "bf16"),
    "wrap:bf16-sums": (*SUMS, "--wire", "bf16"),
}
WAYS = (
    *("ddp", "ddp:1", "ddp:5", "ddp:25", "ddp:100", "list", "backend", "wrap"),
    *("ddp:bf16", "wrap:bf16"),
)
HELP = (
    "of torch: ddp, ddp:MB (bucket_cap_mb), ddp:bf16 (bf16_compress_hook), list (Gloo, a plan's "
    "buckets), backend ('cpu:syncline'), wrap, wrap:sums, wrap:bf16, wrap:bf16-sums "
    "(syncline.torch.wrap; sums: without factors)"
)
MOST_SECONDS = "14400"  # of all ways together
LABEL = 16


def is_way(text):
    kind, _, size = text.partition(":")
    return text in {"ddp", "ddp:bf16", *PLANS} or (kind == "ddp" and size.isdigit() and size > "0")


def variables():
    package = measure.TOP / "runtime" / "python"
    return {
        **measure.ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "SYNCLINE_BUILD": str(measure.BUILD),
    }


def start(command, **pipes):
    return subprocess.Popen([*map(str, command)], env=variables(), stdout=sys.stderr, **pipes)


def end(process):
    if process.wait() != 0:
        raise SystemExit(f"bench: {' '.join(process.args)}: exit code {process.returncode}")


def lines(command):
    """What a command writes to the file descriptor that is its last argument, as it comes."""
    reads, writes = os.pipe()
    process = start([*command, writes], pass_fds=[writes])
    os.close(writes)
    with open(reads) as told:
        yield from map(json.loads, told)
    end(process)


def profiled(folder, name, batch, count, wrap, python):
    """The folder with what PyTorch measured of the network on all hosts at once."""
    made = folder / f"{name.replace(':', '-')}-{batch}-{count}"
    if not made.exists():
        made.mkdir()
        end(start([*wrap, python, measure.HERE / "torch_profile.py", name, batch, made]))
    return made


def compiled(folder, cluster, made, batch, options):
    """A plan's folder."""
    plan = folder / f"{'-'.join(options)}.plan".replace("*", "all").replace("--", "")
    model = [made / "model.csv"]
    if model[0].exists():  # its times are those of a step with its loss
        options = [each for each in options if each not in (*OWN, "--plan-only")]
    else:
        words = ["--parameters", made / "parameters.txt", "--profile", made / "profile.json"]
        model = [made / "model.onnx", "--batch", batch, *words]
    words = ["--quiet", *model, "--cluster", cluster, *options, "-o", plan]
    measure.run([measure.SYNCLINE, "compile", *map(str, words)])
    return plan


def predicted(plan):
    """The step, and the proved bound with the updates that follow it, in seconds."""
    read = json.loads((plan / "plan.json").read_text())["predicted"]
    planner = read["planner"]
    return read["step"], planner["bound"] + planner["step"] - planner["finish"]


class Table:
    """Prints each way's row with what is known so far, so that the last round's rows are those of
    the whole run. Ratios are to DDP, and to the fastest of its bucket sizes."""

    def __init__(self, heading, plans):
        self.plans, self.steps = plans, {}
        columns = ("s a step", "/ ddp", "/ best", "predicted", "error", "no plan", "/ that")
        cells = "".join(f"{column:>10}" for column in (*columns, "MB sent", "loss"))
        print(f"{heading}\n{'round, way':{LABEL + 4}}{cells}", flush=True)

    def add(self, line):
        way = line["way"]
        self.steps.setdefault(way, []).append(statistics.median(line["times"]))
        median = {each: statistics.median(found) for each, found in self.steps.items()}
        sized = [
            seconds
            for each, seconds in median.items()
            if each.startswith("ddp") and each != "ddp:bf16"
        ]
        own, cells = median[way], [f"{median[way]:10.3f}"]
        cells += [ratio(own, median.get("ddp")), ratio(own, min(sized, default=None))]
        step, bound = self.plans.get(way, (None, None))
        cells += [number(step), share(step, own), number(bound), ratio(own, bound)]
        cells += [f"{line['sent'] / 1e6:10.2f}", f"{line['loss']:10.4f}"]
        print(f"{line['round']:2}  {way:{LABEL}}{''.join(cells)}", flush=True)


def number(seconds):
    return f"{'' if seconds is None else format(seconds, '.3f'):>10}"


def ratio(own, other):
    return f"{'' if other is None else format(own / other, '.3f'):>10}"


def share(step, own):
    return f"{'' if step is None else format(step / own - 1, '+.1%'):>10}"


def bench_one(folder, hosts, name, batch, rate, chosen):
    """`hosts` makes the words that run a command on emulated hosts with links of a rate."""
    count, ways = chosen.hosts, chosen.ways or WAYS
    limit, label = "" if rate == "unlimited" else rate, f"{chosen.hosts}-{rate}"
    wrap = hosts(count, limit, ("-t", MOST_SECONDS))
    planned = {way: PLANS[way] for way in ways if way in PLANS}
    plans = {}
    if planned:
        cluster = chosen.cluster or measure.calibrate(
            folder, count, rate, wrap, chosen.calibration
        )
        model = profiled(folder, name, batch, count, hosts(count), chosen.python)
        own = folder / f"{name.replace(':', '-')}-{batch}-{label}-plans"
        own.mkdir(exist_ok=True)
        made = {each: compiled(own, cluster, model, batch, each) for each in set(planned.values())}
        plans = {way: made[options] for way, options in planned.items()}
    known = {way: predicted(plan) for way, plan in plans.items()}
    table = Table(f"{name}/{batch}, {count} hosts, {rate}, {chosen.steps} steps a round", known)
    script = [chosen.python, measure.HERE / "torch_ways.py", name, batch]
    words = [f"{way}={plans[way]}" if way in plans else way for way in ways]
    for line in lines([*wrap, *script, chosen.steps, chosen.rounds, *words]):
        table.add(line)
