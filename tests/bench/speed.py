"""Seconds to an accuracy by who waits for whom, with equal and unequal workers: `bench.py
consistency`."""

import dataclasses
import shutil
import statistics
import sys

import numpy

import measure
import training

FORMS = ("bsp", "ssp:3", "asp", "dssp:3,15")
WORKERS = 2
RATE = "1gbit"
EVERY = 25  # steps from one snapshot to the next
JUDGED = 2000  # test images that judge a snapshot


@dataclasses.dataclass
class Race:
    """A network, its rate and the accuracy that ends the race; `steps` of a worker reach it."""

    network: str  # a function of samples/models/fashion.py
    rate: float
    accuracy: float
    steps: int


# Without momentum, since old weights and a momentum of 0.9 together slow training down.
RACES = (Race("cnn", 0.1, 0.78, 700), Race("convolutions", 0.3, 0.65, 1000))


class Judge:
    """Scores snapshots of one network with PyTorch."""

    def __init__(self, network, data):
        sys.path.insert(0, str(training.SAMPLES / "models"))
        import fashion
        import torch

        self.torch, self.model = torch, getattr(fashion, network)()
        torch.set_num_threads(1)
        self.images = torch.from_numpy(numpy.load(data / "fashion-test-x.npy")[:JUDGED])
        self.labels = numpy.load(data / "fashion-test-y.npy")[:JUDGED]

    def accuracy(self, snapshot):
        weights = {
            file.stem: self.torch.from_numpy(numpy.load(file))
            for file in (snapshot / "parameters").glob("*.npy")
        }
        self.model.load_state_dict(weights)
        with self.torch.no_grad():
            found = self.model(self.images).argmax(1).numpy()
        return float((found == self.labels).mean())


def seconds_to(accuracy, snapshots, judge):
    """Seconds from the first snapshot until the line through the accuracies reaches `accuracy`;
    None where it does not."""
    times = [(folder / "loss.npy").stat().st_mtime for folder in snapshots]
    before = None
    for snapshot, moment in zip(snapshots, times):
        reached = judge.accuracy(snapshot)
        if reached >= accuracy:
            if before is None:
                return 0.0
            share = (accuracy - before[1]) / (reached - before[1])
            return before[0] + share * (moment - before[0]) - times[0]
        before = (moment, reached)
    return None


def run(plan, race, data, seed, folder, hosts):
    """The snapshots of rank 0's weights, in the order of their steps."""
    dump = folder / "snapshots"
    shutil.rmtree(dump, ignore_errors=True)
    steps = range(0, race.steps, EVERY)
    form = training.Form("", race.rate, 0)
    what = training.Training("", "", "fashion", race.steps, 16, form, form)
    words = training.train_words(plan, what, form, data, seed, "--timeout", 120)
    place = words.index("--eval")
    del words[place : place + 2]
    measure.run([*hosts, *words, "--dump", str(dump), "--dump-steps", ",".join(map(str, steps))])
    return [dump / f"step{step}" for step in steps]


def bench(folder, hosts, seeds):
    """`hosts` makes the words that run a command on emulated hosts with links of a rate."""
    data = training.fashion_data(folder)
    if not data:
        return
    print(f"{'s to an accuracy, median and all':44}" + "".join(f"{form:>28}" for form in FORMS))
    for race in RACES:
        judge = Judge(race.network, data)
        for ratio in ("1:1", "1:2"):
            cells = []
            for name in FORMS:
                form = training.Form(name, race.rate, 0)
                what = training.Training("", f"fashion-{race.network}", "", 0, 16, form, form)
                plan = training.compiled(folder, what, form, WORKERS, "950 Mb/s")
                words = hosts(WORKERS, RATE, ("-q", "1:50") if ratio == "1:2" else ())
                seconds = []
                for seed in range(1, seeds + 1):
                    snapshots = run(plan, race, data, seed, folder, words)
                    seconds.append(seconds_to(race.accuracy, snapshots, judge))
                cells.append(seconds)
            print(
                f"{f'fashion-{race.network}, {race.accuracy:.0%}, workers {ratio}':44}"
                + "".join(f"{text(cell):>28}" for cell in cells),
                flush=True,
            )


def text(seconds):
    if None in seconds:
        return "not reached"
    return f"{statistics.median(seconds):.1f} ({', '.join(f'{one:.1f}' for one in seconds)})"
