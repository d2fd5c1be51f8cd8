"""Messages of the CUDA backend that reach into the next forward pass, without a GPU:
tests/host-cuda stands in for its device."""

import os
import unittest
import unittest.mock

import test_overlap
from host_cuda import CUDA, MODULE, PLAYED

WFBP = ("--planner", "wfbp", "--scheme")
LATE = {"SYNCLINE_HOST_CUDA_DEVICES": "3", "SYNCLINE_HOST_CUDA_DELAY": "100"}


class HostCudaOverlapTest(test_overlap.OverlapTest):
    """Runs the tests of OverlapTest, with works of streams late at random."""

    ways = {
        "ring": {"extra": (*WFBP, "*=ring")},
        "factors": {"extra": ("--scheme", "*=factors")},
        "sharded": {"extra": (*WFBP, "*=reduce-scatter")},
        "servers": {"extra": (*WFBP, "*=ps")},
    }
    ranks = (1, 3)
    few = {}
    backend = CUDA

    def setUp(self):
        if not MODULE.exists():
            self.skipTest("built without CUDA's toolkit")
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(os.environ, {**PLAYED, **LATE}))

    def test_rounded_weights(self):
        """Copies of weights in bf16 are made again behind the update that the next step does."""
        for way in ("ring", "sharded"):
            with self.subTest(way=way):
                self.check(way, 2, ("--precision", "bf16"))

    def test_refuses_what_it_cannot(self):
        plan = self.plan("ring", 2, "step")
        run = ("run", plan, "-n", 2, *CUDA, "--steps", 1, "--cuda-graph")
        self.refuses(run, plan, "'--overlap step'", "'--cuda-graph'")


if __name__ == "__main__":
    unittest.main()
