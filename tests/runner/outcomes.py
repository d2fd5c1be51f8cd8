"""What came of a job's tests: read from what unittests.py or GoogleTest wrote."""

import dataclasses
import json
import xml.etree.ElementTree

LONG = "long run: "  # how the reason begins why a test is left to the long run


@dataclasses.dataclass
class Outcome:
    test: str
    outcome: str  # passed, failed, skipped, or "long" for one that is left to the long run
    wall: float = 0  # seconds
    cpu: float = 0
    reason: str = ""

    def __post_init__(self):
        if self.outcome == "skipped" and self.reason.startswith(LONG):
            self.outcome = "long"


def of_python(job, results):
    """A test that began and did not end is one that ended the process: it failed."""
    lines = results.read_text().splitlines() if results.exists() else []
    found = {}
    for record in map(json.loads, lines):
        if record["outcome"] == "began":
            record["outcome"] = "failed"
        found[record["test"]] = Outcome(**{**record, "test": f"{job.folder}/{record['test']}"})
    return list(found.values())


def of_googletest(job, results):
    if not results.exists():
        return []
    cases = xml.etree.ElementTree.parse(results).getroot().iter("testcase")
    return [of_case(job, case) for case in cases if case.get("status") == "run"]


def of_case(job, case):
    skipped = case.find("skipped")
    found = {one.get("name"): one.get("value") for one in case.iter("property")}
    outcome = "passed" if skipped is None else "skipped"
    return Outcome(
        test=f"{job.id()}:{case.get('classname')}.{case.get('name')}",
        outcome="failed" if case.find("failure") is not None else outcome,
        wall=float(case.get("time")),
        cpu=float(found.get("cpu", 0)),
        reason="" if skipped is None else skipped.get("message", "").split("\n")[-1],
    )


def of_job(job, results, code, wall, cpu, names):
    """The outcomes of a job that ended with exit code `code`. A process without a list of tests is
    one test. One that failed although none of its tests did is a failed test more."""
    found = of_python(job, results) if job.is_python else of_googletest(job, results)
    if found:
        if code != 0 and all(one.outcome != "failed" for one in found):
            found.append(Outcome(job.id(), "failed", wall, cpu))
        return found
    if code == 0 and results.exists():
        return []  # none of its tests has one of the names
    outcome = "passed" if code == 0 else "skipped" if code == job.skip_code else "failed"
    return [Outcome(job.id(), outcome, wall, cpu)]
