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
SEVERAL = """\
import torch

class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 3)

    def forward(self, ids, scale=None, mask=None):
        x = self.words(ids)
        x = x if scale is None else x * scale.unsqueeze(-1)
        return self.head((x if mask is None else x * mask.unsqueeze(-1)).mean(1))

ids, ones = torch.zeros(1, 6, dtype=torch.int64), torch.ones(1, 6)

def in_order():
    return Scaled(), (ids, ones)

def by_name():
    return Scaled(), {"ids": ids, "mask": ones}

def number():
    return Scaled(), (ids, 3)
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

    def test_several_inputs(self):
        """A tuple of examples, or a dict by the names of arguments; the batch stays open."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "net.py").write_text(SEVERAL)
            for name, inputs in (("in_order", ["ids", "scale"]), ("by_name", ["ids", "mask"])):
                words = ["/usr/bin/python3", EXPORT, f"net:{name}", "-o", "net.onnx"]
                subprocess.run([*map(str, words)], cwd=folder, check=True)
                given = onnx.load(str(folder / "net.onnx")).graph.input
                self.assertEqual([one.name for one in given], inputs)
                firsts = {one.type.tensor_type.shape.dim[0].dim_param for one in given}
                self.assertEqual(firsts, {"batch"})
                plan = harness.compile_plan(folder / "net.onnx", folder)
                self.assertEqual(len(harness.plan_json(plan)["layers"]), 3)
            words = ["/usr/bin/python3", EXPORT, "net:number", "-o", "bad.onnx"]
            done = subprocess.run([*map(str, words)], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"a tuple of tensors, .* got \(Scaled, tuple\)")
            self.assertFalse((folder / "bad.onnx").exists())


if __name__ == "__main__":
    unittest.main()
