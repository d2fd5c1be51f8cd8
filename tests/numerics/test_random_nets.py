"""Random nets from all operators: the loss of one step against that of onnx.reference's forward
pass, which nets/draw.py computes in an environment that has a current onnx."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

import harness
import virtual
from depth import long
from test_folded import PACKAGES

sys.path.append(str(harness.TOP / "tests"))

import inventory

NETS = harness.TOP / "tests" / "numerics" / "nets" / "draw.py"
SEED, COUNT = 0, 300
MOST_SEEDS = 10 * COUNT  # behind the first ones, for operators that no net has had
LIMIT = 1e-5  # of the loss
MOST_REFUSED = 0.05  # of the nets
OLDER = {"Upsample"}  # than any opset of the nets


def drawn(python, folder, seed):
    """What draw.py says of each of so many nets."""
    words = [python, NETS, folder, seed, COUNT]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compiled(folder, batch):
    """The plan, or the message by which the net is refused."""
    cluster, plan = folder / "cluster.yaml", folder / f"{batch}.plan"
    cluster.write_text(harness.CLUSTER.format(ranks=1))
    words = ["compile", folder / "model.onnx", "--cluster", cluster, "--batch", batch, "-o", plan]
    done = subprocess.run(
        [str(harness.SYNCLINE), *map(str, words)],
        env=harness.environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return plan, None
    if done.returncode != 1:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return None, done.stderr.strip()


def loss(plan, row, batch):
    files = [f"{name}={one_batch(plan.parent, name, batch)}" for name in row["inputs"]]
    data = ",".join([*files, str(one_batch(plan.parent, "labels", batch))])
    said = harness.syncline("run", plan, "-n", 1, "--data", data, "--steps", 1, "--log", "json")
    return json.loads(said.splitlines()[0])["loss"]


def one_batch(folder, name, batch):
    path = folder / f"{name}-{batch}.npy"
    numpy.save(path, numpy.load(folder / f"{name}.npy")[:batch])
    return path


@long("unit-onnx and test_operators, each operator by itself")
class RandomNetsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.operators, self.worst = collections.Counter(), 0
        self.refused, self.wrong = [], []

    def test_losses(self):
        try:
            python = virtual.environment("onnx-1.23", PACKAGES)
        except virtual.Missing as missing:
            self.skipTest(str(missing))
        for row in drawn(python, self.folder, SEED):
            self.judge(row)
        end = SEED + COUNT
        while self.missing() and end < SEED + MOST_SEEDS:
            for row in drawn(python, self.folder, end):
                if self.missing() & row["operators"].keys():
                    self.judge(row)
            end += COUNT
        print(f"seeds {SEED} to {end - 1}: worst error {self.worst:.1e}")
        print(f"refused: {len(self.refused)}", *self.refused, sep="\n  ")
        print("nets by operator:", dict(self.operators.most_common()))
        self.assertEqual(self.wrong, [])
        self.assertLessEqual(len(self.refused), MOST_REFUSED * COUNT)
        self.assertEqual(self.missing(), set(), "in no net that was compiled")

    def missing(self):
        """Operators that are in no net that was compiled."""
        return set(inventory.SOURCES["ONNX operators"][0]) - OLDER - set(self.operators)

    def judge(self, row):
        """Compares the net's losses; counts its operators where it is compiled."""
        folder = self.folder / str(row["seed"])
        for batch, right in row["losses"].items():
            plan, message = compiled(folder, int(batch))
            if message:
                self.refused.append(f"{row['seed']}, batch {batch}: {message}")
                return
            found = loss(plan, row, int(batch))
            error = abs(found - right) / right
            self.worst = max(self.worst, error)
            if not error <= LIMIT:
                self.wrong.append(f"{row['seed']}, batch {batch}: {found}, not {right}")
        self.operators.update(row["operators"].keys())


if __name__ == "__main__":
    unittest.main()
