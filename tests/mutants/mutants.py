#!/usr/bin/python3
"""Plants faults in the product, one at a time, and asks whether the tests notice.

    tests/mutants/mutants.py                    30 faults: 3 in each of ten folders
    tests/mutants/mutants.py --only 4,7         these numbers, though they were run before
    tests/mutants/mutants.py --list             what came of each, as a table
    tests/mutants/mutants.py --equivalent 4 "REASON"    no input can show number 4: draw another

Faults are planted in a clone of this repository's HEAD that has its own build folder. A run that is
cut goes on where it was. Exit code: 0 when at most one fault in 15 was not noticed.
"""

import argparse
import fcntl
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import drawing
import stages

TOP = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ.get("BUILD", TOP / "build")) / "mutants"
OWNED = "syncline.mutants"  # a setting of git: only a clone that has it is changed
REDRAWN = ("does-not-compile", "not-built", "equivalent")
NOTICED_OF_30 = 28


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", default="1", help="another seed draws others (default: 1)")
    parser.add_argument("--only", metavar="NUMBERS", help="comma-separated; run again if need be")
    parser.add_argument("--list", action="store_true", help="print the table of what was run")
    parser.add_argument("--equivalent", nargs=2, metavar=("NUMBER", "REASON"))
    parser.add_argument(
        "--source", type=pathlib.Path, default=WORK / "source", help=f"the clone ({WORK}/source)"
    )
    parser.add_argument(
        "--build", type=pathlib.Path, default=WORK / "build", help=f"its build ({WORK}/build)"
    )
    parser.add_argument(
        "--log", type=pathlib.Path, default=WORK / "log.jsonl", help=f"({WORK}/log.jsonl)"
    )
    parser.add_argument(
        "--limit", type=int, default=300, help="seconds that a test may take (default: 300)"
    )
    parser.add_argument(
        "--memory", type=int, default=12, help="GiB of addresses for a process (default: 12)"
    )
    return parser.parse_args()


