"""syncline.torch.wrap(): models that are loaded, forked or replaced by others of their layers."""

import unittest

import torch_wrap_ranks
from test_torch_shards import SHARDED

KINDS = (
    *("loaded_by_parts", "slots", "complex_elements", "forked", "one_optimizer", "wrapped_again"),
    *("scaled_steps", "other_groups", "interrupted_step", "memory_changed"),
    *("derived_optimizer", "dropped_gradients", "replaced_gradients"),
)


class TorchLivesTest(torch_wrap_ranks.WrapRanksTest):
    plans = {
        f"mlp.{name}-2": ("mlp", 2, options)
        for name, options in (
            ("cut", ("--planner", "p3:1KiB", "--overlap", "step")),
            ("sharded", ("--overlap", "backward", *SHARDED)),
            ("factors", ("--overlap", "backward", "--scheme", "*=factors")),
        )
    }
    plans["mlp-2"] = ("mlp", 2, ("--overlap", "backward"))
    plans["mlp.local-2"] = ("mlp", 2, ("--consistency", "local:2"))
    plans["pictures.sharded-2"] = ("pictures", 2, ("--overlap", "backward", *SHARDED))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = cls.results(2, *KINDS)

    def test_late_updates_do_not_change_loaded_weights(self):
        for place, rank in enumerate(self.found["loaded_by_parts"]):
            for kind, (late, error) in rank.items():
                self.assertTrue(late > 0 or place != 0, kind)
                self.assertEqual(error, 0, kind)

    def test_outputs_with_slots(self):
        for error in self.found["slots"]:
            self.assertLess(error, 1e-6)

    def test_elements_without_mean(self):
        expected = "parameter '0.bias': expected elements of float32, .*, got complex64$"
        for said in self.found["complex_elements"]:
            self.assertRegex(said, expected)

    def test_forks(self):
        for (ended, calls), said in self.found["forked"]:
            self.assertEqual(ended, [0, "nothing was refused"])
            self.assertEqual(calls[0], 0)
            self.assertIn("which joined the group, got one of process", calls[1])
            self.assertEqual(said, "nothing was refused")

    def test_layers_of_a_model_that_is_gone(self):
        for rank in self.found["wrapped_again"]:
            self.assertEqual(len(rank), 4)
            for plan, (is_gone, said, error, states) in rank.items():
                self.assertTrue(is_gone, plan)
                self.assertIn("parameter '0.weight': expected of this model alone", said)
                self.assertLess(error, 2e-6, plan)
                self.assertEqual(states, 8, plan)

    def test_one_optimizer_of_two_models(self):
        for said in self.found["one_optimizer"]:
            self.assertIn("'optimizer': expected of this model alone, got that of a wr", said)

    def test_scaled_steps_where_weights_travel(self):
        for said in self.found["scaled_steps"]:
            self.assertIn("step() by a GradScaler may leave out one rank's step: by 'local'", said)

    def test_groups_without_this_rank(self):
        _, said = self.found["other_groups"]
        self.assertIn("expected a process group that has this rank, got another one", said)

    def test_step_that_an_exception_ended(self):
        for rank in self.found["interrupted_step"]:
            self.assertEqual(rank, [["no rate", list(range(8))]] * 2)

    def test_other_places_in_memory(self):
        for said in self.found["memory_changed"]:
            self.assertRegex(said, r"'0\.weight': expected strides \(27, 9, 3, 1\), as when the mo")

    def test_optimizer_that_calls_its_base(self):
        for error, travelled in self.found["derived_optimizer"]:
            self.assertLess(error, 2e-6)
            self.assertEqual(travelled, 2)

    def test_gradients_that_a_script_drops(self):
        for error in self.found["dropped_gradients"]:
            self.assertLess(error, 2e-6)

    def test_gradients_that_a_script_replaces(self):
        expected = "'2.weight': expected step() with the gradient that its message brought"
        for late, waited in self.found["replaced_gradients"]:
            self.assertIn(expected, late)
            self.assertEqual(waited, "nothing was refused")


if __name__ == "__main__":
    unittest.main()
