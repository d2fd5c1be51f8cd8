"""The README's commands, as printed: run in a folder of a newcomer's, where `samples` is the
repository's and `syncline` is on PATH."""

import os
import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

import harness

README = (harness.TOP / "README.md").read_text()


def section(title):
    """The text from this heading to the next, whatever its level."""
    rest = README.split(f"# {title}\n", 1)[1]
    return re.split(r"^#+ [A-Z]", rest, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text):
    """Indented blocks outside of fences, in order, without their indentation."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"(?:^ {4}.*\n(?:\n(?= {4}))*)+", plain, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") for block in found]


def commands(text):
    """Lines that call a program, those that end in a backslash with the next."""
    joined = [line for block in blocks(text) for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in joined if re.match(r"(syncline |python3 |samples/)", line)]


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "samples").symlink_to(harness.TOP / "samples")

    def run_all(self, lines):
        """What each prints. The system's Python has PyTorch."""
        path = f"{harness.SYNCLINE.parent}:/usr/bin:{os.environ['PATH']}"
        printed = {}
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.folder,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                timeout=600,
            )
            self.assertEqual(
                done.returncode, 0, f"{line}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
            )
            printed[line] = done.stdout
        return printed

    def test_use(self):
        """Every command of "Use" works, and what README shows is what they print."""
        text = section("Use")
        lines = commands(text)
        self.assertGreater(len(lines), 5)
        printed = self.run_all(lines)
        shown = [block for block in blocks(text) if block.startswith("plan ")]
        self.assertEqual(len(shown), 1)
        report = next(out for line, out in printed.items() if line.startswith("syncline inspect"))
        self.assertEqual(report.rstrip("\n"), shown[0])
        other = harness.plan_json(self.folder / "ddp.plan")["predicted"]["step"]
        self.assertIn(f"the step takes {1e3 * other:.0f} ms instead", text)

    def test_own_model(self):
        """The files of "Your own model" are as printed; its commands export, compile and train."""
        text = section("Your own model")
        for name, content in re.findall(
            r"^```python\n# (\w+\.py)\n(.*?)^```", text, re.MULTILINE | re.DOTALL
        ):
            (self.folder / name).write_text(content)
        lines = commands(text)
        for wanted in ("export.py", "compile", "run"):
            self.assertTrue(any(wanted in line for line in lines), wanted)
        self.run_all(lines)
        self.assertTrue((self.folder / "trained.onnx").exists())
        # The export by hand gives a network of the same parameters.
        call = re.search(
            r"^```python\n(torch\.onnx\.export\(.*?)^```", text, re.MULTILINE | re.DOTALL
        ).group(1)
        given = "import net, torch\nmodel, sample = net.cnn(), torch.zeros(2, 3, 32, 32)\n"
        (self.folder / "by_hand.py").write_text(given + call)
        (self.folder / "net.onnx").unlink()
        again = next(line for line in lines if " compile " in line).replace(
            "net.plan", "again.plan"
        )
        self.run_all(["python3 by_hand.py", again])
        plans = [harness.plan_json(self.folder / name) for name in ("net.plan", "again.plan")]
        self.assertEqual(*[[bucket["members"] for bucket in plan["buckets"]] for plan in plans])


if __name__ == "__main__":
    unittest.main()
