"""syncline.torch.wrap(): models that train by a plan's messages, beside DistributedDataParallel."""

import sys
import types
import unittest

import torch_wrap_ranks
from pytorch_case import PACKAGE

sys.path.insert(0, str(PACKAGE))
from syncline.torch import planned  # noqa: E402, the package of these sources

CUT = ("--planner", "p3:1KiB", "--overlap", "step")
# Plans by name: the net, the ranks, and options of `compile`.
PLANS = {
    **{
        f"{net}-{ranks}": (net, ranks, ("--planner", "wfbp", "--overlap", "backward"))
        for net in ("mlp", "mixed")
        for ranks in (1, 2, 4)
    },
    **{f"{net}.cut-{ranks}": (net, ranks, CUT) for net in ("mlp", "mixed") for ranks in (1, 2, 4)},
    "mlp.trace-2": ("trace", 2, ("--planner", "optimal")),
    "mlp.layers-2": ("trace", 2, CUT),
    "mixed.layers-2": ("mixed", 2, ("--plan-only", *CUT)),
    "branches-2": ("branches", 2, ("--overlap", "backward", "--scheme", "*=ring")),
    "branches.cut-2": ("branches", 2, CUT),
    "mlp.sharded-2": ("mlp", 2, ("--overlap", "backward", "--scheme", "*=reduce-scatter")),
    "mlp.parts-2": ("mlp", 2, ("--accumulate", 2, "--scheme", "*weight=factors")),
    "mlp.local-2": ("mlp", 2, ("--consistency", "local:2")),
    "mlp.diloco-2": ("mlp", 2, ("--consistency", "diloco:4,2,1,0.25")),
    "mlp.served-2": ("mlp", 2, ("--consistency", "ssp:1")),
}
TRAINING = (
    *("same_gradients", "same_weights", "updates_where_used", "finishes_before_reading"),
    *("accumulation", "clipping", "scaling", "checkpointing", "buffers", "names"),
    *("compiled_late_updates", "other_gradients", "exchanges"),
    *("failing_pass", "memory_formats"),
)
LIMITS = (
    *("unused", "changes", "not_carried", "barrier_is_told", "other_models", "sparse_gradients"),
    *("copies", "stale"),
)


