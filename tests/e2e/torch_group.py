"""A rank of test_torch_calibrate.py: torch_group.py KIND RANK RANKS OUTPUT. Prints JSON."""

import json
import os
import pathlib
import sys

import torch
import torch.distributed as dist

import syncline
import syncline.torch


def refusal(call):
    try:
        return vars(call())
    except syncline.Error as error:
        return str(error)


def measure(output):
    """A calibration of the script's group, or of the first ranks of it."""
    few, group = os.environ.get("RANKS"), None
    if few:
        group = dist.new_group(range(int(few)))
        if dist.get_rank() >= int(few):
            return {}
    seconds = float(os.environ["SECONDS"])
    made = vars(syncline.torch.calibrate(output, seconds=seconds, group=group))
    return {**made, "path": str(made["path"])}


def twice(output):
    """Two calibrations of a group whose backend is not the script's, and the sizes of all groups
    of that backend."""
    sizes = []

    def made(store, rank, ranks, timeout):
        sizes.append(ranks)
        return dist.ProcessGroupGloo(store, rank, ranks, timeout=timeout)

    dist.Backend.register_backend("other", made, devices=["cpu"])
    group = dist.new_group(backend="other")
    found = [vars(syncline.torch.calibrate(output, 0.1, group)) for _ in range(2)]
    dist.barrier(dist.new_group())  # whose names the ranks have counted alike
    return {"sizes": sizes, "found": [{**each, "path": str(each["path"])} for each in found]}


class Timed:
    """A team whose messages take given seconds by size."""

    ranks, device = 2, torch.device("cpu")

    def __init__(self, seconds, now=0.0):
        self.seconds, self.time = seconds, now

    def now(self):
        return self.time

    def measure(self, size, until, warm_up):
        from syncline.torch.team import Summary

        return Summary.of([self.seconds(size)] * 5)


def table(output):
    """Sizes that are measured, without time and with plenty of it, and what is said of times that
    do not grow."""
    from syncline.torch import calibration

    def grows(size):
        return 1e-3 + size / 1e9

    def uneven(size):  # 4 MiB take less time than 1 MiB
        return grows(size) if size != 1 << 22 else 1e-4

    site = calibration.Site("gloo", Timed.device, [[0, 1]], ["h"] * 2, True)
    calibration.measure_device = calibration.measure_interference = lambda *_: {}
    calibration.message = lambda team, size: size
    flat = refusal(lambda: calibration.measure(Timed(lambda size: 1e-3, 7.5), site, 5))
    links = calibration.measure(Timed(uneven), site, 5).links
    measure = calibration.measure_sizes
    return {
        "hurried": list(measure(Timed(grows, 9.0), calibration.SIZES, 5.0)[0]),
        "patient": list(measure(Timed(grows), calibration.SIZES, 500.0)[0]),
        "uneven": list(measure(Timed(uneven, 9.0), calibration.SIZES, 5.0)[0]),
        "unmeasured": measure(Timed(grows, 9.0), calibration.SIZES, 5.0)[1],
        "flat": flat,
        "rises": sorted(links["network"][1].values()) == list(links["network"][1].values()),
    }


def refusals(output):
    from syncline.torch import calibration, computing

    alone = dist.new_group([dist.get_rank()], use_local_synchronization=True)
    calibrate = syncline.torch.calibrate
    found = {
        "file": refusal(lambda: calibrate(output.parent / "none" / "a.yaml")),
        "folder": refusal(lambda: calibrate(output.parent)),
        "seconds": refusal(lambda: calibrate(output, seconds=0)),
        "output": refusal(lambda: calibrate(None)),
        "text": refusal(lambda: calibrate(output, seconds="1")),
        "alone": refusal(lambda: calibrate(output, group=alone)),
    }
    found["nodes"] = [
        calibration.nodes_of(ranks)[::2]
        for ranks in (
            [("a", None), ("a", None), ("b", None), ("b", None)],
            [("a", "2")] * 4,
            [("a", None), ("a", None), ("b", None)],
            [("a", None), ("b", None), ("a", None), ("b", None)],
        )
    ]
    found["nccl"] = of_gpus(1.22)
    found["most"] = of_gpus(computing.MOST_FACTOR)
    found["factors"] = [computing.factor(*each) for each in ((0.9, 1.0), (1.5, 1.0), (4.0, 2.0))]
    return found


def of_gpus(factor):
    """The file of eight ranks with NCCL, with numbers that were not measured."""
    from unittest import mock

    from syncline.torch import calibration, cluster_text
    from syncline.torch.team import Summary

    times = {size: 1e-5 + size / 1e10 for size in calibration.SIZES}
    device = {"compute": 1e13, "memory": 1e12, "overhead": 5e-6, "rows": 4096}
    device |= {name: Summary.of([1e-3] * 5) for name in ("product", "copy", "smallest")}
    beside = {"bytes": 1 << 24, "computing": 1.2, "messages": 1.1, "rounds": 3, "factor": factor}
    findings = cluster_text.Findings(
        device,
        {"network": (4, times), "inside": (2, times)},
        beside,
        {size: Summary.of([seconds] * 5) for size, seconds in times.items()},
        [],
    )
    members = [[0, 1], [2, 3], [4, 5], [6, 7]]
    site = calibration.Site("nccl", torch.device("cuda", 0), members, ["h"] * 8, True)
    with mock.patch("torch.cuda.get_device_name", return_value="GPU"):
        return cluster_text.text_of(site, findings, 60)


def without_group(output):
    return {"none": refusal(lambda: syncline.torch.calibrate(output))}


ALONE = ("without_group", "table")  # need no group


def main(kind, rank, ranks, output):
    torch.set_num_threads(1)
    if kind not in ALONE:
        dist.init_process_group(
            "gloo", init_method=os.environ["MEET"], rank=int(rank), world_size=int(ranks)
        )
    print(json.dumps(globals()[kind](pathlib.Path(output))), flush=True)
    if kind not in ALONE:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
