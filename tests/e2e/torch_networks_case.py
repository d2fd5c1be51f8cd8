"""What tests of whole networks share, of which each file is a part of the long run: they train by a
plan and by DistributedDataParallel over Gloo."""

import json
import os
import subprocess

import harness
from torch_ranks import EXPORT, PACKAGE, TESTS, TorchRanksTest

MODELS = harness.TOP / "samples" / "models"
SECONDS = 1800  # as long as a part of the long run may take


class NetworksTest(TorchRanksTest):
    script = TESTS / "torch_networks.py"

    @classmethod
    def variables(cls, **extra):
        path = os.pathsep.join((str(PACKAGE), str(cls.folder / "site"), str(MODELS)))
        return super().variables(**{"PYTHONPATH": path, **extra})

    def plan(self, ranks, model, *extra):
        """The plan of a file, for links that are slow enough for several messages."""
        plan = self.folder / f"{model.stem}-{ranks}.plan"
        cluster = self.folder / f"slow{ranks}.yaml"
        text = harness.CLUSTER.format(ranks=ranks)
        cluster.write_text(text.replace("10 Gb/s", "1 Gb/s").replace("20 us", "100 us"))
        words = ("--cluster", cluster, "--planner", "ddp-list", "--quiet", *extra)
        harness.syncline("compile", model, *words, "-o", plan)
        return plan

    def model_plan(self, ranks, model):
        return self.plan(ranks, model, "--batch", 4, "--plan-only")

    def characters(self):
        model = self.folder / "characters.onnx"
        export = ["/usr/bin/python3", EXPORT, "gpt:characters", "-o", model]
        subprocess.run(export, cwd=MODELS, check=True, capture_output=True)
        return model

    def compare(self, kind, plan, ranks=2, factor=1.0, is_planned=True, **variables):
        """On two ranks a sum has one order, so that losses are DDP's. On more ranks which order is
        nearer to float64 is chance: distances may differ by a `factor`."""
        started = self.ranks(kind, ranks, plan, seconds=SECONDS, **variables)
        for said, errors in self.ends(started, seconds=SECONDS):
            found = json.loads(said.splitlines()[-1])
            print(f"\n{kind} on {ranks} ranks: {found}", end="", flush=True)
            with self.subTest(**found):
                self.assertLess(found["apart"], 1e-6)
                self.assertLessEqual(found["far"], factor * found["DDP is far"])
                if is_planned:
                    self.assertNotIn("not the plan's", errors)
                    self.assertGreater(found["planned"], 1)
