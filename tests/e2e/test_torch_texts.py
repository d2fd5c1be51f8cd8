"""Transformers of text by the plan beside DistributedDataParallel over Gloo: gradients of a step,
losses of many, and the messages, which are exactly the plan's."""

import unittest

import torch_networks_case
import torch_plugin
from depth import long
from torch_networks_case import MODELS


@long("test_torch_training compares small networks")
class TorchTextsTest(torch_networks_case.NetworksTest):
    environment = staticmethod(torch_plugin.python)

    def test_gpt2_by_halves_and_accumulation(self):
        self.compare("gpt2", self.model_plan(2, MODELS / "gpt-2.onnx"))

    def test_halves_and_accumulation(self):
        self.compare("halves", self.model_plan(2, self.characters()))

    def test_two_groups_of_shards(self):
        plan = self.model_plan(4, self.characters())
        self.compare("sharded", plan, ranks=4, factor=2.0, is_planned=False)


if __name__ == "__main__":
    unittest.main()
