"""The buckets that `inspect --advise ddp` prints are those that DistributedDataParallel makes."""

import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

import current_pytorch
import harness
import virtual
from waiting import PATIENCE

EXPORT = harness.TOP / "samples" / "models" / "export.py"
NET = """\
import torch

def net():
    widths = [256, 512, 640, 384, 512, 320, 10]
    pairs = zip(widths, widths[1:])
    return torch.nn.Sequential(*(torch.nn.Linear(*pair) for pair in pairs))
"""
# Both ranks of a job of two take three steps by each setting, and check their buckets as told.
SCRIPT = """\
import os, sys, torch, torch.distributed as dist
from net import net
os.environ.update(GLOO_SOCKET_IFNAME="lo")
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=int(sys.argv[1]),
                        world_size=2)
from torch.nn.parallel import DistributedDataParallel
def train(words):
    model = net()
    model = eval(words)
{paste}
    for step in range(3):
        model(torch.randn(4, 256)).sum().backward()
{check}
for words in {settings}:
    train(words)
dist.destroy_process_group()
"""
SETTING = re.compile(r"^  (DistributedDataParallel\(.*bucket_cap_mb_list=.*\))$", re.MULTILINE)


class AdviceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.python = current_pytorch.python()
        except virtual.Missing as missing:
            raise unittest.SkipTest(str(missing)) from None
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "net.py").write_text(NET)
        export = ["/usr/bin/python3", EXPORT, "net:net", "--input", "256", "-o", "net.onnx"]
        subprocess.run(export, cwd=cls.folder, check=True, capture_output=True)
        cluster = cls.folder / "slow.yaml"
        cluster.write_text(
            harness.CLUSTER.format(ranks=2)
            .replace("10 Gb/s", "1 Gb/s")
            .replace("20 us", "1 ms")
        )
        words = ("--cluster", cluster, "--batch", "128", "--planner", "ddp-list")
        cls.plan = cls.folder / "net.plan"
        harness.syncline("compile", cls.folder / "net.onnx", *words, "-o", cls.plan)
        cls.advice = harness.syncline("inspect", cls.plan, "--advise", "ddp")

    def test_its_step_is_the_planners(self):
        """`compile --planner ddp-list` has the step that the advice predicts."""
        told = re.search(r"^bucket_cap_mb_list, below +(\S+ \S+)", self.advice, re.MULTILINE)
        self.assertIn(f"predicted step {told.group(1)[:4]}", harness.syncline("inspect", self.plan))

    def test_pytorch_has_these_buckets(self):
        """With and without unused parameters, by PyTorch 2.13."""
        settings = SETTING.findall(self.advice)
        self.assertEqual(len(settings), 2, self.advice)
        self.assertGreater(settings[0].count(","), 2, "expected several buckets")
        pasted = self.advice.split("DistributedDataParallel(..):\n")[1].split("\n\n")[0]
        paste, check = pasted.split("# and behind a few steps:\n")
        script = SCRIPT.format(
            paste=textwrap.indent(paste, "    "),
            check=textwrap.indent(check, "    "),
            settings=settings,
        )
        (self.folder / "train.py").write_text(script)
        words = [self.python, "-W", "ignore", "train.py"]
        ranks = [
            subprocess.Popen(
                [*words, str(rank), str(self.folder / "meet")],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        for rank in ranks:
            said, errors = rank.communicate(timeout=PATIENCE)
            self.assertEqual(said, "DDP's buckets are the plan's\n" * 2, errors)


if __name__ == "__main__":
    unittest.main()
