"""A cluster of GPUs is planned for GPUs, before anyone has rented one; a plan that does not fit its
devices is refused with what would."""

import json
import re
import shutil
import subprocess
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness
import varied
from refusal import RefusalTest
from schema import violations

SAMPLES = harness.TOP / "samples"
DIGITS, RESNET = SAMPLES / "models" / "digits-cnn.onnx", SAMPLES / "models" / "resnet-50.onnx"
TRACE = SAMPLES / "traces" / "vgg11.csv"
SCHEMA = json.loads((harness.TOP / "codegen" / "json" / "plan.schema.json").read_text())
NO_NVCC = {"NVCC": "/nowhere/nvcc"}
NETWORK = "network: {bandwidth: 10 Gb/s, latency: 20us}\n"
ALLOWANCE = 2 << 30  # what a plan leaves to CUDA and its libraries


class GpuTest(RefusalTest):
    def cluster_of(self, device, ranks=2):
        return self.write("c.yaml", f"name: c\nranks: {ranks}\ndevice: {device}\n{NETWORK}")

    def planned(self, device, *extra, model=DIGITS, batch=4):
        """plan.json, and what `compile` says, where there is no nvcc."""
        plan = self.folder / "p.plan"
        words = ("--cluster", self.cluster_of(device), *(("--batch", batch) if batch else ()))
        done = self.command("compile", model, *words, "-o", plan, *extra, environment=NO_NVCC)
        self.assertEqual(done.returncode, 0, done.stderr)
        return harness.plan_json(plan), done.stderr

    def refuses_plan(self, device, *names, extra=(), model=DIGITS, batch=4, code=1):
        words = ("--cluster", self.cluster_of(device), "--batch", batch, *extra)
        plan = self.folder / "refused.plan"
        return self.refuses(["compile", model, *words, "-o", plan], *names, code=code)


class RangeTest(GpuTest):
    """What published runs say of a kind's predictions is passed on to the step."""

    def test_range(self):
        plan, _ = self.planned("{kind: v100}", model=RESNET, batch=8)
        self.assertEqual(violations(plan, SCHEMA), [])
        predicted, range_ = plan["predicted"], plan["predicted"]["range"]
        fast, slow = range_["fast"], range_["slow"]
        self.assertLess(fast["step"], predicted["step"])
        self.assertLess(predicted["step"], slow["step"])
        longest = predicted["step"] * (1 + range_["doubt"])
        self.assertLessEqual(slow["step"], longest * (1 + 1e-9))  # messages take no longer
        said = harness.syncline("inspect", self.folder / "p.plan")
        doubt = f"if computation takes {100 * range_['doubt']:.0f} % less or more"
        self.assertIn(doubt, said)
        self.assertRegex(said, "a plan would have for|within that range the plan would be the same")
        self.assertIn("plan valid", harness.syncline("verify", self.folder / "p.plan"))

    def test_says_what_changes(self):
        """At each end the plan is the one that the same command makes on such a device."""
        plan, _ = self.planned("{kind: v100}", model=RESNET, batch=8)
        doubt = plan["predicted"]["range"]["doubt"]
        for name, factor in (("fast", 1 - doubt), ("slow", 1 + doubt)):
            cluster = "{kind: v100}\noverrides: [{nodes: [0, 1], device: {slowdown: %r}}]" % factor
            there, _ = self.planned(cluster, model=RESNET, batch=8)
            end = plan["predicted"]["range"][name]
            self.assertEqual(end["messages"], len(there["buckets"]))
            self.assertEqual(end["overlap"], there["overlap"])
            members = [sorted(b["members"] for b in p["buckets"]) for p in (plan, there)]
            self.assertEqual(end["regroups"], members[0] != members[1])

    def test_no_range(self):
        """Not for measured times, nor where nothing was published."""
        profile = self.write("p.json", '{"schema": 1, "operations": {"loss": {"forward": "1us"}}}')
        for device, words in (
            ("{kind: v100}", ("--profile", profile)),
            ("{kind: cpu}", ()),
            ("{kind: v100}", ("--like", "best")),
        ):
            plan, _ = self.planned(device, *words)
            self.assertNotIn("range", plan["predicted"])
            self.assertNotIn("less or more", harness.syncline("inspect", self.folder / "p.plan"))


