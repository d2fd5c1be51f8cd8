"""Runs of the CUDA backend over tests/host-cuda, which plays its device."""

import os
import pathlib
import tempfile
import unittest
import unittest.mock

import harness

MODULE = harness.BUILD / "lib" / "libsyncline-host-cuda.so"
NVCC = harness.TOP / "tests" / "host-cuda" / "nvcc"
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
PLAYED = {"NVCC": str(NVCC), "SYNCLINE_CUDA_BACKEND": str(MODULE)}
CUDA = ("--backend", "cuda")
NODE = """\
name: test
nodes: 1
devices-per-node: {ranks}
device: {{compute: 50 GFLOP/s, memory: 10 GB/s}}
network: {{bandwidth: 10 Gb/s, latency: 20 us}}
"""


class HostCudaCase(unittest.TestCase):
    """All tests have one folder, and run what is played."""

    @classmethod
    def setUpClass(cls):
        if not MODULE.exists():
            raise unittest.SkipTest("built without CUDA's toolkit")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, PLAYED))


class TwoDevicesCase(HostCudaCase):
    """The plan is for two nodes with a device each: here both ranks are on one machine with
    two devices."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(
            unittest.mock.patch.dict(os.environ, SYNCLINE_HOST_CUDA_DEVICES="2")
        )
        cls.plan = harness.compile_plan(DIGITS, cls.folder, 2, 4, extra=CUDA)
