"""Which message of a plan each all-reduce of a PyTorch script is, without PyTorch."""

import sys
import types
import unittest

import harness

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))

from syncline.torch.matching import Matcher, Message, Way

F32 = "float32"


def plan(*sizes):
    return [Message(size, F32) for size in sizes]


class MatchingTest(unittest.TestCase):
    def calls(self, matcher, *sizes, kind=F32):
        """What the matcher decides on calls of these sizes."""
        return [matcher.all_reduce(size, kind) for size in sizes]

    def messages(self, *arguments, **options):
        return [each.message for each in self.calls(*arguments, **options)]

    def test_follows_the_plan(self):
        """Steps follow each other; each but the first is begun by its first message."""
        matcher = Matcher(plan(100, 200, 300))
        found = self.calls(matcher, *(100, 200, 300) * 2)
        self.assertEqual([each.message for each in found], [0, 1, 2] * 2)
        self.assertEqual([each.begins for each in found], [False] * 3 + [True, False, False])
        self.assertEqual({each.way for each in found}, {Way.PLANNED})
        self.assertEqual(matcher.step, 1)

    def test_small_messages_and_other_types_do_not_advance_the_step(self):
        matcher = Matcher(plan(100, 200))
        self.assertEqual(self.messages(matcher, 4, 100, 4, 200, 4), [-1, 0, -1, 1, -1])
        self.assertEqual(self.messages(matcher, 100, kind="int32"), [-1])
        self.assertEqual(self.messages(matcher, 100, kind="float64"), [-1])
        self.assertEqual(self.messages(matcher, 100, 200), [0, 1])
        self.assertFalse(matcher.said)

    def test_equal_messages_are_told_apart_by_their_place(self):
        matcher = Matcher(plan(100, 100, 100))
        self.assertEqual(self.messages(matcher, *[100] * 6), [0, 1, 2] * 2)

    def test_values_rounded_by_a_hook_are_their_message(self):
        """By elements, where the plan has no messages of 16 bits."""
        matcher = Matcher(plan(400, 800))
        found = self.calls(matcher, *(200, 400) * 2, kind="bfloat16")
        self.assertEqual([each.message for each in found], [0, 1] * 2)
        self.assertTrue(all(each.is_halved for each in found))
        wrong = self.calls(matcher, *(200, 300), kind="float16")[1].complaint
        self.assertEqual(
            wrong, "step 2, position 1: expected 800 bytes of float32, got 300 bytes of float16"
        )
        matcher = Matcher([Message(400, F32), Message(200, "bfloat16")])
        self.assertEqual(self.messages(matcher, 400), [0])
        found = matcher.all_reduce(200, "bfloat16")
        self.assertEqual((found.message, found.is_halved), (1, False))

    def test_says_another_sequence_once(self):
        """By step, position, expected and got, with the rest by the cheapest scheme."""
        matcher = Matcher(plan(100, 200, 300))
        self.calls(matcher, 100, 200, 300, 100, 200, 300)
        found = self.calls(matcher, 100, 300, 200, 100, 300)
        told = [each.complaint for each in found]
        wrong = "step 2, position 1: expected 200 bytes of float32, got 300 bytes of float32"
        self.assertEqual(told, ["", wrong, "", "", ""])
        ways = [Way.PLANNED, Way.CHEAPEST, Way.CHEAPEST, Way.PLANNED, Way.CHEAPEST]
        self.assertEqual([each.way for each in found], ways)

    def test_a_step_cut_short_begins_anew(self):
        matcher = Matcher(plan(100, 200))
        self.calls(matcher, 100, 200)
        found = self.calls(matcher, 100, 100, 200)
        self.assertEqual([each.message for each in found], [0, 0, 1])
        self.assertEqual([each.begins for each in found], [True, True, False])
        self.assertIn("step 1, position 1", found[1].complaint)

    def test_the_buckets_of_the_first_steps_are_not_said(self):
        """DistributedDataParallel counts a list from the other end in its first step, or two."""
        for steps in (1, 2):
            matcher = Matcher(plan(100, 200, 300))
            found = self.calls(matcher, *(300, 200, 100) * steps)
            found += self.calls(matcher, *(100, 200, 300) * 3)
            self.assertEqual([each.message for each in found[-9:]], [0, 1, 2] * 3)
            self.assertEqual({each.complaint for each in found}, {""}, steps)

    def test_says_that_the_plan_never_begins(self):
        """Where a whole model's bytes pass without the first message."""
        matcher = Matcher(plan(100, 200))
        told = [each.complaint for each in self.calls(matcher, *[150] * 8) if each.complaint]
        wrong = "step 0, position 0: expected 100 bytes of float32, got 150 bytes of float32"
        self.assertEqual(told, [wrong])
        self.assertEqual(self.calls(matcher, 150)[0].way, Way.CHEAPEST)
        self.assertEqual(self.calls(matcher, 4)[0].way, Way.OTHER)

    def test_refuses_a_plan_without_messages(self):
        with self.assertRaisesRegex(ValueError, "expected a plan with messages, got none"):
            Matcher([])


if __name__ == "__main__":
    unittest.main()
