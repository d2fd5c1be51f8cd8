"""Loss and bytes of local updates against bsp's on real data: `bench.py local`."""

import dataclasses
import json
import pathlib
import re
import statistics
import subprocess

import measure

SAMPLES = measure.TOP / "samples"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
RANKS = 4
CLUSTER = """\
name: bench
ranks: {ranks}
device: {{compute: 40 GFLOP/s, memory: 5 GB/s}}
network: {{bandwidth: {bandwidth}, latency: 100 us}}
"""


@dataclasses.dataclass
class Form:
    """A consistency and the rates with which it does best."""

    name: str
    rate: float
    momentum: float = 0.9


@dataclasses.dataclass
class Training:
    """Samples and a network. `bsp` runs on links of `bsp_rate`, where its own would take hours:
    neither loss nor bytes depend on it."""

    name: str
    model: str
    data: str  # files are DATA-train-x.npy and so on
    steps: int
    batch: int  # of one rank
    bsp: Form
    local: Form
    bsp_rate: str = "10mbit"


# Rates are those with the least loss on a fifth of the training samples, which did not train.
DIGITS = Training(
    *("digits CNN", "digits-cnn", "digits", 4000, 16),
    bsp=Form("bsp", 0.01),
    local=Form("diloco:200,1,0,0,1,0", 0.01),
)
CLOTHES = Training(
    *("Fashion-MNIST CNN", "fashion-cnn", "fashion", 3000, 16),
    bsp=Form("bsp", 0.03),
    local=Form("diloco:125,1,0,0,0.9,0.4", 0.025),
    bsp_rate="",
)


def fashion_data(folder):
    """The folder with Fashion-MNIST's arrays, made where they are not there yet; None without
    Debian's package."""
    if not FASHION.exists():
        print("Fashion-MNIST left out: Debian's package dataset-fashion-mnist is not installed")
        return None
    if not (folder / "fashion-test-y.npy").exists():
        script = SAMPLES / "data" / "fashion.py"
        subprocess.run([measure.PYTHON, str(script), "-o", str(folder)], check=True)
    return folder


def data_folder(training, folder):
    return SAMPLES / "data" if training.data == "digits" else fashion_data(folder)


def compiled(folder, training, form, ranks, bandwidth, servers="", extra=()):
    label = f"{training.model}-{re.sub(r'[^a-z0-9]', '-', form.name)}{'-all' if extra else ''}"
    plan, cluster = folder / f"{label}.plan", folder / f"{label}.yaml"
    cluster.write_text(CLUSTER.format(ranks=ranks, bandwidth=bandwidth) + servers)
    model = SAMPLES / "models" / f"{training.model}.onnx"
    words = ["--batch", training.batch, "--consistency", form.name, "--overlap", "backward", *extra]
    words = ["compile", "--quiet", model, "--cluster", cluster, *words, "-o", plan]
    measure.run([measure.SYNCLINE, *map(str, words)])
    return plan


def train_words(plan, training, form, data, seed, *more):
    def pair(part):
        return ",".join(str(data / f"{training.data}-{part}-{name}.npy") for name in "xy")

    words = ["run", plan, "--data", pair("train"), "--eval", pair("test"), "--shuffle", "--seed"]
    words += [seed, "--steps", training.steps, "--lr", form.rate, "--momentum", form.momentum]
    return [measure.SYNCLINE, *map(str, words), "--log", "json", *map(str, more)]


def on_hosts(hosts, words):
    """The summary of a run on emulated hosts, the mean loss of its last epoch and the bytes at the
    interface of the busiest host."""
    output, _ = measure.run([*hosts, *words])
    lines = output.splitlines()
    told = [json.loads(line) for line in lines if line.startswith("{")]
    moved = [
        int(found[1]) + int(found[2])
        for found in (re.fullmatch(r"host \d+ rx (\d+) tx (\d+)", line) for line in lines)
        if found
    ]
    return told[-1], told[-2]["mean_loss"], max(moved)


def all_reduce_bytes(folder, training, data, hosts):
    """What bsp would move by all-reduces alone, at a host's interface: the optimal plan may send a
    linear layer's factors. Steps are equal, so 100 of them are run."""
    plan = compiled(folder, training, training.bsp, RANKS, "9.5 Mb/s", extra=("--scheme", "*=ring"))
    few = dataclasses.replace(training, steps=100)
    words = train_words(plan, few, training.bsp, data, 1, "--timeout", 120)
    return on_hosts(hosts(RANKS, training.bsp_rate), words)[2] * training.steps / few.steps


def local_row(label, runs):
    losses = [summary["test_loss"] for summary, _, _ in runs]
    accuracy = statistics.mean(summary["test_accuracy"] for summary, _, _ in runs)
    training = statistics.mean(loss for _, loss, _ in runs)
    moved = statistics.mean(moved for _, _, moved in runs)
    spread = f"{min(losses):.4f} to {max(losses):.4f}"
    print(
        f"{label:52}{statistics.mean(losses):10.4f}  {spread:18}{accuracy:9.2%}{training:11.4f}"
        f"{moved / 1e6:12.2f}",
        flush=True,
    )
    return statistics.mean(losses), moved


def bench_local(folder, hosts, seeds, names):
    """`hosts` makes the words that run a command on emulated hosts with links of a rate. Without
    `names` all trainings are run."""
    heading = f"{RANKS} hosts, 10 Mb/s, {seeds} seeds"
    print(
        f"{heading:52}{'test loss':>10}  {'least to most':18}{'accuracy':>9}"
        f"{'mean loss':>11}{'MB a host':>12}"
    )
    for training in (DIGITS, CLOTHES):
        if names and training.data not in names:
            continue
        data = data_folder(training, folder)
        if not data:
            continue
        rows = []
        for form, rate in ((training.bsp, training.bsp_rate), (training.local, "10mbit")):
            plan = compiled(folder, training, form, RANKS, "9.5 Mb/s")
            words = [
                train_words(plan, training, form, data, seed, "--timeout", 120)
                for seed in range(1, seeds + 1)
            ]
            label = f"{training.name}, {form.name}" + ("" if rate else " (unlimited links)")
            rows.append(local_row(label, [on_hosts(hosts(RANKS, rate), one) for one in words]))
        (loss, moved), (local_loss, local_moved) = rows
        reduced = all_reduce_bytes(folder, training, data, hosts)
        print(
            f"  loss {local_loss / loss - 1:+.1%}, {moved / local_moved:.0f} times fewer bytes; "
            f"all-reduces alone: {reduced / 1e6:.0f} MB, {reduced / local_moved:.0f} times as many",
            flush=True,
        )
