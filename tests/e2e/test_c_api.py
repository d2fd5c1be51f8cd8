"""libsyncline.so with processes over sockets: sums by each scheme, ranks that are lost, the sample,
and what the library needs."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import c_api
import harness
from pages import section
from waiting import PATIENCE, SILENCE

HERE = pathlib.Path(__file__).resolve().parent
MODEL = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
SAMPLE = harness.TOP / "samples" / "c-api"
SCHEMES = "ring recursive-doubling halving-doubling tree parameter-server".split()
# The oldest systems that README.md of runtime/api promises.
OLDEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}


def environment():
    path = os.pathsep.join((str(HERE), str(harness.TOP / "tests" / "support")))
    return {**os.environ, "PYTHONPATH": path, "BUILD": str(harness.BUILD)}


class Ranks:
    """Processes of c_api_rank.py."""

    def __init__(self, plans, lost=30, store=()):
        port = harness.free_port()
        self.processes = [
            subprocess.Popen(
                [
                    *(sys.executable, HERE / "c_api_rank.py", plan, str(rank), str(len(plans))),
                    *(str(port), str(lost), *store),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )
            for rank, plan in enumerate(plans)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def until_they_work(self):
        for process in self.processes:
            line = process.stdout.readline()
            assert line == "works\n", line + process.stderr.read()

    def end(self):
        self.processes[0].stdin.write("end\n")
        self.processes[0].stdin.flush()

    def results(self, without=()):
        """What each rank printed last, by rank."""
        found = {}
        for rank, process in enumerate(self.processes):
            if rank in without:
                continue
            process.wait(PATIENCE)
            said = process.stdout.read()
            assert process.returncode == 0, said + process.stderr.read()
            found[rank] = json.loads(said.splitlines()[-1])
        return found


class CApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def plan(self, ranks, scheme, *extra, cluster=harness.CLUSTER):
        """A plan whose messages all travel by the scheme."""
        label = f"-{scheme}{len(extra)}"
        found = self.folder / f"{MODEL.stem}{label}-{ranks}x4.plan"
        if found.exists():
            return found
        words = ("--scheme", f"*={scheme}", "--plan-only", *extra)
        file = self.folder / f"cluster{label}.yaml"
        file.write_text(cluster.format(ranks=ranks))
        harness.syncline(
            "compile", MODEL, "--cluster", file, "--batch", 4, "-o", found, "--quiet", *words
        )
        return found

    def expect_sums(self, plans, **options):
        with Ranks(plans, **options) as ranks:
            ranks.until_they_work()
            ranks.end()
            steps = {rank: result.get("steps", result) for rank, result in ranks.results().items()}
        self.assertEqual(len(set(map(str, steps.values()))), 1, steps)
        self.assertGreater(steps[0], 3)

    def test_sums_by_each_scheme(self):
        for ranks in (1, 2, 4):
            for scheme in SCHEMES:
                with self.subTest(ranks=ranks, scheme=scheme):
                    self.expect_sums([self.plan(ranks, scheme)] * ranks)

    def test_sums_over_nodes(self):
        plan = self.plan(4, "hierarchical", cluster=harness.NODES)
        self.expect_sums([plan] * 4)

    def test_sums_in_16_bits(self):
        for wire in ("bf16", "fp16"):
            with self.subTest(wire=wire):
                plan = self.plan(2, "ring", "--wire", wire)
                self.expect_sums([plan] * 2)

    def test_meets_by_a_store(self):
        folder = self.folder / "store"
        folder.mkdir()
        self.expect_sums([self.plan(2, "ring")] * 2, store=[folder])

    def test_members_make_up_gradients(self):
        """Each byte of each gradient is in one message, also where messages cut gradients."""
        for planner, *extra in (("optimal",), ("p3:10KB", "--overlap", "step")):
            plan = self.folder / f"{planner.partition(':')[0]}.plan"
            words = ("--batch", 4, "--planner", planner, "--quiet", *extra, "-o", plan)
            harness.syncline("compile", MODEL, "--cluster", "local4", *words)
            opened, parts = c_api.Plan(plan), {}
            for number, message in enumerate(opened.messages()):
                members = opened.members(number)
                ends = [member.offset + member.bytes for member in members]
                self.assertEqual([member.offset for member in members], [0, *ends[:-1]])
                self.assertEqual(ends[-1], message.bytes)
                for member in members:
                    parts.setdefault(member.name, []).append(member)
            layers = json.loads((plan / "plan.json").read_text())["layers"]
            self.assertEqual(set(parts), {layer["name"].encode() for layer in layers})
            for layer in layers:
                at = 0
                for part in sorted(parts[layer["name"].encode()], key=lambda one: one.skipped):
                    self.assertEqual((part.skipped, part.whole), (at, layer["bytes"]))
                    at += part.bytes
                self.assertEqual(at, layer["bytes"])
            cuts = sum(len(found) > 1 for found in parts.values())
            self.assertEqual(cuts > 0, planner != "optimal")

    def expect_blame(self, results, lost, kind, may_be_between=False):
        """A rank that `may_be_between` messages is told of neither a message nor a step."""
        for rank, result in results.items():
            self.assertEqual(result["code"], c_api.PEER_LOST, result)
            self.assertEqual(result["rank"], lost, result)
            what = f"group 'syncline': rank {rank}: lost rank {lost} ({kind})"
            if may_be_between and result["text"] == what:
                self.assertEqual((result["message"], result["step"]), (-1, -1))
                continue
            self.assertGreaterEqual(result["step"], 2, result)
            self.assertRegex(
                result["text"],
                rf"^{re.escape(what)} in the all-reduce of (bucket \d+|a message outside of the"
                rf" plan) in step {result['step']}; last completed step {result['step'] - 1}$",
            )

    def test_names_a_killed_rank(self):
        plan = self.plan(4, "ring")
        for lost in (0, 2):
            with self.subTest(lost=lost), Ranks([plan] * 4, lost=PATIENCE) as ranks:
                ranks.until_they_work()
                ranks.processes[lost].kill()
                # Nobody waits for the time limit, which is longer than the test's patience.
                self.expect_blame(ranks.results({lost}), lost, "its process ended", True)

    def test_names_a_stopped_rank(self):
        plan = self.plan(4, "tree")
        for lost in (0, 3):
            with self.subTest(lost=lost), Ranks([plan] * 4, lost=SILENCE) as ranks:
                ranks.until_they_work()
                ranks.processes[lost].send_signal(signal.SIGSTOP)
                begin = time.monotonic()
                results = ranks.results({lost})
                self.assertGreater(time.monotonic() - begin, SILENCE - 1)
                self.expect_blame(results, lost, "it does not answer")

    def test_names_the_rank_with_another_plan(self):
        plans = [self.plan(3, "ring"), self.plan(3, "tree"), self.plan(3, "ring")]
        with Ranks(plans) as ranks:
            for rank, result in ranks.results().items():
                self.assertEqual(result["code"], c_api.PEER_LOST)
                begin = f"group 'syncline': rank {rank}: the ranks differ in their plan: "
                self.assertTrue(result["text"].startswith(begin), result)
                self.assertRegex(result["text"], r"\branks 0, 2 '\w{16}'")
                self.assertRegex(result["text"], r"\brank 1 '\w{16}'")

    def test_refuses_a_plan_of_other_ranks_on_all_ranks(self):
        with Ranks([self.plan(3, "ring")] * 2) as ranks:
            for rank, result in ranks.results().items():
                self.assertIn("the plan is for 3 ranks, the group has 2", result["text"], rank)


class SampleTest(unittest.TestCase):
    def test_readme_holds(self):
        """The commands of samples/c-api/README.md, with a port of the test's own."""
        text = section("samples/c-api/README.md")
        commands = [line[4:] for line in text.splitlines() if line.startswith("    ")]
        port = harness.free_port()
        with tempfile.TemporaryDirectory() as folder:
            for name in ("samples", "runtime"):
                (pathlib.Path(folder) / name).symlink_to(harness.TOP / name)
            (pathlib.Path(folder) / "build").symlink_to(harness.BUILD)
            script = "\n".join(commands).replace(" 1 2 &", f" 1 2 {port} &")
            script = re.sub(r" 0 2$", f" 0 2 {port}", script) + "\nwait $!"
            done = subprocess.run(
                ["bash", "-e", "-c", script],
                cwd=folder,
                env={**os.environ, "PATH": f"{harness.BUILD}/bin:{os.environ['PATH']}"},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^message 0: \d+ bytes by [a-z-]+, \d+ us$")

    def test_is_strict_c(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    *("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"),
                    *(SAMPLE / "all_reduce.c", "-I", c_api.HEADERS, "-o", f"{folder}/sample.o"),
                ],
                check=True,
                timeout=PATIENCE,
            )


