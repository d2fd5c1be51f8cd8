"""The Python package's functions over the commands."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import harness

PACKAGE = harness.TOP / "runtime" / "python"
MODEL = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
sys.path.insert(0, str(PACKAGE))
import syncline  # noqa: E402, the package of these sources


class CommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        variables = {**harness.environment(), "SYNCLINE": str(harness.SYNCLINE)}
        cls.enterClassContext(mock.patch.dict(os.environ, variables))
        cls.compiled = syncline.compile(
            MODEL, cluster="local4", output=cls.folder / "a.plan", batch=16, loss="cross-entropy"
        )
        cls.plan = cls.compiled.plan

    def test_version(self):
        """The package has the version of the commands."""
        self.assertIn(syncline.__version__, harness.syncline("--version"))

    def test_compile(self):
        """The plan has the numbers of plan.json, and the notes are the command's."""
        plan, read = self.plan, json.loads((self.folder / "a.plan" / "plan.json").read_text())
        predicted = read["predicted"]
        self.assertEqual((plan.name, plan.ranks, plan.batch), ("digits-cnn", 4, 16))
        self.assertEqual((plan.step, plan.exposed), (predicted["step"], predicted["exposed"]))
        self.assertEqual(plan.efficiency, predicted["alone"] / predicted["step"])
        self.assertEqual(plan.gap, predicted["planner"]["gap"])
        self.assertEqual(len(plan.messages), len(read["buckets"]))
        for message, bucket in zip(plan.messages, read["buckets"]):
            self.assertEqual(vars(message), {name: bucket[name] for name in vars(message)})
        self.assertTrue(self.compiled.notes[0].startswith("planned with '--overlap"))

    def test_plan_is_read_late(self):
        """A plan that is not there, or is none, is refused where its numbers are asked for."""
        folder = self.folder / "none.plan"
        plan = syncline.Plan(str(folder))
        with self.assertRaisesRegex(syncline.Error, "none.plan/plan.json'"):
            plan.step
        folder.mkdir()
        good = json.loads((self.plan.path / "plan.json").read_text())
        number = good["schema"]
        header = harness.TOP / "runtime" / "include" / "syncline" / "PlanConstants.h"
        self.assertIn(f"planSchema = {number};", header.read_text())
        buckets, predicted = good["buckets"], good["predicted"]
        for change, expected in (
            ("{", "plan.json'"),
            ("[" * 100000, "plan.json'"),
            ("[]", "expected an object, got list"),
            ({"schema": number + 1}, f"expected a plan of schema {number}, got {number + 1}$"),
            ('{"name": "net"}', f"expected a plan of schema {number}, got None$"),
            ({"predicted": {}}, r"expected key 'predicted\.step'"),
            ({"predicted": []}, r"expected key 'predicted\.step'"),
            ({"predicted": {**predicted, "step": "1s"}}, "expected int or float as 'predicted"),
            ({"predicted": {**predicted, "step": 0}}, "expected more than 0 s as 'predicted.step'"),
            ({"predicted": {**predicted, "planner": None}}, "expected key 'predicted.planner.gap'"),
            ({"ranks": None}, "expected int as 'ranks', got None"),
            ({"buckets": {}}, "expected list as 'buckets', got {}"),
            ({"buckets": ["one"]}, "expected key 'id'"),
            ({"buckets": [{**buckets[0], "members": "all"}]}, "expected list as 'members'"),
        ):
            text = change if isinstance(change, str) else json.dumps({**good, **change})
            (folder / "plan.json").write_text(text)
            with self.subTest(expected), self.assertRaisesRegex(syncline.Error, expected):
                plan = syncline.Plan(folder)
                (plan.ranks, plan.step, plan.efficiency, plan.gap, plan.messages)
        os.truncate(folder / "plan.json", (256 << 20) + 1)
        with self.assertRaisesRegex(syncline.Error, "expected a file of at most 256 MiB$"):
            syncline.Plan(folder).step
        (folder / "plan.json").unlink()
        os.mkfifo(folder / "plan.json")  # nobody ever writes into it
        with self.assertRaisesRegex(syncline.Error, "expected a file of at most 256 MiB$"):
            syncline.Plan(folder).step

    def test_no_program(self):
        """SYNCLINE may name a file that is no program, or another program."""
        program = self.folder / "no program"
        for text, mode, call, expected in (
            ("text", 0o644, syncline.verify, "^'SYNCLINE': expected a program, got '.*'$"),
            ("text", 0o755, syncline.verify, "no program': cannot be started: Exec format error$"),
            ("#!/none\n", 0o755, syncline.verify, "no program': cannot be started: No such file"),
            ("#!/bin/true\n", 0o755, syncline.simulate, "expected a JSON object, got ''$"),
            ("#!/bin/echo\n", 0o755, syncline.simulate, "expected a JSON object, got '.*"),
            ("#!/bin/sh\necho '{}'\n", 0o755, syncline.simulate, "expected key 'step'$"),
            ("#!/bin/true\n", 0o755, syncline.cluster, "written.yaml': .*No such file"),
        ):
            program.write_text(text)
            program.chmod(mode)
            with mock.patch.dict(os.environ, {"SYNCLINE": str(program)}):
                with self.subTest(expected), self.assertRaisesRegex(syncline.Error, expected):
                    call(self.folder / "written.yaml")

    def test_no_text(self):
        """A NUL byte cannot be handed to a program."""
        with self.assertRaisesRegex(syncline.UsageError, r"'syncline verify': .*, got 'a\\x00b'$"):
            syncline.verify("a\0b")

    def test_inspect(self):
        self.assertEqual(
            syncline.inspect(self.plan).text, harness.syncline("inspect", self.plan.path)
        )
        self.assertIn("fc.weight", syncline.inspect(self.plan.path, why="fc.weight").text)

    def test_verify(self):
        found = syncline.verify(self.plan, model=MODEL)
        self.assertIn("plan valid", found.text)
        self.assertEqual(found.plan, self.plan)

    def test_simulate(self):
        """Options that are sequences are given once for each element."""
        alone = syncline.simulate(self.plan)
        self.assertEqual((alone.step, alone.ranks), (self.plan.step, 4))
        slow = syncline.simulate(self.plan, slow=["0:2", "1:3"])
        self.assertGreater(slow.step, 2 * alone.step)
        self.assertEqual(slow.json["step"], slow.step)
        with self.assertRaisesRegex(syncline.UsageError, r"'sweep': expected in sweep\(\)"):
            syncline.simulate(self.plan, sweep="ranks=2,4")

    def test_sweep(self):
        """One axis or two; a point has the numbers of its own simulation."""
        points = syncline.sweep(self.plan, "slow=1,2", replan="no")
        self.assertEqual([point["at"]["slow_factor"] for point in points], [1, 2])
        self.assertEqual(points[0]["step"], syncline.simulate(self.plan).step)
        pairs = syncline.sweep(self.plan, ["ranks=2,4", "batch=16,32"])
        self.assertEqual(len(pairs), 4)
        with self.assertRaisesRegex(syncline.Error, "sweep"):
            syncline.sweep(self.plan, "colours=1,2")

    def test_cluster(self):
        """Underscores stand for hyphens; the text is what a file holds."""
        options = {"nodes": 2, "devices_per_node": 4, "device": "v100", "network": "ethernet-10g"}
        text = syncline.cluster(**options).text
        written = syncline.cluster(self.folder / "lab.yaml", **options)
        self.assertEqual(written.text, text)
        self.assertEqual(written.path.read_text(), text)
        self.assertIn("devices-per-node: 4", text)

    def test_errors(self):
        """Exceptions have the command's message; exit codes give the type."""
        for kind, call in (
            (syncline.Error, lambda: syncline.verify("/none.plan")),
            (syncline.UsageError, lambda: syncline.verify("/none.plan", colour=True)),
            (
                syncline.Error,
                lambda: syncline.compile("/none.onnx", cluster="local4", output="/x.plan"),
            ),
        ):
            with self.assertRaises(syncline.Error) as caught:
                call()
            self.assertIs(type(caught.exception), kind)
            self.assertNotIn("syncline: error", str(caught.exception))
        done = subprocess.run(
            [harness.SYNCLINE, "verify", "/none.plan"], capture_output=True, text=True
        )
        with self.assertRaises(syncline.Error) as caught:
            syncline.verify("/none.plan")
        self.assertEqual(f"syncline: error: {caught.exception}\n", done.stderr)

    def test_other_ends(self):
        """Exit code 3, silence and a signal are errors of Syncline."""
        for line, expected in (
            ("echo 'syncline: error: ours' >&2; exit 3", "^ours$"),
            ("exit 3", "^'syncline verify': exit code 3$"),
            ("kill -9 $$", "^'syncline verify': ended by signal 9$"),
        ):
            program = self.folder / "program"
            program.write_text(f"#!/bin/sh\n{line}\n")
            program.chmod(0o755)
            with mock.patch.dict(os.environ, {"SYNCLINE": str(program)}):
                with self.assertRaisesRegex(syncline.InternalError, expected):
                    syncline.verify(self.plan)

    def test_finding(self):
        """Variables come first; names of nothing are refused; the build is found by itself."""
        with mock.patch.dict(os.environ, {"SYNCLINE": "", "SYNCLINE_BUILD": str(harness.BUILD)}):
            self.assertEqual(syncline._library.command(), harness.SYNCLINE)
            self.assertEqual(
                syncline._library.library(), str(harness.BUILD / "lib" / "libsyncline.so.1")
            )
        for variable, find in (
            ("SYNCLINE", syncline._library.command),
            ("SYNCLINE_LIBRARY", syncline._library.library),
        ):
            with mock.patch.dict(os.environ, {variable: "/none"}):
                with self.assertRaisesRegex(
                    syncline.Error, f"^'{variable}': expected a file, got '/none'$"
                ):
                    find()
        script = self.folder / "bin" / "syncline"
        script.parent.mkdir()
        script.write_text("#!/bin/sh\nexit 1\n")
        script.chmod(0o755)
        path = f"{script.parent}:{harness.SYNCLINE.parent}"
        on_path = {"SYNCLINE": "", "SYNCLINE_BUILD": "/none", "PATH": path}
        with mock.patch.dict(os.environ, on_path):  # the script of a wheel is passed by
            self.assertEqual(syncline._library.command(), harness.SYNCLINE)
            self.assertEqual(
                syncline._library.library(), str(harness.BUILD / "lib" / "libsyncline.so.1")
            )
        nothing = {"SYNCLINE": "", "SYNCLINE_BUILD": "/none", "PATH": "/none"}
        with mock.patch.dict(os.environ, nothing):
            with self.assertRaisesRegex(syncline.Error, "expected on PATH or named by SYNCLINE"):
                syncline._library.command()
            with self.assertRaisesRegex(syncline.Error, "named by SYNCLINE_LIBRARY, got none"):
                syncline._library.library()


if __name__ == "__main__":
    unittest.main()
