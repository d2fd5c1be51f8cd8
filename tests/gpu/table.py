"""The rows of a check: what was expected, what was found, and whether that is well."""

import pathlib
import re
import subprocess
import time
import traceback


class Failed(Exception):
    """The check found something else; the message says what."""


class Skipped(Exception):
    """The check could not be made here; the message says why."""


class Table:
    """Runs checks one after the other; none that fails stops the others."""

    def __init__(self, logs, only=""):
        self.logs = pathlib.Path(logs)
        self.only = re.compile(only)
        self.rows = []

    def check(self, name, expected, function, *arguments, always=False):
        """Runs `function(*arguments)`, which returns what it found, and adds a row. Whether it did
        not fail."""
        if not always and not self.only.search(name):
            return True
        start = time.monotonic()
        try:
            result, found = "pass", function(*arguments)
        except Skipped as reason:
            result, found = "skipped", str(reason)
        except Failed as reason:
            result, found = "FAIL", str(reason)
        except subprocess.TimeoutExpired as reason:
            result, found = "FAIL", f"still running after {reason.timeout:.0f} s"
        except Exception as error:  # a check that breaks is a check that failed
            result, found = "FAIL", f"{type(error).__name__}: {error}"
            with open(self.logs / "broken-checks.log", "a") as log:
                log.write(f"== {name}\n{traceback.format_exc()}\n")
        self.rows.append((result, name, expected, " ".join(str(found).split())))
        print(
            f"[{time.monotonic() - start:5.0f} s] {result:7} {name}: {self.rows[-1][3]}", flush=True
        )
        return result != "FAIL"

    def text(self):
        header = ("result", "check", "expected", "found")
        widths = [max(len(row[i]) for row in (header, *self.rows)) for i in range(3)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0)))
            for row in (header, *self.rows)
        ]
        counts = [
            sum(row[0] == result for row in self.rows) for result in ("pass", "FAIL", "skipped")
        ]
        return "\n".join([*lines, "", "%d passed, %d failed, %d skipped" % tuple(counts)])

    def exit_code(self):
        """1 where anything failed, or nothing ran."""
        results = {row[0] for row in self.rows}
        return int("FAIL" in results or "pass" not in results)
