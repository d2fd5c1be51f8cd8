"""What a test run starts: one process for each file of Python tests, and for each test of ctest,
such as a GoogleTest program."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
PYTHON = ("numerics", "e2e", "fuzz", "gpu", "lint")  # folders with test_*.py
# They mostly wait, so they begin first and run beside the others.
FIRST = ("unit/unit-runtime", "host-cuda/unit-host-channels", "e2e/test_cuda", "e2e/test_plans")


@dataclasses.dataclass
class Job:
    folder: str  # of tests/
    name: str
    command: list
    environment: dict = dataclasses.field(default_factory=dict)
    working_directory: pathlib.Path = TESTS.parent
    skip_code: int | None = None  # the exit code by which a program says that it cannot run here
    is_long: bool = False  # of the long run alone
    is_python: bool = False

    def id(self):
        return f"{self.folder}/{self.name}"


class NoTests(Exception):
    """Says what was asked for and does not exist."""


def python_jobs():
    return [
        Job(
            folder,
            path.stem,
            [sys.executable, TESTS / "runner" / "unittests.py", path],
            is_python=True,
        )
        for folder in PYTHON
        for path in sorted((TESTS / folder).glob("test_*.py"))
    ]


def ctest_jobs(build):
    listed = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True
    )
    tests = json.loads(listed.stdout)["tests"] if listed.returncode == 0 else []
    if not tests:
        raise NoTests(f"expected a build folder with tests, got '{build}'")
    return [ctest_job(test) for test in tests]


def ctest_job(test):
    properties = {one["name"]: one["value"] for one in test.get("properties", [])}
    pairs = (pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
    folder = pathlib.Path(properties["WORKING_DIRECTORY"])
    parts = folder.parts
    return Job(
        folder=parts[len(parts) - parts[::-1].index("tests")],
        name=test["name"],
        # A program that is not built has no command: the name alone cannot be started, and fails.
        command=test.get("command", [test["name"]]),
        environment=dict(pairs),
        working_directory=folder,
        skip_code=properties.get("SKIP_RETURN_CODE"),
        is_long="long" in properties.get("LABELS", []),
    )


def all_jobs(build, folders):
    """The jobs of these folders of tests/, of all where none is named."""
    jobs = [*ctest_jobs(build), *python_jobs()]  # long ones before short ones
    known = list(dict.fromkeys(job.folder for job in jobs))
    for folder in folders:
        if folder not in known:
            raise NoTests(f"expected folders among {', '.join(known)}, got '{folder}'")
    chosen = [job for job in jobs if not folders or job.folder in folders]
    return sorted(chosen, key=lambda job: job.id() not in FIRST)


def build_folder():
    return pathlib.Path(os.environ.get("BUILD", TESTS.parent / "build")).absolute()
