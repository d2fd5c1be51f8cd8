#!/usr/bin/python3
"""Gives the commands inputs that are changed at random, and judges how they end.

A call may succeed, or end with exit code 1 or 2 and one message that begins "syncline"; a file or
folder it was to write is then absent. Anything else is a finding: a signal, exit code 3, a call
that takes longer than --seconds, two messages or none, something half-written, a plan that compiles
and does not verify. Each finding's input stays in the folder --keep with the command that shows it.

    tests/fuzz/fuzz.py                       10,000 inputs over all targets
    tests/fuzz/fuzz.py --inputs 50000 --jobs 2 --seed 7
    tests/fuzz/fuzz.py --targets plan_text --only 4711      one input again

Exit code: 0 without findings, 1 with some. BUILD names another build folder.
"""

import argparse
import collections
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import judge
import seeds
import targets


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--inputs", type=int, default=10000, help="over all targets together (default: 10000)"
    )
    parser.add_argument("--seed", default="1", help="another seed makes other inputs (default: 1)")
    parser.add_argument(
        "--targets", default=",".join(targets.TARGETS), help="comma-separated (default: all)"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="only the input of this number")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes (default: one a processor)"
    )
    parser.add_argument(
        "--seconds", type=float, default=20, help="most that a call may take (default: 20)"
    )
    parser.add_argument(
        "--keep", default="fuzz-findings", help="folder for findings (default: fuzz-findings)"
    )
    chosen = parser.parse_args()
    chosen.targets = chosen.targets.split(",")
    for name in chosen.targets:
        if name not in targets.TARGETS:
            parser.error(f"unknown target '{name}', expected some of {', '.join(targets.TARGETS)}")
    return chosen


def inputs(chosen):
    """(target, number) of every input, the targets in turn."""
    numbers = (
        [chosen.only]
        if chosen.only is not None
        else range(-(-chosen.inputs // len(chosen.targets)))
    )
    return [(name, number) for number in numbers for name in chosen.targets]


def fuzz(chosen, work, report=print):
    """Runs all inputs; the number of findings. `work` is a folder for what is made on the way."""
    good = seeds.Seeds(pathlib.Path(work) / "seeds")
    good.make()
    rows = collections.defaultdict(judge.Row)
    planned, done, last = inputs(chosen), 0, time.monotonic()
    with multiprocessing.Pool(chosen.jobs, judge.begin, (good, work, chosen)) as pool:
        for name, findings, accepted, memory in pool.imap_unordered(
            judge.try_input, planned, chunksize=4
        ):
            rows[name].add(findings, accepted, memory)
            done += 1
            for finding in findings:
                report(finding)
            if time.monotonic() - last > 60:
                last = time.monotonic()
                report(
                    f"{done} of {len(planned)} inputs, {sum(row.findings for row in rows.values())}"
                    " findings"
                )
    report(judge.table(rows))
    return sum(row.findings for row in rows.values())


def main():
    chosen = arguments()
    work = tempfile.mkdtemp(
        prefix="syncline-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    )
    try:
        sys.exit(fuzz(chosen, work, lambda line: print(line, flush=True)) != 0)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
