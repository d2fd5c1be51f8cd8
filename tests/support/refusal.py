"""What every refusal of bad input looks like, as a test case to derive from."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness
from waiting import PATIENCE

LONG = 1000000  # steps, more than a test waits for
CRASHES = ("Assertion", "terminate called", "Stack dump", "PLEASE submit", "what():", "Traceback")


class RefusalTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cluster = self.write("cluster.yaml", harness.CLUSTER.format(ranks=2))

    def write(self, name, content):
        path = self.folder / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        return path

    def command(self, *words, environment=None, limit=PATIENCE):
        return subprocess.run(
            [str(harness.SYNCLINE), *map(str, words)],
            capture_output=True,
            text=True,
            timeout=limit,
            env={**harness.environment(), **(environment or {})},
        )

    def started(self, rank, size, extra=(), plan=None, **more):
        """One process of `size`, as torchrun starts it, on `plan` or the test case's plan."""
        self.port = getattr(self, "port", None) or harness.free_port()
        told = {
            "RANK": rank,
            "WORLD_SIZE": size,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": self.port,
            **more,
        }
        return subprocess.Popen(
            [
                str(harness.SYNCLINE),
                "run",
                str(plan or self.plan),
                "--log",
                "json",
                *map(str, extra),
            ],
            env={**os.environ, **{name: str(value) for name, value in told.items()}},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def said_when_killed(self, plan, data, extra=()):
        """Kills rank 1 of three in the midst of a run; what each of the others says at its end."""
        words = ("--data", data, "--steps", LONG, "--timeout", PATIENCE, *extra)
        ranks = [self.started(rank, 3, words, plan, LOCAL_RANK=rank) for rank in range(3)]
        for _ in range(20):
            ranks[0].stdout.readline()
        ranks[1].kill()
        for process in (ranks[0], ranks[2]):
            self.addCleanup(process.kill)
            process.stdout.read()
            said = process.stderr.read()
            self.assertEqual(process.wait(PATIENCE), 1, said)
            yield said
        ranks[1].communicate()

    def ends(self, processes, limit=PATIENCE):
        """(exit code, stderr) of each."""
        for process in processes:
            self.addCleanup(process.kill)
        return [
            (p.returncode, errors)
            for p, (_, errors) in ((p, p.communicate(timeout=limit)) for p in processes)
        ]

    def refuses(self, words, *names, code=1):
        """`syncline words...` ends with `code`, says one error that holds every one of `names`, and
        leaves the folder as it was."""
        before = self.listing()
        done = self.command(*words)
        self.assert_refused(done, names, code)
        self.assertEqual(self.listing(), before, "something half-written stayed behind")
        return done.stderr

    def assert_refused(self, done, names, code=1):
        output = done.stdout or ""  # nothing where a test sent it elsewhere
        said = f"exit code {done.returncode}\n{output[-1000:]}{done.stderr[-3000:]}"
        self.assertEqual(done.returncode, code, said)
        for crash in CRASHES:
            self.assertNotIn(crash, done.stderr)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, "expected one message, got:\n" + said)
        for name in names:
            self.assertIn(str(name), done.stderr)

    def refuses_model(self, path, *names, extra=()):
        words = [
            "compile",
            path,
            "--cluster",
            self.cluster,
            "--batch",
            2,
            "--loss",
            "cross-entropy",
        ]
        return self.refuses([*words, "-o", self.folder / "out.plan", *extra], path.name, *names)

    def listing(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))


class ChangedPlanTest(RefusalTest):
    """Compiles a plan for two ranks once; every test may change its own copy, `plan`."""

    batch = 8

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        model = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        cls.original = harness.compile_plan(model, folder, ranks=2, batch=cls.batch)

    def setUp(self):
        super().setUp()
        self.plan = self.folder / "copy.plan"
        shutil.copytree(self.original, self.plan)
