"""The buckets that `inspect --advise ddp` prints are those that DistributedDataParallel makes."""

import re
import textwrap
import unittest

import current_pytorch
import harness
from torch_ranks import TorchRanksTest

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


class AdviceTest(TorchRanksTest):
    environment = staticmethod(current_pytorch.python)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = cls.slow(2)
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
        words = [("train.py", rank, self.folder / "meet") for rank in range(2)]
        variables = self.variables()
        started = [self.start(each, variables, self.folder) for each in words]
        for said, errors in self.ends(started):
            self.assertEqual(said, "DDP's buckets are the plan's\n" * 2, errors)


if __name__ == "__main__":
    unittest.main()
