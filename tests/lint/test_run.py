#!/usr/bin/python3
"""How tests are run and counted: whatever a file or a program does, none of its tests is lost in
silence."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import tree

sys.path[:0] = [str(tree.TOP / "tests" / folder) for folder in ("support", "runner")]

import limits  # noqa: E402
import record  # noqa: E402
import schedule  # noqa: E402
from jobs import TESTS, Job  # noqa: E402
from outcomes import Outcome, of_job  # noqa: E402
from waiting import PATIENCE, until  # noqa: E402

FILES = {
    "test_fine.py": """
        def test_one(self): pass
        def test_two(self): pass
        def test_left_out(self): self.skipTest("why")
        def test_parts(self):
            for part in range(3):
                with self.subTest(part=part): self.assertEqual(part, 0)
    """,
    "test_ends.py": """
        def test_one(self): __import__("os")._exit(3)
    """,
    "test_broken.py": "        def",
}


# A class whose tests cannot begin; a test that leaves behind a process, which keeps its
# output open.
NO_BEGINNING = """
        def test_one(self): pass
class Other(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no such thing")
    def test_two(self): pass
    def test_three(self): pass
"""
LEFT_BEHIND = """
        def test_one(self):
            left = __import__("subprocess").Popen(["sleep", "1000"])
            open(FOLDER + "/left", "w").write(f"{left.pid}\\n")
"""
SLOW = """
        def test_one(self):
            open(FOLDER + "/begun", "a").write("x")
            __import__("time").sleep(1000)
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="Sum">
<testcase name="Good" status="run" result="completed" time="0.5" classname="Sum">
<properties><property name="cpu" value="0.25"/></properties></testcase>
<testcase name="Bad" status="run" time="0" classname="Sum"><failure message="x"/></testcase>
<testcase name="Out" status="run" result="skipped" time="0" classname="Sum">
<skipped message="a.cpp:1&#x0A;no card"/></testcase>
<testcase name="Other" status="notrun" result="suppressed" time="0" classname="Sum"/>
</testsuite></testsuites>
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, files):
        for name, body in files.items():
            opening = f"import unittest\nFOLDER = {str(self.folder)!r}\n"
            text = f"{opening}class Some(unittest.TestCase):\n{body}"
            (self.folder / name).write_text(text.replace("\n        ", "\n    "))

    def jobs(self):
        command = [sys.executable, TESTS / "runner" / "unittests.py"]
        return [
            Job("some", path.stem, [*command, path], is_python=True)
            for path in sorted(self.folder.glob("test_*.py"))
        ]

    def run_them(self, jobs=None, names=()):
        """(test, outcome) of all jobs, sorted."""
        ended = list(schedule.run_jobs(jobs or self.jobs(), 2, names, dict(os.environ)))
        return sorted((one.test, one.outcome) for job in ended for one in job.outcomes)

    def test_files_as_processes(self):
        """A test whose parts fail, one that ends its file's process, and a file that cannot be read
        are a failure each, by name."""
        self.write(FILES)
        found = [
            ("some/test_broken", "failed"),
            ("some/test_ends.Some.test_one", "failed"),
            ("some/test_fine.Some.test_left_out", "skipped"),
            ("some/test_fine.Some.test_one", "passed"),
            ("some/test_fine.Some.test_parts", "failed"),
            ("some/test_fine.Some.test_two", "passed"),
        ]
        self.assertEqual(self.run_them(), found)

    def test_class_that_cannot_begin(self):
        self.write({"test_no_beginning.py": NO_BEGINNING})
        outcomes = [outcome for _, outcome in self.run_them()]
        self.assertEqual(sorted(outcomes), ["failed", "passed"])

    def test_process_left_behind(self):
        """What a test leaves behind does not hold up the run, and ends with the file."""
        self.write({"test_left.py": LEFT_BEHIND})
        self.assertEqual(self.run_them(), [("some/test_left.Some.test_one", "passed")])
        left = pathlib.Path("/proc", (self.folder / "left").read_text().strip(), "cmdline")
        until(lambda: not left.exists() or not left.read_bytes(), "the process has ended")

    def test_several_names(self):
        self.write({"test_fine.py": FILES["test_fine.py"]})
        found = self.run_them(names=("test_one", "test_two"))
        self.assertEqual([outcome for _, outcome in found], ["passed", "passed"])

    def test_program_that_does_not_exist(self):
        job = Job("unit", "none", [self.folder / "none"])
        self.assertEqual(self.run_them([job]), [("unit/none", "failed")])

    def test_program_that_hangs(self):
        job = Job("unit", "endless", ["sleep", "1000"])
        (ended,) = schedule.run_jobs([job], 1, (), dict(os.environ), limit=0.1)
        self.assertEqual(ended.failed(), ["unit/endless"])
        self.assertIn("killed after 0.1 s, the limit of a job", ended.printed)

    def test_googletest(self):
        """Tests that a filter left out are not counted; a program that fails without a failed test
        is one failure more."""
        results = self.folder / "results"
        results.write_text(XML)
        job = Job("unit", "p", ["p"])
        found = of_job(job, results, 1, 0, 0, ())
        outcomes = {one.test: (one.outcome, one.cpu, one.reason) for one in found}
        expected = {
            "unit/p:Sum.Good": ("passed", 0.25, ""),
            "unit/p:Sum.Bad": ("failed", 0, ""),
            "unit/p:Sum.Out": ("skipped", 0, "no card"),
        }
        self.assertEqual(outcomes, expected)
        results.write_text(XML.replace('<failure message="x"/>', ""))
        last = of_job(job, results, 1, 0, 0, ())[-1]
        self.assertEqual((last.test, last.outcome), ("unit/p", "failed"))

    def test_program_that_ends_early(self):
        """Without results a program is one test, whose exit code may say that it cannot run."""
        job, none = Job("unit", "p", ["p"], skip_code=77), self.folder / "none"
        outcomes = [of_job(job, none, code, 0, 0, ())[0].outcome for code in (0, 1, -11, 77)]
        self.assertEqual(outcomes, ["passed", "failed", "failed", "skipped"])

    def test_limit(self):
        """A test that computes for longer than the limit is named, unless it is listed."""
        slow = [Outcome("e2e/a", "passed", cpu=limits.MOST + 1), Outcome("e2e/b", "passed", cpu=1)]
        self.assertRegex(" ".join(limits.judge(slow, {})), "^e2e/a: 21 s of processors, at most 20")
        self.assertEqual(limits.judge(slow, {"e2e/a": "why"}), [])

    def test_limit_on_a_slow_processor(self):
        """Where all tests take twice as long, each one may."""
        others = [Outcome(f"e2e/{i}", "passed", cpu=20) for i in range(100)]
        self.assertEqual(limits.judge(others + [Outcome("e2e/a", "passed", cpu=40)], {}), [])
        found = limits.judge(others + [Outcome("e2e/a", "passed", cpu=45)], {})
        self.assertRegex(" ".join(found), "^e2e/a: 45 s of processors, at most 41")

    def test_listed_tests_exist(self):
        """A listed test may be skipped on a machine, so the files are asked, not the results."""
        for name in limits.SLOW:
            folder, test = name.split("/")
            if folder == "lit":
                continue
            module, _, method = test.split(".")
            text = (TESTS / folder / f"{module}.py").read_text()
            self.assertRegex(text, rf"def {method}\b", name)

    def test_killed_job(self):
        """A job that somebody kills is not said to have reached the limit."""
        job = Job("unit", "killed", ["sh", "-c", "kill -KILL $$"])
        ended = list(schedule.run_jobs([job], 1, (), dict(os.environ)))[0]
        self.assertEqual(ended.failed(), ["unit/killed"])
        self.assertIn("ended by SIGKILL", ended.printed)

    def test_no_tests(self):
        done = subprocess.run([TESTS / "run.py", "samples"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("got 'samples'", done.stderr)

    def test_nothing_to_run(self):
        """A build folder without tests, and a name that no test has, are errors."""
        empty = {**os.environ, "BUILD": str(self.folder)}
        for words, environment, said in (
            (("lint",), empty, f"expected a build folder with tests, got '{self.folder}'"),
            (("fuzz", "-k", "NoSuchTest"), None, "no test's name contains 'NoSuchTest'"),
        ):
            command = [TESTS / "run.py", *words]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)

    def test_cut_log(self):
        """What a killed run has left of its last line does not count."""
        log = self.folder / "log"
        self.assertEqual(record.lines_of(log), [])
        log.write_text('{"job": "a"}\n{"jo')
        self.assertEqual(record.lines_of(log), [{"job": "a"}])

    def test_interruption(self):
        """Ctrl-C ends the file that runs. No file begins after it."""
        self.write({f"test_slow{i}.py": SLOW for i in range(20)})
        text = f"""
import os, sys
sys.path[:0] = {[str(TESTS / name) for name in ("runner", "support")]!r}
import schedule
from jobs import Job
from pathlib import Path
files = sorted(Path({str(self.folder)!r}).glob("test_*.py"))
command = [sys.executable, {str(TESTS / "runner" / "unittests.py")!r}]
jobs = [Job("some", path.stem, [*command, path], is_python=True) for path in files]
list(schedule.run_jobs(jobs, 1, (), dict(os.environ)))
"""
        running = subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        begun = self.folder / "begun"
        until(begun.exists, "a test begins", running)
        os.killpg(running.pid, signal.SIGINT)
        running.wait(PATIENCE)
        self.assertEqual(begun.read_text(), "x")


if __name__ == "__main__":
    unittest.main()
