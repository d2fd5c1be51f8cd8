"""Which parameters a plan's members are, and where gradients lie in memory, without PyTorch."""

import sys
import types
import unittest

import harness

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))

from syncline.torch.wrapped.layout import Layout
from syncline.torch.wrapped.names import Mismatch, Parameter, check, match


def parameters(**sizes):
    return {name.replace("_", "."): Parameter(size, "float32") for name, size in sizes.items()}


class Plan:
    """A plan of messages, each a list of (name, skipped, bytes, whole)."""

    def __init__(self, *messages, kind="float32", why_not="", is_gathered=0, is_sharded=0):
        self.parts = messages
        self.messages = [
            types.SimpleNamespace(
                bytes=sum(size for _, _, size, _ in each),
                type=kind,
                why_not=why_not,
                is_gathered=is_gathered,
                is_sharded=is_sharded,
            )
            for each in messages
        ]

    def members(self, number):
        return [
            types.SimpleNamespace(name=name, skipped=skipped, bytes=size, whole=whole)
            for name, skipped, size, whole in self.parts[number]
        ]


class NamesTest(unittest.TestCase):
    def match(self, members, **sizes):
        mine = parameters(**sizes)
        return match(members, mine, {name: name for name in mine})

    def test_equal_names(self):
        self.assertEqual(self.match({"a": 4, "b": 4}, a=4, b=4), {"a": "a", "b": "b"})

    def test_prefixes_on_both_sides(self):
        self.assertEqual(self.match({"a.w": 4}, module_a_w=4), {"a.w": "module.a.w"})
        mine = {"a._orig_mod.w": Parameter(4, "float32")}
        names = {name: name for name in mine}
        self.assertEqual(match({"module.a.w": 4}, mine, names), {"module.a.w": "a._orig_mod.w"})

    def test_tied_names(self):
        mine = parameters(table=4)
        names = {"table": "table", "head": "table"}
        self.assertEqual(match({"head": 4}, mine, names), {"head": "table"})

    def test_unique_sizes(self):
        members = {"a": 4, "onnx::MatMul_1": 8, "onnx::MatMul_2": 12}
        found = self.match(members, a=4, b=8, c=12)
        self.assertEqual(found, {"a": "a", "onnx::MatMul_1": "b", "onnx::MatMul_2": "c"})

    def refuses(self, expected, members, **sizes):
        with self.assertRaisesRegex(Mismatch, expected):
            self.match(members, **sizes)

    def test_what_is_ambiguous(self):
        self.refuses(
            "'x' of 8 bytes is no parameter's name, and of this size are 'b', 'c' of the model and"
            " 'x', 'y' of the plan: expected one of each",
            {"a": 4, "x": 8, "y": 8},
            **{"a": 4, "b": 8, "c": 8},
        )
        mine = {name: Parameter(4, "float32") for name in ("module.a", "_orig_mod.a")}
        with self.assertRaisesRegex(Mismatch, "'a' may be '_orig_mod.a', 'module.a': expected one"):
            match({"a": 4}, mine, {name: name for name in mine})

    def test_other_models(self):
        self.refuses("parameter 'a': expected 4 bytes, got 8 bytes of float32", {"a": 4}, a=8)
        self.refuses("parameter 'b': expected 8 bytes that are trained", {"a": 4, "b": 8}, a=4)
        self.refuses("parameter 'b': expected none, or one that is not", {"a": 4}, a=4, b=8)
        mine = parameters(table=4)
        names = {"table": "table", "head": "table"}
        with self.assertRaisesRegex(Mismatch, "'table', 'head' of the plan are both parameter"):
            match({"table": 4, "head": 4}, mine, names)


