"""Checks a Chrome trace that simulate wrote against its plan, and counts.

    check_trace.py TRACE.json PLAN
"""
import collections
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
with open(sys.argv[2] + "/plan.json", encoding="utf-8") as file:
    plan = json.load(file)
assert trace["displayTimeUnit"] == "ms"
assert trace["otherData"] == {
    "schema": "syncline-trace",
    "plan": plan["hashes"]["plan"],
    "kind": "simulated",
}
spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
names = {
    (e["pid"], e["tid"]): e["args"]["name"]
    for e in trace["traceEvents"]
    if e["name"] == "thread_name"
}
assert all((e["pid"], e["tid"]) in names for e in spans)
assert all(
    names[e["pid"], e["tid"]] == ("channel 0" if e["cat"] == "message" else "compute")
    for e in spans
)

# Nothing of one thread overlaps.
lines = collections.defaultdict(list)
for event in spans:
    lines[event["pid"], event["tid"]].append((event["ts"], event["dur"]))
for line in lines.values():
    line.sort()
    assert all(a + d <= b + 1e-6 for (a, d), (b, _) in zip(line, line[1:]))

# The arrows of a bucket: an operation that computes, its message, its update.
flows = collections.defaultdict(list)
for event in trace["traceEvents"]:
    if event["ph"] in "stf":
        flows[event["pid"], event["id"]].append(event)
        covers = [s["cat"] for s in spans if s["pid"] == event["pid"] and s["tid"] == event["tid"]
                  and s["ts"] <= event["ts"] <= s["ts"] + s["dur"]]
        assert {"s": "compute", "t": "message", "f": "update"}[event["ph"]] in covers, event
assert all(sorted(e["ph"] for e in flow) == ["f", "s", "t"] for flow in flows.values())

ranks = {e["pid"] for e in spans}
steps = {e["args"]["step"] for e in spans}
messages = [e for e in spans if e["cat"] == "message"]
buckets = {e["args"]["bucket"] for e in messages if e["name"] != "loss"}
losses = collections.Counter(e["name"] for e in messages)["loss"]
count = collections.Counter(e["cat"] for e in spans)
print(
    f"{len(ranks)} ranks, {len(steps)} steps, {len(buckets)} buckets: "
    f"{len(messages) - losses} messages, {losses} of the loss, "
    f"{count['update']} updates, {sum(map(len, flows.values()))} flow events"
)
