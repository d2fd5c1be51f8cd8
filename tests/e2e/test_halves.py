"""Buckets that travel in halves: a reduce-scatter in the backward pass, and an all-gather behind
the next forward pass, of sums or by the scheme reduce-scatter of parameters."""

import json
import re
import unittest

import harness
import stepcache
import test_overlap
from depth import repeat
from refusal import RefusalTest
from test_overlap import DIGITS, LAST, PAIR

SHARDED = ("--scheme", "*=reduce-scatter")
SUMMED = ("--scheme", "*=ring")
SLOW = harness.CLUSTER.replace("10 Gb/s", "200 Mb/s")  # messages take as long as computation


class HalvesTest(RefusalTest):
    """Runs on CPUs; test_host_cuda_halves.py derives runs of the CUDA backend."""

    backend = ()  # options of compile
    ranks = {"reduce-scatter": (1, 2, 4), "ring": (1, 2, 4), "halving-doubling": (2, 3)}
    train = test_overlap.OverlapTest.train
    assert_same = test_overlap.OverlapTest.assert_same
    assert_close = test_overlap.OverlapTest.assert_close

    def plan(self, planner, overlap, ranks, scheme=SHARDED, channels=1):
        return harness.compile_plan(
            DIGITS,
            self.folder,
            ranks=ranks,
            batch=64,
            cluster=SLOW,
            label=f"{planner.partition(':')[0]}-{overlap}-{scheme[1][2:]}-{channels}",
            extra=(
                *("--planner", planner, *scheme, "--overlap", overlap),
                *("--channels", channels, *self.backend),
            ),
        )

    def halved(self, plan):
        """The buckets in halves."""
        return [x for x in harness.plan_json(plan)["buckets"] if "all_gather" in x]

    def test_trains_the_same_bits(self):
        """Gradients alone in halves train what they train in whole messages, also with dumps and
        evaluations in between, and on one rank."""
        every = [(name, n) for name, counts in self.ranks.items() for n in counts]
        last = [(name, counts[-1]) for name, counts in self.ranks.items()]
        for name, ranks in repeat([every[0], *last], every):
            scheme = ("--scheme", f"*={name}")
            with self.subTest(scheme=name, ranks=ranks):
                whole = self.plan("wfbp", "backward", ranks, scheme)
                plan = self.plan("dear:1B", "step", ranks, scheme)
                self.assertEqual(
                    len(self.halved(plan)), len(harness.plan_json(whole)["buckets"])
                )
                wanted, model, log = self.train(whole, ranks, (0, 7, LAST), "whole")
                found, same, told = self.train(plan, ranks, (0, 7, LAST), "halves")
                for step in (0, 7, LAST):
                    self.assert_same(found, wanted, step)
                self.assertEqual(told[-1]["test_loss"], log[-1]["test_loss"])
                undisturbed, also, quiet = self.train(plan, ranks, (LAST,), "quiet")
                self.assert_same(undisturbed, wanted, LAST)
                self.assertEqual(also, same)
                for line, other in zip(quiet, log):
                    self.assertEqual(line.get("loss"), other.get("loss"))

    def test_several_channels(self):
        """Halves that take turns on channels train the bits of whole messages on one channel. Both
        halves of a bucket go by its channel."""
        every = (3, 2, SUMMED), (2, 3, SHARDED), (2, 2, SHARDED)
        for ranks, channels, scheme in repeat(every[:2], every):
            with self.subTest(ranks=ranks, channels=channels, scheme=scheme[1]):
                whole = self.plan("wfbp", "backward", ranks, scheme)
                plan = self.plan("dear:1B", "step", ranks, scheme, channels)
                used = [bucket["channel"] for bucket in self.halved(plan)]
                self.assertEqual(used, [i % channels for i in range(len(used))])
                self.assertEqual(len(used), len(harness.plan_json(whole)["buckets"]))
                harness.syncline("verify", plan)
                wanted, model, _ = self.train(whole, ranks, (0, 7, LAST), "whole")
                found, same, _ = self.train(plan, ranks, (0, 7, LAST), "channels")
                for step in (0, 7, LAST):
                    self.assert_same(found, wanted, step)
                self.assertEqual(same, model)

    def test_trains_alike(self):
        """Buckets of several gradients sum the same numbers in another order."""
        barrier = self.plan("optimal", "backward", 2, SUMMED)
        wanted, _, _ = self.train(barrier, 2, (0, 7, LAST), "barrier")
        for planner, scheme in (
            *(("dear:4KiB", SHARDED), ("optimal", SHARDED)),
            *(("dear:4KiB", SUMMED), ("optimal", SUMMED)),
        ):
            with self.subTest(planner=planner, scheme=scheme[1]):
                plan = self.plan(planner, "step", 2, scheme)
                self.assertTrue(self.halved(plan) or planner == "optimal")
                found, _, _ = self.train(plan, 2, (0, 7, LAST), planner.partition(":")[0])
                for step in (0, 7, LAST):
                    self.assert_close(found, wanted, step)
                harness.syncline("verify", plan)

    def test_order_of_halves(self):
        """plan.json and the table have both halves; all-gathers stand behind all reduce-scatters,
        what is read first before others, and the step is shorter than with whole messages."""
        self.enterContext(stepcache.none())
        for scheme, gathered in ((SHARDED, "the updated parameters"), (SUMMED, "the sums")):
            with self.subTest(scheme=scheme[1]):
                self.check_order(scheme, gathered)

    def check_order(self, scheme, gathered):
        plan = self.plan("dear:4KiB", "step", 2, scheme)
        buckets = harness.plan_json(plan)["buckets"]
        places = [bucket["all_gather"]["place"] for bucket in buckets]
        self.assertEqual(sorted(places), list(range(len(buckets), 2 * len(buckets))))
        self.assertEqual(places, sorted(places, reverse=True))  # ready last is read first
        ends = max(bucket["end"] for bucket in buckets)
        predicted = harness.plan_json(plan)["predicted"]
        for bucket in buckets:
            self.assertGreaterEqual(bucket["all_gather"]["start"], ends * (1 - 1e-9))
        self.assertGreater(buckets[0]["all_gather"]["end"], predicted["step"])
        self.assertAlmostEqual(predicted["exposed"], sum(bucket["exposed"] for bucket in buckets))
        shown = harness.syncline("inspect", plan)
        self.assertEqual(len(re.findall(r"(?m)^ +all-gather ", shown)), len(buckets))
        self.assertIn(f"{len(buckets)} of {len(buckets)} buckets travel in halves", shown)
        self.assertIn(f"an all-gather of {gathered}\n", shown)
        best = harness.plan_json(self.plan("optimal", "step", 2, scheme))["predicted"]["planner"]
        self.assertEqual(best["bound"], predicted["planner"]["bound"])
        self.assertLessEqual(best["step"], predicted["planner"]["step"] * (1 + 1e-9))
        self.check_explanations(plan, scheme, buckets)
        harness.syncline("inspect", plan, "--plot", self.folder / "plot.svg")
        self.check_late_ranks(plan, predicted["step"])

    def check_late_ranks(self, plan, step):
        """Reduce-scatters are in ready order as planned, and all-gathers keep their order, so that
        ready order changes nothing where no rank is late."""
        simulated = json.loads(harness.syncline("simulate", plan, "--slow", "1:2", "--json"))
        late = simulated["late_ranks"]
        self.assertAlmostEqual(late["step_without"] / step, 1, delta=1e-4)
        self.assertAlmostEqual(late["ready_order_without"] / step, 1, delta=1e-4)
        self.assertGreater(simulated["step"], step)
        self.assertGreater(late["ready_order"], step)

    def check_explanations(self, plan, scheme, buckets):
        """The all-gather of the gradients that are ready last overtakes all others."""
        others = len(buckets) - 1
        self.assertGreater(others, 0)
        for bucket, text in ((-1, "it overtook {}"), (0, "{} overtook it")):
            name = buckets[bucket]["members"][-1]
            why = harness.syncline("inspect", plan, "--why", name)
            self.assertIn(f"{scheme[1][2:]}, halves", why)
            count = "1 message" if others == 1 else f"{others} messages"
            self.assertIn(f"\n{text.format(count)};", why)
            self.assertNotRegex(why, r"(?m)^  its message last: as planned$")

    def messages(self, path):
        """The trace's messages by rank, step, bucket and half, and the spans of forward passes."""
        events = json.loads(path.read_text())["traceEvents"]
        messages, forward = {}, {}
        for event in events:
            args = event.get("args", {})
            if event.get("cat") == "message" and "bucket" in args:
                bucket, half = re.fullmatch(r"bucket (\d+) (\S+)", event["name"]).groups()
                self.assertEqual(int(bucket), args["bucket"])
                messages[event["pid"], args["step"], args["bucket"], half] = event
            if args.get("phase") == "forward" and event.get("cat") == "compute":
                begin, end = forward.get((event["pid"], args["step"]), (event["ts"], 0))
                end = max(end, event["ts"] + event["dur"])
                forward[event["pid"], args["step"]] = (begin, end)
        return messages, forward

    def test_traces_name_both_halves(self):
        """In virtual time a reduce-scatter travels in the backward pass, and its all-gather in the
        next forward pass; in a run every all-gather follows its reduce-scatter."""
        plan = self.plan("dear:4KiB", "step", 2)
        trace = self.folder / "trace.json"
        harness.syncline("simulate", plan, "--steps", 4, "--trace", trace)
        messages, forward = self.messages(trace)
        hidden = 0
        for (rank, step, bucket, half), first in messages.items():
            if half == "all-gather" or (rank, step + 1) not in forward:
                continue
            second = messages[rank, step, bucket, "all-gather"]
            self.assertGreater(first["ts"], forward[rank, step][1] - 1)
            begin, end = forward[rank, step + 1]
            hidden += second["ts"] < end and second["ts"] + second["dur"] > begin
        self.assertGreater(hidden, 0)
        run = ("run", plan, "-n", 2, "--data", PAIR, "--steps", 6)
        harness.syncline(*run, "--trace", trace)
        messages, _ = self.messages(trace)
        self.assertEqual({key[3] for key in messages}, {"reduce-scatter", "all-gather"})
        for (rank, step, bucket, half), first in messages.items():
            if half == "reduce-scatter":
                second = messages[rank, step, bucket, "all-gather"]
                self.assertGreaterEqual(second["ts"] + 1, first["ts"] + first["dur"])
        harness.syncline("inspect", plan, "--measured", trace)

    def test_killed_rank(self):
        """The others say who was lost, and in which half of which bucket."""
        for scheme in (SHARDED, SUMMED):
            with self.subTest(scheme=scheme[1]):
                self.loses(self.plan("dear:4KiB", "step", 3, scheme))

    def loses(self, plan):
        for said in self.said_when_killed(plan, PAIR):
            found = re.search(r"rank 1.* in the (\S+) of (.*) in step \d+;", said)
            self.assertIsNotNone(found, said)
            if "bucket" in found[2]:
                self.assertIn(found[1], ("reduce-scatter", "all-gather"), said)

    def test_refuses_what_it_cannot(self):
        self.enterContext(stepcache.none())
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 4, "--loss"]
        words += ["cross-entropy", "-o", self.folder / "out.plan", "--planner", "dear:1MiB"]
        self.refuses([*words, "--overlap", "backward"], "expected '--overlap step'")
        self.refuses([*words, "--scheme", "*=tree"], "as with --scheme '*=ring'")


if __name__ == "__main__":
    unittest.main()
