"""Profiles, traces of runs, and predictions beside measurements."""

import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import unittest

import harness
from refusal import RefusalTest
from waiting import PATIENCE, until

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
NODES = {"/conv1/Conv", "/conv2/Conv", "/fc/Gemm", "loss"}

ONE_NODE = """\
name: many
nodes: 1
devices-per-node: {devices}
network: {{bandwidth: 10 Gb/s, latency: 20 us}}
inside: {{bandwidth: 100 Gb/s, latency: 2 us}}
"""

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def total(profile, *phases):
    """Seconds of all nodes in these phases."""
    return sum(
        seconds(times.get(phase, "0 s"))
        for times in profile["operations"].values()
        for phase in phases
    )


class ProfileTest(RefusalTest):
    def profile(self, *words, **kwargs):
        """What `profile words...` writes, and what it says."""
        out = self.folder / "p.json"
        done = self.command("profile", *words, "-o", out, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text()), done.stderr

    def test_model(self):
        """A profile names every layer and adds up to the step; compile takes it."""
        profile, said = self.profile(DIGITS, "--batch", 8)
        self.assertEqual((profile["batch"], profile["threads"]), (8, 1))
        self.assertLessEqual(NODES, profile["operations"].keys())
        self.assertIn("backward", profile["operations"]["/conv1/Conv"])
        self.assert_adds_up(said)
        plan = self.folder / "p.plan"
        # Messages that travel on into the next step would hold up its forward pass.
        words = ("compile", DIGITS, "--cluster", self.cluster, "--profile", self.folder / "p.json")
        words += ("--overlap", "backward")
        harness.syncline(*words, "--batch", 8, "-o", plan)
        self.assert_threads_are_stated(plan)
        self.refuses([*words, "--batch", 4, "-o", self.folder / "q.plan"], "batch 8", "expected 4")
        predicted = self.without_scatter(words, profile, plan)
        forward = total(profile, "forward")
        self.assertAlmostEqual(predicted["forward_end"], forward, delta=0.01 * forward)
        self.assertGreater(predicted["updates"], 0)
        overhead = seconds(profile.pop("overhead"))
        self.assertGreater(overhead, 0)
        self.assertAlmostEqual(predicted["overhead"], overhead)
        (self.folder / "p.json").write_text(json.dumps(profile))
        harness.syncline(*words, "--batch", 8, "-o", plan)
        without = harness.plan_json(plan)["predicted"]
        self.assertEqual(without["overhead"], 0)
        for key in ("step", "alone"):
            self.assertAlmostEqual(predicted[key], without[key] + overhead, places=9)

    def assert_adds_up(self, said):
        """The operations are counted against the step. Whether they make it up within 2 % is for
        the machine's other work to decide; the profile says it where they do not."""
        part = float(re.search(r"operations add up to .*, ([\d.]+) % of the step", said)[1])
        self.assertGreater(part, 0)
        if abs(part - 100) != 2:  # as printed
            self.assertEqual("not to be trusted" in said, abs(part - 100) > 2, said)

    def assert_threads_are_stated(self, plan):
        """A plan says by how many threads its times were measured, and a run says of others."""
        self.assertEqual(harness.plan_json(plan)["provenance"]["threads"], 1)
        self.assertRegex(harness.syncline("inspect", plan), r"operations, by 1 thread a rank\n")
        said = [
            self.command("run", plan, "-n", 2, "--steps", 1, "--threads", threads).stderr
            for threads in (1, 2)
        ]
        other = "'--threads 2': the plan's times are those of 1 in each rank, its predictions"
        self.assertEqual([other in each for each in said], [False, True], said)

    def without_scatter(self, words, profile, plan):
        """Removes how steps scatter from the profile; what is predicted then. Steps that all take
        twice as long have operations that do."""

        def predicted():
            (self.folder / "p.json").write_text(json.dumps(profile))
            harness.syncline(*words, "--batch", 8, "-o", plan)
            harness.syncline("verify", plan)
            return harness.plan_json(plan)["predicted"]

        self.assertTrue(predicted()["scatters"])
        (scatter,) = profile.pop("scatter")
        self.assertGreaterEqual(len(scatter), 7)
        self.assertTrue(0 < min(scatter) <= 1 <= max(scatter), scatter)  # of the usual step
        calm = predicted()
        self.assertFalse(calm["scatters"])
        profile["scatter"] = [[2.0]]
        self.assertAlmostEqual(predicted()["alone"], 2 * calm["alone"], places=9)
        self.assertAlmostEqual(predicted()["forward_end"], 2 * calm["forward_end"], places=9)
        del profile["scatter"]
        return predicted()

    def test_scatter_that_is_none(self):
        profile = {"schema": 1, "operations": {}}
        for scatter, said in (([[1, -1]], "got -1"), ([[1], []], "scatter[1]"), ([], "got []")):
            path = self.write("p.json", json.dumps({**profile, "scatter": scatter}))
            words = ["--cluster", self.cluster, "--profile", path, "-o", self.folder / "q.plan"]
            self.refuses(["compile", DIGITS, "--batch", 8, *words], "p.json: 'scatter", said)
        self.assertFalse((self.folder / "q.plan").exists())

    def test_ranks_side_by_side(self):
        """Where each rank has a processor of its own, the steps of all are recorded; where they
        share one, those of none."""
        processors = len(os.sched_getaffinity(0))
        alone, _ = self.profile(DIGITS, "--batch", 64, "--pin")
        self.assertEqual(len(alone["scatter"]), 1)
        if processors > 1:
            both, said = self.profile(DIGITS, "--batch", 64, "--pin", "-n", 2)
            first, second = both["scatter"]
            self.assertEqual(len(first), len(second))
            self.assertIn("the slowest of 2 ranks'", said)
        shared, said = self.profile(DIGITS, "--batch", 64, "--pin", "-n", processors + 1)
        self.assert_adds_up(said)
        self.assertNotIn("scatter", shared)

    def test_plan(self):
        """One rank of a plan for four, with its optimizer; also under variables of a starter."""
        plan = harness.compile_plan(
            *(DIGITS, self.folder, 4, 8),
            extra=("--scheme", "fc*=sfb", "--optimizer", "adam", "--freeze", "conv1.*"),
        )
        profile, said = self.profile(plan, environment={"RANK": "3", "WORLD_SIZE": "4"})
        self.assertLessEqual(NODES, profile["operations"].keys())
        self.assert_adds_up(said)
        self.assertIn("--batch 8 --cluster", said.splitlines()[-1])
        self.refuses(["profile", plan, "--batch", 4, "-o", "x"], "--batch is for models", code=2)
        for option, value in (("--loss", "mse"), ("--parameters", "list"), ("--dropout", "off")):
            words = ["profile", DIGITS, "-o", "x", option, value]
            said = f"'syncline compile {option}', and then 'syncline profile PLAN'"
            self.refuses(words, said, code=2)
            self.refuses(words[:-1], said, code=2)

    def test_refusals(self):
        self.refuses(["profile", "/nowhere.onnx", "-o", self.folder / "p"], "/nowhere.onnx")
        self.refuses(
            ["profile", DIGITS, "-o", "/nowhere/p.json"], "/nowhere/p.json", "cannot write"
        )
        self.refuses(["profile", "-o", self.folder / "p"], "expected a model", code=2)
        self.refuses(["profile", DIGITS, "-o", self.folder / "p", "-n", 0], "-n", code=2)
        self.refuses(
            ["profile", DIGITS, "-o", self.folder / "p", "--cluster", ""], "--cluster", code=2
        )
        self.refuses(["profile", DIGITS, "-o", "p", "--from-trace", "t", "--map", "m"], code=2)
        foreign = self.write("t.json", '{"traceEvents": []}')
        self.refuses(["profile", "--from-trace", foreign, "-o", "p"], "--map", code=2)

    def test_cluster(self):
        """One that cannot be read is told, also where -n says how many ranks; so many ranks as one
        machine has no room for are refused, whoever asks for them."""
        measured = ["profile", DIGITS, "--batch", 2, "-o", self.folder / "p"]
        self.refuses([*measured, "-n", 1, "--cluster", "/nowhere.yaml"], "/nowhere.yaml")
        many = self.write("many.yaml", ONE_NODE.format(devices=257))
        self.refuses([*measured, "--cluster", many], "many.yaml", "expected 1 to 256", "257")
        profile, _ = self.profile(DIGITS, "--batch", 2, "-n", 1, "--cluster", many)
        self.assertIn(" on many", profile["name"])
        layers = self.write("layers.csv", "name,bytes,forward,backward\na,4B,1ms,2ms\n")
        harness.syncline("compile", layers, "--cluster", many, "-o", self.folder / "many.plan")
        words = ["profile", self.folder / "many.plan", "-o", self.folder / "p"]
        self.refuses(words, "many.plan/plan.json", "expected 1 to 256", "257")

    def test_traces_that_are_no_measurements(self):
        """What a simulation took is no profile."""
        plan = self.folder / "t.plan"
        layers = self.write("layers.csv", "name,bytes,forward,backward\na,4B,1ms,2ms\n")
        harness.syncline("compile", layers, "--cluster", self.cluster, "-o", plan)
        harness.syncline("simulate", plan, "--trace", self.folder / "t.json")
        words = ["profile", "--from-trace", self.folder / "t.json", "-o", self.folder / "p"]
        self.refuses(words, "t.json", "simulated")
        deep = '[{"ph": "X", "ts": 1, "dur": 1, "name": ' + "[" * 200000 + "]" * 200000 + "}]"
        words[2] = self.write("deep.json", deep)
        self.refuses([*words, "--map", self.write("m.json", "{}")], "deep.json", "levels")

    def processes(self):
        """The command lines of all processes."""
        return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout

    def test_interruption(self):
        """Ctrl-C ends the ranks and removes the temporary folder."""
        temporary = self.folder / "tmp"
        temporary.mkdir()
        # Long enough that no pause of the machine outlasts it.
        model = harness.TOP / "samples" / "models" / "resnet-50.onnx"
        words = [str(harness.SYNCLINE), "profile", str(model), "--batch", "4", "-n", "3"]
        child = subprocess.Popen(
            [*words, "-o", str(self.folder / "p.json")],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        until(lambda: list(temporary.glob("*/output1")), "ranks start", child)
        folder = str(next(temporary.iterdir()))
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(PATIENCE), -signal.SIGINT)
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertFalse((self.folder / "p.json").exists())
        self.assertNotIn(folder, self.processes())

    def test_what_a_killed_profile_leaves(self):
        """The next one removes it, but not what only looks like it."""
        temporary = self.folder / "tmp"
        temporary.mkdir()
        environment = {"TMPDIR": str(temporary)}
        words = ["profile", DIGITS, "--batch", "4", "-o", self.folder / "p.json"]
        child = subprocess.Popen(
            [str(harness.SYNCLINE), *map(str, words)],
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )
        until(lambda: list(temporary.glob("*/output0")), "a compile starts", child)
        child.kill()
        child.wait(PATIENCE)
        (left,) = temporary.iterdir()
        until(lambda: str(left) not in self.processes(), "the compile and its compiler end")
        self.assertEqual(left.stat().st_mode & 0o777, 0o700)
        similar = temporary / "syncline.partial-abcdef"
        similar.mkdir()
        (similar / "thesis.txt").write_text("mine")
        words[1] = self.write("broken.onnx", "no model")
        done = self.command(*words, environment=environment)
        self.assert_refused(done, ["broken.onnx"])
        self.assertEqual(list(temporary.iterdir()), [similar])


