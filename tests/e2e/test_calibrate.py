"""`syncline calibrate`: the file it writes plans; bad lines, lost ranks and full disks end it."""

import json
import re
import resource
import shlex
import signal
import subprocess
import unittest

import harness
import yaml
from calibrate_ranks import CalibrateRanksTest
from refusal import RefusalTest
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
SHORT = ["--time", "1s", "--sizes", "1KiB,64KiB"]


class CalibrateTest(RefusalTest):
    def test_measured_file_plans(self):
        """What two local ranks measure is read by `compile`, whose plan is proven and can
        be run. The cluster is called as its file."""
        output = self.folder / "two 'local' ranks.yaml"
        done = self.command("calibrate", "-n", 2, *SHORT, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("s left", done.stderr)
        self.assertRegex(done.stderr, r"\nnote: there was no time .*: '--time \d+s' has it\n")
        lines = done.stderr.splitlines()
        header = next(i for i, line in enumerate(lines) if line.split()[:1] == ["size"])
        self.assertEqual(lines[header].split()[-2:], ["fastest", "GB/s"])
        self.assertEqual([line.split()[0] for line in lines[header + 1 : -2]][:1], ["1KiB"])
        self.assertEqual(lines[-2], f"wrote {output}: 2 ranks")
        following = ["syncline", "compile", "MODEL", "--cluster", str(output), "-o", "OUT.plan"]
        self.assertEqual(shlex.split(lines[-1].removeprefix("next: ")), following)
        text = output.read_text()
        for part in ("ranks: 2", "recursive-doubling:", "all-gather:", "quartiles", "at once"):
            self.assertIn(part, text)
        factor = float(
            re.search(r"^interference:\n(?:  #.*\n)+  computation: (.*)$", text, re.M)[1]
        )
        self.assertGreaterEqual(factor, 1)
        early = float(
            re.search(r"^  # .* that operations lose to it.*\n  latency: (.*)$", text, re.M)[1]
        )
        self.assertGreaterEqual(early, 1)
        plan = self.folder / "measured.plan"
        words = ["compile", DIGITS, "--cluster", output, "--batch", 2, "--loss", "cross-entropy"]
        harness.syncline(*words, "-o", plan)
        harness.syncline("verify", plan)
        described = json.loads((plan / "plan.json").read_text())["cluster"]
        self.assertEqual((described["name"], described["ranks"]), ("two 'local' ranks", 2))
        self.assertAlmostEqual(described["latency_interference"], early)
        both = float(re.search(r"^  # Two messages at once .*\n  messages: (.*)$", text, re.M)[1])
        self.assertTrue(1 <= both <= 10, both)  # what other work takes from messages counts, too
        self.assertAlmostEqual(described["message_interference"], both)
        harness.syncline("run", plan, "-n", 2, "--steps", 2)

    def test_message_scatter(self):
        """The file says how messages of 5 ms and more scatter, and plans have its numbers."""
        output = self.folder / "long.yaml"
        words = ["--sizes", "32MiB", "--schemes", "ring,tree", "--quiet", "-o", output]
        for seconds in (8, 32, 128):  # until there are enough messages, also on a busy machine
            done = self.command("calibrate", "-n", 2, *words, "--time", f"{seconds}s")
            self.assertEqual(done.returncode, 0, done.stderr)
            factors = yaml.safe_load(output.read_text()).get("message-scatter")
            if factors:
                break
        self.assertTrue(factors, output.read_text())
        self.assertEqual((len(factors), factors), (32, sorted(factors)))
        self.assertTrue(0 < factors[0] <= 1 <= factors[-1], factors)
        plan = self.folder / "long.plan"
        harness.syncline("compile", DIGITS, "--cluster", output, "--batch", 2, "-o", plan)
        listed = re.search(r"message_scatter = \[(.*?)\]", (plan / "plan.mlir").read_text())[1]
        self.assertEqual([float(number) for number in listed.split(", ")], factors)
        harness.syncline("verify", plan)

    def test_filters(self):
        """Only the schemes requested are offered; --quiet says nothing; standard output is
        the file."""
        words = ["calibrate", "-n", 2, *SHORT, "--schemes", "tree", "--quiet"]
        done = self.command(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("    tree:", done.stdout)
        for absent in ("ring:", "parameter-server:", "all-gather:"):
            self.assertNotIn(absent, done.stdout)

    def test_nodes_of_two(self):
        """Local ranks taken for two nodes: hierarchies and the links inside a node are measured."""
        output = self.folder / "nodes.yaml"
        nodes = ["-n", 4, "--ranks-per-node", 2, "--schemes", "ring,hierarchical"]
        done = self.command("calibrate", *nodes, *SHORT, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = output.read_text()
        for part in ("nodes: 2", "devices-per-node: 2", "inside:", "hierarchical:"):
            self.assertIn(part, text)
        harness.syncline(
            *(
                "compile",
                DIGITS,
                "--cluster",
                output,
                "--batch",
                2,
                "-o",
                self.folder / "nodes.plan",
            )
        )

    def test_wrong_command_lines(self):
        """Contradictions are told before anything is measured."""
        for words, name in [
            ([], "at least 2 ranks"),
            (["-n", 2, "--rank", 0, "--ranks", 2], "'-n' starts local ranks"),
            (["--rank", 2, "--ranks", 2], "no rank of"),
            (["-n", 2, "--schemes", "hierarchical"], "needs several nodes"),
            (["-n", 2, "--time", "soon"], "expected a time"),
            (["-n", 2, "--sizes", "1MiB,1KiB"], "ascending"),
            (["-n", 2, "--sizes", "4KiB", "--schemes", "ring,factors"], "at most 2KiB, or 8KiB as"),
            (["-n", 3, "--ranks-per-node", 2], "a divisor of 3 ranks"),
        ]:
            with self.subTest(words=words):
                self.refuses(["calibrate", *words, "-o", self.folder / "c.yaml"], name, code=2)
        environment = {"RANK": "0", "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1"}
        done = self.command("calibrate", "-n", 2, environment=environment)
        self.assert_refused(done, ["'-n 2' contradicts 'WORLD_SIZE'"], 2)

    def test_unwritable_output(self):
        """A file that cannot be written is told before anything is measured."""
        words = ["calibrate", "-n", 2, "-o", self.folder / "absent" / "c.yaml"]
        self.assertNotIn("s left", self.refuses(words, "absent"))

    def test_full_disk(self):
        """Where the file does not fit, nothing half-written stays and an older file is kept."""
        output = self.write("c.yaml", "old")

        def fill_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        before = self.listing()
        done = subprocess.run(
            [str(harness.SYNCLINE), "calibrate", "-n", "2", "--quiet", *SHORT, "-o", str(output)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            restore_signals=False,
            preexec_fn=fill_disk,
        )
        self.assert_refused(done, ["c.yaml", "cannot write"])
        self.assertEqual(self.listing(), before)
        self.assertEqual(output.read_text(), "old")


class LostRankTest(CalibrateRanksTest):
    def test_killed_rank(self):
        """A rank that dies while measuring ends the others within seconds, by its name, and no file
        is written."""
        for error in self.errors_after_kill(3):
            self.assertRegex(error, r"lost rank 1 \(its process ended\).* while measuring")


if __name__ == "__main__":
    unittest.main()
