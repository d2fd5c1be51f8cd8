"""PyTorch's ways to train, by the backend 'syncline': gradients are those over Gloo or of one
process, and the calls are the plan's messages."""

import unittest

from depth import long
from torch_ranks import TESTS, TorchRanksTest


class TorchTrainingTest(TorchRanksTest):
    script = TESTS / "torch_training.py"

    def train(self, *kinds, ranks=2, **variables):
        started = self.ranks(",".join(kinds), ranks, self.plan(ranks), **variables)
        for said, _ in self.ends(started):
            self.assertEqual(said.split(), list(kinds))

    def test_settings_of_ddp(self):
        """One process group carries one after the other, each with new buckets."""
        self.train(
            *("unused", "ignored", "static", "static_unused"), *("hook", "accumulation", "autocast")
        )

    def test_shards_and_uneven_inputs(self):
        self.train("shards", "redistributed", "uneven", "power_sgd")

    @long("the short run has all ways without a compiler on two ranks")
    def test_more_ranks(self):
        self.train(
            *("unused", "static", "hook", "accumulation", "shards", "redistributed", "uneven"),
            ranks=4,
        )

    @long("the short run has the same buckets without a compiler")
    def test_compiled_models(self):
        self.train("compiled", "inductor", TORCHINDUCTOR_CACHE_DIR=str(self.folder / "inductor"))


if __name__ == "__main__":
    unittest.main()
