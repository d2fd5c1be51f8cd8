"""What scripts may do with the backend 'syncline' besides training: any tensor, callbacks that
wait, forks, a second group over the same store, ends without a goodbye."""

import signal
import time
import unittest

import harness
from depth import repeat
from torch_ranks import TESTS, TorchRanksTest
from waiting import PATIENCE, SILENCE

TRACE = "name,bytes,forward,backward\nfirst,4000B,1ms,2ms\nlast,8000B,1ms,2ms\n"


class TorchEdgesTest(TorchRanksTest):
    script = TESTS / "torch_edges.py"

    def small_plan(self, ranks):
        plan = self.folder / f"small-{ranks}.plan"
        if not plan.exists():
            trace, cluster = self.folder / "small.csv", self.folder / f"small-{ranks}.yaml"
            trace.write_text(TRACE)
            cluster.write_text(harness.CLUSTER.format(ranks=ranks))
            words = ("--cluster", cluster, "--quiet", "--planner", "ddp-list", "-o", plan)
            harness.syncline("compile", trace, *words)
        return plan

    def calls(self, *kinds, ranks=2, **variables):
        started = self.ranks(",".join(kinds), ranks, self.small_plan(ranks), **variables)
        for said, errors in self.ends(started):
            self.assertEqual(said.split(), list(kinds), errors)

    def test_any_tensor_and_any_call(self):
        kinds = ("shapes", "expanded", "operations", "late", "collectives")
        self.calls(*kinds, "before_waiting", "nested", "limits")

    def test_groups_end_and_begin_again(self):
        self.calls("forked", "twice", "shapes", ranks=3)

    def test_detailed_debugging(self):
        """PyTorch compares all calls of ranks, by their numbers too."""
        self.calls("collectives", TORCH_DISTRIBUTED_DEBUG="DETAIL")

    def test_memory_does_not_grow(self):
        self.calls("steps", STEPS=str(repeat(1000, 10000)))

    def test_ends_without_a_goodbye(self):
        for plan in (self.small_plan(2), None):
            with self.subTest(plan=plan):
                found = self.ends(self.ranks("leaves", 2, plan))
                self.assertEqual(found, [("leaves\n", "")] * 2)

    def test_an_end_while_a_thread_waits_for_gloo(self):
        first, other = self.ranks("leaves_waiting", 2)
        _, errors = first.communicate(timeout=PATIENCE)
        self.assertEqual(first.returncode, 1, errors)
        self.assertIn("ValueError: wrong data", errors)
        self.assertEqual(other.wait(PATIENCE), -signal.SIGKILL)

    def test_names_a_rank_whose_message_is_waited_for(self):
        first, _ = self.ranks("receives", 2)
        said, errors = first.communicate(timeout=PATIENCE)
        self.assertRegex(said, r"^group '0': rank 0: lost rank 1 \(it does not answer\)\n", errors)

    def test_an_error_of_one_rank_is_one_of_all(self):
        """Long before the limit, though the rank may serve the store."""
        for rank, plan in ((1, self.small_plan(2)), (0, None)):
            with self.subTest(rank=rank, plan=plan):
                begin = time.monotonic()
                started = self.ranks("fails", 2, plan, seconds=SILENCE * 30, FAILS=str(rank))
                found = self.ends(started, 1)
                self.assertIn("ValueError: wrong data", found[rank][1])
                told = f"rank {rank} has left: its process ended by ValueError: wrong data in the"
                self.assertIn(f"rank {1 - rank}: {told}", found[1 - rank][1])
                self.assertLess(time.monotonic() - begin, SILENCE * 15)


if __name__ == "__main__":
    unittest.main()
