"""What tests/stress.sh does: rounds of the short run under load, and a list of what ever failed."""

import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys

import jobs
import record

sys.path.append(str(jobs.TESTS / "support"))
import processor

BUSY = 4  # loops beside a round


def rounds(count, seed):
    """Each round's name, its seed, and what is different in it."""
    seeds = random.Random(seed)
    for number in range(1, count + 1):
        place = number % 10
        busy = BUSY if place in (2, 4, 6, 8) else 0
        parallel = 8 if place in (0, 5) else None
        yield f"{number}", seeds.randrange(1 << 32), busy, parallel, {}
    for cap in processor.caps():
        yield cap, seeds.randrange(1 << 32), 0, None, processor.settings(cap)


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(build, seed, busy, parallel, variables):
    """The failed tests of a round, and its counts."""
    words = [sys.executable, jobs.TESTS / "run.py", "--seed", str(seed)]
    words += ["--jobs", str(parallel)] if parallel else []
    with busy_loops(busy):
        code = subprocess.run(
            words, env={**os.environ, "BUILD": str(build), **variables}
        ).returncode
    found = json.loads((build / "tests" / "results.json").read_text())["tests"]
    outcomes = collections.Counter(one["outcome"] for one in found)
    failed = sorted(one["test"] for one in found if one["outcome"] == "failed")
    if code != 0 and not failed:
        failed = ["the run itself"]
    return {"passed": outcomes["passed"], "skipped": outcomes["skipped"], "failed": failed}


def main():
    count, seed = int(sys.argv[1]), (
        int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    )
    build = jobs.build_folder()
    log = build / "tests" / "stress.jsonl"
    key = {"source": record.state(), "rounds": count}
    before = record.lines_of(log)
    before = [one for one in before if {name: one[name] for name in key} == key]
    if len(sys.argv) <= 2 and before:
        seed = before[-1]["seed"]  # goes on
    done = {one["round"]: one for one in before if one["seed"] == seed}
    print(f"{count} rounds by seed {seed}, {len(done)} done before", flush=True)
    for name, order, busy, parallel, variables in rounds(count, seed):
        if name not in done:
            print(
                f"\n== round {name}: {busy} busy loops, {parallel or 'the usual'} jobs",
                flush=True,
            )
            result = run(build, order, busy, parallel, variables)
            done[name] = {
                **key,
                "seed": seed,
                "round": name,
                "busy": busy,
                "jobs": parallel,
                **result,
            }
            with log.open("a") as to:
                to.write(json.dumps(done[name]) + "\n")
    often = collections.Counter(test for one in done.values() for test in one["failed"])
    print(f"\n{len(done)} rounds, {sum(one['passed'] for one in done.values())} tests passed")
    for test, times in often.most_common():
        print(f"failed {times} of {len(done)} times: {test}")
    return 1 if often else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
