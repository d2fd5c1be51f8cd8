"""--like and --precision where a plan is predicted by a kind of device, and who refuses what."""

import unittest

from onnx import TensorProto, helper

import harness
from plan_only import PlanOnlyTest, plan_json

RESNET = harness.TOP / "samples" / "models" / "resnet-50.onnx"


class LikeTest(PlanOnlyTest):
    def cluster_of(self, device):
        self.cluster = self.folder / "c.yaml"
        self.cluster.write_text(
            f"name: one\nranks: 1\ndevice: {{{device}}}\nnetwork: {{kind: ethernet-10g}}\n"
        )

    def rate(self, *extra):
        """Predicted samples a second of ResNet-50 by 64 samples."""
        plan = self.plan(RESNET, "--batch", 64, *extra)
        return 64 / plan_json(plan)["predicted"]["step"]

    def test_fewer_bits_and_fewer_kernels_are_faster(self):
        self.cluster_of("kind: a100")
        half = ("--precision", "fp16")
        rates = [
            self.rate(),
            self.rate("--precision", "tf32"),
            self.rate("--like", "pytorch-nchw", *half),
            self.rate(*half),
            self.rate("--like", "compiled", *half),
        ]
        self.assertEqual(rates, sorted(rates))
        self.assertEqual(self.rate("--like", "pytorch"), rates[0])
        # Its gradients need no scaling.
        self.assertGreater(self.rate("--precision", "bf16"), rates[3])
        self.assertEqual(self.notes, [])
        self.assertGreater(self.rate("--like", "best", *half), rates[3])

    def test_published_rates_are_met(self):
        """Where the figure lies in tests/bench/devices, with its source, a third is allowed."""
        for kind, precision, like, published in (
            ("a100-pcie", "fp16", "pytorch-nchw", 1396),
            ("a100-80g", "fp16", "pytorch", 2470),
            ("v100", "fp16", "pytorch", 1200),
            ("rtx-3090", "tf32", "pytorch", 513),
        ):
            self.cluster_of(f"kind: {kind}")
            plan = self.plan(RESNET, "--batch", 256, "--precision", precision, "--like", like)
            rate = 256 / plan_json(plan)["predicted"]["step"]
            self.assertLess(abs(rate / published - 1), 0.35, f"{kind}: {rate}")

    def test_models_without_a_step_have_kernels_too(self):
        self.cluster_of("kind: a100")
        steps = {}
        for op in ("Mish", "Relu"):  # no step is made of the first
            nodes = [
                helper.make_node("RandomNormal", [], ["v"], shape=[4096, 4096]),
                helper.make_node("RandomNormal", [], ["w"], shape=[4096, 4096]),
                helper.make_node("MatMul", ["x", "v"], ["a"]),
                helper.make_node(op, ["a"], ["b"]),
                helper.make_node("MatMul", ["b", "w"], ["y"]),
            ]
            shape = TensorProto.FLOAT, ["batch", 4096]
            x, y = (helper.make_tensor_value_info(name, *shape) for name in "xy")
            model = helper.make_model(
                helper.make_graph(nodes, "g", [x], [y]),
                opset_imports=[helper.make_opsetid("", 18)],
                ir_version=8,
            )
            path = self.folder / f"{op}.onnx"
            path.write_bytes(model.SerializeToString())
            for precision in ("fp32", "bf16"):
                plan = self.plan(path, "--batch", 8192, "--precision", precision)
                steps[op, precision] = plan_json(plan)["predicted"]["step"]
        self.assertGreater(steps["Mish", "fp32"], 4 * steps["Mish", "bf16"])
        for precision in ("fp32", "bf16"):
            ratio = steps["Mish", precision] / steps["Relu", precision]
            self.assertLess(abs(ratio - 1), 0.1, precision)

    def test_efficiency_scales_kernels(self):
        self.cluster_of("kind: h100")
        whole = self.rate("--precision", "bf16")
        self.cluster_of("kind: h100, efficiency: 0.5")
        self.assertLess(self.rate("--precision", "bf16"), 0.6 * whole)

    def test_rates_of_the_file_stay_a_roofline(self):
        self.cluster_of("compute: 19.5 TFLOP/s, memory: 1555 GB/s, launch-overhead: 5us")
        alone = self.rate()
        self.cluster_of("kind: a100, compute: 19.5 TFLOP/s")
        self.assertEqual(self.rate(), alone)
        self.rate("--precision", "bf16")
        self.assertIn("not of one precision", self.notes[0])

    def test_processors_compute_in_what_they_have(self):
        self.cluster_of("kind: cpu-amx")
        self.assertGreater(self.rate("--precision", "bf16"), self.rate())

    def test_verify_compares_with_the_kind(self):
        for device, words in (
            ("kind: a100", ("--like", "best", "--precision", "bf16")),
            ("kind: a100, launch-overhead: 9us", ()),
            ("kind: cpu-amx", ("--precision", "bf16")),
        ):
            self.cluster_of(device)
            plan = self.plan(RESNET, "--batch", 8, *words)
            said = harness.syncline("verify", plan, "--cluster", self.cluster)
            self.assertIn("the cluster as its file says", said)

    def refused(self, device, parts, *extra, code=1):
        self.cluster_of(device)
        words = ["compile", RESNET, "--cluster", self.cluster, "--batch", 8, *extra]
        self.refuses([*words, "-o", self.folder / "x.plan"], *parts, code=code)

    def test_refusals(self):
        only = "--plan-only"
        lacks = "expected a kind of device that computes in it, got 'v100', which has fp32, fp16"
        self.refused("kind: v100", ["--precision bf16: " + lacks], only, "--precision", "bf16")
        self.refused(
            "kind: a100",
            ["--precision fp16: expected --plan-only beside it"],
            *("--precision", "fp16"),
        )
        like = ("--like", "best")
        self.refused(
            "kind: a100, memory: 1 TB/s", ["--like: expected a 'device.kind'", "states itself"],
            only, *like,
        )
        self.refused("kind: cpu", ["that is a GPU's, got 'cpu'"], only, *like)
        self.refused("compute: 1 TFLOP/s", ["--like:", "states itself"], only, *like)
        self.refused("kind: a100", ["--like", "mxnet"], only, "--like", "mxnet", code=2)


if __name__ == "__main__":
    unittest.main()
