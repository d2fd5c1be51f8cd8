"""Compares FOLDER/shared.plan, of a cluster with groups, with FOLDER/own.plan, whose cluster's
cards have the part of the rate that a group gets.

    compare_groups.py FOLDER
"""

import json
import sys


def read(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as file:
        return json.load(file)


def near(a, b):
    return abs(a - b) <= 1e-9 * b


plans = [read(name + ".plan/plan.json") for name in ("shared", "own")]
simulated = [read(name + ".json") for name in ("shared", "own")]
cluster = plans[0]["cluster"]
print(
    f"groups {cluster['groups']} of {cluster['ranks']} ranks, {cluster['devices_per_node']} a node"
)
if near(simulated[0]["step"], plans[0]["predicted"]["step"]):
    print("simulated as predicted")
schemes = [[bucket["scheme"] for bucket in plan["buckets"]] for plan in plans]
if schemes[0] == schemes[1] and near(simulated[0]["step"], simulated[1]["step"]):
    print("as with cards of a quarter of the rate" if cluster["groups"] == 4 else "as with cards")
