"""syncline.torch.wrap() where ranks update shards of parameters."""

import unittest

import torch_wrap_ranks
from depth import long

SHARDED = ("--planner", "wfbp", "--scheme", "*=reduce-scatter")


def plans(ranks):
    """Of the net 'mlp', by name, for so many ranks."""
    return {
        f"mlp.{name}-{ranks}": ("mlp", ranks, ("--overlap", overlap, *options))
        for name, overlap, options in (
            ("sharded", "backward", SHARDED),
            ("sharded.step", "step", SHARDED),
            ("sharded.some", "step", ("--scheme", "2.*=reduce-scatter")),
            ("sharded.cut", "step", ("--planner", "p3:1KiB", *SHARDED[2:])),
            ("ring", "step", ("--scheme", "*=ring")),
        )
    }


class ShardsTest(torch_wrap_ranks.WrapRanksTest):
    """Runs of `count` ranks, of which a class has `cases`."""

    count, cases = 0, ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = cls.results(cls.count, *(f"shard_{case}" for case in cls.cases))

    def are_those_of_ddp(self, kinds):
        """With momentum and AdamW, two groups of parameters and a scheduler; with equal bits on all
        ranks, by the messages of the plan, and each rank with its part of the state."""
        for rank in self.found["shard_weights"]:
            self.assertEqual(len(rank), kinds)
            for kind, found in rank.items():
                with self.subTest(kind):
                    self.assertLess(found["worst"], 2e-6)
                    self.assertLess(found["state"], 2e-6)
                    self.assertTrue(found["equal"])
                    self.halves(found)
        for kind in rank:
            shares = [rank[kind]["share"] for rank in self.found["shard_weights"]]
            if not kind.endswith("some"):
                self.assertAlmostEqual(sum(shares), 1, places=6, msg=kind)
                self.assertLess(max(shares), 1.1 / self.count, kind)

    def halves(self, found):
        """Each message that is sharded has both halves, all in the plan's order."""
        self.assertEqual(sorted(found["planned"][0]), sorted(found["planned"][1]))
        self.assertGreater(len(found["planned"][0]), 0)
        halves = [[each for each, half in found["halves"] if half == which] for which in (1, 2)]
        self.assertEqual(halves, found["planned"])


@long("two ranks below; four in unit-api's ShardsOf")
class FourRanksTest(ShardsTest):
    plans = {name: each for name, each in plans(4).items() if "some" not in name}
    count, cases = 4, ("weights",)

    def test_weights_and_state(self):
        self.are_those_of_ddp(6)


class OneRankTest(ShardsTest):
    plans = plans(1)
    count, cases = 1, ("steps",)

    def test_steps(self):
        self.assertLess(self.found["shard_steps"][0], 2e-6)


class TorchShardsTest(ShardsTest):
    plans = {
        **plans(2),
        "mixed.sharded-2": ("mixed", 2, ("--overlap", "backward", *SHARDED)),
        "mixed.sharded.step-2": ("mixed", 2, ("--overlap", "step", *SHARDED)),
    }
    count, cases = 2, ("weights", "steps", "clipping", "gradients")

    def test_weights_and_state_are_those_of_ddp(self):
        self.are_those_of_ddp(12)

    def test_clipping(self):
        """By our function, as by PyTorch's with DDP: sharded, late, cut, and with a barrier."""
        for rank in self.found["shard_clipping"]:
            self.assertEqual(len(rank), 5)
            for plan, (weights, norms, equal) in rank.items():
                with self.subTest(plan):
                    self.assertLess(weights, 2e-6)
                    self.assertLess(norms, 2e-6)
                    self.assertTrue(equal)

    def test_parameters_may_arrive_in_the_next_forward_pass(self):
        for rank in self.found["shard_weights"]:
            for kind, found in rank.items():
                self.assertEqual(found["late"], False if kind.endswith("sharded") else True, kind)

    def test_accumulation_and_steps_without_gradients(self):
        for error in self.found["shard_steps"]:
            self.assertLess(error, 2e-6)

    def test_without_the_optimizer(self):
        for place, (error, said) in enumerate(self.found["shard_gradients"]):
            self.assertLess(error, 1e-6)
            told = "ranks update shards of it, which wrap() does with 'optimizer' alone"
            self.assertEqual(said.count(told), place == 0)


class ShardStatesTest(ShardsTest):
    plans = {
        **{name: each for name, each in plans(2).items() if "some" not in name},
        "pictures.sharded-2": ("pictures", 2, ("--overlap", "backward", *SHARDED)),
    }
    count, cases = 2, ("states", "formats", "refusals", "groups")

    def test_state_is_that_of_whole_parameters(self):
        for rank in self.found["shard_states"]:
            self.assertEqual(len(rank), 10)
            for name, found in rank.items():
                for what, difference in found.items():
                    with self.subTest(name, what=what):
                        self.assertLess(difference, 2e-6)
                self.assertEqual(found["loaded"], 0)
                self.assertEqual(found["resumed"], 0)

    def test_memory_formats(self):
        for place, rank in enumerate(self.found["shard_formats"]):
            for kind, (weights, state, said) in rank.items():
                self.assertLess(weights, 2e-6, kind)
                self.assertLess(state, 2e-6, kind)
                told = kind == "transposed" and place == 0
                self.assertEqual("'0.weight': not contiguous in memory" in said, told, said)

    def test_refusals(self):
        changed = r"gradients were changed before .*: expected syncline\.torch\.clip_grad_norm_\(\)"
        scaled = r"step\(\) by a GradScaler needs all gradients: expected wrap\(\) without 'opt"
        for rank in self.found["shard_refusals"]:
            self.assertRegex(rank["scaled ring"], scaled)
            for plan in ("sharded", "sharded.step"):
                for kind, said in (
                    *(("clipped", changed), ("scaled", scaled), ("added", changed)),
                    ("own", r"expected step\(\) with the gradient that its message brought"),
                    ("removed", r"'0\.weight': expected in a group of 'optimizer', as when"),
                    ("closure", r"step\(\) with a closure needs all gradients"),
                ):
                    self.assertRegex(rank[f"{kind} {plan}"], said)
            self.assertIn("each rank has but a shard of them", rank["clipped sharded"])
            for kind, name in (("lbfgs", r"torch\.optim\.lbfgs\.LBFGS"), ("own", r"\S+\.Own")):
                self.assertRegex(rank[kind], f"expected one of torch.optim's SGD, .*, got {name}: ")
            self.assertRegex(rank["covers"], "expected in 'optimizer', since the plan shards upd")
            self.assertRegex(rank["ranks"], "expected equal arguments on all ranks, got .*'SGD'")

    def test_changed_groups(self):
        for weights, state in self.found["shard_groups"]:
            self.assertLess(weights, 2e-6)
            self.assertLess(state, 2e-6)

    def test_state_that_one_rank_asks_for(self):
        said = self.ended("shard_alone")
        self.assertRegex(said, r"rank 0: .*(lost rank 1|gave this rank up).* in step 1")


if __name__ == "__main__":
    unittest.main()
