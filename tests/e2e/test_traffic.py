"""What a plan says a node moves is what its interface counts."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from depth import long, repeat
from waiting import PATIENCE

ALEXNET = harness.TOP / "samples" / "models" / "alexnet.onnx"
HOSTS_SCRIPT = harness.TOP / "tests" / "bench" / "hosts.sh"
HOSTS = 4
SLOW = harness.CLUSTER.replace("10 Gb/s, latency", "100 Mb/s, latency")
# Frames have headers, and acknowledgements go the other way.
LIMIT = 0.05
ALL_REDUCES = ("ring", "recursive-doubling", "halving-doubling", "tree")
EVERY_SCHEME = (*ALL_REDUCES, "parameter-server", "reduce-scatter", "factors")


@unittest.skipUnless(
    os.geteuid() == 0 and shutil.which("ip"), "emulated hosts need root and iproute2"
)
@long("every scheme below, and test_servers counts what an interface moves")
class TrafficTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def moved(self, plan, steps):
        """Bytes each host's interface received and sent."""
        command = [
            HOSTS_SCRIPT,
            "-n",
            HOSTS,
            "-b",
            "--",
            harness.SYNCLINE,
            "run",
            plan,
            "--steps",
            steps,
        ]
        done = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, timeout=PATIENCE
        )
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        found = re.findall(r"^host \d+ rx (\d+) tx (\d+)$", done.stdout + done.stderr, re.MULTILINE)
        self.assertEqual(len(found), HOSTS)
        return [int(received) + int(sent) for received, sent in found]

    def check(self, planner):
        extra = ["--planner", planner]
        plan = harness.compile_plan(
            ALEXNET, self.folder, ranks=HOSTS, batch=2, cluster=SLOW, label=planner, extra=extra
        )
        predicted = harness.plan_json(plan)["predicted"]["traffic"]
        short, more = self.moved(plan, 1), self.moved(plan, 2)
        for host, (few, many) in enumerate(zip(short, more)):
            step = many - few
            print(
                f"\n  alexnet, {planner}, host {host}: {step / 1e6:.2f} MB, predicted"
                f" {predicted / 1e6:.2f}"
            )
            self.assertAlmostEqual(step, predicted, delta=LIMIT * predicted)

    def test_chosen_schemes(self):
        self.check("optimal")

    def test_factors_and_servers(self):
        self.check("poseidon")


class BusiestRankTest(unittest.TestCase):
    """Short messages, which some schemes send otherwise than long ones: what the busiest of four
    local ranks sends and receives."""

    def test_all_reduces(self):
        digits = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            every = [("fp32", s) for s in ALL_REDUCES] + [("bf16", s) for s in EVERY_SCHEME]
            once = every[: len(ALL_REDUCES)] + every[2 * len(ALL_REDUCES) :]
            for wire, scheme in repeat(once, every):
                layers = "fc*" if scheme == "factors" else "*"
                plan = harness.compile_plan(
                    *(digits, folder, HOSTS),
                    label=scheme + wire,
                    extra=["--scheme", f"{layers}={scheme}", "--wire", wire],
                )
                log = harness.syncline("run", plan, "-n", HOSTS, "--steps", 3, "--log", "json")
                moved = json.loads(log.splitlines()[-1])
                both = moved["median_bytes_sent"] + moved["median_bytes_received"]
                print(
                    f"\n  digits-cnn, {scheme}, {wire}: {both / 1e3:.1f} kB, predicted"
                    f" {moved['predicted_traffic_bytes'] / 1e3:.1f}"
                )
                self.assertAlmostEqual(both, moved["predicted_traffic_bytes"], delta=LIMIT * both)


if __name__ == "__main__":
    unittest.main()
