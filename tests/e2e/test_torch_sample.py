"""The commands of samples/pytorch/README.md, and a run that is recorded in place of an export."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import harness
from depth import long
from torch_ranks import TorchRanksTest
from waiting import PATIENCE

SAMPLE = harness.TOP / "samples" / "pytorch"


class TorchSampleTest(TorchRanksTest):
    def setUp(self):
        """A folder of the sample's, where `torchrun` is that of the ranks' PyTorch."""
        self.top = pathlib.Path(self.folder) / self.id()
        shutil.copytree(SAMPLE, self.top / "samples" / "pytorch")
        for name in ("data", "models", "clusters"):
            (self.top / "samples" / name).symlink_to(harness.TOP / "samples" / name)
        (self.top / "bin").mkdir()
        torchrun = self.top / "bin" / "torchrun"
        port = harness.free_port()
        words = f"-W ignore -m torch.distributed.run --master-port {port}"
        torchrun.write_text(f'#!/bin/sh\nexec {self.python} {words} "$@"\n')
        torchrun.chmod(0o755)

    def run_all(self, lines):
        """What each command prints."""
        path = f"{self.top}/bin:{harness.BUILD}/bin:/usr/bin:{os.environ['PATH']}"
        printed = []
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.top / "samples" / "pytorch",
                env=self.variables(PATH=path),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("not the plan's", done.stderr)
            printed.append(done.stdout)
        return printed

    def numbers(self, text):
        """The losses of the epochs, then how many images are right."""
        found = [float(each) for each in re.findall(r"(?:loss|right:) ([0-9.]+)", text)]
        self.assertEqual(len(found), 4, text)
        return found

    def test_readme_holds(self):
        text = (SAMPLE / "README.md").read_text()
        commands = [line[4:] for line in text.splitlines() if line.startswith("    ")]
        printed = self.run_all(commands)
        plain, planned = self.numbers(printed[0]), self.numbers(printed[-1])
        for one, other in zip(plain[:-1], planned[:-1]):
            self.assertAlmostEqual(one, other, delta=0.05)
        self.assertGreater(min(plain[-1], planned[-1]), 90)

    @long("the short run plans an export, and reads what a run recorded")
    def test_a_recorded_run_is_planned(self):
        script = self.top / "samples" / "pytorch" / "train.py"
        text = script.read_text().replace('"gloo"', '"cpu:syncline"')
        capped = text.replace("Parallel(cnn())", "Parallel(cnn(), bucket_cap_mb=0.25)")
        self.assertNotEqual(text, capped)
        script.write_text(capped)
        words = "--cluster laptop --planner ddp-list --quiet -o net.plan"
        self.run_all(
            [
                "SYNCLINE_RECORD=net.csv torchrun --nproc-per-node 2 train.py",
                f"syncline compile net.csv {words}",
            ]
        )
        # The plan's buckets are DDP's, or several of them merged.
        planned = self.top / "samples" / "pytorch" / "planned.py"
        text = text.replace("DistributedDataParallel(cnn())", "syncline.torch.ddp(cnn())")
        planned.write_text(text.replace("import torch\n", "import torch\nimport syncline.torch\n"))
        command = "SYNCLINE_PLAN=net.plan torchrun --nproc-per-node 2 planned.py"
        self.assertGreater(self.numbers(self.run_all([command])[0])[-1], 90)


if __name__ == "__main__":
    unittest.main()