class BackendTest(GpuTest):
    def test_backend_follows_the_cluster(self):
        for device, backend, precision in (
            ("{kind: a100}", "cuda", "tf32"),
            ("{kind: h100}", "cuda", "tf32"),
            ("{kind: v100}", "cuda", "fp32"),  # has no tf32
            ("{kind: cpu}", "cpu", "fp32"),
            ("{compute: 15.7 TFLOP/s, memory: 900 GB/s}", "cpu", "fp32"),
            ("{memory-size: 1 GB}", "cpu", "fp32"),
        ):
            with self.subTest(device=device):
                plan, said = self.planned(device)
                self.assertEqual(violations(plan, SCHEMA), [])
                told = (plan["backend"], plan["nccl"], plan["precision"])
                self.assertEqual(told, (backend, backend == "cuda", precision))
                kind = device.strip("{}").split()[-1]
                line = f"for GPUs ({kind}), in {precision}: NCCL carries the messages"
                self.assertEqual(line in said, backend == "cuda", said)

    def test_times_of_nccls_own_choice_are_a_gpus(self):
        device = "device: {compute: 1 TFLOP/s, memory: 1 GB/s}\n"
        for scheme, expected in (("library", "cuda"), ("ring", "cpu")):
            times = f"collectives: {{all-reduce: {{{scheme}: {{a: 10 us, b: 1e-10 s/B}}}}}}\n"
            text = f"name: c\nranks: 2\n{device}{times}"
            words = ("--cluster", self.write("l.yaml", text), "--batch", 4, "--plan-only")
            harness.syncline("compile", DIGITS, *words, "-o", self.folder / "l.plan")
            self.assertEqual(harness.plan_json(self.folder / "l.plan")["backend"], expected)

    def test_precision_asked_for(self):
        for precision in ("fp32", "bf16"):
            plan, said = self.planned("{kind: a100}", "--precision", precision)
            self.assertEqual(plan["precision"], precision)
            self.assertIn(f"for GPUs (a100), in {precision}:", said)

    def test_explicit_cpu(self):
        plan, said = self.planned("{kind: a100}", "--backend", "cpu")
        self.assertEqual((plan["backend"], plan["nccl"], plan["precision"]), ("cpu", False, "fp32"))
        self.assertIn("step.so", plan["hashes"]["files"])
        self.assertIn(
            "note: by '--backend cpu' the step is for processors, and messages travel by Syncline's"
            " sockets; operations take the times of 'a100'",
            said,
        )
        self.assertNotIn("--backend cpu", self.planned("{kind: cpu}", "--backend", "cpu")[1])

    def test_layers(self):
        """Layers have no step, but messages: NCCL has no hierarchy."""
        inside = "devices-per-node: 4\ninside: {kind: pcie-3}\n"
        file = self.write("n.yaml", f"name: n\nnodes: 4\ndevice: {{kind: v100}}\n{NETWORK}{inside}")
        for model in (TRACE, DIGITS):
            schemes = {}
            for backend in ("", "cpu", "cuda"):
                plan = self.folder / f"layers{backend}.plan"
                words = ("--plan-only", "--batch", 4) if model == DIGITS else ()
                words += ("--backend", backend) if backend else ()
                harness.syncline("compile", model, "--cluster", file, *words, "-o", plan)
                harness.syncline("verify", plan, "--model", model, "--cluster", file)
                schemes[backend] = [b["scheme"] for b in harness.plan_json(plan)["buckets"]]
            self.assertEqual(schemes[""], schemes["cuda"])
            self.assertIn("hierarchical", schemes["cpu"])
            self.assertNotIn("hierarchical", schemes["cuda"])

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
    def test_step_is_compiled_where_nvcc_is(self):
        words = ("--cluster", self.cluster_of("{kind: v100}"), "--batch", 4)
        harness.syncline("compile", DIGITS, *words, "-o", self.folder / "p.plan")
        files = harness.plan_json(self.folder / "p.plan")["hashes"]["files"]
        self.assertIn("step.so", files)

    def test_without_nvcc(self):
        plan, said = self.planned("{kind: v100}")
        lines = [line for line in said.splitlines() if "not compiled" in line]
        self.assertEqual(
            lines,
            [
                "syncline: note: step.cu is not compiled: cannot find the CUDA compiler"
                " '/nowhere/nvcc': install one or set NVCC, then compile again to run it"
            ],
        )
        folder = self.folder / "p.plan"
        self.assertEqual((folder / "step.so").exists(), False)
        self.assertIn("step.cu", plan["hashes"]["files"])
        verified = harness.syncline("verify", folder, "--model", DIGITS)
        self.assertIn("not compared: ", verified)
        self.assertIn("step.cu, which is not compiled", verified)
        self.assertIn("step.cu is not compiled, because no", harness.syncline("inspect", folder))
        harness.syncline("simulate", folder)
        self.refuses(["run", folder, "-n", 2], "step.cu is not compiled", "install nvcc", "NVCC")
        step = folder / "step.so"
        step.write_bytes(b"")  # not the plan's
        self.refuses(["verify", folder], "no hash of 'step.so'")

    def test_explicit_cuda_needs_nvcc(self):
        words = ("--cluster", self.cluster_of("{kind: v100}"), "--batch", 4, "--backend", "cuda")
        done = self.command("compile", DIGITS, *words, "-o", "p.plan", environment=NO_NVCC)
        self.assert_refused(done, ("cannot find the CUDA compiler", "install one or set NVCC"))

    def test_processors_steps_need_their_hash(self):
        harness.syncline(
            *("compile", DIGITS, "--cluster", self.cluster, "--batch", 4),
            *("-o", self.folder / "p.plan"),
        )
        (self.folder / "p.plan" / "step.so").unlink()
        self.refuses(["verify", self.folder / "p.plan"], "step.so", "No such file")


