#!/usr/bin/python3
"""Where the time of a test run goes: the build by target, and the tests by file.

    tests/times.py [--rows N]

Reads ninja's log and tests/results.json of the build folder, which BUILD names. A step of the build
takes one processor, so the sum of their seconds is about what they compute; a target's steps count
once each, however often the folder was built. Seconds of a test are seconds of processors, its own
and its children's.
"""

import argparse
import collections
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "runner"))
import jobs


def target_of(output):
    if "/CMakeFiles/" in output:
        folder, rest = output.split("/CMakeFiles/", 1)
        return f"{folder}: {rest.split('.dir/')[0]}"
    kind = "device code" if output.endswith(".cu.o") else "links and generated files"
    return f"{output.split('/')[0]}: {kind}"


def build_times(build):
    """Seconds and steps of each target, by each output's last step."""
    last = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        last[output] = (int(begin) / 1000, int(end) / 1000)
    found = collections.defaultdict(lambda: [0.0, 0])
    for output, (begin, end) in last.items():
        if (build / output).exists():
            found[target_of(output)][0] += end - begin
            found[target_of(output)][1] += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", metavar="N", type=int, default=25, help="of each table (25)")
    chosen = parser.parse_args()
    build = jobs.build_folder()
    targets = build_times(build)
    print(
        f"build: {sum(one[0] for one in targets.values()):.0f} s of steps\n\nseconds steps target"
    )
    for name, (seconds, steps) in sorted(targets.items(), key=lambda one: -one[1][0])[
        : chosen.rows
    ]:
        print(f"{seconds:7.1f} {steps:5} {name}")
    results = build / "tests" / "results.json"
    if not results.exists():
        sys.exit(f"times: no '{results}': tests/run.py writes it")
    tests = json.loads(results.read_text())["jobs"]
    print(
        f"\ntests: {sum(one['cpu'] for one in tests):.0f} s of processors\n"
        "\n    CPU    wall tests file"
    )
    for one in sorted(tests, key=lambda one: -one["cpu"])[: chosen.rows]:
        print(f"{one['cpu']:7.1f} {one['wall']:7.1f} {one['passed']:5} {one['job']}")


if __name__ == "__main__":
    main()
