"""The backend 'syncline' of torch.distributed: DDP by a plan, wrong sequences, lost ranks."""

import signal
import subprocess
import time
import unittest

import harness
from torch_ranks import TorchRanksTest
from waiting import PATIENCE, SILENCE


class TorchBackendTest(TorchRanksTest):
    def compare(self, ranks):
        for said, errors in self.ends(self.ranks("compare", ranks, self.plan(ranks))):
            self.assertRegex(said, r"^steps by the plan: 4 of ([2-9]|\d\d) messages\n$")
            self.assertEqual(errors, "")

    def test_gradients_are_those_of_gloo(self):
        """To 1e-6, with the buckets of a plan's list, in all steps but the one before DDP makes its
        buckets anew."""
        self.compare(2)

    def test_gradients_of_four_ranks_are_those_of_gloo(self):
        self.compare(4)

    def test_carries_what_is_not_in_the_plan(self):
        found = self.ends(self.ranks("others", 3, self.plan(3)))
        self.assertEqual([said for said, _ in found], ["done\n"] * 3)
        self.assertIn("of float32 is no message of the plan: Gloo carries all of them", found[0][1])
        self.assertEqual([errors for _, errors in found[1:]], ["", ""])

    def test_carries_fsdp(self):
        found = self.ends(self.ranks("shards", 2, self.plan(2)))
        self.assertEqual([said for said, _ in found], ["done\n"] * 2)
        told = r"^syncline: a reduce-scatter of \d+ bytes of float32 is no message of the plan: "
        self.assertRegex(found[0][1], told)

    def test_works_without_a_plan(self):
        found = self.ends(self.ranks("others", 2))
        self.assertEqual(found, [("done\n", "")] * 2)

    def test_says_another_sequence_once(self):
        found = self.ends(self.ranks("wrong", 2, self.plan(2)))
        self.assertEqual([said for said, _ in found], ["done\n"] * 2)
        self.assertRegex(
            found[0][1],
            r"^syncline: the all-reduces are not the plan's: step \d, position \d: expected \d+"
            r" bytes of float32, got \d+ bytes of float32; what does not fit travels by the scheme"
            r" that costs least\n$",
        )
        self.assertEqual(found[1][1], "")

    def test_another_sequence_ends_a_strict_run(self):
        started = self.ranks("wrong", 2, self.plan(2), SYNCLINE_STRICT="1")
        for _, errors in self.ends(started, code=1):
            self.assertIn("the all-reduces are not the plan's: step", errors)

    def test_refuses_another_strictness(self):
        for _, errors in self.ends(self.ranks("wrong", 2, self.plan(2), SYNCLINE_STRICT="yes"), 1):
            self.assertIn("SYNCLINE_STRICT: expected 0 or 1, got 'yes'", errors)

    def expect_blame(self, started, lost, pattern):
        for rank, process in enumerate(started):
            if rank != lost:
                _, errors = process.communicate(timeout=PATIENCE)
                self.assertNotEqual(process.returncode, 0)
                self.assertRegex(errors, pattern.format(rank=rank, lost=lost))

    def stop(self, plan):
        """Stops a rank, which all others name by group, message and step."""
        started = self.ranks("endless", 3, plan, seconds=SILENCE)
        for process in started:
            self.assertEqual(process.stdout.readline(), "works\n")
        started[1].send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        pattern = (
            r"group '0': rank {rank}: lost rank {lost} \(it does not answer\) in the"
            r" all-reduce of .* in step \d+"
        )
        self.expect_blame(started, 1, pattern)
        self.assertLess(time.monotonic() - begin, SILENCE + 20)

    def test_names_a_stopped_rank(self):
        self.stop(self.plan(3))

    def test_names_a_stopped_rank_without_a_plan(self):
        self.stop(None)

    def test_names_a_stopped_rank_that_serves_the_store(self):
        """Without the store nobody can be judged; the others end all the same."""
        started = self.ranks("endless", 2, seconds=SILENCE)
        for process in started:
            self.assertEqual(process.stdout.readline(), "works\n")
        started[0].send_signal(signal.SIGSTOP)
        pattern = (
            r"group '0': rank {rank}: the job's store does not answer: the process that serves it,"
            r" often rank 0's, has ended or is stuck; this rank was in the all-reduce of"
        )
        self.expect_blame(started, 0, pattern)

    def test_names_a_rank_that_does_not_call(self):
        started = self.ranks("late", 3, seconds=SILENCE)
        pattern = (
            r"group '0': rank {rank}: waited for rank {lost} \(it made \d+ calls, others \d+; its"
            r" last: .*\) in the all-gather of \d+ bytes of float32"
        )
        self.expect_blame(started, 1, pattern)

    def test_all_ranks_have_the_same_plan(self):
        other = self.plan(2, "--scheme", "*=tree")
        for plans, got in (
            ([self.plan(2), other], r"rank 0: plan '\w+'; rank 1: plan '\w+'"),
            ([self.plan(2), None], r"rank 0: plan '\w+'; rank 1: no plan"),
            ([self.plan(3)] * 2, r"the plan is for 3 ranks, the job has 2"),
            ([self.folder / "no.plan"] * 2, r"no\.plan"),
        ):
            with self.subTest(got):
                for _, errors in self.ends(self.ranks("others", 2, plans), code=1):
                    self.assertRegex(errors, got)

    def test_names_a_pytorch_that_it_does_not_know(self):
        program = (
            "import torch.distributed as dist\n"
            "dist.ProcessGroupGloo = type('Moved', (), {})\n"
            "import syncline.torch\n"
            "syncline.torch.register()\n"
        )
        words = [self.python, "-W", "ignore", "-c", program]
        done = subprocess.run(words, env=self.variables(), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(
            done.stderr.splitlines()[-1],
            r"^RuntimeError: PyTorch 2\.14\.\S+: expected ProcessGroupGloo over c10d's class"
            r" 'Backend', got <class 'object'>: this version of syncline does not know this"
            r" PyTorch; with the backend 'gloo' in place of 'syncline' the script runs without a"
            r" plan$",
        )

    def test_recording_is_a_trace_to_plan_from(self):
        file = self.folder / "recorded.csv"
        self.ends(self.ranks("record", 2, SYNCLINE_RECORD=str(file)))
        rows = file.read_text().splitlines()
        self.assertEqual(rows[0], "name,bytes,forward,backward")
        self.assertGreater(len(rows), 3)
        words = ("--cluster", "local4", "--quiet", "-o", self.folder / "recorded.plan")
        harness.syncline("compile", file, *words)


if __name__ == "__main__":
    unittest.main()
