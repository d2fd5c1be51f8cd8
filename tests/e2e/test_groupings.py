"""`inspect --why` on other members of a bucket: its steps are those of plans that have them, as the
simulator times these."""

import json
import pathlib
import re
import tempfile
import unittest

import harness
import stepcache

# In forward order; the backward pass makes c first. By default DDP's first bucket ends at 1 MiB.
TRACE = """name,bytes,forward,backward,M,N,K
a,2MiB,10ms,20ms,,,
b,3MiB,10ms,20ms,,,
c,1MiB,5ms,9ms,,,
"""
CLUSTER = harness.TOP / "samples/clusters/poseidon-titanx-10gbe.yaml"
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6}


class GroupingsTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(stepcache.none())
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "net.csv").write_text(TRACE)

    def plan(self, planner):
        plan = self.folder / planner.replace(":", "-")
        words = ("--cluster", CLUSTER, "--nodes", 4, "--planner", planner, "--scheme", "*=ring")
        harness.syncline("compile", self.folder / "net.csv", *words, "-o", plan)
        return plan

    def simulated(self, planner):
        return json.loads(harness.syncline("simulate", self.plan(planner), "--json"))["step"]

    def expect_step(self, planner, layer, change, simulated):
        """The table of `layer` has this change, whose step is the simulated one."""
        why = harness.syncline("inspect", self.plan(planner), "--why", layer)
        lines = why.splitlines()
        header = next(line for line in lines if line.startswith("grouped otherwise "))
        line = next(line for line in lines if line.startswith(change + "  "))
        value, unit = line[: header.index("step") + 4].split()[-2:]
        self.assertAlmostEqual(float(value) * UNITS[unit] / simulated, 1, delta=6e-4)
        return why

    def test_steps_are_those_of_such_plans(self):
        one, each, capped = (self.simulated(name) for name in ("single", "wfbp", "ddp:25MiB"))
        self.assertEqual(len({one, each, capped}), 3)
        self.expect_step("single", "b", "each gradient alone", each)
        self.expect_step("single", "b", "c travels alone", capped)
        self.expect_step("wfbp", "b", "one bucket with the one behind", capped)
        why = self.expect_step("ddp:25MiB", "c", "one bucket with the one behind", one)
        self.assertRegex(
            why,
            r"why the cut behind it: one bucket with the one behind, the step is [\d.]+ ms "
            r"\([\d.]+ %\) longer:\n  the channel is busy [\d.]+ us less, as 1 latency of "
            r"[\d.]+ us is saved, and it is idle [\d.]+ ms longer, as c, ready at 34.0 ms, waits "
            r"for a, ready at 74.0 ms",
        )

    def test_says_what_caps_cost(self):
        """The best cuts are those of the planner 'optimal'."""
        why = harness.syncline("inspect", self.plan("ddp:25MiB"), "--why", "a")
        best = re.search(
            r"with the best cuts for these schemes the step takes ([\d.]+) ms: the cuts of planner "
            r"ddp:25MiB cost ",
            why,
        )
        self.assertAlmostEqual(1e-3 * float(best[1]) / self.simulated("optimal"), 1, delta=6e-4)
        proved = harness.syncline("inspect", self.plan("optimal"), "--why", "a")
        self.assertIn("why the cut before it: ", proved)
        self.assertNotIn("best cuts", proved)

    def test_of_an_order(self):
        plan = self.folder / "order.plan"
        words = ("--cluster", "ethernet-1g", "--batch", 16, "--overlap", "step")
        model = harness.TOP / "samples/models/digits-cnn.onnx"
        harness.syncline("compile", model, *words, "--planner", "p3:8KiB", "-o", plan)
        why = harness.syncline("inspect", plan, "--why", "conv1.weight")
        self.assertRegex(why, r"its bucket, number \d+: \d+ gradients? of [\d.]+ K?i?B: ")
        self.assertIn("\ngrouped otherwise ", why)
        self.assertRegex(why, r"why the cut (before|behind) it: one bucket with the one ")


if __name__ == "__main__":
    unittest.main()