class CheckTest(unittest.TestCase):
    """Plans whose messages DistributedDataParallel sums."""

    def check(self, members, **sizes):
        mine = parameters(**sizes)
        members = {name: Parameter(size, "float32") for name, size in members.items()}
        check(members, mine, {name: name for name in mine})

    def refuses(self, expected, members, **sizes):
        with self.assertRaisesRegex(Mismatch, expected):
            self.check(members, **sizes)

    def test_sizes_need_not_differ(self):
        self.check({"a": 4, "x": 8, "y": 8}, a=4, b=8, c=8)

    def test_members_may_be_several_parameters(self):
        self.check({"message-0": 12, "message-1": 16}, a=4, b=8, c=8, d=8)
        self.check({"a": 4, "all": 16}, a=4, b=8, c=8)
        self.refuses(
            "no member of the plan is a parameter by its name, and all have 12 bytes of float32,"
            " the model's gradients 20 bytes of float32",
            {"message-0": 12},
            a=4,
            b=8,
            c=8,
        )

    def test_names_what_differs(self):
        self.refuses("parameter 'a': expected 4 bytes, got 8 bytes of float32", {"a": 4}, a=8)
        self.refuses("parameter 'b': expected 8 bytes that are", {"a": 4, "b": 8}, a=4, c=4)
        self.refuses("parameter 'b': expected none, or one that is not", {"a": 4}, a=4, b=8)
        self.refuses("no member .* all have 8 bytes", {"x": 4, "y": 4}, a=4, b=8)

    def test_types(self):
        mine, names = {"a": Parameter(4, "bfloat16")}, {"a": "a"}
        wrong = "parameter 'a': expected 4 bytes of float32, got 4 bytes of bfloat16"
        with self.assertRaisesRegex(Mismatch, wrong):
            check({"a": Parameter(4, "float32")}, mine, names)
        with self.assertRaisesRegex(Mismatch, "have 4 bytes of float32, the model's gradients 4"):
            check({"message-0": Parameter(4, "float32")}, mine, names)


class LayoutTest(unittest.TestCase):
    def layout(self, plan, **sizes):
        mine = parameters(**sizes)
        return Layout(plan, mine, {name: name for name in mine})

    def test_whole_gradients(self):
        found = self.layout(
            Plan([("b", 0, 8, 8)], [("a", 0, 4, 4), ("c", 0, 12, 12)]), a=4, b=8, c=12
        )
        self.assertEqual(found.buffers, [(8, "float32"), (16, "float32")])
        self.assertEqual(found.places, {"b": (0, 0), "a": (1, 0), "c": (1, 4)})

    def test_cut_gradients_are_in_one_piece(self):
        """Whatever the order in which their messages are issued."""
        rest, begin, middle = (
            [("b", 12, 4, 16), ("c", 0, 8, 8)],
            [("a", 0, 4, 4), ("b", 0, 4, 16)],
            [("b", 4, 8, 16)],
        )
        found = self.layout(Plan(rest, begin, middle), a=4, b=16, c=8)
        self.assertEqual(found.buffers, [(28, "float32")])
        self.assertEqual(found.places, {"a": (0, 0), "b": (0, 4), "c": (0, 20)})
        self.assertEqual([each.offset for each in found.messages], [16, 0, 8])

    def test_rows_of_tied_tables_travel_with_them(self):
        found = self.layout(Plan([("t", 0, 8, 8)], [("t:rows", 0, 8, 8)]), t=8)
        self.assertEqual([each.number for each in found.messages], [0])

    def test_what_is_not_carried(self):
        why = self.layout(Plan([("a", 0, 4, 4)], why_not="too odd"), a=4).uncarried()
        self.assertEqual(why, {"too odd": [0]})
        plan = Plan([("a", 0, 4, 4)], [("b", 0, 4, 4)])
        mine = {name: Parameter(4, "bfloat16") for name in "ab"}
        why = Layout(plan, mine, {"a": "a", "b": "b"}).uncarried()
        self.assertEqual(why, {"its gradients are bfloat16, the plan's float32": [0, 1]})

    def test_factors(self):
        """They travel in place of the sum that the plan does not have, if types are the plan's."""
        plan = Plan([("a", 0, 4, 4)], why_not="no sum", is_gathered=1)
        (found,) = self.layout(plan, a=4).messages
        self.assertEqual((found.gathers, found.why_not), (True, ""))
        (found,) = Layout(plan, {"a": Parameter(4, "float64")}, {"a": "a"}).messages
        self.assertEqual(found.why_not, "its gradients are float64, the plan's float32")

    def test_bad_plans(self):
        mine = {"a": Parameter(4, "float32"), "b": Parameter(4, "float64")}
        names = {"a": "a", "b": "b"}
        with self.assertRaisesRegex(Mismatch, "'a' of float32 and 'b' of float64: expected one"):
            Layout(Plan([("a", 0, 4, 4), ("b", 0, 4, 4)]), mine, names)
        with self.assertRaisesRegex(Mismatch, "'a': expected each byte in one message"):
            self.layout(Plan([("a", 0, 4, 8)], [("a", 0, 4, 8)]), a=8)
        with self.assertRaisesRegex(Mismatch, "message 0 cuts gradients in a circle"):
            one, two = [("a", 4, 4, 8), ("b", 0, 4, 8)], [("b", 4, 4, 8), ("a", 0, 4, 8)]
            self.layout(Plan(one, two), a=8, b=8)


if __name__ == "__main__":
    unittest.main()
