"""Tests whose ranks are processes of PyTorch with the backend 'syncline'."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import c_api
import harness
import torch_plugin
import virtual
from waiting import PATIENCE

TESTS = harness.TOP / "tests" / "e2e"
PACKAGE = harness.TOP / "runtime" / "python"
EXPORT = harness.TOP / "samples" / "models" / "export.py"
NET = """\
import torch

def net():
    widths = [256, 512, 640, 384, 512, 320, 10]
    pairs = zip(widths, widths[1:])
    return torch.nn.Sequential(*(torch.nn.Linear(*pair) for pair in pairs))
"""
POINTS = "[torch.distributed.backends]\nsyncline = syncline.torch:register\n"


class TorchRanksTest(unittest.TestCase):
    script = TESTS / "torch_rank.py"
    environment = staticmethod(torch_plugin.python)  # whose Python the ranks have

    @classmethod
    def setUpClass(cls):
        try:
            cls.python = cls.environment()
        except virtual.Missing as missing:
            raise unittest.SkipTest(str(missing)) from None
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "net.py").write_text(NET)
        export = ["/usr/bin/python3", EXPORT, "net:net", "--input", "256", "-o", "net.onnx"]
        subprocess.run(export, cwd=cls.folder, check=True, capture_output=True)
        # A wheel's entry point, by which PyTorch finds the backend without an import.
        entry = cls.folder / "site" / "syncline-0.0.dist-info"
        entry.mkdir(parents=True)
        (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: syncline\nVersion: 0.0\n")
        (entry / "entry_points.txt").write_text(POINTS)

    def plan(self, ranks, *extra):
        plan = self.folder / f"net-{ranks}{len(extra)}.plan"
        if not plan.exists():
            cluster = self.folder / f"slow{ranks}.yaml"
            text = harness.CLUSTER.format(ranks=ranks)
            cluster.write_text(text.replace("10 Gb/s", "1 Gb/s").replace("20 us", "1 ms"))
            words = ("--cluster", cluster, "--batch", 128, "--planner", "ddp-list", "--quiet")
            model = self.folder / "net.onnx"
            harness.syncline("compile", model, *words, "--plan-only", *extra, "-o", plan)
        return plan

    def variables(self, **extra):
        """The environment of ranks, without a plan."""
        site = self.folder / "site"
        given = {name: value for name, value in os.environ.items() if name != "SYNCLINE_PLAN"}
        return {
            **given,
            "PYTHONPATH": os.pathsep.join((str(PACKAGE), str(site))),
            "SYNCLINE_LIBRARY": str(c_api.LIBRARY),
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
            "MEET": f"tcp://127.0.0.1:{harness.free_port()}",
            **extra,
        }

    def ranks(self, kind, ranks, plans=None, seconds=PATIENCE, **variables):
        """Processes of the script; `plans` has each one's, or is the plan of all."""
        plans = plans if isinstance(plans, list) else [plans] * ranks
        common = self.variables(**variables)
        started = [
            subprocess.Popen(
                [
                    *(self.python, "-W", "ignore", self.script, kind, str(rank), str(ranks)),
                    *(self.folder, str(seconds)),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**common, **({"SYNCLINE_PLAN": str(plan)} if plan else {})},
            )
            for rank, plan in enumerate(plans)
        ]
        self.addCleanup(lambda: [(each.kill(), each.communicate()) for each in started])
        return started

    def ends(self, started, code=0):
        """What each rank said, and its errors."""
        found = [rank.communicate(timeout=PATIENCE) for rank in started]
        for rank, (said, errors) in zip(started, found):
            self.assertEqual(rank.returncode, code, said + errors)
        return found
