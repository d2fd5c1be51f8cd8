"""Tests whose ranks are processes of PyTorch with the backend 'syncline'."""

import os
import subprocess

import harness
from pytorch_case import PACKAGE, PyTorchCase
from waiting import PATIENCE

TESTS = harness.TOP / "tests" / "e2e"
EXPORT = harness.TOP / "samples" / "models" / "export.py"
NET = """\
import torch

def net():
    widths = [256, 512, 640, 384, 512, 320, 10]
    pairs = zip(widths, widths[1:])
    return torch.nn.Sequential(*(torch.nn.Linear(*pair) for pair in pairs))
"""
POINTS = "[torch.distributed.backends]\nsyncline = syncline.torch:register\n"


class TorchRanksTest(PyTorchCase):
    script = TESTS / "torch_rank.py"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "net.py").write_text(NET)
        export = ["/usr/bin/python3", EXPORT, "net:net", "--input", "256", "-o", "net.onnx"]
        subprocess.run(export, cwd=cls.folder, check=True, capture_output=True)
        # A wheel's entry point, by which PyTorch finds the backend without an import.
        entry = cls.folder / "site" / "syncline-0.0.dist-info"
        entry.mkdir(parents=True)
        (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: syncline\nVersion: 0.0\n")
        (entry / "entry_points.txt").write_text(POINTS)

    @classmethod
    def slow(cls, ranks):
        """A cluster file of slow links, for which several buckets pay."""
        cluster = cls.folder / f"slow{ranks}.yaml"
        text = harness.CLUSTER.format(ranks=ranks)
        cluster.write_text(text.replace("10 Gb/s", "1 Gb/s").replace("20 us", "1 ms"))
        return cluster

    def plan(self, ranks, *extra):
        plan = self.folder / f"net-{ranks}{len(extra)}.plan"
        if not plan.exists():
            cluster = ("--cluster", self.slow(ranks), "--quiet")
            words = (*cluster, "--batch", 128, "--planner", "ddp-list")
            model = self.folder / "net.onnx"
            harness.syncline("compile", model, *words, "--plan-only", *extra, "-o", plan)
        return plan

    @classmethod
    def variables(cls, **extra):
        """The environment of ranks, which have the wheel's entry point."""
        path = os.pathsep.join((str(PACKAGE), str(cls.folder / "site")))
        return super().variables(**{"PYTHONPATH": path, **extra})

    def ranks(self, kind, ranks, plans=None, seconds=PATIENCE, **variables):
        """Processes of the script; `plans` has each one's, or is the plan of all."""
        plans = plans if isinstance(plans, list) else [plans] * ranks
        common, words = self.variables(**variables), (self.folder, seconds)
        return [
            self.start(
                (self.script, kind, rank, ranks, *words),
                {**common, **({"SYNCLINE_PLAN": str(plan)} if plan else {})},
            )
            for rank, plan in enumerate(plans)
        ]
