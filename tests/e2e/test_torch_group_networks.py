"""Transformers of text by the plan beside DistributedDataParallel over Gloo, by PyTorch before
2.14."""

import unittest

import current_pytorch
import torch_networks_case
from depth import long
from torch_networks_case import MODELS


@long("test_torch_group compares a small network")
class TorchGroupNetworksTest(torch_networks_case.NetworksTest):
    environment = staticmethod(current_pytorch.python)

    def test_characters(self):
        self.compare("characters", self.model_plan(2, self.characters()))

    def test_gpt2_by_halves_and_accumulation(self):
        self.compare("gpt2", self.model_plan(2, MODELS / "gpt-2.onnx"))


if __name__ == "__main__":
    unittest.main()
