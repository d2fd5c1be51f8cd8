"""A rank that is killed at a random moment of a run whose steps take seconds, twenty on two
processors: it computes for much longer than others wait for it."""

import unittest

import harness
import killed
from depth import long
from killed import RANKS, SAMPLES, Way


class LongStepsKillsTest(killed.KillsTest):
    @long("a minute a kill; test_steps_of_milliseconds, test_stop")
    def test_steps_of_many_seconds(self):
        plan = harness.compile_plan(SAMPLES / "resnet-50.onnx", self.folder, RANKS, batch=8)
        self.survives(Way(plan, 2, 1, "--lr", 0.001, "--accumulate", 4), killed.kills(1, 12))


if __name__ == "__main__":
    unittest.main()
