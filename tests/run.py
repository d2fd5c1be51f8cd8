#!/usr/bin/python3
"""Runs the tests of a build: one file or program a processor at a time, and one more.

    tests/run.py                          all of the short run
    tests/run.py e2e numerics -k Resnet   tests in folders of tests/ whose name contains Resnet
    tests/run.py --long unit e2e          the long run of folders; goes on where it was cut

BUILD names another build folder. Each test's times are written to tests/results.json in it. The
last line is "N passed, N failed, N skipped". Exit code: 0 when none failed.
"""

import argparse
import os
import pathlib
import random
import signal
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS / "runner"), str(TESTS / "support")]

import jobs as jobs_of
import limits
import record
import schedule
import surroundings

PARALLEL = len(os.sched_getaffinity(0)) + 1  # one of them mostly waits


def arguments():
    title, usage = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=title, epilog=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="folders of tests/; all")
    parser.add_argument("-k", metavar="NAME", action="append", default=[], help="may be repeated")
    parser.add_argument("--long", action="store_true", help="all repetitions, not the short run")
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=PARALLEL, help=f"at a time ({PARALLEL})"
    )
    parser.add_argument("--seed", metavar="N", type=int, help="begin jobs in a random order")
    chosen = parser.parse_args()
    if chosen.jobs < 1:
        parser.error("--jobs: expected 1 or more")
    return chosen


def show(ended):
    """A line for each job; all that it printed where a test of it failed."""
    failed = ended.failed()
    if failed:
        print(f"\n-- {ended.job.id()}\n{ended.printed}")
    skipped = [one for one in ended.outcomes if one.outcome == "skipped"]
    for reason in dict.fromkeys(one.reason for one in skipped if one.reason):
        print(f"   skipped in {ended.job.id()}: {reason}")
    print(
        f"{'FAILED' if failed else 'ok    '} {ended.job.id():44}"
        f" {ended.count('passed'):5} passed {ended.cpu:7.1f} s of processors {ended.wall:7.1f} s",
        flush=True,
    )
    for test in failed:
        print(f"FAILED {test}", flush=True)


def main():
    chosen = arguments()
    build = jobs_of.build_folder()
    try:
        jobs = jobs_of.all_jobs(build, chosen.folders)
    except jobs_of.NoTests as none:
        sys.exit(f"run.py: {none}")
    if chosen.k:  # what only the long run has goes by its own name, not by those of its tests
        named = [job for job in jobs if any(name in job.name for name in chosen.k)]
        jobs = [job for job in jobs if not job.is_long or job in named]
    log = record.Record(build, chosen.long)
    if chosen.seed is not None:
        print(f"order of jobs by seed {chosen.seed}")
        random.Random(chosen.seed).shuffle(jobs)
    began = time.monotonic()
    limit = schedule.LONG_LIMIT if chosen.long else schedule.LIMIT
    for ended in schedule.run_jobs(
        log.left(jobs), chosen.jobs, chosen.k, surroundings.settled(chosen.long), limit
    ):
        show(ended)
        log.add(ended)
    if chosen.k and not log.outcomes:
        sys.exit(f"run.py: no test's name contains {' or '.join(map(repr, chosen.k))}")
    everything = not chosen.folders and not chosen.k and not chosen.long
    failed = limits.judge(log.outcomes) if everything else []
    for line in failed:
        print(f"FAILED {line}")
    passed, broken, skipped, long = (log.count(o) for o in ("passed", "failed", "skipped", "long"))
    log.write()
    print(f"\n{log.cpu():.0f} s of processors, {time.monotonic() - began:.0f} s; the slowest:")
    for one in log.slowest(12):
        print(f"{one.cpu:8.1f} s  {one.test}")
    if long:
        print(f"{long} more in the long run: tests/run.sh --long")
    print(f"{passed} passed, {broken + len(failed)} failed, {skipped} skipped")
    sys.exit(broken + len(failed) != 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
