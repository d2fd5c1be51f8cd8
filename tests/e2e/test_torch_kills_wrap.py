"""A rank of PyTorch that is killed or stopped at a random moment within a step, by wrap(): all
others name it by an exception."""

import unittest

import torch_kills
from depth import long


@long("some moments in test_torch_wrap")
class TorchKillsWrapTest(torch_kills.KillsTest):
    way = "wrap"


if __name__ == "__main__":
    unittest.main()
