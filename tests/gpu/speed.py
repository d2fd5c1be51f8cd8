"""Ratios of times: a step against PyTorch's, captured steps against others, the update against
a copy."""

import json
import os
import socket
import statistics
import subprocess
import sys

from table import Check, Failed, Skipped

ROUNDS = 2  # turns of both sides; a figure is the median of a side's
STEPS, WARM_UP = 30, 12
# What a ratio may be at most: ours / theirs.
FASTER = 1.0
COMPILED = 1.15  # against torch.compile
TURNS = 1.1  # ranks that share a card take turns, which is noise
UPDATE = 1.25  # the update's bytes at 0.8 of a copy's rate
# PyTorch's way: ours beside it, and the limit.
KINDS = {"eager": ("eager", FASTER), "graph": ("graph", FASTER), "compiled": ("graph", COMPILED)}
# What NCCL is told where ranks share a GPU, here for PyTorch; `--share-device` does the same.
SOCKETS = {"NCCL_NET": "Socket", "NCCL_SOCKET_IFNAME": "=lo"}


class Speed:
    def __init__(self, machine):
        self.machine = machine
        self.times = {}  # by plan and switches, so that one is measured once

    def checks(self):
        plans = self.machine.manifest["speed"]
        for name, entry in plans.items():
            if name == "too-large":
                continue
            if entry["ranks"] > 1:
                label = f"speed {name} tf32, {' and '.join(entry['schemes'])}, DDP"
                yield Check(label, f"<= {TURNS}", self.against_ddp, (name, entry))
                continue
            for precision in ("tf32", "bf16"):
                for kind in KINDS:
                    label = f"speed {name} {precision}, PyTorch {kind}"
                    arguments = (name, entry, precision, kind)
                    yield Check(label, f"<= {KINDS[kind][1]}", self.against_torch, arguments)
        captured = f"<= {FASTER} of the same without"
        yield Check("speed of a small captured step", captured, self.captured)
        yield Check("speed of the update, a copy", f"<= {UPDATE}", self.update)

    def ours(self, plan, ranks, *words):
        """Mean seconds of a step of one run, as PyTorch's side has it."""
        machine = self.machine
        steps = WARM_UP + self.steps()
        words = [*f"--steps {steps} --lr 0.001 --momentum 0.9 --log json".split(), *words]
        done = machine.must("speed-syncline", *machine.words(machine.file(plan), ranks, *words))
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        times = [line["seconds"] for line in lines if "step" in line]
        return statistics.fmean(times[WARM_UP:])

    def steps(self):
        return 3 if self.machine.module else STEPS

    def theirs(self, entry, precision, *words):
        return [
            *(
                "torch_step.py",
                entry["model"],
                self.machine.file(entry["script"]),
                "--batch",
                entry["batch"],
            ),
            *("--size", entry["size"], "--precision", precision, "--steps", self.steps()),
            *("--device", self.machine.device, *words),
        ]

    def against_torch(self, name, entry, precision, kind):
        self.machine.needs_torch()
        if kind != "eager":
            self.machine.needs_gpu(f"PyTorch's {kind} step")
        if (name, precision) not in self.times:
            self.times[name, precision] = self.measure(entry, precision)
        ours, theirs, said = self.times[name, precision]
        if kind == "compiled" and "compiled" not in theirs:
            # Once: compiling takes minutes.
            said = self.machine.python("speed-torch", *self.theirs(entry, precision, "--compiled"))
            theirs |= said["seconds"]
        variants = {
            variant: seconds for variant, seconds in theirs.items() if variant.startswith(kind)
        }
        if not variants:
            raise Skipped(f"PyTorch cannot do it: {'; '.join(said['failed'].values())}")
        best = min(variants, key=variants.get)
        mine, limit = KINDS[kind]
        return self.judge(ours[mine], variants[best], f"{best}, {said['source']}", limit)

    def measure(self, entry, precision):
        """Both sides in turn: our seconds without and with --cuda-graph, PyTorch's by variant."""
        graph = [] if self.machine.module else ["--graph"]
        mine, theirs = [], []
        for _ in range(ROUNDS):
            plan = entry["plans"][precision]
            one = {"eager": self.ours(plan, 1)}
            one["graph"] = self.ours(plan, 1, "--cuda-graph")
            mine.append(one)
            theirs.append(
                self.machine.python("speed-torch", *self.theirs(entry, precision, *graph))
            )

        def median(sides):
            return {key: statistics.median(side[key] for side in sides) for key in sides[0]}

        return median(mine), median([said["seconds"] for said in theirs]), theirs[-1]

    def against_ddp(self, name, entry):
        self.machine.needs_torch()
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(self.ours(entry["plan"], entry["ranks"]))
            theirs.append(self.distributed(entry))
        best = min(theirs[0]["seconds"], key=theirs[0]["seconds"].get)
        seconds = statistics.median(said["seconds"][best] for said in theirs)
        what = f"{best}, {theirs[0]['source']}"
        return self.judge(statistics.median(ours), seconds, what, TURNS)

    def distributed(self, entry):
        """What rank 0 of PyTorch's ranks says, all of them on one GPU and talking
        through sockets."""
        machine = self.machine
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        here = os.path.dirname(os.path.abspath(__file__))
        program, *words = map(str, self.theirs(entry, "tf32"))
        ranks = []
        with open(machine.logs / "speed-ddp.log", "a") as log:
            for rank in range(entry["ranks"]):
                own = {
                    "RANK": str(rank),
                    "WORLD_SIZE": str(entry["ranks"]),
                    "NCCL_HOSTID": f"rank{rank}",
                    **SOCKETS,
                }
                own |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
                command = [sys.executable, os.path.join(here, program), *words]
                output = {"stdout": subprocess.PIPE, "stderr": log, "text": True}
                ranks.append(
                    subprocess.Popen(command, env={**machine.environment, **own}, **output)
                )
            try:
                limit = max(machine.budget.left(), 1)
                said = [rank.communicate(timeout=min(600, limit))[0] for rank in ranks]
            finally:
                for rank in ranks:
                    rank.kill()
        if any(rank.returncode for rank in ranks):
            raise Failed(
                f"PyTorch's ranks end with {[rank.returncode for rank in ranks]} (speed-ddp.log)"
            )
        return json.loads(said[0].splitlines()[-1])

    def captured(self):
        """A step so small that the GPU waits for its launches."""
        plan = self.machine.manifest["digits"]
        sides = [(self.ours(plan, 1), self.ours(plan, 1, "--cuda-graph")) for _ in range(ROUNDS)]
        plain, graph = (statistics.median(side[i] for side in sides) for i in (0, 1))
        return self.judge(graph, plain, "without")

    def update(self):
        self.machine.needs_gpu("its memory's rate")
        program = self.machine.build / "bin" / "bench-gpu-update"
        said = json.loads(self.machine.must("speed-update", program).stdout.splitlines()[-1])
        text = (
            f"{said['bytes'] / said['update'] / 1e9:.0f} GB/s, a copy"
            f" {said['bytes'] / said['copy'] / 1e9:.0f} GB/s"
        )
        return self.judge(said["update"], said["copy"], text, UPDATE)

    def judge(self, ours, theirs, what, limit=FASTER):
        text = f"{ours / theirs:.2f} ({ours * 1e3:.3f} ms / {theirs * 1e3:.3f} ms: {what})"
        if self.machine.module:
            raise Skipped(f"says nothing on the host: {text}")
        if not ours / theirs <= limit:
            raise Failed(text)
        return text
