"""A rank that is killed at a random moment of a run whose steps take milliseconds."""

import unittest

import harness
import killed
from checkpointed import PAIR
from killed import RANKS, SAMPLES, Way


class KillsTest(killed.KillsTest):
    def test_steps_of_milliseconds(self):
        plan = harness.compile_plan(SAMPLES / "digits-cnn.onnx", self.folder, RANKS, batch=256)
        data = ("--data", PAIR, "--shuffle", "--lr", 0.05, "--momentum", 0.9)
        self.survives(Way(plan, 60, 5, *data), killed.kills(2, 188))


if __name__ == "__main__":
    unittest.main()