class WaysOutTest(GpuTest):
    """What GPUs do not run is refused with ways that do."""

    def upsampling(self):
        weights = {"w": (1, 2, 2, 2), "fc": (2 * 16 * 16, 3)}
        graph = helper.make_graph(
            [
                helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2]),
                helper.make_node("Flatten", ["y"], ["flat"]),
                helper.make_node("MatMul", ["flat", "fc"], ["z"]),
            ],
            "upsampling",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1, 8, 8])],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["batch", 3])],
            [numpy_helper.from_array(numpy.ones(s, "float32"), n) for n, s in weights.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        return self.write("up.onnx", onnx.ModelProto.SerializeToString(model))

    def test_operators(self):
        model = self.upsampling()
        said = self.refuses_plan("{kind: v100}", "ConvTranspose", model=model)
        self.assertRegex(said, "'--backend cpu' trains it .* '--plan-only' plans for GPUs")
        cpu, _ = self.planned("{kind: v100}", "--backend", "cpu", model=model)
        self.assertTrue(cpu["runnable"])
        only, _ = self.planned("{kind: v100}", "--plan-only", model=model)
        self.assertEqual((only["runnable"], only["nccl"]), (False, True))

    def test_sizes(self):
        model = self.folder / "texts.onnx"
        varied.write(model)
        sizes = ("--dim", "seq=8,16")
        self.refuses_plan(
            *("{kind: v100}", "'a cluster of GPUs' exclude each other", "one size does"),
            *("or '--backend cpu'",),
            extra=sizes, model=model, code=2,
        )  # fmt: skip
        self.planned("{kind: v100}", *sizes, "--backend", "cpu", model=model)
        self.planned("{kind: v100}", "--dim", "seq=8", model=model)

    def test_servers(self):
        self.refuses_plan(
            *("{kind: v100}", "which GPUs do not have", "'--backend cpu'", "'local'"),
            extra=("--consistency", "ssp:1"),
        )

    def test_tf32(self):
        extra = ("--precision", "tf32")
        self.refuses_plan("{kind: cpu}", "only GPUs have it", extra=extra, code=2)


class MemoryTest(GpuTest):
    def test_needs_stand_beside_what_there_is(self):
        for device, allowance in (("{kind: v100}", ALLOWANCE), ("{memory-size: 16 GB}", 0)):
            plan, said = self.planned(device)
            memory, needs = plan["memory"], plan["device_memory"]
            samples = 4 * 64 * 4 + 4 * 8  # pixels and classes
            self.assertEqual(memory["libraries"], allowance)
            self.assertEqual((needs["size"], needs["activations"]), (16_000_000_000, True))
            self.assertAlmostEqual(needs["needed"], sum(memory.values()) + samples, delta=128)
            self.assertRegex(said, r"a rank needs \S+ [KMG]iB of its device's 14\.9 GiB\n")
            shown = harness.syncline("inspect", self.folder / "p.plan")
            self.assertRegex(shown, r"memory of a rank \S+ \wiB of its device's 14\.9 GiB: ")
            self.assertEqual("libraries 2.00 GiB" in shown, allowance > 0)
        plan, said = self.planned("{compute: 1 TFLOP/s, memory: 1 GB/s}")
        self.assertIsNone(plan["device_memory"]["size"])
        self.assertNotIn("its device's", said)

    def test_layers_count_what_is_known(self):
        plan, said = self.planned("{kind: v100}", model=TRACE, batch=0)
        gradients = sum(layer["bytes"] for layer in plan["layers"])
        needs = plan["device_memory"]
        self.assertEqual(needs["needed"], 2 * gradients + ALLOWANCE)
        self.assertFalse(needs["activations"])
        self.assertIn("of its device's 14.9 GiB: activations are not counted", said)
        self.assertIn(
            "a rank needs at least 2.99 GiB of its device's 14.9 GiB: activations are not counted",
            harness.syncline("inspect", self.folder / "p.plan"),
        )
        only, _ = self.planned("{kind: v100}", "--plan-only", "--optimizer", "adam")
        gradients = sum(layer["bytes"] for layer in only["layers"])
        self.assertEqual(only["device_memory"]["needed"], 4 * gradients + ALLOWANCE)
        file = self.cluster_of("{memory-size: 1 GB, kind: cpu}")
        self.refuses(
            ["compile", TRACE, "--cluster", file, "-o", self.folder / "r.plan"],
            "of memory on every device, '",
            "has devices of 954 MiB; parameters, gradients and moments alone are too large,"
            " activations are not counted",
        )

    def largest(self, device, *extra, batch=64):
        """The batch that a refusal names, and its text."""
        said = self.refuses_plan(device, "is the largest", extra=extra, model=RESNET, batch=batch)
        return int(re.search(r"; '--batch (\d+)' is the largest that fits;", said)[1]), said

    def test_largest_batch_fits(self):
        for device, extra in (
            ("{kind: v100, memory-size: 4 GB}", ()),
            ("{kind: cpu, memory-size: 2 GB}", ("--optimizer", "adam")),
            ("{kind: cpu, memory-size: 2 GB}", ("--scheme", "fc*=factors")),
        ):
            with self.subTest(device=device, extra=extra):
                batch, _ = self.largest(device, *extra)
                self.assertGreater(batch, 4)
                self.planned(device, *extra, model=RESNET, batch=batch)
                again, _ = self.largest(device, *extra, batch=batch + 1)
                self.assertEqual(again, batch)

    def test_what_else_would_fit(self):
        device, adam = "{kind: v100, memory-size: 5 GB}", ("--optimizer", "adam")
        _, said = self.largest(device, *adam)
        self.assertIn("2.00 GiB of it for CUDA and its libraries, '", said)
        whole = float(re.search(r"the plan needs ([\d.]+) GiB", said)[1])
        recomputed, _ = self.planned(device, *adam, "--recompute", "auto", model=RESNET, batch=64)
        needed = recomputed["device_memory"]["needed"] / 2**30
        self.assertIn(f"; '--recompute auto' needs {needed:.2f} GiB", said)
        less = float(re.search(r"; '--scheme \*=reduce-scatter' needs ([\d.]+) MiB less", said)[1])
        sharded, said = self.largest(device, *adam, "--scheme", "*=reduce-scatter")
        self.assertNotIn("MiB less", said)
        needed = float(re.search(r"the plan needs ([\d.]+) GiB", said)[1])
        self.assertAlmostEqual(whole - needed, less / 1024, delta=0.02)
        # SGD has no moments that ranks could share.
        self.assertNotIn("reduce-scatter", self.largest(device)[1])

    def test_no_batch_fits(self):
        self.refuses_plan(
            *("{kind: v100, memory-size: 2 GB}", "; no --batch fits; '--recompute auto' still"),
            model=RESNET,
        )

    def test_large_models_take_seconds(self):
        model = SAMPLES / "models" / "gpt-2.onnx"
        words = ("compile", model, "--cluster", self.cluster_of("{kind: t4}"), "--batch", 512)
        command = [harness.SYNCLINE, *words, "-o", self.folder / "g.plan"]
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=60
        )
        self.assert_refused(done, ("is the largest that fits",))


if __name__ == "__main__":
    unittest.main()
