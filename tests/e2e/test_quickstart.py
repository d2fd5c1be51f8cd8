"""`samples/quickstart.sh`: measures the machine, plans, trains, and compares the step with its
prediction."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness
from waiting import PATIENCE

STEP = (
    r"^a step was predicted to take ([\d.]+) ms and took ([\d.]+) ms \((?:mean|median)\): "
    r"prediction ([+-]\d+) %$"
)


class QuickstartTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def quickstart(self, before="", processors=None):
        """What the script prints with the built commands, without installing and building. `before`
        is shell text that runs before each of them; `processors` is what `nproc` says."""
        top = self.folder / "top"
        (top / "build" / "bin").mkdir(parents=True)
        (top / "samples").mkdir()
        for path in (harness.TOP / "samples").iterdir():
            if path.name not in ("quickstart.sh", "setup.sh"):
                (top / "samples" / path.name).symlink_to(path)
        script = (harness.TOP / "samples" / "quickstart.sh").read_text()
        self.script(top / "samples" / "quickstart.sh", script)
        self.script(top / "samples" / "setup.sh", "#!/bin/sh\n")
        command = f'#!/bin/sh\n{before}\nexec "{harness.SYNCLINE}" "$@"\n'
        self.script(top / "build" / "bin" / "syncline", command)
        environment = {**os.environ, "BUILD": "build"}
        if processors:
            (top / "path").mkdir()
            self.script(top / "path" / "nproc", f"#!/bin/sh\necho {processors}\n")
            environment["PATH"] = f"{top}/path:{environment['PATH']}"
        done = subprocess.run(
            [str(top / "samples" / "quickstart.sh")],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=top,
            env=environment,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout

    def script(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def test_measures_the_machine(self):
        """The plan is of measured rates, and its step is beside the measured one at the end. How
        near it comes depends on the machine's other work, which no test may judge by."""
        printed = self.quickstart()
        self.assertRegex(printed, r"compute: profile operations\.json, 9 of 9 operations")
        self.assertRegex(printed, r"links: calibrated")
        self.assertNotIn("nominal", printed)
        step = re.search(STEP, printed.splitlines()[-1])
        self.assertIsNotNone(step, printed[-1000:])
        predicted, measured = map(float, step.groups()[:2])
        self.assertGreater(predicted, 0)
        self.assertGreater(measured, 0)
        # The line repeats the plan's prediction, and its percentage follows from its times.
        shown = re.search(r"^predicted step ([\d.]+) (us|ms|s)\b", printed, re.MULTILINE)
        self.assertIsNotNone(shown, printed[:3000])
        planned = float(shown[1]) * {"us": 1e-3, "ms": 1, "s": 1e3}[shown[2]]
        self.assertAlmostEqual(predicted, planned, delta=0.02 * planned)
        self.assertAlmostEqual(int(step[3]), 100 * (predicted / measured - 1), delta=1)

    def test_machine_that_cannot_be_measured(self):
        """Where `profile` fails, the plan is of nominal rates, and the script says so, and why.
        There is a rank for each processor."""
        fails = '[ "$1" != profile ] || { echo "syncline: error: no room" >&2; exit 1; }'
        skips = '[ "$1" != calibrate ] || exit 0'
        printed = self.quickstart(before=f"{skips}\n{fails}", processors=3)
        self.assertIn("== training with 3 local ranks", printed)
        self.assertIn(
            "planning with the nominal rates of clusters/local4.yaml; the reason: "
            "syncline: error: no room\n",
            printed,
        )
        self.assertIn("by nominal rates", printed.splitlines()[-1])
        self.assertRegex(printed.splitlines()[-2], STEP)


if __name__ == "__main__":
    unittest.main()
