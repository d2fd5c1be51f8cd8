"""What a run has found so far, on disk: the short run's results as one file, the long run's as a
log that the next call goes on with."""

import dataclasses
import datetime
import hashlib
import json
import subprocess

from jobs import TESTS
from outcomes import Outcome


def lines_of(log):
    """The lines of a log. A run that was killed may have left part of one, which does not count."""
    if not log.exists():
        return []
    whole, _, _ = log.read_text().rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def state():
    """Names the source: its commit, and what has been changed since."""

    def git(*words):
        return subprocess.run(["git", "-C", TESTS.parent, *words], capture_output=True).stdout

    changed = git("diff", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    commit = git("rev-parse", "--short", "HEAD").decode().strip()
    return commit + ("+" + hashlib.sha256(changed).hexdigest()[:8] if changed else "")


class Record:
    def __init__(self, build, is_long):
        self.folder, self.is_long, self.state = build / "tests", is_long, state()
        self.outcomes, self.jobs = [], []
        self.log = self.folder / "long.jsonl"

    def left(self, jobs):
        """The jobs to run: of the short run, or those that the long run has not ended well with
        this source."""
        if not self.is_long:
            self.outcomes += [Outcome(job.id(), "long") for job in jobs if job.is_long]
            return [job for job in jobs if not job.is_long]
        lines = lines_of(self.log)
        done = {one["job"] for one in lines if one["state"] == self.state and not one["failed"]}
        left = [job for job in jobs if job.id() not in done]
        print(f"{len(jobs) - len(left)} of {len(jobs)} parts have passed before with this source")
        return left

    def add(self, ended):
        self.outcomes += ended.outcomes
        counts = {what: ended.count(what) for what in ("passed", "skipped", "failed")}
        line = {"job": ended.job.id(), **counts, "cpu": ended.cpu, "wall": ended.wall}
        self.jobs.append(line)
        if self.is_long:
            when = datetime.datetime.now().isoformat(timespec="seconds")
            said = [text for text in ended.printed.splitlines() if "seed" in text.lower()][:20]
            line = {
                "when": when,
                "state": self.state,
                **line,
                "tests": ended.failed(),
                "seeds": said,
            }
            self.folder.mkdir(parents=True, exist_ok=True)
            with self.log.open("a") as log:
                log.write(json.dumps(line) + "\n")

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        tests = [dataclasses.asdict(one) for one in self.outcomes]
        found = {"state": self.state, "jobs": self.jobs, "tests": tests}
        (self.folder / "results.json").write_text(json.dumps(found, indent=1))

    def count(self, what):
        return sum(one.outcome == what for one in self.outcomes)

    def cpu(self):
        return sum(job["cpu"] for job in self.jobs)

    def slowest(self, most) -> list[Outcome]:
        return sorted(self.outcomes, key=lambda one: -one.cpu)[:most]
