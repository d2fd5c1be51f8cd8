"""Exports of torchvision's networks that leave out blocks at random, or whose state has a version,
and what the compiler makes of them."""

import pathlib
import subprocess
import tempfile
import unittest

import onnx

import harness

EXPORT = harness.TOP / "samples" / "models" / "export.py"


class ExportTest(unittest.TestCase):
    def test_networks(self):
        for name, parameters in (("efficientnet_b0", 213), ("mnasnet0_5", 158)):
            with self.subTest(network=name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "net.onnx"
                words = [EXPORT, name, "--light", "--size", "64", "-o", path]
                done = subprocess.run(
                    ["/usr/bin/python3", *map(str, words)], capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                drawn = {"RandomUniformLike", "RandomNormalLike", "Bernoulli", "Dropout"}
                kinds = {node.op_type for node in onnx.load(str(path)).graph.node}
                self.assertFalse(kinds & drawn)
                plan = harness.compile_plan(path, pathlib.Path(folder))
                self.assertEqual(len(harness.plan_json(plan)["layers"]), parameters)


if __name__ == "__main__":
    unittest.main()
