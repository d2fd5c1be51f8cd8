"""Plans for clusters on whose messages products and memory-bound operations lose unequally."""

import csv
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
# Workers lose what the scheme takes that carries the weights.
CARRIERS = """\
collectives:
  all-reduce: {{tree: {{a: 50us, b: 1 ns/B, interference: {tree}}}}}
  parameter-server: {{a: 50us, b: 1 ns/B, interference: {servers}}}
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

    def worker_steps(self, tree, servers):
        """Seconds of a step by consistency, with these factors beside a scheme's messages."""
        plan, rows = self.folder / f"{tree}-{servers}.plan", self.folder / "steps.csv"
        carriers = CARRIERS.replace("{tree}", str(tree)).replace("{servers}", str(servers))
        cluster = (harness.CLUSTER + carriers).replace("10 Gb/s", "1 Gb/s").format(ranks=2)
        words = ["--cluster", self.write("carriers.yaml", cluster), "--batch", 32]
        harness.syncline("compile", DIGITS, *words, "--plan-only", "-o", plan)
        sweep = "consistency=easgd:async,0.1,easgd:sync3,0.1"
        harness.syncline("simulate", plan, "--steps", 40, "--sweep", sweep, "--csv", rows)
        with open(rows) as lines:
            return [float(row["step_s"]) for row in csv.DictReader(lines)]

    def test_workers_lose_by_scheme(self):
        """Messages of servers slow workers by their factor, messages of collectives by theirs."""
        (served, summed), by_tree, by_servers = (
            self.worker_steps(*factors) for factors in ((1, 1), (3, 1), (1, 3))
        )
        self.assertEqual(by_tree[0], served)
        self.assertGreater(by_tree[1], 1.01 * summed)
        self.assertGreater(by_servers[0], 1.01 * served)
        self.assertEqual(by_servers[1], summed)

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
