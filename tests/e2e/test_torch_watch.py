"""Who is found to be lost by the ranks of the backend 'syncline', without PyTorch: ranks take turns
over a store in memory, or are threads."""

import sys
import threading
import time
import unittest
from unittest import mock

import harness
from waiting import PATIENCE, until

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))

from syncline.torch import watch
from syncline.torch.watch import Lost, Watch

LONG_AGO = time.monotonic() - 1000
READINGS = round(watch.SILENT / watch.BEAT) + 1


class Store:
    """The calls of PyTorch's store that a watch makes. All raise where it `has_gone`."""

    def __init__(self):
        self.values, self.lock, self.has_gone = {}, threading.Lock(), False
        self.answers = threading.Event()
        self.answers.set()

    def call(self, made):
        self.answers.wait()
        if self.has_gone:
            raise RuntimeError("Connection reset by peer")
        with self.lock:
            return made()

    def set(self, key, value):
        self.call(lambda: self.values.update({key: value.encode()}))

    def get(self, key):
        return self.call(lambda: self.values[key])

    def check(self, keys):
        return self.call(lambda: all(key in self.values for key in keys))

    def compare_set(self, key, expected, value):
        assert expected == ""
        return self.call(lambda: self.values.setdefault(key, value.encode()))


class Work:
    """A collective that ends when it is told to."""

    def __init__(self, began=LONG_AGO):
        self.began, self.what, self.left = began, "the barrier (call 3)", None
        self.ended, self.error = threading.Event(), None

    def describe(self):
        return self.what

    def is_completed(self):
        return self.ended.is_set()

    def finish(self, error=None):
        self.error = error
        self.left(self)
        self.ended.set()


class ByTurns(Watch):
    """Has no threads: the test says when it beats."""

    def start(self):
        pass


def called(one, count=3):
    """So many collectives of a rank, the last of which is under way."""
    for _ in range(count - 1):
        ended = Work()
        one.add(ended)
        ended.finish()
    work = Work()
    one.add(work)
    return work


