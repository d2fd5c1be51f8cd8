#!/usr/bin/env python3
"""Makes the table of published rates of plain data parallel training, and cluster files for it.

    multi_rows.py FIGURES.csv ONE.csv [-o multi_rows.csv]
    multi_rows.py --cluster SYSTEM --nodes N --gpus G -o cluster.yaml

FIGURES.csv has columns gpus, nodes, network and batch_per_gpu beside those of ONE.csv, the one-GPU
figures (rows.py); its rates are totals. `efficiency` is the rate over G times the one-GPU rate that
the same source published for the same model, device, precision and framework. Rows of other kinds
of parallelism are left out, and say so.
"""

import argparse
import csv
import pathlib
import re

import rows

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = (
    *("row", "model", "variant", "gpu", "kind", "precision", "batch", "gpus", "nodes", "network"),
    *("system", "published", "unit", "per_sample", "samples_per_second", "one_gpu"),
    *("one_gpu_batch", "efficiency", "framework", "class", "layout", "scope", "optimizer"),
    *("onnx", "options", "left_out", "mark", "source"),
)

# How the devices of a node are linked, by kind, and nodes, as cluster files have it. The latencies
# are assumed.
NVLINK_5 = "{bandwidth: 900 GB/s, latency: 3 us}"
INSIDE = {
    "p100": "{kind: nvlink-p100}",
    "v100": "{kind: nvlink-v100}",
    "v100-32g": "{kind: nvlink-v100}",
    "a100": "{kind: nvlink-a100}",
    "a100-80g": "{kind: nvlink-a100}",
    "h100": "{kind: nvlink-h100}",
    "h200": "{kind: nvlink-h100}",
    "b200": NVLINK_5,
    **dict.fromkeys(("k80", "titan-x"), "{kind: pcie-3}"),
    "h100-pcie": "{kind: pcie-5}",
    **dict.fromkeys(("a100-80g-pcie", "rtx-3090", "rtx-4090"), "{kind: pcie-4}"),
    **dict.fromkeys(("rtx-6000-ada", "rtx-a6000"), "{kind: pcie-4}"),
}
BETWEEN = {
    "edr-1": "{kind: infiniband-edr}",
    "edr-8": "{kind: infiniband-edr, cards: 8}",
    "hdr-8": "{kind: infiniband-hdr, cards: 8}",
    "ethernet-10g": "{kind: ethernet-10g}",
    "ethernet-20g": "{bandwidth: 20 Gb/s, latency: 30 us}",
    "ethernet-40g": "{kind: ethernet-40g}",
}
NETWORKS = (
    ("one 100 Gb/s EDR", "edr-1"),
    ("8xEDR", "edr-8"),
    ("8xHDR", "hdr-8"),
    ("10 GbE", "ethernet-10g"),
    ("20 Gb/s Ethernet", "ethernet-20g"),
    ("40 GbE", "ethernet-40g"),
)
SHARDED = re.compile(r"full_shard|FSDP|ZeRO|grad_op|sharded", re.IGNORECASE)
OTHER_KINDS = re.compile(
    "llm-foundry|Megatron|NeMo|torchtitan|litgpt|lit-gpt|flash-attention training"
)
PLAIN = re.compile("data parallel, Megatron")
MOST = 1.1  # times linear


def system_of(row, kind):
    """The name of the cluster file, or "" where the source does not say how nodes are linked."""
    if int(row["nodes"]) == 1:
        return kind if kind in INSIDE and int(row["gpus"]) <= 16 else ""
    for word, network in NETWORKS:
        if word in row["network"]:
            return f"{kind}+{network}"
    return ""


def cluster(system, nodes, gpus):
    """The text of the cluster file."""
    kind, _, network = system.partition("+")
    lines = [f"name: {nodes} nodes with {gpus // nodes} {kind}", f"nodes: {nodes}"]
    lines += [f"devices-per-node: {gpus // nodes}", f"device: {{kind: {kind}}}"]
    lines.append(f"network: {BETWEEN[network or 'edr-1']}")
    if gpus > nodes:
        lines.append(f"inside: {INSIDE[kind]}")
    return "\n".join(lines) + "\n"


def why_not(row, onnx, system, one):
    """The reason not to use a figure, or ""."""
    words = f"{row['framework']} {row['variant']}"
    if SHARDED.search(row["variant"]):
        return "shards parameters or moments"
    if OTHER_KINDS.search(words) and not PLAIN.search(row["variant"]):
        return "not plain data parallelism"
    if re.search("parameter server|PS ", row["variant"]) and "Poseidon" not in words:
        return "parameter servers on hosts, of unknown placement"
    reason = rows.why_not({**row, "batch": row["batch_per_gpu"]}, onnx)
    if reason:
        return reason
    if not one:
        return "no rate of one GPU by the same source"
    if float(row["samples_per_second"]) > MOST * one * int(row["gpus"]):
        return "the source contradicts itself: more than linear"
    return "" if system else "the network between nodes is not stated"


def key(row):
    return tuple(row[name] for name in ("model", "variant", "gpu", "precision", "framework"))


def ones(figures, single):
    """The rates of one GPU and their batches, by what they have in common with those of several."""
    found = {}
    for row in [*single, *figures]:
        if row.get("gpus", "1") == "1":
            batch = row.get("batch") or row.get("batch_per_gpu")
            found.setdefault(key(row), {})[batch] = float(row["samples_per_second"])
    return found


def one_gpu(row, known):
    """The rate of one GPU, with the same batch if there is one, and its batch; else 0 and ""."""
    rates = known.get(key(row), {})
    if not rates:
        return 0, ""
    batch = row["batch_per_gpu"]
    batch = batch if batch in rates else next(iter(rates))
    return rates[batch], batch


def made(number, row, known):
    onnx, units = rows.model_of(row)
    kind = rows.KINDS.get(row["gpu"], "")
    system = system_of(row, kind)
    one, batch = one_gpu(row, known)
    reason = why_not(row, onnx, system, one)
    told = {name: row[name] for name in COLUMNS if name in row}
    told |= {"row": number, "batch": row["batch_per_gpu"], "kind": kind, "left_out": reason}
    told |= {"published": row["samples_per_second"], "samples_per_second": ""}
    told |= {"class": rows.kind_of_framework(row), "layout": rows.layout_of(row)}
    told |= {"scope": rows.scope_of(row), "optimizer": rows.optimizer_of(row)}
    if not reason:
        rate, gpus = float(row["samples_per_second"]), int(row["gpus"])
        told |= {"onnx": onnx, "options": rows.OPTIONS.get(onnx, ""), "system": system}
        told |= {"per_sample": units, "samples_per_second": f"{rate / units:.6g}"}
        told |= {"one_gpu": f"{one / units:.6g}", "one_gpu_batch": batch}
        told |= {"efficiency": f"{rate / one / gpus:.4f}"}
    return told


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*")
    parser.add_argument("-o", "--output", default=HERE / "multi_rows.csv")
    parser.add_argument("--cluster", metavar="SYSTEM")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=8)
    chosen = parser.parse_args()
    if chosen.cluster:
        pathlib.Path(chosen.output).write_text(cluster(chosen.cluster, chosen.nodes, chosen.gpus))
        return
    figures, single = map(read, chosen.figures)
    known = ones(figures, single)
    table = [
        made(number, row, known) for number, row in enumerate(figures, 2) if row["gpus"] != "1"
    ]
    with open(chosen.output, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
