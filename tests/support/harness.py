"""Drives the `syncline` command for tests: compile, verify, run, and read what a run dumped."""

import errno
import json
import os
import pathlib
import random
import socket
import subprocess

import numpy

import stepcache
from depth import repeat
from waiting import PATIENCE

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build")).absolute()
SYNCLINE = BUILD / "bin" / "syncline"
EPHEMERAL = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST_PORT, HIGHEST_PORT = 10000, 65535
HELD = []  # sockets that keep the ports of free_port() for this process

CLUSTER = """\
name: test
ranks: {ranks}
device: {{compute: 50 GFLOP/s, memory: 10 GB/s}}
network: {{bandwidth: 10 Gb/s, latency: 20 us}}
"""
# The only all-reduce is the ring's: what every other scheme is compared with.
RING = CLUSTER + "collectives: {{all-reduce: {{formula: ring}}}}\n"
NODES = """\
name: nodes
nodes: 2
devices-per-node: 2
device: {{compute: 50 GFLOP/s, memory: 10 GB/s}}
network: {{bandwidth: 10 Gb/s, latency: 20 us, duplex: half}}
inside: {{bandwidth: 100 Gb/s, latency: 2 us}}
"""
# compile_plan()'s arguments for a plan whose messages two dedicated servers sum.
BY_SERVERS = {
    "cluster": CLUSTER + "servers: {{count: 2, dedicated: yes}}\n",
    "extra": ("--scheme", "*=parameter-server"),
}


def environment():
    """Variables for `syncline`, by which steps that were compiled before are not compiled again."""
    return stepcache.environment(BUILD)


def syncline(*words, limit=PATIENCE):
    """Runs the command; its standard output. Raises with everything it printed where it fails."""
    command = [str(SYNCLINE), *map(str, words)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=limit
    )
    if done.returncode != 0:
        raise AssertionError(
            f"{' '.join(command)}: exit code"
            f" {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def compile_plan(
    model, folder, ranks=1, batch=4, loss="cross-entropy", extra=(), cluster=CLUSTER, label=""
):
    """Compiles and verifies a plan for `ranks` ranks with `batch` samples each; its folder, whose
    name `label` tells from other plans' of the same model. Its steps wait for their own messages
    unless `extra` says otherwise, whatever is predicted to be faster."""
    if "--overlap" not in extra:
        extra = ("--overlap", "backward", *extra)
    file = folder / f"cluster{ranks}{label}.yaml"
    file.write_text(cluster.format(ranks=ranks))
    plan = folder / f"{pathlib.Path(model).stem}{label}-{ranks}x{batch}.plan"
    syncline(
        *("compile", model, "--cluster", file, "--batch", batch, "--loss", loss, "-o", plan), *extra
    )
    # The long run also lowers every model again, which must give the same plan.
    sources = repeat((), ("--model", model, "--cluster", file))
    syncline("verify", plan, *sources)
    return plan


class Dump:
    """What `--dump DIR` wrote: DIR/step<t>/loss.npy, .../gradients/NAME.npy (after synchronisation)
    and .../parameters/NAME.npy (after the update)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def loss(self, step):
        return float(numpy.load(self.folder / f"step{step}" / "loss.npy"))

    def gradients(self, step):
        return Tensors(self.folder / f"step{step}" / "gradients")

    def parameters(self, step):
        return Tensors(self.folder / f"step{step}" / "parameters")


def dumps(folder, ranks):
    """What each of so many ranks wrote for `--dump folder`."""
    return [Dump(folder), *(Dump(folder / f"rank{rank}") for rank in range(1, ranks))]


class Tensors:
    """A folder of .npy files by tensor name, each read when requested."""

    def __init__(self, folder):
        self.folder = folder

    def names(self):
        return {path.name[: -len(".npy")] for path in self.folder.glob("*.npy")}

    def __getitem__(self, name):
        return numpy.load(self.folder / f"{name}.npy")


def save(folder, inputs, targets, name=""):
    """Writes one array of inputs, or several by name, and the targets as .npy; the words of
    `--data`."""
    several = inputs if isinstance(inputs, dict) else {"x": inputs}
    words = []
    for key, array in {**several, "y": targets}.items():
        file = folder / f"{name}{key}.npy"
        numpy.save(file, array)
        words.append(f"{key}={file}" if several is inputs and key != "y" else str(file))
    return ",".join(words)


def train(plan, folder, data, ranks=1, steps=3, dump=(0, 2), settings=None, extra=()):
    """Trains `steps` steps on the arrays `data` = (inputs, targets), which hold one global batch;
    the Dump of the steps `dump`. Several inputs are a dictionary by name; a setting of None leaves
    out a default one."""
    files = save(folder, *data)
    out = folder / f"{plan.stem}.dump"
    options = {"lr": 0.001, "momentum": 0.9, "weight-decay": 1e-4, **(settings or {})}
    given = {name: value for name, value in options.items() if value is not None}
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    syncline(
        *("run", plan, "-n", ranks, "--data", files, "--steps", steps),
        *("--dump", out, "--dump-steps", ",".join(map(str, dump)), *words, *extra),
    )
    return Dump(out)


DECIDED = ("--precision", "--wire")  # by a plan


def apart(words):
    """The words of `compile` among these, and those of `run`."""
    words, compiled = list(words), []
    for option in DECIDED:
        while option in words:
            at = words.index(option)
            compiled += words[at : at + 2]
            del words[at : at + 2]
    return tuple(compiled), tuple(words)


def hold(port):
    """A socket that has the port, with all the machine's addresses, and does not listen: a process
    that says SO_REUSEADDR, as ranks do, can listen there beside it."""
    for family, every in ((socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")):
        try:
            held = socket.socket(family)
        except OSError:  # a machine without IPv6
            continue
        try:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind((every, port))
            return held
        except OSError as error:
            held.close()
            if error.errno == errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRNOTAVAIL, f"no address with a port {port}")


def free_port():
    """A port for rank 0 and, where torchrun's ranks meet, the one behind it. Both lie below the
    range from which the system takes the ports of outgoing connections. They are this process's own
    until it ends: it holds both, and names that only one test process can have."""
    first_ephemeral = int(EPHEMERAL.read_text().split()[0])
    # Where the system takes all ports, it does not take held ones.
    end = first_ephemeral if first_ephemeral > LOWEST_PORT + 5000 else HIGHEST_PORT
    for port in random.sample(range(LOWEST_PORT, end - 1, 2), 1000):
        held = [socket.socket(socket.AF_UNIX)]
        try:
            held[0].bind(f"\0syncline-test-port-{port}")
            held += [hold(port), hold(port + 1)]
        except OSError:  # another process has one of them
            for one in held:
                one.close()
            continue
        HELD.extend(held)
        return port
    raise AssertionError(f"no free pair of ports from {LOWEST_PORT} to {end}")


def plan_json(plan):
    return json.loads((plan / "plan.json").read_text())
