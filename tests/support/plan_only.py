"""A test case that plans models by their shapes alone, and reads what was planned."""

import csv
import json

import harness
from refusal import RefusalTest


def plan_json(plan):
    return json.loads((plan / "plan.json").read_text())


class PlanOnlyTest(RefusalTest):
    def plan(self, model, *extra, name="only"):
        """A plan of the model's shapes, verified."""
        folder = self.folder / f"{name}.plan"
        words = ["compile", model, "--cluster", self.cluster, "--plan-only", "-o", folder, *extra]
        done = self.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.notes = [
            line for line in done.stderr.splitlines() if line.startswith("syncline: note:")
        ]
        harness.syncline("verify", folder)
        return folder

    def layers(self, model, *extra):
        """The rows of the layer trace that goes with the plan, by name."""
        with open(self.plan(model, *extra) / "layers.csv", newline="") as rows:
            return {row["name"]: row for row in csv.DictReader(rows)}

    def trained(self, rows):
        """Bytes of the parameters among these rows."""
        return {name: int(row["bytes"][:-1]) for name, row in rows.items() if row["bytes"] != "0B"}