class TorchWatchTest(unittest.TestCase):
    def setUp(self):
        self.store = Store()

    def watches(self, ranks, kind=ByTurns, limit=10.0):
        found = [kind(self.store, rank, ranks, "0", limit) for rank in range(ranks)]
        for each in found:
            self.addCleanup(setattr, each, "over", True)
        return found

    def turns(self, watches, count=READINGS + 2):
        for _ in range(count):
            for each in watches:
                each.turn()

    def said(self, watches):
        return [str(each.error) for each in watches]

    def test_ranks_that_judge_at_once_accuse_no_live_rank(self):
        """Each goes on to beat while it looks at the others."""
        watches = self.watches(4)
        for each in watches:
            called(each)
        live = watches[:1] + watches[2:]
        for each in live:
            each.fail("Connection closed")
        self.turns(live)
        told = "lost rank 1 (it does not answer) in the barrier (call 3)"
        expected = [f"group '0': rank {rank}: {told}" for rank in (0, 2, 3)]
        self.assertEqual(self.said(live), expected)

    def test_a_verdict_ends_the_looking_of_all(self):
        watches = self.watches(3)
        works = [called(each) for each in watches]
        watches[2].fail("Connection closed")
        self.turns(watches, 2)
        self.store.set("verdict", "1|lost rank 1 (its process ended)")
        self.turns(watches, 2)
        for each in self.said(watches):
            self.assertIn("lost rank 1 (its process ended) in the barrier", each)
        self.assertEqual([str(work.error) for work in works], self.said(watches))

    def test_a_run_that_goes_on_is_not_ended(self):
        """Whose collective ends while the others' lines are read."""
        watches = self.watches(2)
        works = [called(each) for each in watches]
        self.turns(watches[:1], READINGS - 1)
        for work in works:
            work.finish()
        self.turns(watches, 2 * READINGS)
        self.assertEqual([each.error for each in watches], [None, None])
        self.assertFalse(self.store.check(["verdict"]))
        for each in watches:
            called(each)
        self.turns(watches[:1], READINGS - 1)  # its suspicion begins anew
        self.assertEqual(watches[0].error, None)
        self.turns(watches[:1], 1)
        self.assertFalse(self.store.check(["told/1"]))
        self.assertIn("lost rank 1", str(watches[0].error or watches[0].verdict))

    def test_names_the_rank_that_others_wait_for(self):
        watches = self.watches(3)
        for each, count in zip(watches, (4, 2, 4)):
            called(each, count)
        watches[1].pending.clear()
        self.turns(watches)
        told = "waited for rank 1 (it made 2 calls, others 4; its last: the barrier (call 3))"
        expected = f"group '0': rank 0: {told} in the barrier (call 3)"
        self.assertEqual(self.said(watches)[0], expected)
        self.assertEqual(self.said(watches)[1], f"group '0': rank 1: {told}")

    def test_a_rank_that_stopped_is_named_before_one_that_left(self):
        watches = self.watches(3)
        for each in watches:
            called(each)
        self.store.set("alive/2", f"{watch.LEFT}|3|none")
        watches[0].failed = "Connection closed"
        self.turns(watches[:1])
        self.assertIn("lost rank 1 (it does not answer)", self.said(watches)[0])

    def test_names_a_rank_that_left(self):
        watches = self.watches(2)
        work = called(watches[0])
        watches[1].over = True
        watches[1].threads = [threading.Thread()]
        watches[1].threads[0].start()
        watches[1].stop()
        watches[0].fail("Connection closed")
        self.turns(watches[:1])
        self.assertIn("lost rank 1 (it has left the group)", str(work.error))

    def test_work_ends_when_all_know_why(self):
        """The process that ends first may serve the store."""
        watches = self.watches(3)
        works = [called(each) for each in watches]
        self.store.set("verdict", "1|lost rank 1 (its process ended)")
        self.turns(watches[:1], 3)
        self.assertFalse(works[0].is_completed())
        self.turns([watches[2], watches[0]], 1)
        self.assertTrue(works[0].is_completed())
        self.assertIn("lost rank 1", str(works[2].error))

    def test_work_ends_where_another_rank_never_knows_why(self):
        (first, _) = self.watches(2)
        work = called(first)
        self.store.set("verdict", "|waited for rank 0")
        self.turns([first], 1)
        self.assertFalse(work.is_completed())
        with mock.patch("time.monotonic", return_value=time.monotonic() + watch.SILENT + 1):
            self.turns([first], 1)
        self.assertIn("waited for rank 0", str(work.error))

    def test_what_the_group_of_a_plan_knows_is_told_to_all(self):
        watches = self.watches(3)
        works = [called(each) for each in watches[1:]]
        what = "lost rank 0 (its process ended) in message 2 in step 7"
        lost = RuntimeError(f"group '0': rank 1: {what}")
        lost.rank, lost.step = 0, 7
        watches[1].lost = lambda: lost
        self.turns(watches[1:], 2)
        self.assertIs(works[0].error, lost)
        told = f"group '0': rank 2: {what}; this rank was in the barrier (call 3)"
        self.assertEqual(str(works[1].error), told)

    def test_a_store_that_has_gone(self):
        (first, second) = self.watches(2, Watch)
        works = [called(each, 1) for each in (first, second)]
        lost = Lost("group '0': rank 1: lost rank 0 (its process ended)")
        lost.rank, lost.step = 0, -1
        second.lost = lambda: lost
        self.store.has_gone = True
        for each in works:
            self.assertTrue(each.ended.wait(PATIENCE))
        told = (
            "the job's store does not answer (Connection reset by peer): the process that serves"
            " it, often rank 0's, has ended or is stuck; this rank was in the barrier (call 3)"
        )
        self.assertEqual(str(works[0].error), f"group '0': rank 0: {told}")
        self.assertIs(works[1].error, lost)  # the plan's group knows more

    def test_a_store_that_does_not_answer(self):
        with mock.patch.object(watch, "STORE_GRACE", 1.0):
            (first,) = self.watches(1, Watch, limit=0.0)
            self.store.answers.clear()
            self.addCleanup(self.store.answers.set)
            work = called(first, 1)
            self.assertTrue(work.ended.wait(PATIENCE))
        self.assertIn("store does not answer: the process that serves it", str(work.error))

    def test_a_rank_that_ends_by_an_error_says_why(self):
        watches = self.watches(3)
        work = called(watches[0])
        with mock.patch.object(watches[1], "ended"):
            watches[1].leave("its process ended by KeyError: 'x'")
        self.turns([watches[1], watches[0]], 1)
        self.assertFalse(watches[1].error)  # the process of rank 2 may be about to ask
        self.turns([watches[2], watches[0], watches[1]], 1)
        told = "rank 1 has left: its process ended by KeyError: 'x'"
        self.assertEqual(str(work.error), f"group '0': rank 0: {told} in the barrier (call 3)")
        self.assertTrue(watches[1].error)

    def test_a_failed_call_waits_for_the_verdict(self):
        watches = self.watches(2, Watch)
        watches[0].add(Work())
        said = []

        def settle():
            try:
                watches[0].settle("Connection closed")
            except Lost as lost:
                said.append(str(lost))

        waiting = threading.Thread(target=settle)
        waiting.start()
        until(lambda: watches[0].failed, "the call to fail")
        self.store.set("verdict", "1|lost rank 1 (its process ended)")
        waiting.join(PATIENCE)
        self.assertEqual(len(said), 1)
        self.assertIn("lost rank 1 (its process ended)", said[0])


if __name__ == "__main__":
    unittest.main()
