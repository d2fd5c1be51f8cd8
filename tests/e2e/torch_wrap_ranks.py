"""Ranks that run cases of wrapped models, and their plans."""

import json
import pathlib
import subprocess

import harness
import stepcache
from pytorch_case import PyTorchCase
from waiting import PATIENCE, SILENCE

HERE = pathlib.Path(__file__).parent
EXPORT = harness.TOP / "samples" / "models" / "export.py"
# What is exported of torch_wrap_nets.py to plan from, with the length of its input.
EXPORTS = {
    "mlp": ("mlp", "24"),
    "mixed": ("Twin", "72"),
    "branches": ("Both", "24"),
    "positions": ("Positions", "5,24"),
    "pictures": ("pictures", "3,6,6"),
}
# The net 'mlp' as a layer trace, a row a parameter.
TRACE = "name,bytes,forward,backward\n" + "".join(
    f"{2 * layer}.{name},{size}B,1ms,2ms\n"
    for layer, (inputs, outputs) in enumerate(((24, 40), (40, 56), (56, 32), (32, 10)))
    for name, size in (("weight", 4 * inputs * outputs), ("bias", 4 * outputs))
)


class WrapRanksTest(PyTorchCase):
    """`plans` by name: the net, the ranks, and options of `compile`."""

    plans = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        used = {net for net, *_ in cls.plans.values()}
        for net, (function, inputs) in EXPORTS.items():
            if net not in used:
                continue
            words = ("--input", inputs, "-o", cls.folder / f"{net}.onnx")
            export = ["/usr/bin/python3", EXPORT, f"torch_wrap_nets:{function}", *words]
            subprocess.run(export, cwd=HERE, check=True, capture_output=True)
        (cls.folder / "trace.csv").write_text(TRACE)
        with stepcache.none():
            for name in cls.plans:
                cls.compile(name)

    @classmethod
    def compile(cls, name):
        net, ranks, options = cls.plans[name]
        cluster = cls.folder / f"{ranks}.yaml"
        text = harness.CLUSTER.format(ranks=ranks)
        cluster.write_text(text.replace("10 Gb/s", "10 Mb/s").replace("20 us", "1 ms"))
        words = ("--cluster", cluster, "--quiet")
        model, plan = cls.folder / "trace.csv", cls.folder / f"{name}.plan"
        if net in EXPORTS:
            words += ("--batch", 4, "--loss", "cross-entropy")
            model = cls.folder / f"{net}.onnx"
        harness.syncline("compile", model, *words, *options, "-o", plan)

    @classmethod
    def ranks(cls, ranks, *kinds, seconds=PATIENCE):
        variables = cls.variables()
        script = (cls.python, "-W", "ignore", HERE / "torch_wrap_rank.py", cls.folder)
        return [
            subprocess.Popen(
                [*script, str(rank), str(ranks), str(seconds), *kinds],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=variables,
            )
            for rank in range(ranks)
        ]

    @classmethod
    def results(cls, ranks, *kinds):
        """What each kind's case printed, by rank."""
        found = {kind: [] for kind in kinds}
        started = cls.ranks(ranks, *kinds)
        try:
            for process in started:
                said, errors = process.communicate(timeout=PATIENCE)
                if process.returncode != 0:
                    raise AssertionError(said + errors)
                for line in said.splitlines():
                    for kind, result in json.loads(line).items():
                        found[kind].append(result)
        finally:
            for process in started:
                process.kill()
                process.communicate()
        return found

    def ended(self, kind, stop=None):
        """What rank 0 said, whose rank 1 is lost."""
        started = self.ranks(2, kind, seconds=SILENCE)
        self.addCleanup(lambda: [(each.kill(), each.communicate()) for each in started])
        if stop:
            started[1].stdout.readline()
            stop(started[1])
        _, errors = started[0].communicate(timeout=PATIENCE)
        self.assertNotEqual(started[0].returncode, 0)
        return errors

    def close(self, worst, limit=1e-6):
        for what, error in worst.items():
            self.assertLess(error, limit, what)
