"""Networks of images by the plan beside DistributedDataParallel over Gloo: gradients of a step,
losses of fifty, and the messages, which are exactly the plan's."""

import unittest

import torch_networks_case
import torch_plugin
from depth import long
from torch_networks_case import MODELS


@long("test_torch_training compares small networks")
class TorchNetworksTest(torch_networks_case.NetworksTest):
    environment = staticmethod(torch_plugin.with_networks)

    def train(self, kind, file, ranks=2, **how):
        self.compare(kind, self.model_plan(ranks, MODELS / file), ranks, **how)

    def test_resnet50(self):
        self.train("resnet50", "resnet-50.onnx")

    def test_googlenet(self):
        self.train("googlenet", "googlenet.onnx")

    def test_googlenet_on_four_ranks(self):
        self.train("googlenet", "googlenet.onnx", ranks=4, factor=2.0)


if __name__ == "__main__":
    unittest.main()
