"""Ranks of `syncline-calibrate` that a test starts itself, of which one is killed."""

import os
import subprocess

import harness
from refusal import RefusalTest
from waiting import PATIENCE

CALIBRATE = harness.BUILD / "bin" / "syncline-calibrate"


class CalibrateRanksTest(RefusalTest):
    def start(self, rank, ranks, port, flags, environment):
        flags = ["--rank", rank, "--ranks", ranks, "--time", "60s", *flags]
        inherited = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")}
        process = subprocess.Popen(
            [str(CALIBRATE), *map(str, flags), "-o", str(self.folder / "c.yaml")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**inherited, "MASTER_PORT": str(port), **environment},
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def errors_after_kill(self, ranks, *flags, environment={}):
        """Kills rank 1 of `ranks` while they measure. The others have to end with exit code 1 and
        one error each, and to write no file; their errors."""
        port = harness.free_port()
        started = [self.start(rank, ranks, port, flags, environment) for rank in range(ranks)]
        for _ in ("connecting", "measuring"):
            self.assertIn("s left", started[0].stderr.readline())
        started.pop(1).kill()
        found = []
        for process in started:
            self.assertEqual(process.wait(PATIENCE), 1)
            said = list(process.stderr)
            errors = [line for line in said if "error:" in line]
            self.assertEqual(len(errors), 1, said)
            found += errors
        self.assertEqual(self.listing(), ["cluster.yaml"])
        return found
