"""The commands that README.md and pages of samples/ print: run in a folder of a newcomer's, where
`samples` is a copy of the repository's and `syncline` is on PATH."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy

import current_pytorch
import harness
import virtual
from depth import long
from pages import blocks, commands, section
from waiting import PATIENCE

CHARACTERS = 96  # of samples/data/text.py


def columns(line):
    """The cells of a line that `inspect` prints: two spaces or more stand between them."""
    return re.split(r"\s{2,}", line.strip())


def table(text):
    """The first Markdown table: each row's cells by the names of their columns."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def by_hand(text):
    """The calls of PyTorch's exporters: TorchScript's, the current one's."""
    return re.findall(r"(?ms)^```python\n(torch\.onnx\.export\(.*?)^```", text)


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        made = shutil.ignore_patterns(
            *("fashion-*.npy", "text-*.npy", "shapes-*.npy", "*.plan", "__pycache__")
        )
        shutil.copytree(harness.TOP / "samples", self.folder / "samples", ignore=made)

    def run_all(self, lines, python="/usr/bin"):
        """What each prints. The system's Python has PyTorch."""
        path = f"{harness.SYNCLINE.parent}:{python}:{os.environ['PATH']}"
        printed = {}
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.folder,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            said = done.stdout[-2000:] + done.stderr[-3000:]
            self.assertEqual(done.returncode, 0, f"{line}\n{said}")
            printed[line] = done.stdout
            self.said = done.stderr
        return printed

    def test_one_plan(self):
        """Every command of "One plan, explained" works, and its figures are what they print."""
        text = section("README.md", "One plan, explained")
        lines = commands(text)
        self.assertGreater(len(lines), 8)
        printed = self.run_all(lines)
        report = next(out for line, out in printed.items() if line.startswith("syncline inspect"))
        lines = [line for line in report.splitlines() if re.match(r"bucket  | +\d+  ", line)]
        names, *rows = map(columns, lines)
        shown = table(text)
        self.assertEqual(len(rows), len(shown))
        for row, expected in zip(rows, shown):
            cells = dict(zip(names, row))
            self.assertEqual({name: cells[name] for name in expected}, expected)
        words = " ".join(text.split())
        for pattern, where in [
            (r"backward pass ends at (\d+ ms)", "backward ends at {}"),
            (r"The step takes (\d+ ms)\.", "predicted step {} in virtual time"),
            (r'`inspect` says "([^"]+)"', "{}\n"),
        ]:
            self.assertIn(where.format(re.search(pattern, words).group(1)), report)
        shown = harness.TOP / re.search(r"!\[[^]]*\]\((\S+\.svg)\)", text).group(1)
        self.assertEqual(shown.read_bytes(), (self.folder / "vgg.svg").read_bytes(), shown)
        other = harness.plan_json(self.folder / "ddp.plan")["predicted"]["step"]
        self.assertIn(f"the step takes {1e3 * other:.0f} ms instead", words)
        line = next(line for line in printed if " --overlap backward " in line)
        for wanted, by in ((" --overlap backward", ""), ("vgg.plan", "hidden.plan")):
            line = line.replace(wanted, by)
        self.run_all([line])
        hidden = harness.plan_json(self.folder / "hidden.plan")["predicted"]["step"]
        self.assertIn(f"Here it does: the step takes {1e3 * hidden:.0f} ms.", words)
        why = next(out for line, out in printed.items() if "--why" in line)
        limits = r"from ([\d.]+ Gb/s), from (\d+ samples) a rank, or from (\d+ nodes) on"
        for limit in re.search(limits, words).groups():
            self.assertIn(f"from {limit} on: ", why)

    def current_python(self):
        """The folder of the Python that has the current PyTorch."""
        try:
            return current_pytorch.python().parent
        except virtual.Missing as missing:
            self.skipTest(str(missing))

    def write_files(self, text):
        """The files that a page prints, each with its name in the first line."""
        for name, content in re.findall(r"(?ms)^```python\n# (\w+\.py)\n(.*?)^```", text):
            (self.folder / name).write_text(content)

    def test_own_model(self):
        """The files of "Your own model" are as printed; its commands export, compile and train."""
        text = section("samples/README.md", "Your own model")
        self.write_files(text)
        lines = commands(text)
        for wanted in ("export.py", "compile", "run"):
            self.assertTrue(any(wanted in line for line in lines), wanted)
        self.run_all(lines)
        self.assertTrue((self.folder / "trained.onnx").exists())
        # The export by hand gives a network of the same parameters.
        call = by_hand(text)[0]
        given = "import net, torch\nmodel, sample = net.cnn(), torch.zeros(2, 3, 32, 32)\n"
        (self.folder / "by_hand.py").write_text(given + call)
        (self.folder / "net.onnx").unlink()
        again = next(line for line in lines if " compile " in line)
        self.run_all(["python3 by_hand.py", again.replace("net.plan", "again.plan")])
        plans = [harness.plan_json(self.folder / name) for name in ("net.plan", "again.plan")]
        self.assertEqual(*[[bucket["members"] for bucket in plan["buckets"]] for plan in plans])

    def test_hugging_face(self):
        """Its model is exported by the current PyTorch, trained, and learns; PyTorch takes the
        parameters back and says the same of the test set."""
        python = self.current_python()
        text = section("samples/README.md", "A model of Hugging Face")
        self.write_files(text)
        printed = self.run_all(commands(text), python)
        right = float(re.search(r"PyTorch: ([\d.]+)%", printed["python3 back.py"]).group(1))
        self.assertGreater(right, 90)

    @long("test_hugging_face exports by the current exporter")
    def test_current_exporter_by_hand(self):
        """The page's call, in the environment that has it, gives the same parameters."""
        python = self.current_python()
        text = section("samples/README.md", "Your own model")
        self.write_files(text)
        given = "import net, torch\nmodel, sample = net.cnn(), torch.zeros(2, 3, 32, 32)\n"
        (self.folder / "by_hand.py").write_text(given + by_hand(text)[1])
        lines = ["python3 by_hand.py", *(l for l in commands(text) if " compile " in l)]
        self.run_all(lines, python)
        named = [b["members"] for b in harness.plan_json(self.folder / "net.plan")["buckets"]]
        self.assertIn("0.weight", [name for members in named for name in members])

    def test_traces(self):
        """The printed command plans a shipped trace."""
        self.run_all(commands(section("samples/traces/README.md")))
        self.assertGreater(len(harness.plan_json(self.folder / "vgg19.plan")["buckets"]), 1)

    def test_own_data(self):
        """The printed lines write parts that a run reads."""
        x, y = (numpy.load(harness.TOP / f"samples/data/digits-train-{part}.npy") for part in "xy")
        (self.folder / "train").mkdir()
        text = section("samples/data/README.md", "Your own")
        lines, run = blocks(text)[0].split("\n\n")
        with contextlib.chdir(self.folder):
            exec(lines, {"numpy": numpy, "x": x, "y": y})
        model = "samples/models/digits-cnn.onnx --cluster laptop --batch 16 -o model.plan"
        self.run_all([f"syncline compile {model}", run])
        self.assertIn(f"{1437 // 32} steps", self.said)

    def test_unequal_speed(self):
        """The run keeps to the bound, learns, and leaves a trace of what ranks sent and read."""
        self.run_all(commands(section("samples/README.md", "Ranks of unequal speed")))
        plan = harness.plan_json(self.folder / "ssp.plan")
        self.assertEqual(plan["consistency"]["text"], "ssp:3")
        lead = re.search(r"'ssp:3': largest lead (\d+) steps", self.said)
        self.assertLessEqual(int(lead.group(1)), 3)
        self.assertGreater(float(re.search(r"test accuracy ([\d.]+) %", self.said).group(1)), 80)
        events = json.loads((self.folder / "ssp.json").read_text())["traceEvents"]
        self.assertLessEqual({"push", "read", "tick", "grant"}, {e["name"] for e in events})

    def test_small_gpt(self):
        """In fewer steps than the page's, the GPT learns more than how often characters come."""
        lines = commands(section("samples/README.md", "A small GPT"))
        long, short = r"--steps \d+(.*)--warmup \d+", r"--steps 40\1--warmup 10"
        shorter = [re.sub(long, short, line) for line in lines]
        self.assertNotEqual(shorter, lines)
        self.run_all(shorter)
        train, test = (numpy.load(self.folder / f"text-{part}-y.npy") for part in ("train", "test"))
        counts = numpy.bincount(train.ravel(), minlength=CHARACTERS) + 0.01
        known = -numpy.log(counts / counts.sum())[test].mean()
        self.assertLess(float(re.search(r"test loss ([\d.]+)", self.said).group(1)), known - 0.2)
        self.assertTrue((self.folder / "gpt-trained.onnx").exists())

    def test_segmentation(self):
        """In half the page's epochs the U-Net finds the shapes, and tells them apart: without that
        it would come to 90 %."""
        text = section("samples/README.md", "A segmentation")
        lines = commands(text)
        shorter = [line.replace("--epochs 10", "--epochs 5") for line in lines]
        self.assertNotEqual(shorter, lines)
        self.run_all(shorter)
        accuracy = float(re.search(r"test accuracy ([\d.]+) %", self.said).group(1))
        self.assertGreater(accuracy, 95)
        background = numpy.mean(numpy.load(self.folder / "shapes-test-y.npy") == 0)
        self.assertIn(f"{background:.0%} are background".replace("%", " %"), text)
        self.assertTrue((self.folder / "unet-trained.onnx").exists())


if __name__ == "__main__":
    unittest.main()
