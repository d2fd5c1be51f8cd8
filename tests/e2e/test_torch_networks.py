"""Whole networks by the plan beside DistributedDataParallel over Gloo: gradients of a step, losses
of many, and the messages, which are exactly the plan's."""

import json
import os
import subprocess
import unittest

import current_pytorch
import harness
import torch_plugin
from depth import long
from torch_ranks import EXPORT, PACKAGE, TESTS, TorchRanksTest

MODELS = harness.TOP / "samples" / "models"
SECONDS = 7200  # on a busy machine GPT-2 takes more than half an hour


class NetworksTest(TorchRanksTest):
    script = TESTS / "torch_networks.py"

    def plan(self, ranks, model):
        """The plan of a file, for links that are slow enough for several messages."""
        plan = self.folder / f"{model.stem}-{ranks}.plan"
        cluster = self.folder / f"slow{ranks}.yaml"
        text = harness.CLUSTER.format(ranks=ranks)
        cluster.write_text(text.replace("10 Gb/s", "1 Gb/s").replace("20 us", "100 us"))
        words = ("--cluster", cluster, "--batch", 4, "--planner", "ddp-list", "--quiet")
        harness.syncline("compile", model, *words, "--plan-only", "-o", plan)
        return plan

    def characters(self):
        model = self.folder / "characters.onnx"
        export = ["/usr/bin/python3", EXPORT, "gpt:characters", "-o", model]
        subprocess.run(export, cwd=MODELS, check=True, capture_output=True)
        return model

    def compare(self, kind, model, ranks=2, factor=1.0, **variables):
        """On two ranks a sum has one order, so that losses are DDP's. On more ranks which order is
        nearer to float64 is chance: distances may differ by a `factor`."""
        path = os.pathsep.join((str(PACKAGE), str(self.folder / "site"), str(MODELS)))
        variables["PYTHONPATH"] = path
        started = self.ranks(kind, ranks, self.plan(ranks, model), seconds=SECONDS, **variables)
        for said, errors in self.ends(started, seconds=SECONDS):
            found = json.loads(said.splitlines()[-1])
            with self.subTest(**found):
                self.assertLess(found["apart"], 1e-6)
                self.assertLessEqual(found["far"], factor * found["DDP is far"])
                if kind not in ("compiled", "sharded"):
                    self.assertNotIn("not the plan's", errors)
                    self.assertGreater(found["planned"], 1)


@long("test_torch_training compares small networks")
class TorchNetworksTest(NetworksTest):
    environment = staticmethod(torch_plugin.with_networks)

    def test_resnet50(self):
        self.compare("resnet50", MODELS / "resnet-50.onnx")

    def test_googlenet(self):
        self.compare("googlenet", MODELS / "googlenet.onnx")

    def test_googlenet_on_four_ranks(self):
        self.compare("googlenet", MODELS / "googlenet.onnx", ranks=4, factor=2.0)

    def test_gpt2_by_halves_and_accumulation(self):
        self.compare("gpt2", MODELS / "gpt-2.onnx")

    def test_halves_and_accumulation(self):
        self.compare("halves", self.characters())

    def test_compiled(self):
        """Compiled graphs have their gradients ready in an order of their own, which a plan of the
        model's file does not know; gradients are right all the same."""
        cache = str(self.folder / "inductor")
        self.compare("compiled", self.characters(), factor=2.0, TORCHINDUCTOR_CACHE_DIR=cache)

    def test_two_groups_of_shards(self):
        self.compare("sharded", self.characters(), ranks=4, factor=2.0)


@long("test_torch_group compares a small network")
class GroupNetworksTest(NetworksTest):
    """PyTorch before 2.14."""

    environment = staticmethod(current_pytorch.python)

    def test_characters(self):
        self.compare("characters", self.characters())

    def test_gpt2_by_halves_and_accumulation(self):
        self.compare("gpt2", MODELS / "gpt-2.onnx")


if __name__ == "__main__":
    unittest.main()
