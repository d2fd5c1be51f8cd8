"""Tests whose scripts run in a Python with PyTorch."""

import pathlib
import signal
import subprocess
import tempfile
import unittest

import c_api
import harness
import torch_plugin
import virtual
from waiting import PATIENCE

PACKAGE = harness.TOP / "runtime" / "python"


class PyTorchCase(unittest.TestCase):
    """Has a folder for all its tests, which are skipped where there is no such Python."""

    environment = staticmethod(torch_plugin.python)  # finds the Python of the scripts

    @classmethod
    def setUpClass(cls):
        try:
            cls.python = cls.environment()
        except virtual.Missing as missing:
            raise unittest.SkipTest(str(missing)) from None
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    @classmethod
    def variables(cls, **extra):
        """The environment of scripts, which meet at one place and have no plan."""
        given = {
            **harness.environment(),
            "PYTHONPATH": str(PACKAGE),
            "SYNCLINE": str(harness.SYNCLINE),
            "SYNCLINE_LIBRARY": str(c_api.LIBRARY),
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
            "PYTHONFAULTHANDLER": "1",  # SIGABRT prints all threads' stacks
            # Without it a rank may leave while others still connect to it, whose group then fails.
            "TORCH_DIST_INIT_BARRIER": "1",
            "MEET": f"tcp://127.0.0.1:{harness.free_port()}",
        }
        given.pop("SYNCLINE_PLAN", None)
        return {**given, **extra}

    def start(self, words, variables, cwd=None):
        """A process of a script, which ends with the test."""
        started = subprocess.Popen(
            [str(word) for word in (self.python, "-W", "ignore", *words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=variables,
            cwd=cwd,
        )
        self.addCleanup(lambda: (started.kill(), started.communicate()))
        return started

    def ends(self, started, code=0, seconds=PATIENCE):
        """What each process said, and its errors. Where one hangs, the failure has these of all,
        and the stacks of those that ran still."""
        try:
            found = [process.communicate(timeout=seconds) for process in started]
        except subprocess.TimeoutExpired as hang:
            for process in started:
                process.send_signal(signal.SIGABRT)
            said = ["".join(process.communicate(timeout=PATIENCE)) for process in started]
            self.fail("\n".join([str(hang), *said]))
        codes = [process.returncode for process in started]
        self.assertEqual(codes, [code] * len(codes), "\n".join(said + err for said, err in found))
        return found
