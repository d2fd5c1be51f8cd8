"""A rank of PyTorch that is killed or stopped at a random moment within a step, by the backend
'syncline' with a plan: all others name it by an exception."""

import unittest

import torch_kills
from depth import long


@long("some moments in test_torch_backend and test_torch_watch")
class TorchKillsTest(torch_kills.KillsTest):
    way = "plan"


if __name__ == "__main__":
    unittest.main()
