"""Buckets in halves by the CUDA backend, without a GPU: tests/host-cuda stands in for its
device."""

import os
import unittest
import unittest.mock

import test_halves
from host_cuda import CUDA, MODULE, PLAYED
from test_overlap import LAST

LATE = {"SYNCLINE_HOST_CUDA_DEVICES": "4", "SYNCLINE_HOST_CUDA_DELAY": "100"}


class HostCudaHalvesTest(test_halves.HalvesTest):
    """Runs the tests of HalvesTest, with works of streams late at random."""

    backend = CUDA
    ranks = {"reduce-scatter": (1, 2, 4), "ring": (1, 2, 4)}  # what NCCL has

    def setUp(self):
        if not MODULE.exists():
            self.skipTest("built without CUDA's toolkit")
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(os.environ, {**PLAYED, **LATE}))

    def test_replays(self):
        """Captured halves train the bits that they train where they are not captured."""
        for scheme in self.ranks:
            with self.subTest(scheme=scheme):
                plan = self.plan("dear:4KiB", "step", 2, ("--scheme", f"*={scheme}"))
                wanted, model, _ = self.train(plan, 2, (LAST,), "told")
                found, same, _ = self.train(plan, 2, (LAST,), "replayed", ("--cuda-graph",))
                self.assert_same(found, wanted, LAST)
                self.assertEqual(same, model)


if __name__ == "__main__":
    unittest.main()
