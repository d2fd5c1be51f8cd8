"""Simulates plans of many planners: messages must begin and end when the plan says, and the step end there.

    simulated_as_predicted.py FOLDER SAMPLES
"""
import json
import subprocess
import sys

folder, samples = sys.argv[1:3]
PLAN = folder + "/a.plan"
# Ranks in step, one link each (or measured costs): nothing that the cost model idealises.
CLUSTERS = {
    "poseidon-titanx-40gbe-8": ["ps", "sfb", "poseidon"],
    "ethernet-10g": ["ps", "sfb", "poseidon"],
    "servers-200m": ["ps", "sfb", "poseidon"],
    "mg-wfbp-v100-10gbe": [],
    "measured-table": [],
}
PLANNERS = ["optimal", "wfbp", "single", "mg-wfbp", "ddp:25MiB", "horovod:64MiB"]


def run(*command):
    return subprocess.run(["syncline", *command], check=True, capture_output=True, text=True).stdout


def near(got, wanted, what):
    assert abs(got - wanted) <= 1e-9 * wanted, f"{what}: expected {wanted}, got {got}"


checked = 0
for network in ("vgg19", "googlenet"):
    for cluster, more in CLUSTERS.items():
        for planner in PLANNERS + more:
            run("compile", f"{samples}/traces/{network}.csv", "--cluster", f"{samples}/clusters/{cluster}.yaml",
                "--planner", planner, "-o", PLAN)
            with open(PLAN + "/plan.json", encoding="utf-8") as file:
                plan = json.load(file)
            simulated = json.loads(run("simulate", PLAN, "--json"))
            where = f"{network}, {cluster}, {planner}"
            for bucket, message in zip(plan["buckets"], simulated["messages"], strict=True):
                assert bucket["scheme"] == message["scheme"], where
                near(message["start"], bucket["start"], f"{where}, start of {bucket['id']}")
                near(message["end"], bucket["end"], f"{where}, end of {bucket['id']}")
            near(simulated["step"], plan["predicted"]["step"], where + ", step")
            checked += 1
print(checked, "plans are simulated as predicted")
