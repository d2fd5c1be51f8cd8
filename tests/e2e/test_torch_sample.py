"""The commands of samples/pytorch/README.md, and a run that is recorded in place of an export."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import harness
import torch_plugin
from depth import long
from pages import section
from torch_ranks import TorchRanksTest
from waiting import PATIENCE

SAMPLE = harness.TOP / "samples" / "pytorch"


class PageTest(TorchRanksTest):
    def setUp(self):
        """A folder of the sample's, where `torchrun` is that of the ranks' PyTorch."""
        self.top = pathlib.Path(self.folder) / self.id()
        shutil.copytree(SAMPLE, self.top / "samples" / "pytorch")
        for name in ("data", "models", "clusters"):
            (self.top / "samples" / name).symlink_to(harness.TOP / "samples" / name)
        (self.top / "bin").mkdir()
        self.program("torchrun", f"-m torch.distributed.run --master-port {harness.free_port()}")

    def program(self, name, words):
        """A command that calls the ranks' Python with these words."""
        file = self.top / "bin" / name
        file.write_text(f'#!/bin/sh\nexec {self.python} -W ignore {words} "$@"\n')
        file.chmod(0o755)

    def commands(self):
        """Those of the page."""
        text = section("samples/pytorch/README.md")
        return [line[4:] for line in text.splitlines() if line.startswith("    ")]

    def run_all(self, lines, **variables):
        """What each command prints."""
        path = f"{self.top}/bin:{harness.BUILD}/bin:/usr/bin:{os.environ['PATH']}"
        printed = []
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.top / "samples" / "pytorch",
                env=self.variables(PATH=path, **variables),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("not the plan's", done.stderr)
            printed.append(done.stdout)
        return printed


class TorchSampleTest(PageTest):
    def numbers(self, text):
        """The losses of the epochs, then how many images are right."""
        found = [float(each) for each in re.findall(r"(?:loss|right:) ([0-9.]+)", text)]
        self.assertEqual(len(found), 4, text)
        return found

    def test_readme_holds(self):
        commands = [line for line in self.commands() if "trainer" not in line]
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


@long("the short run trains the page's CNN")
class TorchTrainerTest(PageTest):
    """Skipped where transformers cannot be had."""

    environment = staticmethod(torch_plugin.with_networks)

    def test_readme_holds(self):
        self.program("python3", "")
        commands = [line for line in self.commands() if "trainer" in line]
        strict = {"SYNCLINE_STRICT": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        printed = self.run_all(commands, **strict)
        plain, planned = (
            [float(each) for each in re.findall(r"'loss': '([0-9.]+)'", printed[at])]
            for at in (0, -1)
        )
        self.assertEqual(len(plain), 4)
        self.assertLess(plain[-1], 0.9 * plain[0])
        for one, other in zip(plain, planned, strict=True):
            self.assertAlmostEqual(one, other, delta=0.002)


if __name__ == "__main__":
    unittest.main()
