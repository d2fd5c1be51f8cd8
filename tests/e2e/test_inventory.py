"""What `compile` says of the tensors of a model: planned, or left out for a reason."""

import math
import unittest

from onnx import TensorProto, helper

from refusal import RefusalTest


class InventoryTest(RefusalTest):
    """`compile` says which of a model's tensors are planned, and why others are not."""

    def model(self):
        """Two products with a normalisation between; an output of its own that nothing needs."""
        sizes = {"w": (4, 4), "s": (4,), "b": (4,), "mean": (4,), "var": (4,), "f": (4, 4)}
        sizes["aux"] = (4, 2)
        tensors = [
            helper.make_tensor(name, TensorProto.FLOAT, dims, [0.5] * math.prod(dims))
            for name, dims in sizes.items()
        ]
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["h"]),
            helper.make_node("BatchNormalization", ["h", "s", "b", "mean", "var"], ["n"]),
            helper.make_node("MatMul", ["n", "f"], ["y"]),
            helper.make_node("MatMul", ["h", "aux"], ["z"]),
        ]
        values = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, size])
            for name, size in (("x", 4), ("y", 4), ("z", 2))
        ]
        graph = helper.make_graph(nodes, "g", values[:1], values[1:], tensors)
        opset = [helper.make_opsetid("", 14)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        return self.write("parts.onnx", model.SerializeToString())

    def test_both_ways(self):
        line = (
            "syncline: 3 parameters, 96 B; not planned: 'mean', 'var' (running statistics, 32 B); "
            "'f' (frozen, 64 B); 'aux' (the output does not need them, 32 B)\n"
        )
        words = ["compile", self.model(), "--cluster", self.cluster, "--freeze", "f"]
        for extra in ([], ["--plan-only"]):
            done = self.command(*words, *extra, "-o", self.folder / "parts.plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(line, done.stderr)

    def test_listed_parameters(self):
        """A list decides; what is wrong with it is said with its name, before the model's."""
        listed = self.write("parts.txt", "w (4, 4)\ns (4,)\nb torch.Size([4])\n")
        words = ["compile", self.model(), "--cluster", self.cluster, "--parameters", listed]
        line = (
            "syncline: 3 parameters, 96 B; not planned: 'mean', 'var' (running statistics, 32 B); "
            "'f' (not listed as parameters, 64 B); 'aux' (the output does not need them, 32 B)\n"
        )
        for extra in ([], ["--plan-only"]):
            done = self.command(*words, *extra, "-o", self.folder / "parts.plan")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(line, done.stderr)
        words += ["-o", self.folder / "none.plan"]
        for text, message in (
            ("w (4, 4)\nb 4\n", f"'{listed}': line 2: expected a name and a shape"),
            ("w (4, 4)\nbb (5,)\n", "--parameters lists what the file lacks: 'bb' (5)"),
            ("\0", str(listed)),
        ):
            self.write("parts.txt", text)
            for extra in ([], ["--plan-only"]):
                self.refuses([*words, *extra], message)
        listed.unlink()
        self.refuses(words, str(listed))

    def test_doubtful_parameters(self):
        """PyTorch's file that has no marks: what no node reads as a weight is named."""
        tensors = [
            helper.make_tensor(name, TensorProto.FLOAT, dims, [0.5] * math.prod(dims))
            for name, dims in (("w", (4, 4)), ("fc.bias", (4,)), ("mask", (2, 4)), ("t", (1,)))
        ]
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["h"]),
            helper.make_node("Add", ["h", "fc.bias"], ["b"]),
            helper.make_node("Add", ["b", "mask"], ["m"]),
            helper.make_node("Mul", ["m", "t"], ["y"]),
        ]
        values = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in ("x", "y")
        ]
        graph = helper.make_graph(nodes, "g", values[:1], values[1:], tensors)
        opset = [helper.make_opsetid("", 14)]
        model = helper.make_model(graph, opset_imports=opset, producer_name="pytorch", ir_version=8)
        path = self.write("doubt.onnx", model.SerializeToString())
        words = ["compile", path, "--cluster", self.cluster, "-o", self.folder / "doubt.plan"]
        for extra in ([], ["--plan-only"]):
            done = self.command(*words, *extra)
            self.assertIn("syncline: note: 'mask', 't': trained as parameters, 36 B", done.stderr)
            self.assertIn("syncline: 4 parameters, 116 B\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
