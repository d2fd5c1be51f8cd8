#!/usr/bin/python3
"""What the check of GPUs promises without one: values as the runtime draws them, sketches, hashes,
its table."""

import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest
from contextlib import redirect_stdout

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in ("numerics", "support"))]

from onnx import TensorProto, helper, save  # noqa: E402

import check  # noqa: E402
import compare  # noqa: E402
import harness  # noqa: E402
import memory  # noqa: E402
import reckon  # noqa: E402
import steps  # noqa: E402
import table  # noqa: E402
import values  # noqa: E402
import wheels  # noqa: E402
from waiting import PATIENCE, until  # noqa: E402


def drawn_model(path):
    """x · weight + bias, both from uniform distributions."""
    rules = {"weight": ((4, 3), -0.3, 0.7), "bias": ((3,), 0.5, 2.0)}
    nodes = [
        helper.make_node("RandomUniform", [], [name], shape=shape, low=low, high=high)
        for name, (shape, low, high) in rules.items()
    ]
    nodes.append(helper.make_node("Gemm", ["input", "weight", "bias"], ["output"]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ("batch", n))
        for name, n in (("input", 4), ("output", 3))
    ]
    graph = helper.make_graph(nodes, "drawn", ends[:1], ends[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(path))
    return path


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def test_kernels_of_ptxas(self):
        """Shared memory is not named where there is none; what is no kernel counts nothing."""
        report = """ptxas info    : Compiling entry function '_ZN1a10sumsKernelIfEEvPT_' for 'sm_90'
ptxas info    : Function properties for _ZN1a10sumsKernelIfEEvPT_
    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 68 registers, used 1 barriers, 16400 bytes smem
ptxas info    : Compiling entry function '_ZN1a10copyKernelEPf' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
"""
        sums, copy = reckon.kernels(report)
        self.assertEqual(sums[1:], (68, 16400, 12))
        self.assertEqual(copy[1:], (24, 0, 0))
        self.assertEqual([reckon.short(k.name) for k in (sums, copy)], ["sumsKernel", "copyKernel"])

    def test_bytes_of_a_step(self):
        """A convolution, a norm with its ReLU and back, and a loop, in elements of two bytes."""
        image, weight = "memref<2x8x4x4xf32>", "memref<8x8x1x1xf32>"
        plan = f"""
    %0 = plan.tensor "w" in parameters at 0 reserve 256 {{bucket = 0 : i64}} : {weight}
    plan.call conv "c" ["x", "w", "y"] ins(%1, %0 : {image}, {weight}) outs(%2 : {image})
    plan.call batchNorm "n" ["x", "scale", "y", "workspace"] ins(%2, %3 : {image}, memref<8xf32>) \
outs(%4, %5 : {image}, memref<2x8x4x4xui8>)
    plan.call batchNormBackward "n" ["x", "dy", "dx"] ins(%2, %6 : {image}, {image}) \
outs(%7 : {image})
    plan.pointwise "add" ins(%4, %1 : {image}, {image}) outs(%8 : {image}) attributes {{flat}} {{
"""
        n, w = 2 * 8 * 4 * 4, 64
        moved = reckon.step(plan, 2)
        self.assertEqual(moved["convolutions' operands"], 2 * (2 * n + w))
        self.assertEqual(moved["copies of weights"], 2 * w)
        self.assertEqual(moved["batch norm"], 2 * (3 * n + 5 * n))
        self.assertEqual(moved["loops"], 2 * 3 * n)
        self.assertEqual(moved["updates"], 20 * w)

    def test_sums_beside_norms(self):
        """What the kernels of a norm compute of its neighbours is not written and read again: two
        tensors of three in front, one of four behind. A message between them parts them."""
        image = "memref<2x8x4x4xf32>"
        sums = f"""
    plan.call batchNorm "n" ["x", "scale", "y"] ins(%2, %3 : {image}, memref<8xf32>) \
outs(%4 : {image})
    plan.pointwise "add" ins(%1, %4 : {image}, {image}) outs(%5 : {image}) attributes {{flat}} {{
    ^bb0(%arg0: f32, %arg1: f32):
      %9 = arith.addf %arg0, %arg1 : f32
      plan.yield %9 : f32
    }}
"""
        gradients = f"""
    plan.pointwise "back" ins(%5, %6 : {image}, {image}) outs(%7 : {image}) attributes {{flat}} {{
    ^bb0(%arg0: f32, %arg1: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %9 = arith.cmpf ole, %arg0, %cst : f32
      %10 = arith.select %9, %cst, %arg1 : f32
      plan.yield %10 : f32
    }}
    plan.call batchNormBackward "n" ["x", "dy", "dx"] ins(%2, %7 : {image}, {image}) \
outs(%8 : {image})
"""
        n = 2 * 8 * 4 * 4
        self.assertEqual(reckon.step(sums, 2)["loops"], 2 * n)
        self.assertEqual(reckon.step(gradients, 2)["loops"], 2 * 2 * n)
        parted = gradients.replace("    plan.call", "    plan.issue 0\n    plan.call")
        self.assertEqual(reckon.step(parted, 2)["loops"], 2 * 3 * n)
        two = sums[: sums.index("    plan.pointwise")].replace("%4", "%1") + sums
        self.assertEqual(reckon.step(two, 2)["loops"], 2 * -n)
        other = sums.replace("addf", "mulf")
        self.assertEqual(reckon.step(other, 2)["loops"], 2 * 3 * n)

    def test_sums_by_convolutions(self):
        """A norm reads x once less, but not behind a bias or an activation."""
        image, weight, line = "memref<2x8x4x4xf32>", "memref<8x8x1x1xf32>", "memref<8xf32>"
        conv = f'    plan.call conv "c" ["x", "w", "y"] ins(%1, %0 : {image}, {weight})'
        norm = f"""
    plan.call batchNorm "n" ["x", "scale", "y"] ins(%2, %3 : {image}, {line}) outs(%4 : {image})
"""
        plain = f"{conv} outs(%2 : {image})" + norm
        n = 2 * 8 * 4 * 4
        self.assertEqual(reckon.step(plain, 2)["batch norm"], 2 * 3 * n)
        self.assertEqual(reckon.step(plain, 2, adds_up=True)["batch norm"], 2 * 2 * n)
        biased = plain.replace('"w", "y"', '"w", "bias", "y"').replace("%0 :", "%0, %9 :")
        active = plain.replace(" ins(%1", ' {activation = "relu"} ins(%1')
        other = plain.replace("ins(%2", "ins(%5")
        for each in (biased, active, other):
            self.assertEqual(reckon.step(each, 2, adds_up=True)["batch norm"], 2 * 3 * n)

    def test_random_words(self):
        """Random123's known answers."""
        words = values.philox((0xFFFFFFFF, 0xFFFFFFFF), [0xFFFFFFFF] * 4)
        self.assertEqual(
            [int(word) for word in words], [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
        )

    def test_values_are_the_runtimes(self):
        """Bit by bit, of a seed that takes more than one word; and the plan's hash is
        the compiler's."""
        plan = harness.compile_plan(drawn_model(self.folder / "drawn.onnx"), self.folder, batch=2)
        seed = (5 << 32) + 3
        data = values.samples(2, (4,), 3, seed)
        dump = harness.train(
            plan, self.folder, data, steps=1, dump=(0,), settings={"lr": 0}, extra=("--seed", seed)
        )
        found = dict(values.parameters(plan, seed))
        self.assertEqual(set(found), {"weight", "bias"})
        for name, value in found.items():
            self.assertTrue((dump.parameters(0)[name] == value).all(), name)
        document = harness.plan_json(plan)
        self.assertEqual(steps.plan_hash(document), document["hashes"]["plan"])

    def test_sealed_plan_runs(self):
        """A step compiled again is accepted once it is sealed, and refused before."""
        plan = harness.compile_plan(drawn_model(self.folder / "drawn.onnx"), self.folder, batch=2)
        with open(plan / "step.so", "ab") as step:
            step.write(b"\0")
        with self.assertRaisesRegex(AssertionError, "step.so.*changed"):
            harness.syncline("run", plan, "-n", 1, "--steps", 1)
        steps.seal(plan)
        harness.syncline("run", plan, "-n", 1, "--steps", 1)

    def test_sketches_tell_errors(self):
        """Errors by sketches are those by tensors, to a factor of two."""
        random = numpy.random.RandomState(1)
        for shape in ((40, 30), (50000,), (7,)):
            truth = random.standard_normal(shape)
            other = truth + 1e-4 * random.standard_normal(shape)
            exact = compare.gradients({"t": other}, {"t": truth}).error
            short = compare.gradients(
                {"t": values.sketch(other, "t")}, {"t": values.sketch(truth, "t")}
            ).error
            self.assertLess(abs(numpy.log2(short / exact)), 1, shape)
            self.assertEqual(values.sketch(truth, "t").ndim, truth.ndim)

    def test_releases(self):
        self.assertEqual(
            steps.release("nvcc: NVIDIA\nCuda compilation tools, release 12.4, V12.4.131"), (12, 4)
        )

    def test_steps_for_gpus_are_no_trial(self):
        """Their kernels would compute nothing on the host."""
        machine = types.SimpleNamespace(
            module="lib/libhost.so", file=lambda name: self.folder / name
        )
        for name, content in (("a", b"..libhost.so.."), ("b", b"..libcudart.so..")):
            plan = self.folder / "plans" / name
            plan.mkdir(parents=True)
            (plan / "step.cu").write_text("")
            (plan / "step.so").write_bytes(content)
        with self.assertRaisesRegex(table.Failed, "made for GPUs: 1, such as b"):
            steps.fitting(machine, "")
        (plan / "step.so").write_bytes(b"libhost.so")
        self.assertEqual(steps.fitting(machine, ""), "2 of the host's")

    def results(self, *functions, order=(), **how):
        """Runs a table's checks: the rows' results, the exit code and the text."""
        rows = table.Table(self.folder, "heading", "key", **how)
        checks = [table.Check(f"check {n}", "much", run) for n, run in enumerate(functions)]
        with redirect_stdout(io.StringIO()):
            rows.run_all(rows.ordered(checks, order))
        return [row[0] for row in rows.rows.values()], rows.exit_code(), rows.text()

    def test_table(self):
        """A failing check stops no other; one that breaks has failed; nothing but skipped ones is
        no success."""

        def fail():
            raise table.Failed("too little")

        def skip():
            raise table.Skipped("no GPU")

        found, code, text = self.results(fail, lambda: 1 / 0, skip, lambda: "plenty")
        self.assertEqual(found, ["FAIL", "FAIL", "skipped", "pass"])
        self.assertEqual(code, 1)
        self.assertIn("1 passed, 2 failed, 1 skipped", text)
        self.assertIn("division by zero", text)
        self.assertEqual((self.folder / "table.txt").read_text(), text + "\n")
        self.assertEqual(self.results(lambda: "plenty", skip, again=True)[1], 0)
        self.assertEqual(self.results(skip, again=True)[1], 1)

    def test_order_of_checks(self):
        ran = []
        order = [re.compile("2$"), re.compile("1$")]
        self.results(*(lambda n=n: ran.append(n) for n in range(4)), order=order)
        self.assertEqual(ran, [2, 1, 0, 3])

    def test_budget(self):
        """A check that the budget ends is unfinished, others wait, and the next call runs both,
        what was unfinished last. What was found is not asked again."""
        ran, limits = [], []
        budget = table.Budget(30)

        def slow():
            limits.append(budget.left())
            budget.end = 0  # all is used up
            raise subprocess.TimeoutExpired("slow", 30)

        calls = [lambda: ran.append(0), slow, lambda: ran.append(2)]
        found, code, text = self.results(*calls, budget=budget)
        self.assertEqual((found, code, ran), (["pass", "unfinished"], 1, [0]))
        self.assertIn("not run yet: check 2", text)
        self.assertTrue(0 < limits[0] <= 30)
        calls[1] = lambda: ran.append(1)
        found, code, text = self.results(*calls)
        self.assertEqual((found, code, ran), (["pass"] * 3, 0, [0, 2, 1]))
        self.results(*calls, again=True)
        self.assertEqual(ran, [0, 2, 1, 0, 1, 2])

    def test_time_limit_of_a_check(self):
        def hang():
            raise subprocess.TimeoutExpired("hang", 600)

        self.assertEqual(self.results(hang)[0], ["FAIL"])

    def test_rows_of_other_plans(self):
        self.results(lambda: "plenty")
        self.assertEqual(table.Table(self.folder, key="other").rows, {})
        (self.folder / "rows.json").write_text("{")
        self.assertEqual(table.Table(self.folder, key="key").rows, {})

    def is_running(self, process):
        """A process that has ended may be there until init has asked for it."""
        try:
            status = pathlib.Path(f"/proc/{process}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        return "\nState:\tZ" not in status

    def test_signal(self):
        """SIGTERM ends a check and what it started; the table and the archive are written."""
        prepared = self.folder / "prepared"
        prepared.mkdir()
        manifest = {"versions": {"commit": "0" * 40}, "numbers": [], "whole": [], "speed": {}}
        (prepared / "manifest.json").write_text(json.dumps(manifest))
        program = self.folder / "build" / "bin" / "conformance-cuda"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho $$ > '{self.folder}/pid'\nexec sleep 300\n")
        program.chmod(0o755)
        words = [sys.executable, HERE / "check.py", prepared, self.folder / "logs"]
        words += ["--build", self.folder / "build", "--only", "conformance"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
            pid = self.folder / "pid"
            until(lambda: pid.exists() and pid.read_text().endswith("\n"), "a check begins", run)
            run.terminate()
            said = run.communicate(timeout=PATIENCE)[0]
        self.assertEqual(run.returncode, 1)
        self.assertIn("stopped by SIGTERM", said)
        process = (self.folder / "pid").read_text().strip()
        self.assertFalse(self.is_running(process))
        self.assertIn("unfinished  conformance", (self.folder / "logs" / "table.txt").read_text())
        with tarfile.open(self.folder / "logs" / "check.tar.gz") as packed:
            self.assertIn("check/table.txt", packed.getnames())

    def test_signal_between(self):
        """What `subprocess` has begun and does not know yet ends too."""
        with subprocess.Popen(["sleep", "300"]) as child:
            check.end_children()
            self.assertFalse(self.is_running(child.pid))

    def test_bad_words(self):
        (self.folder / "manifest.json").write_text("{}")
        for words in (("--budget", "0"), ("--budget", "nan"), ("--budget", "x"), ("--only", "(")):
            done = subprocess.run(
                [sys.executable, HERE / "check.py", self.folder, self.folder / "logs", *words],
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 2, words)
            self.assertNotIn("Traceback", done.stderr)

    def test_wheels(self):
        """Headers and libraries of all packages in one place, by the names that compilers and
        linkers look for."""
        for name in (
            "cudnn/include/cudnn.h",
            "cudnn/lib/libcudnn.so.9",
            "nccl/include/nccl.h",
            "nccl/lib/libnccl.so.2",
        ):
            path = self.folder / "nvidia" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
        prefix = self.folder / "wheels"
        self.assertEqual(wheels.gather([self.folder / "nvidia"], prefix), 2)
        self.assertEqual((prefix / "include" / "nccl.h").read_text(), "nccl/include/nccl.h")
        for name in ("libcudnn.so", "libcudnn.so.9"):
            self.assertEqual((prefix / "lib" / name).read_text(), "cudnn/lib/libcudnn.so.9")
        self.assertEqual(wheels.gather([], prefix), 0)

    def test_memory_counts_from_before_to_the_most(self):
        """What is given back before the end counts too; a side that took nothing is no row."""
        taken = [5 << 30]
        watched = memory.Memory(types.SimpleNamespace())
        looks = []

        def used():
            looks.append(taken[0])
            return taken[0]

        def run():
            for gigabytes in (7, 6):
                taken[0] = gigabytes << 30
                until(lambda: taken[0] in looks, f"{gigabytes} GiB are seen")
            return "said"

        watched.used = used

        self.assertEqual(watched.peak(run), (2 << 30, "said"))
        self.assertRegex(memory.judge(3e9, 4e9, 3.5e9), r"^0.75 \(3.00 GB / 4.00 GB, .* 3.50 GB\)$")
        with self.assertRaisesRegex(table.Failed, "^1.25 "):
            memory.judge(5e9, 4e9, 3.5e9)
        with self.assertRaises(table.Skipped):
            memory.judge(0, 4e9, 3.5e9)

    def test_memory_of_one_rank_in_both_precisions(self):
        entry = {"ranks": 1, "plans": {"tf32": "a.plan", "bf16": "b.plan"}}
        speed = {"net": entry, "net-two": entry | {"ranks": 2}, "too-large": entry}
        machine = types.SimpleNamespace(manifest={"speed": speed})
        names = [check.name for check in memory.Memory(machine).checks()]
        self.assertEqual(names, [f"memory net {p}, PyTorch eager" for p in ("tf32", "bf16")])

    def test_foreign_folder(self):
        done = subprocess.run(
            [HERE / "check.sh", self.folder, self.folder / "logs"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("no manifest.json", done.stderr)

    def test_manifest_of_cases(self):
        """Every comparison has names of its own: plans of one would overwrite another's."""
        import cases

        names = [f"{case.model}-{ranks}" for case in cases.NUMBERS for ranks in case.ranks]
        names += [f"{case.name}-{ranks}" for case in cases.WHOLE for ranks in case.ranks]
        names += [
            f"speed-{case.name}" for case in (*cases.SPEED, *cases.SMALL_SPEED, cases.TOO_LARGE)
        ]
        self.assertEqual(len(names), len(set(names)), json.dumps(names))


if __name__ == "__main__":
    unittest.main()
