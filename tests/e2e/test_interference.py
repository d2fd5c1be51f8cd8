"""Plans for clusters on whose messages products and memory-bound operations lose unequally."""

import json
import re
import unittest

import harness
import stepcache
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
# Stated costs, which messages take in the planner's model and in virtual time.
COSTS = """\
collectives:
  all-reduce: {{ring: {{a: 200us, b: 1 ns/B}}}}
  all-gather: {{a: 100us, b: 1 ns/B}}
interference: {factors}
"""
CLASSES = "{{computation: 1.25, products: 1.125, memory: 2.5}}"
WAYS = [
    (),
    ("--planner", "wfbp"),
    ("--scheme", "fc*=factors"),
    ("--accumulate", 2),
    ("--overlap", "step"),
    ("--overlap", "step", "--scheme", "fc*=factors"),
]


class InterferenceTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(stepcache.none())

    def plan(self, factors, *extra):
        cluster = harness.CLUSTER + COSTS.replace("{factors}", factors)
        label = re.sub(r"\W", "", f"{factors}{extra}")
        return harness.compile_plan(
            DIGITS, self.folder, ranks=2, batch=32, extra=extra, cluster=cluster, label=label
        )

    def simulated(self, plan, *words):
        return json.loads(harness.syncline("simulate", plan, "--json", *words))

    def test_simulation_agrees(self):
        """Whatever travels how, verify accepts the plan and a step takes as long as it says."""
        for extra in WAYS:
            with self.subTest(extra=extra):
                plan = self.plan(CLASSES, *extra)
                predicted = harness.plan_json(plan)["predicted"]
                step, planner = predicted["step"], predicted["planner"]
                self.assertAlmostEqual(self.simulated(plan)["step"], step, delta=1e-9 * step)
                self.assertGreater(planner["bound"], 0)
                self.assertGreater(planner["lost"], 0)


if __name__ == "__main__":
    unittest.main()
