"""Messages of the CUDA backend that reach into the next forward pass, without a GPU:
tests/host-cuda stands in for its device."""

import os
import unittest
import unittest.mock

import test_overlap
from depth import repeat
from host_cuda import CUDA, MODULE, PLAYED
from test_overlap import LAST

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
        # Engines chosen by time round differently, so that both plans share one choice.
        words = ("--precision", "bf16", "--tune-convolutions", self.folder / "convolutions.tsv")
        for way in ("ring", "sharded"):
            with self.subTest(way=way):
                self.check(way, 2, words)

    def test_replays(self):
        """Captured steps are those of even and of odd numbers, with messages apart."""
        every = [("ring", 1), ("ring", 3)] + [(way, 2) for way in self.ways]
        for way, ranks in repeat([("ring", 1), ("factors", 2), ("sharded", 2)], every):
            with self.subTest(way=way, ranks=ranks):
                self.check(way, ranks, ("--cuda-graph",))

    def test_replays_orders(self):
        """Captured messages that overtake each other and carry parts of gradients train the bits
        that they train where they are not captured."""
        plan = self.order("optimal")
        wanted, model, _ = self.train(plan, 2, (LAST,), "told")
        found, same, _ = self.train(plan, 2, (LAST,), "replayed", ("--cuda-graph",))
        self.assert_same(found, wanted, LAST)
        self.assertEqual(same, model)

    def test_killed_rank_of_captured_steps(self):
        self.loses(("--cuda-graph",))


if __name__ == "__main__":
    unittest.main()