TORCH = """
import sys, torch
from torch.profiler import ProfilerActivity, profile, schedule
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3),
                            torch.nn.Flatten(), torch.nn.Linear(8 * 12 * 12, 10))
x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3)) as p:
    for _ in range(5):
        torch.nn.functional.cross_entropy(model(x), y).backward()
        p.step()
p.export_chrome_trace(sys.argv[1])
"""


class TorchTest(RefusalTest):
    def test_import(self):
        """A trace that this machine's PyTorch wrote becomes a profile; another map is refused."""
        trace = self.folder / "t.json"
        done = subprocess.run(
            ["/usr/bin/python3", "-c", TORCH, str(trace)], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        engine = "autograd::engine::evaluate_function: "
        operations = {
            "aten::conv2d": ["conv1", "conv2"],
            engine + "ConvolutionBackward0": ["conv2", "conv1"],
            "aten::linear": "fc",
            engine + "AddmmBackward0": "fc",
        }
        out = self.folder / "p.json"
        events = self.write(
            "m.json", json.dumps({"schema": 1, "batch": 4, "operations": operations})
        )
        harness.syncline("profile", "--from-trace", trace, "--map", events, "-o", out)
        profile = json.loads(out.read_text())
        self.assertEqual(profile["operations"].keys(), {"conv1", "conv2", "fc"})
        for times in profile["operations"].values():
            for phase in ("forward", "backward"):
                self.assertNotEqual(float(times[phase].split()[0]), 0)
        out.unlink()
        operations["aten::conv2d"].append("conv3")
        events = self.write("m.json", json.dumps({"schema": 1, "operations": operations}))
        words = ["profile", "--from-trace", trace, "--map", events, "-o", out]
        self.refuses(words, "aten::conv2d", "expected the 3 of the map")


class MeasuredTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plan = harness.compile_plan(DIGITS, cls.work, ranks=2, batch=4)
        cls.trace = cls.work / "t.json"
        harness.syncline("run", cls.plan, "--steps", 6, "--trace", cls.trace)

    def test_report(self):
        report = harness.syncline("inspect", self.plan, "--measured", self.trace)
        self.assertIn("3 steps of 2 ranks, measured, clocks within", report)
        for bucket in harness.plan_json(self.plan)["buckets"]:
            self.assertRegex(report, rf"(?m)^ +{bucket['id']}  {bucket['members'][0]}")
        self.assertRegex(report, r"(?m)^step: predicted .*, measured .*, [+-].* %$")

    def test_profile_of_a_run(self):
        """The trace of a run is a profile of it; the plan made by it computes as long as
        the run."""
        out = self.folder / "p.json"
        harness.syncline("profile", "--from-trace", self.trace, "-o", out)
        profile = json.loads(out.read_text())
        self.assertEqual(profile["batch"], 4)
        self.assertIn("update", profile)
        events = [e for e in json.loads(self.trace.read_text())["traceEvents"] if e["ph"] == "X"]
        runs = {(e["pid"], e["args"]["step"]) for e in events}
        conv = [
            e
            for e in events
            if e["args"].get("layer") == "/conv2/Conv" and e["args"]["phase"] == "forward"
        ]
        self.assertEqual(len(conv), len(runs))
        middle = statistics.median(e["dur"] for e in conv) * 1e-6
        self.assertAlmostEqual(
            seconds(profile["operations"]["/conv2/Conv"]["forward"]), middle, delta=1e-4 * middle
        )
        words = ["profile", "--from-trace", self.trace, "--map", out, "-o", self.folder / "q"]
        self.refuses(words, "--map is for traces of torch.profiler", code=2)

    def test_limit(self):
        """The report is told, then the error; a limit that is wide enough is kept."""
        done = self.command(
            "inspect", self.plan, "--measured", self.trace, "--max-error", "0.0001%"
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("step: predicted", done.stdout)
        self.assertRegex(done.stderr, r"than predicted, expected at most 0.00 %")
        self.assertEqual(done.stderr.count("error:"), 1)
        harness.syncline(
            "inspect", self.plan, "--measured", self.trace, "--max-error", "100000000 %"
        )

    def test_refusals(self):
        words = ["inspect", self.plan, "--measured"]
        self.refuses([*words, "/nowhere"], "/nowhere")
        self.refuses([*words, self.write("t", "{}")], "traceEvents")
        self.refuses([*words, self.write("t", '{"traceEvents": []}')], "syncline run --trace")
        other = json.loads(self.trace.read_text())
        other["otherData"]["plan"] = "0" * 64
        self.refuses([*words, self.write("t", json.dumps(other))], "another plan")
        self.refuses([*words, self.trace, "--max-error", "much"], "--max-error", "5%", code=2)
        self.refuses(["inspect", self.plan, "--max-error", "5%"], code=2)


if __name__ == "__main__":
    unittest.main()
