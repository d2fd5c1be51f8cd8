"""The rows of a check: what was expected, what was found, and whether that is well."""

import dataclasses
import json
import pathlib
import subprocess
import time
import traceback
from typing import Callable

UNFINISHED = "unfinished"  # stopped by the budget or by a signal: the next call runs it again
RESULTS = ("pass", "FAIL", "skipped", UNFINISHED)


class Failed(Exception):
    """The check found something else; the message says what."""


class Skipped(Exception):
    """The check could not be made here; the message says why."""


class Stopped(BaseException):
    """A signal ends the checks. No check catches it by accident."""


class Budget:
    """Seconds that all checks of a call may take together; without a number they may take any."""

    def __init__(self, seconds=None):
        self.end = time.monotonic() + seconds if seconds else float("inf")

    def left(self):
        return max(self.end - time.monotonic(), 0.0)


@dataclasses.dataclass
class Check:
    name: str
    expected: str
    function: Callable  # returns what it found
    arguments: tuple = ()


class Table:
    """Runs checks one after the other; none that fails stops the others. After every row it writes
    LOGS/table.txt and LOGS/rows.json, so that a call that is cut off loses nothing and another one
    with the same `key` goes on."""

    def __init__(self, logs, heading="", key="", budget=None, again=False):
        self.logs = pathlib.Path(logs)
        self.heading = heading
        self.key = key
        self.budget = budget or Budget()
        self.rows = {} if again else self.found_before()  # by name
        self.waiting = []  # names of checks that did not start

    def found_before(self):
        try:
            known = json.loads((self.logs / "rows.json").read_text())
        except (OSError, ValueError):
            return {}
        return {row[1]: row for row in known["rows"]} if known.get("key") == self.key else {}

    def ordered(self, checks, order):
        """By the first expression of `order` that a name matches; those that an earlier call did
        not finish come last, since they may need more time than any call has."""

        def place(check):
            found = (i for i, expression in enumerate(order) if expression.search(check.name))
            return self.result(check) == UNFINISHED, next(found, len(order))

        return sorted(checks, key=place)

    def result(self, check):
        return self.rows.get(check.name, [None])[0]

    def run_all(self, checks):
        """Runs what has no row yet, until the budget is over."""
        missing = [check for check in checks if self.result(check) in (None, UNFINISHED)]
        self.waiting = [check.name for check in missing]
        for check in missing:
            if self.budget.left() < 1:
                break
            self.run(check)

    def run(self, check):
        """Adds the check's row. Whether it did not fail."""
        start = time.monotonic()
        row = [UNFINISHED, check.name, check.expected, "stopped by a signal"]
        try:
            row[0], row[3] = "pass", check.function(*check.arguments)
        except Skipped as reason:
            row[0], row[3] = "skipped", reason
        except Failed as reason:
            row[0], row[3] = "FAIL", reason
        except subprocess.TimeoutExpired as reason:
            row[0] = "FAIL" if self.budget.left() >= 1 else UNFINISHED
            row[3] = f"still running after {reason.timeout:.0f} s"
        except Exception as error:  # a check that breaks is a check that failed
            row[0], row[3] = "FAIL", f"{type(error).__name__}: {error}"
            with open(self.logs / "broken-checks.log", "a") as log:
                log.write(f"== {check.name}\n{traceback.format_exc()}\n")
        finally:
            row[3] = " ".join(str(row[3]).split())
            self.rows[check.name] = row
            self.waiting = [name for name in self.waiting if name != check.name]
            self.write()
            seconds = time.monotonic() - start
            print(f"[{seconds:5.0f} s] {row[0]:10} {check.name}: {row[3]}", flush=True)
        return row[0] != "FAIL"

    def write(self):
        known = {"key": self.key, "rows": list(self.rows.values())}
        for name, text in (("rows.json", json.dumps(known)), ("table.txt", self.text() + "\n")):
            partial = self.logs / f".{name}"
            partial.write_text(text)
            partial.replace(self.logs / name)

    def text(self):
        header = ("result", "check", "expected", "found")
        rows = self.rows.values()
        widths = [max(len(row[i]) for row in (header, *rows)) for i in range(3)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0)))
            for row in (header, *rows)
        ]
        counts = [sum(row[0] == result for row in rows) for result in RESULTS]
        said = "%d passed, %d failed, %d skipped, %d unfinished" % tuple(counts)
        left = [f"not run yet: {', '.join(self.waiting)}"] if self.waiting else []
        return "\n".join([self.heading, "", *lines, "", said, *left])

    def exit_code(self):
        """0 where all checks that were asked for ran, some passed and none failed."""
        results = {row[0] for row in self.rows.values()}
        return int(bool(results & {"FAIL", UNFINISHED} or self.waiting or "pass" not in results))