class TorchWrapTest(torch_wrap_ranks.WrapRanksTest):
    plans = PLANS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = cls.results(2, *TRAINING, *LIMITS)
        cls.more = cls.results(4, "same_gradients", "groups")

    def test_gradients_are_those_of_ddp(self):
        """In each step, with whole and with cut gradients; and the messages are the plan's."""
        self.assertIn("mlp.trace", self.found["same_gradients"][0]["worst"])
        for rank in self.found["same_gradients"] + self.more["same_gradients"]:
            self.assertGreaterEqual(len(rank["worst"]), 4)
            self.close(rank["worst"])
            for plan, messages in rank["travelled"].items():
                self.assertIsInstance(messages, int, plan)
                self.assertGreater(messages, 1, plan)

    def test_weights_are_those_of_ddp(self):
        """With SGD, Adam, AdamW and a scheduler, whether updates are late or not."""
        for rank, found in enumerate(self.found["same_weights"]):
            self.assertEqual(len(found["worst"]), 18)
            self.close(found["worst"], 2e-6)
            for kind, late in found["late"].items() if rank == 0 else ():
                self.assertEqual(late > 0, kind.endswith("late"), kind)

    def test_updates_happen_before_their_use(self):
        """Before the module that uses a parameter, be it the one that owns it or not."""
        found = self.found["updates_where_used"][0]
        late, seen = set(found["late"]), {name: set(each) for name, each in found["seen"].items()}
        self.assertEqual(len(late), 11)
        self.assertLessEqual({"table.weight", "narrow.bias"}, seen["table"])
        self.assertNotIn("wide.weight", seen["table"])
        attention = {name for name in late if name.startswith("attention.")}
        self.assertEqual(len(attention), 4)
        self.assertLessEqual(attention, seen["attention"])
        self.assertIn("wide.weight", seen["wide"])
        self.assertNotIn("narrow.weight", seen["wide"])
        self.assertEqual(seen["narrow"], late)

    def test_failing_first_pass(self):
        for rank in self.found["failing_pass"]:
            self.assertEqual(rank, [True, 0, False, True, 4])

    def test_memory_formats(self):
        self.assertEqual(self.found["memory_formats"], [[True] * 4] * 2)

    def test_one_rank(self):
        for rank in self.results(1, "same_gradients")["same_gradients"]:
            self.close(rank["worst"])

    def test_stale_parameters_are_refused(self):
        """On rank 0, whose updates are late for sure."""
        said = self.found["stale"][0]
        self.assertRegex(said, r"parameter 'first\.\w+' was used before its last update")

    def test_updates_happen_before_parameters_are_read(self):
        for rank in self.found["finishes_before_reading"]:
            self.assertEqual(set(map(tuple, rank.values())), {(True, 0)})
            self.assertEqual(len(rank), 6)

    def test_accumulation(self):
        for rank in self.found["accumulation"]:
            self.close(rank)

    def test_clipping(self):
        for rank in self.found["clipping"]:
            self.assertLess(rank["worst"], 1e-6)
            self.assertGreater(min(rank["norms"]), 0.01)
            self.assertIn("gradients were changed before their messages had arrived", rank["said"])

    def test_scaled_gradients(self):
        for rank in self.found["scaling"]:
            self.assertLess(rank["worst"], 1e-6)
            self.assertEqual(*rank["scales"])
            _, before, after, *_ = rank["scales"][1]
            self.assertLess(after, before)  # the step with infinite gradients

    def test_checkpointed_activations(self):
        for rank in self.found["checkpointing"]:
            self.close(rank["worst"])
            self.assertEqual(len(rank["worst"]), 3)
            self.assertIn("parameter 'narrow.bias' has got a gradient after", rank["said"])

    def test_buffers_are_those_of_rank_0(self):
        for broadcast, own, differ in self.found["buffers"]:
            self.assertLess(max(broadcast, own), 1e-6)
        self.assertTrue(differ)

    def test_names_behind_prefixes(self):
        for rank in self.found["names"]:
            self.close(rank)

    def test_compiled_models(self):
        for rank in self.found["compiled_late_updates"]:
            self.close(rank, 2e-6)

    def test_other_backward_passes(self):
        for error in self.found["other_gradients"]:
            self.assertLess(error, 1e-6)

    def test_weights_that_travel(self):
        """By local SGD and DiLoCo, beside their formulas."""
        total = 4 * (25 * 40 + 41 * 56 + 57 * 32 + 33 * 10)
        for rank in self.found["exchanges"]:
            for form, messages in (("local", 4), ("diloco", 5)):
                found = rank[form]
                self.assertLess(found["worst"], 1e-6, form)
                self.assertGreater(found["apart"], 1e-3, form)
                self.assertEqual(len(found["bytes"]), messages, form)
                self.assertEqual(sum(set(found["bytes"])), total, form)

    def test_unused_parameters(self):
        """Refused by name on all ranks, or zeros."""
        for rank in self.found["unused"]:
            for said in rank["said"].values():
                self.assertIn("'second.bias', 'second.weight': expected a gradient of each", said)
            first, both = rank["with gradients"]
            self.assertEqual((len(first), len(both)), (2, 4))

    def test_changed_models(self):
        expected = (
            "parameter '0.weight' was replaced",
            "parameter '0.bias': expected float32 of (40,) on cpu, got float32 of (3,) on cpu",
            "parameter '2.bias': expected float32 of (56,) on cpu, got float32 of (56,) on cpu, no",
            "parameter '7.weight' was added",
            "parameter '6.weight' was removed",
        )
        for rank in self.found["changes"]:
            for said, what in zip(rank, expected, strict=True):
                self.assertIn(f"the model was changed after wrap(): {what}", said)

    def test_schemes_that_are_not_carried(self):
        """Said once, by rank 0; gradients are right."""
        for rank, found in enumerate(self.found["not_carried"]):
            self.close(found["worst"])
            for plan, reason in (
                ("mlp.sharded", "which wrap() does with 'optimizer' alone"),
                ("mlp.parts", "its factors would travel in each micro-batch"),
            ):
                said = found["said"][plan]
                self.assertEqual(said.count(reason), rank == 0, said)
                self.assertEqual(len(said.splitlines()), rank == 0, said)

    def test_barrier_is_told(self):
        told = "syncline: the plan overlaps steps, which wrap() does with 'optimizer' alone"
        first, second = self.found["barrier_is_told"]
        self.assertIn(told, first)
        self.assertEqual(second, "")

    def test_wrong_models_and_plans(self):
        """One message each, on all ranks."""
        for rank in self.found["other_models"]:
            for kind, expected in (
                ("other", r"the plan does not fit the model: parameter '0\.bias': expected 160 b"),
                ("other", r"ytes, got 164 bytes of float32$"),
                ("frozen", r"'0\.bias': expected 160 bytes that are trained, got no parameter"),
                ("double", r"'6\.bias': expected 40 bytes, got 80 bytes of float64$"),
                ("model", r"same plan on all ranks, got rank 0: plan '\w+'; rank 1: .*'7\.weight'"),
                ("extra", r"'extra': expected the same on all ranks, got none on rank 0, float32 "),
                ("plan", r"the same plan on all ranks, got rank 0: plan '\w+'; rank 1: plan '\w+'"),
                ("none", r"^wrap\(\): expected a plan's folder, or SYNCLINE_PLAN in the env"),
                ("missing", r"no-2\.plan'"),
                ("twice", r"expected a model that is not wrapped, got one that is$"),
                ("type", r"expected a torch\.nn\.Module, got str$"),
                ("optimizer", r"expected a torch\.optim\.Optimizer, got str$"),
                ("covers", r"parameter '0\.weight': expected in 'optimizer', since the plan"),
                ("no_sync", r"expected a model that syncline\.torch\.wrap\(\) returned$"),
                ("arguments", r"expected equal arguments on all ranks, got \{'allow_unused': Fal"),
                ("ranks", r"the plan is for 4 ranks, the job has 2$"),
                ("served", r"by consistency 'ssp:1' weights travel to a centre: expected 'bsp', '"),
                ("local", r"a plan of consistency 'local:2' needs 'optimizer'$"),
            ):
                self.assertRegex(rank[kind], expected)

    def test_backend_refuses_plans_for_other_calls(self):
        values = {}

        def get(key):
            return values[key].encode()

        store = types.SimpleNamespace(set=values.__setitem__, get=get, wait=lambda *_: None)
        for plan, told in (
            ("mlp.local-2", "by consistency 'local:2' weights travel, not gradients: expected a p"),
            ("mlp.cut-2", "the plan overlaps steps, which DistributedDataParallel does not: expec"),
        ):
            with self.assertRaisesRegex(RuntimeError, rf"{plan}\.plan': {told}"):
                planned.opened(str(self.folder / f"{plan}.plan"), 0, 1, store)

    def test_sparse_gradients(self):
        for said in self.found["sparse_gradients"]:
            self.assertIn("'first.weight': expected a dense gradient, got a sparse one", said)

    def test_copies_and_files(self):
        for rank in self.found["copies"]:
            self.assertEqual(rank, [True, True, True, 2])

    def test_groups_of_ranks(self):
        for error in self.more["groups"]:
            self.assertLess(error, 1e-6)

    def test_names_a_rank_without_batches(self):
        said = self.ended("uneven")
        self.assertRegex(said, r"group 'Sequential': rank 0: .*rank 1 .*in step 3")

    def test_names_a_rank_that_died(self):
        for kind, name in (("endless", "Sequential"), ("endless_with_buffers", "Mixed")):
            with self.subTest(kind):
                said = self.ended(kind, lambda process: process.kill())
                self.assertRegex(said, rf"group '{name}': rank 0: lost rank 1")

    def test_tells_why_a_rank_ended(self):
        said = self.ended("raising")
        self.assertIn("rank 1 aborted: its process ended by KeyError: 'no such picture'", said)


if __name__ == "__main__":
    unittest.main()