def git(source, *words):
    done = subprocess.run(["git", "-C", source, *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else sys.exit(f"mutants: {done.stderr}")


def prepare(source):
    """Makes the clone, or brings it to HEAD of this repository. Returns the commit."""
    if not source.exists():
        source.parent.mkdir(parents=True, exist_ok=True)
        git(TOP, "clone", "-q", "--no-checkout", TOP, source)
        git(source, "config", OWNED, "true")
    elif source.resolve() == TOP or git(source, "config", "--default", "", OWNED) != "true":
        sys.exit(
            f"mutants: '{source}' is not a clone to plant faults in; to make it one:\n"
            f"  git -C {source} config {OWNED} true     # loses what is not committed there"
        )
    git(source, "fetch", "-q", TOP, "HEAD")
    git(source, "checkout", "-q", "--force", "--detach", "FETCH_HEAD")
    return git(source, "rev-parse", "--short", "HEAD")


def build_all(source, build):
    """Builds the clone as it is: what does not compile now is no fault of ours."""
    command = [source / "samples" / "setup.sh", "--tests", "--no-install"]
    if subprocess.run(command, env={**os.environ, "BUILD": str(build)}).returncode != 0:
        sys.exit(f"mutants: the clone '{source}' does not build")


class Log:
    """One line of JSON for each attempt; the last of a number counts."""

    def __init__(self, path, seed):
        self.path, self.seed = path, seed
        text = path.read_text() if path.exists() else ""
        self.all = [one for one in map(json.loads, text.splitlines()) if one["seed"] == seed]

    def add(self, **record):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.all.append({"seed": self.seed, **record})
        with self.path.open("a") as to:
            to.write(json.dumps(self.all[-1]) + "\n")

    def last(self, number):
        own = [one for one in self.all if one["number"] == number]
        return own[-1] if own else None

    def redrawn(self, number):
        return sum(one["number"] == number and one["outcome"] in REDRAWN for one in self.all)


class Run:
    """Plants single faults, builds, and runs tests until one notices."""

    def __init__(self, chosen):
        self.source, self.build = chosen.source.absolute(), chosen.build.absolute()
        self.stage = stages.Stage(self.source, self.build, chosen.limit)

    def ninja(self, *words):
        command = ["ninja", "-C", self.build, "-j", str(os.cpu_count()), *words]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if "ninja: error:" in (printed := done.stdout + done.stderr):
            sys.exit(f"mutants: {printed[-1000:]}")  # a build that cannot begin says nothing
        return done

    def try_site(self, folder, site):
        """outcome, what caught it or why it is redrawn."""
        path = self.source / site.file
        text = path.read_text()
        try:
            path.write_text(site.planted(text))
            if "no work to do" in self.ninja("-n", "all").stdout:
                return "not-built", "no program here has this file"
            for stage in stages.every(folder, self.source):
                path.write_text(site.planted(text))
                done = self.ninja(*stages.targets(stage))
                if done.returncode != 0:
                    return of_failed_build(done.stdout)
                if (failure := self.stage.run(stage)) is None:
                    continue
                path.write_text(text)
                self.ninja(*stages.targets(stage))
                name, how = failure
                if self.stage.run(stage, name or None) is None:
                    return "caught", " ".join(filter(None, [stage, name, how and f"by {how}"]))
                print(f"  {stage} {name}: fails without the change too: no judge", flush=True)
            return "survived", ""
        finally:
            path.write_text(text)


def of_failed_build(printed):
    """A program that runs during the build can notice a change; a compiler refuses it."""
    error = re.search(r"^.*(?:\berror: |undefined reference).*$", printed, re.MULTILINE)
    if error:
        return "does-not-compile", re.sub(r"\x1b\[[\d;]*[mK]", "", error.group(0))[-160:]
    target = re.search(r"^FAILED: (.*)$", printed, re.MULTILINE)
    return "caught", f"build of {target.group(1) if target else 'what depends on it'}"


def offered(source):
    """What can be changed in each folder, its subfolders included."""
    folders = {}
    for name in stages.FOLDERS:
        paths = sorted((source / name).rglob("*.cpp"))
        each = [drawing.sites(str(p.relative_to(source)), p.read_text()) for p in paths]
        folders[name] = [site for sites in each for site in sites]
    return folders


def shown(text):
    """A piece of code for one line of print."""
    text = " ".join(text.split())
    return text if len(text) <= 70 else text[:67] + "..."


def run(chosen, log):
    commit = prepare(chosen.source)
    print(f"seed {chosen.seed}, commit {commit}, log {chosen.log}", flush=True)
    slots = drawing.draw(chosen.seed, offered(chosen.source))
    only = [int(number) for number in chosen.only.split(",")] if chosen.only else None
    # Ended by a signal, it takes the fault out and ends the tests as by Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    one = Run(chosen)
    build_all(one.source, one.build)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (chosen.memory << 30, chosen.memory << 30))
    for number, (folder, sites) in enumerate(slots, 1):
        last = log.last(number)
        if number not in only if only else last and last["outcome"] not in REDRAWN:
            continue
        while True:
            site = sites[log.redrawn(number)]
            text = (chosen.source / site.file).read_text()
            change = f"{number}: {site.kind} in {site.file}:{site.line}"
            print(f"{change}: '{shown(site.old)}' becomes '{shown(site.new)}'", flush=True)
            began = time.monotonic()
            outcome, why = one.try_site(folder, site)
            seconds = round(time.monotonic() - began)
            print(f"  {outcome} {why} ({seconds} s)", flush=True)
            log.add(
                **{"number": number, "folder": folder, "kind": site.kind, "file": site.file},
                **{"line": site.line, "old": site.old, "new": site.new},
                **{"before": site.lines(text), "after": site.lines_after(text)},
                **{"outcome": outcome, "caught_by" if outcome == "caught" else "reason": why},
                **{"seconds": seconds, "commit": commit},
            )
            if outcome not in REDRAWN:
                break


def mark_equivalent(log, number, reason):
    last = log.last(number)
    if not last or last["outcome"] != "survived":
        sys.exit(f"mutants: expected a number whose fault was not noticed, got {number}")
    log.add(**{**last, "outcome": "equivalent", "reason": reason})


def table(log):
    """The table for people, and under it how many were noticed and which were redrawn."""
    numbers = sorted({one["number"] for one in log.all})
    rows = [one for one in map(log.last, numbers) if one["outcome"] not in REDRAWN]
    print("| | folder | place | change | noticed by |\n|---|---|---|---|---|")
    for one in rows:
        place = f"{pathlib.PurePath(one['file']).name}:{one['line']}"
        new = "dropped" if one["new"] == "{}" else f"`{shown(one['new'])}`"
        change = f"{one['kind']}: `{shown(one['old'])}` → {new}".replace("|", "\\|")
        by = one.get("caught_by", "**none**")
        print(f"| {one['number']} | {one['folder']} | {place} | {change} | {by} |")
    caught = sum(one["outcome"] == "caught" for one in rows)
    counts = [sum(one["outcome"] == kind for one in log.all) for kind in REDRAWN]
    print(
        f"\n{caught} of {len(rows)} noticed. Redrawn: {counts[0]} that do not compile, {counts[1]}"
        f" that nothing here is built from, {counts[2]} that no input can show."
    )
    for one in log.all:
        if one["outcome"] == "equivalent":
            place = f"{one['file']}:{one['line']}"
            print(f"* {one['number']}, {place}, `{one['after']}`: {one['reason']}")
    return caught * 30 >= NOTICED_OF_30 * len(rows)


def main():
    chosen = arguments()
    log = Log(chosen.log, chosen.seed)
    if chosen.equivalent:
        mark_equivalent(log, int(chosen.equivalent[0]), chosen.equivalent[1])
    elif not chosen.list:
        chosen.log.parent.mkdir(parents=True, exist_ok=True)
        with chosen.log.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sys.exit(f"mutants: another run has '{chosen.log}'")
            run(chosen, log)
    sys.exit(not table(log))


if __name__ == "__main__":
    main()
