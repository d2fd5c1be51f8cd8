"""Plans for GPUs: step.cu of the sample models compiles by nvcc and links; faults are named."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

import harness
from refusal import RefusalTest
from schema import violations

MODELS = harness.TOP / "samples" / "models"
DIGITS = MODELS / "digits-cnn.onnx"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CUDA = ("--backend", "cuda")
SCHEMA = json.loads((harness.TOP / "codegen" / "json" / "plan.schema.json").read_text())


def statements(path):
    """Calls of the step's builder, without the kernels' names."""
    lines = [line.strip() for line in path.read_text().splitlines() if line.startswith("  step.")]
    return [re.sub(r"&(split|launch)\w*<.*?>", "KERNEL", line) for line in lines]


def runtime_library():
    """CUDA's runtime library, where nvcc says that it links: nvcc may be a script far from the toolkit."""
    said = subprocess.run([NVCC, "--dryrun", "nothing.cu"], capture_output=True, text=True).stderr
    folders = [pathlib.Path(folder) for folder in re.findall(r'"-L([^"]*)"', said)]
    found = (folder / "libcudart.so" for folder in folders if (folder / "libcudart.so").exists())
    return next(found, "libcudart.so")


@unittest.skipUnless(NVCC, "nvcc is not installed")
class CudaPlanTest(unittest.TestCase):
    """All models are compiled once, with every warning of nvcc an error."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        folder = pathlib.Path(holder.name)
        strict = unittest.mock.patch.dict(os.environ, NVCC=NVCC + " -Werror all-warnings")
        with strict:
            cls.plans = {
                path.stem: harness.compile_plan(path, folder, ranks=2, batch=2, extra=CUDA)
                for path in sorted(MODELS.glob("*.onnx"))
            }

    def test_plans_say_what_they_are_for(self):
        self.assertGreater(len(self.plans), 3)
        for name, plan in self.plans.items():
            with self.subTest(model=name):
                document = harness.plan_json(plan)
                self.assertEqual(document["backend"], "cuda")
                self.assertEqual(violations(document, SCHEMA), [])
                self.assertIn("step.cu", document["hashes"]["files"])
                self.assertFalse((plan / "step.cpp").exists())

    def test_steps_link(self):
        """Whoever has loaded CUDA's runtime library can load a step; no GPU is needed for that."""
        ctypes.CDLL(str(runtime_library()), ctypes.RTLD_GLOBAL)
        for name, plan in self.plans.items():
            with self.subTest(model=name):
                step = ctypes.CDLL(str(plan / "step.so"), os.RTLD_NOW)
                step.synclineStepBackend.restype = ctypes.c_char_p
                self.assertEqual(step.synclineStepBackend(), b"cuda")
                self.assertTrue(hasattr(step, "synclineBuildStep"))

    def test_statements_are_the_cpus(self):
        for name in ("googlenet", "digits-cnn"):
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                cpu = harness.compile_plan(MODELS / f"{name}.onnx", folder, ranks=2, batch=2)
                expected = statements(cpu / "step.cpp")
                self.assertGreater(len(expected), 10)
                self.assertEqual(statements(self.plans[name] / "step.cu"), expected)


class CudaRefusalTest(RefusalTest):
    def refuses_digits(self, nvcc, *names):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 2, *CUDA]
        with unittest.mock.patch.dict(os.environ, NVCC=nvcc):
            self.refuses([*words, "-o", self.folder / "out.plan"], *names)

    def test_missing_compiler(self):
        self.refuses_digits("/no/such/nvcc", "cannot find the CUDA compiler '/no/such/nvcc'", "set NVCC")

    def test_broken_compiler(self):
        self.refuses_digits("/bin/false", "'/bin/false' cannot compile even an empty function")

    def test_bad_command_lines(self):
        trace = harness.TOP / "samples" / "traces" / "vgg11.csv"
        for model, backend, said in ((DIGITS, "tpu", "tpu"), (trace, "cuda", "--backend is for models")):
            words = ["compile", model, "--cluster", self.cluster, "--backend", backend]
            self.refuses([*words, "-o", self.folder / "out.plan"], said, code=2)

    @unittest.skipUnless(NVCC, "nvcc is not installed")
    def test_changed_and_foreign_plans(self):
        plan = harness.compile_plan(DIGITS, self.folder, ranks=1, batch=2, extra=CUDA)
        self.refuses(["run", plan, "-n", 1, "--steps", 1], "for backend 'cuda', not 'cpu'")
        with (plan / "step.cu").open("a") as step:
            step.write("// and more\n")
        self.refuses(["verify", plan], "step.cu", "changed")


if __name__ == "__main__":
    unittest.main()
