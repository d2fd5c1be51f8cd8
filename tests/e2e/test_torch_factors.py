"""syncline.torch.wrap() where a plan's linear layers travel by their factors."""

import unittest

import torch_wrap_ranks

FACTORS = ("--scheme", "*weight=factors", "--overlap")
CASES = (
    *("factor_gradients", "factor_weights", "factor_bytes", "factor_accumulation"),
    *("factor_uses", "factor_gradients_of_autograd", "factor_precision", "factor_copies"),
    *("factor_unused", "factor_hooks", "factor_threads"),
)


class TorchFactorsTest(torch_wrap_ranks.WrapRanksTest):
    plans = {
        **{
            f"{net}.{name}-{ranks}": (net, ranks, (*FACTORS, overlap))
            for net in ("mlp", "positions")
            for name, overlap in (("factors", "backward"), ("factors.step", "step"))
            for ranks in ((2, 4) if name == "factors" else (2,))
        },
        "branches.factors-2": ("branches", 2, (*FACTORS, "backward")),
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = cls.results(2, *CASES)
        cls.more = cls.results(4, "factor_gradients")

    def test_gradients_are_those_of_ddp(self):
        """With equal bits on all ranks, and the plan's messages, though batches differ."""
        for rank in self.found["factor_gradients"] + self.more["factor_gradients"]:
            for net, layers in (("mlp", 4), ("positions", 2)):
                self.assertLess(rank[net]["worst"], 1e-6, net)
                self.assertTrue(rank[net]["equal"], net)
                self.assertTrue(rank[net]["planned"], net)
                self.assertEqual(rank[net]["factors"], layers)

    def test_weights_are_those_of_ddp(self):
        """With momentum and Adam, whether updates are late or not."""
        for rank in self.found["factor_weights"]:
            self.assertEqual(len(rank["worst"]), 12)
            self.close(rank["worst"], 2e-6)
        for kind, late in self.found["factor_weights"][0]["late"].items():
            self.assertEqual(late > 0, kind.endswith("True"), kind)

    def test_sends_the_rows_of_the_largest_batch(self):
        for rank in self.found["factor_bytes"]:
            widths = [4 * 5 * sum(pair) for pair in ((32, 10), (56, 32), (40, 56), (24, 40))]
            self.assertEqual(rank, widths)

    def test_accumulation(self):
        """What is accumulated travels by sums, the other steps by factors."""
        for rank in self.found["factor_accumulation"]:
            for how, (error, scheme) in rank.items():
                self.assertLess(error, 1e-6, how)
                self.assertEqual(scheme, "sum" if how == "None" else "factors", how)

    def test_layers_that_are_used_otherwise(self):
        sums = {"weight_outside": 1, "without_module": 4, "compiled": 4, "vectorized": 4}
        for place, rank in enumerate(self.found["factor_uses"]):
            self.assertEqual(len(rank), 8)
            for use, (error, schemes, said) in rank.items():
                self.assertLess(error, 1e-6, use)
                self.assertEqual(schemes.count("sum"), sums.get(use, 0), use)
                # A gradient that begins a step is there already, as accumulated ones are.
                told = {4: 3, 1: 1, 0: 0}[sums.get(use, 0)] if place == 0 else 0
                self.assertEqual(said.count("its layer's gradients are not of its own"), told, use)

    def test_other_backward_passes(self):
        for own, penalty, sent in self.found["factor_gradients_of_autograd"]:
            self.assertLess(max(own, penalty), 1e-6)
            self.assertEqual(sent, 0)

    def test_autocast(self):
        for rank in self.found["factor_precision"]:
            self.assertEqual(*rank["scales"])
            self.assertLess(rank["worst"], 0.01)
            self.assertEqual(rank["kinds"], ["torch.bfloat16"])

    def test_copies_and_files(self):
        self.assertEqual(self.found["factor_copies"], [[True] * 3] * 2)

    def test_unused_layers(self):
        for rank in self.found["factor_unused"]:
            self.assertLess(max(rank), 1e-6)

    def test_hooks_of_a_script(self):
        for error, has_seen, schemes in self.found["factor_hooks"]:
            self.assertLess(error, 1e-6)
            self.assertTrue(has_seen)
            self.assertEqual(schemes.count("sum"), 1)

    def test_ranks_that_compute_otherwise(self):
        for place, (error, schemes, said) in enumerate(self.found["factor_threads"]):
            self.assertLess(error, 1e-6)
            self.assertEqual(schemes.count("sum"), 4)
            told = "ranks differ in processors, threads, PyTorch or layers" if place == 0 else ""
            self.assertIn(told, said)


if __name__ == "__main__":
    unittest.main()
