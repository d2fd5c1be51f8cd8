"""Simulates plans of many planners: messages must begin and end when the planner says, and the step
end there: to 1e-9, or where some go by trees to 2 %.

    simulated_as_predicted.py FOLDER SAMPLES

The planner's times are those of the solution in plan.mlir; the plan's own are the simulation's.
"""

import json
import re
import subprocess
import sys

folder, samples = sys.argv[1:3]
PLAN = folder + "/a.plan"
SLOW = folder + "/slow.yaml"
# Ranks in step, one link each (or measured costs): nothing that the cost model idealises.
CLUSTERS = {
    "poseidon-titanx-40gbe-8": ["ps", "sfb", "poseidon"],
    "ethernet-10g": ["ps", "sfb", "poseidon"],
    "servers-200m": ["ps", "sfb", "poseidon"],
    "infiniband-fdr": [],  # GPUs, so by NCCL's protocols
    "infiniband-by-rate": [],  # by NCCL's rings and trees, since no kind has protocols
    "mg-wfbp-v100-10gbe": [],
    "measured-table": [],
}
BY_RATE = """name: infiniband by its rate alone
nodes: 4
device: {kind: p100}
network: {bandwidth: 54.54 Gb/s, latency: 5us, reduce-rate: 240 GB/s}
"""
# Those on which messages are compared once more where they slow computation.
SLOWED = {
    "poseidon-titanx-40gbe-8": "{computation: 1.6}",
    "ethernet-10g": "{computation: 1.3, latency: 1.7}",
    "servers-200m": "{computation: 1.5, latency: 1.1}",
    "measured-table": "{computation: 1.2, latency: 2}",
}
PLANNERS = ["optimal", "wfbp", "single", "mg-wfbp", "ddp:25MiB", "horovod:64MiB"]
MESSAGE = re.compile(r"#sync\.message<[^>]*?ready = ([^,>]+), start = ([^,>]+), end = ([^,>]+)")


def run(*command):
    return subprocess.run(["syncline", *command], check=True, capture_output=True, text=True).stdout


def near(got, wanted, what):
    assert abs(got - wanted) <= part * wanted, f"{what}: expected {wanted}, got {got}"


# A tree's formula is no identity: what follows such a message is later or earlier, too.
EXACT, BY_TREE = 1e-9, 0.02
checked = with_trees = slowed = 0
files = {"infiniband-by-rate": folder + "/by-rate.yaml"}
with open(files["infiniband-by-rate"], "w", encoding="utf-8") as file:
    file.write(BY_RATE)


def file_of(cluster, interference):
    """The cluster's file, with this interference where there is one."""
    path = files.get(cluster, f"{samples}/clusters/{cluster}.yaml")
    if not interference:
        return path
    with open(path, encoding="utf-8") as file, open(SLOW, "w", encoding="utf-8") as slow:
        slow.write(file.read() + f"\ninterference: {interference}\n")
    return SLOW


for network in ("vgg19", "googlenet"):
    for cluster, interference in [*((c, None) for c in CLUSTERS), *SLOWED.items()]:
        for planner in PLANNERS + CLUSTERS[cluster]:
            trace = f"{samples}/traces/{network}.csv"
            path = file_of(cluster, interference)
            run("compile", trace, "--cluster", path, "--planner", planner, "-o", PLAN)
            with open(PLAN + "/plan.json", encoding="utf-8") as file:
                plan = json.load(file)
            with open(PLAN + "/plan.mlir", encoding="utf-8") as file:
                solved = [list(map(float, times)) for times in MESSAGE.findall(file.read())]
            has_tree = any(bucket["scheme"] == "tree" for bucket in plan["buckets"])
            part = BY_TREE if has_tree else EXACT
            with_trees += has_tree
            simulated = json.loads(run("simulate", PLAN, "--json"))
            where = f"{network}, {cluster}, {interference}, {planner}"
            for bucket, message, times in zip(
                plan["buckets"], simulated["messages"], solved, strict=True
            ):
                place = f"{where}, message {bucket['id']}"
                assert bucket["scheme"] == message["scheme"], place
                for kind, planned in zip(("ready", "start", "end"), times, strict=True):
                    near(bucket[kind], planned, f"{place}, {kind}")
                near(message["start"], bucket["start"], place + ", start")
                near(message["end"], bucket["end"], place + ", end")
            near(simulated["step"], plan["predicted"]["step"], where + ", step")
            near(
                simulated["step"],
                plan["predicted"]["planner"]["step"],
                where + ", the planner's step",
            )
            checked += 1
            slowed += "lost" in plan["predicted"]["planner"]
print(checked, "plans are simulated as predicted,", with_trees, "with trees,", slowed, "slowed")
