"""Several channels of the CUDA backend, each a communicator on its own stream, without a GPU:
tests/host-cuda stands in for its device."""

import os
import unittest
import unittest.mock

import harness
import test_channels
from host_cuda import CUDA, MODULE, PLAYED

LATE = {"SYNCLINE_HOST_CUDA_DEVICES": "3", "SYNCLINE_HOST_CUDA_DELAY": "100"}


class HostCudaChannelsTest(test_channels.ChannelsTest):
    """Runs the tests of ChannelsTest, with works of streams late at random."""

    ways = {
        "ring": {"ranks": 3, "cluster": harness.CLUSTER, "scheme": "*=ring"},
        "mixed": {"ranks": 2, "cluster": harness.CLUSTER, "scheme": "fc*=factors"},
        "sharded": {"ranks": 3, "cluster": harness.CLUSTER, "scheme": "*=reduce-scatter"},
    }
    cases = [("ring", 2, "backward"), ("mixed", 2, "step"), ("sharded", 3, "step")]
    backend = CUDA

    def setUp(self):
        if not MODULE.exists():
            self.skipTest("built without CUDA's toolkit")
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(os.environ, {**PLAYED, **LATE}))

    def test_replays(self):
        """Captured steps of two channels."""
        for way, overlap in (("ring", "backward"), ("sharded", "step")):
            with self.subTest(way=way, overlap=overlap):
                self.check(way, 2, overlap, ("--cuda-graph",))


if __name__ == "__main__":
    unittest.main()
