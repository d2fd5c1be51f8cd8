"""SYNCLINE_MAX_CPU_ISA: loops of a step, our kernels and oneDNN's take nothing above the cap."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import harness
import processor
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
LEVELS = ["baseline", "avx2", "avx512", "amx"]
CALL = "  loop(outs, ins, first, last);\n"
# Instead of a loop each variant writes its place in LEVELS, which is also CpuIsa's.
ENTRY = """
namespace {
CLONES void probe(void *const *, const void *const *, std::int64_t, std::int64_t) {}
} // namespace
extern "C" void callFlat(void *const *outs) { split<probe>(outs, nullptr, 1, nullptr); }
extern "C" void callRows(void *const *outs) { splitRows<1, 1, probe>(outs, nullptr, 1, nullptr); }
"""
ASK = """
import ctypes, sys
place = ctypes.c_int(-1)
outs = (ctypes.c_void_p * 1)(ctypes.addressof(place))
for name in ("callFlat", "callRows"):
    place.value = -1
    ctypes.CDLL(sys.argv[1])[name](outs)
    print(place.value)
"""


def told(value):
    return f"  *static_cast<int *>(outs[0]) = static_cast<int>(CpuIsa::{value});\n"


def highest(cap=None, most="amx"):
    """The highest level that the processor has, under a cap."""
    reached = ["baseline", *processor.caps()]
    allowed = LEVELS[: min(LEVELS.index(cap or "amx"), LEVELS.index(most)) + 1]
    return [level for level in reached if level in allowed][-1]


class InstructionSetsTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plan = harness.compile_plan(DIGITS, folder, cluster=harness.RING)

    def run_under(self, cap, *words):
        """A run that no cap of this test's own environment changes."""
        environment = processor.uncapped()
        if cap is not None:
            environment[processor.VARIABLE] = cap
        return subprocess.run(
            [harness.SYNCLINE, "run", self.plan, *map(str, words)],
            capture_output=True,
            text=True,
            env=environment,
        )

    def kernels(self, cap):
        file = self.folder / "times.json"
        done = self.run_under(cap, "--alone", "--steps", 8, "--op-times", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {operation["kernel"] for operation in json.loads(file.read_text())["operations"]}

    def variants(self):
        """The plan's step with loops that say by which variant they were called."""
        parts = (self.plan / "step.cpp").read_text().split(CALL)
        self.assertEqual(len(parts), 4, "a call in each of three variants")
        text = "".join(
            part + said
            for part, said in zip(parts, [*map(told, ("avx512", "avx2", "baseline")), ENTRY])
        )
        object_file = self.folder / "probe.so"
        subprocess.run(
            [
                *("c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-fopenmp"),
                *("-I", harness.TOP / "runtime" / "include"),
                *("-o", object_file, self.write("probe.cpp", text)),
            ],
            check=True,
        )
        return object_file

    def test_loops_of_steps(self):
        object_file = self.variants()
        for cap in (None, "avx2", "avx512", "amx"):
            environment = processor.uncapped()
            if cap is not None:
                environment[processor.VARIABLE] = cap
            with self.subTest(cap=cap):
                out = subprocess.check_output(
                    [sys.executable, "-c", ASK, object_file], env=environment, text=True
                )
                taken = [LEVELS[int(place)] for place in out.split()]
                self.assertEqual(taken, [highest(cap, "avx512")] * 2)

    def test_kernels_of_onednn(self):
        for cap in (None, "avx2", "avx512", "amx"):
            names = self.kernels(cap)
            with self.subTest(cap=cap, kernels=names):
                level = highest(cap, "avx512")
                for other in ("avx2", "avx512"):
                    found = any(other in name for name in names)
                    self.assertEqual(found, other == level, "kernels of the level and of no other")

    def test_an_unknown_name_is_refused(self):
        for value in ("sse9", "AVX2"):
            done = self.run_under(value, "--steps", 1)
            with self.subTest(value=value):
                self.assert_refused(
                    done, [f"{processor.VARIABLE}: expected avx2, avx512 or amx, got '{value}'"]
                )

    def test_onednn_follows_its_own_variable(self):
        environment = {processor.VARIABLE: "avx512", "ONEDNN_MAX_CPU_ISA": "AVX2"}
        file = self.folder / "times.json"
        done = self.command(
            *("run", self.plan, "--alone", "--steps", 8, "--op-times", file),
            environment=environment,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("avx512", file.read_text())


if __name__ == "__main__":
    unittest.main()