@unittest.skipUnless(shutil.which("readelf"), "no readelf")
class LibraryTest(unittest.TestCase):
    def readelf(self, option):
        return subprocess.run(
            ["readelf", "-W", option, c_api.LIBRARY], capture_output=True, text=True, check=True
        ).stdout

    def test_needs_the_languages_libraries_alone(self):
        dynamic = self.readelf("-d")
        needed = {name.partition(".so")[0] for name in re.findall(r"NEEDED\).*\[(.*)\]", dynamic)}
        known = {"libc", "libm", "libgcc_s", "libstdc++", "ld-linux-x86-64", "ld-linux-aarch64"}
        self.assertLessEqual(needed, known)
        self.assertIn("libstdc++", needed)
        self.assertEqual(re.findall(r"SONAME\).*\[(.*)\]", dynamic), ["libsyncline.so.1"])

    def test_needs_no_newer_system_than_it_says(self):
        found = {}
        for name, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+) ", self.readelf("-V")):
            number = tuple(map(int, version.split(".")))
            found[name] = max(found.get(name, ()), number)
        for name, number in found.items():
            self.assertLessEqual(number, OLDEST[name], name)

    def test_says_which_system_it_needs(self):
        page = (harness.TOP / "runtime" / "api" / "README.md").read_text()
        for name, number in OLDEST.items():
            if name in ("GLIBC", "GLIBCXX"):
                self.assertIn(f"{name}_{'.'.join(map(str, number))}", page)

    def test_exports_its_interface_alone(self):
        """The symbols of the library are those of the header."""
        names = re.findall(r"(?:FUNC|OBJECT)\s+GLOBAL\s+DEFAULT\s+\d+\s+(\S+?)@@", self.dynamic())
        header = (c_api.HEADERS / "syncline.h").read_text()
        declared = re.findall(r"^SYNCLINE_API [\w *]+?\b(syncline_\w+)\(", header, re.MULTILINE)
        self.assertEqual(sorted(names), sorted(declared))

    def dynamic(self):
        return self.readelf("--dyn-syms")




if __name__ == "__main__":
    unittest.main()
