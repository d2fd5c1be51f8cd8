"""Exports of torchvision's networks that leave out blocks at random, or whose state has a version,
and what the compiler makes of them."""

import pathlib
import subprocess
import tempfile
import unittest

import onnx

import harness
import stepcache

EXPORT = harness.TOP / "samples" / "models" / "export.py"
MASKED = """\
import torch

class Masked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm = torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 0.5, 0.25]))

    def forward(self, x):
        return self.norm(self.layer(x * self.scale))
"""
TOKENS = """\
import torch

class Tokens(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(9, 4), torch.nn.Embedding(6, 4)
        self.register_buffer("order", torch.tensor([3, 1, 0, 2, 5, 4]))
        self.register_buffer("kept", torch.tensor([[True], [False], [True]]))
        self.head = torch.nn.Linear(4, 9)

    def forward(self, ids):
        x = self.words(ids) + self.places(self.order[: ids.shape[1]])
        return self.head(torch.where(self.kept, x, torch.zeros([])))

def make():
    return Tokens(), torch.zeros(2, 3, dtype=torch.int64)
"""


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(stepcache.none())

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

    def test_buffers_are_not_trained(self):
        """PyTorch writes a floating-point buffer as it writes a parameter."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "net.py").write_text(MASKED)
            words = [EXPORT, "net:Masked", "--input", "4", "-o", "net.onnx"]
            subprocess.run(["/usr/bin/python3", *map(str, words)], cwd=folder, check=True)
            plan = harness.compile_plan(folder / "net.onnx", folder)
            kinds = {t["name"]: t["kind"] for t in harness.plan_json(plan)["tensors"]}
            trained = {name for name, kind in kinds.items() if kind == "parameter"}
            self.assertEqual(
                trained, {"layer.weight", "layer.bias", "norm.weight", "norm.bias"}, kinds
            )
            self.assertEqual(kinds["norm.running_mean"], "state")

    def test_functions_return_an_example_of_the_input(self):
        """Integers and booleans keep their values, which the plan needs, in a light file too."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "net.py").write_text(TOKENS)
            words = [EXPORT, "net:make", "--light", "-o", "net.onnx"]
            subprocess.run(["/usr/bin/python3", *map(str, words)], cwd=folder, check=True)
            plan = harness.compile_plan(folder / "net.onnx", folder)
            layers = {layer["name"]: layer["bytes"] for layer in harness.plan_json(plan)["layers"]}
            self.assertEqual(
                layers,
                {"words.weight": 144, "places.weight": 96, "head.weight": 144, "head.bias": 36},
            )


if __name__ == "__main__":
    unittest.main()
