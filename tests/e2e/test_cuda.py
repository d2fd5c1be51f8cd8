"""Plans for GPUs: step.cu of the sample models compiles by nvcc and links; messages go by what NCCL
has, and a table tells NCCL how; faults are named."""

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
from depth import repeat
from refusal import RefusalTest
from schema import violations

MODELS = harness.TOP / "samples" / "models"
DIGITS, GOOGLENET = MODELS / "digits-cnn.onnx", MODELS / "googlenet.onnx"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
CUDA = ("--backend", "cuda")
CUDA_MODULE = harness.BUILD / "lib" / "libsyncline-cuda.so"
NCCLS = {"ring", "tree", "reduce-scatter", "parameter-server", "factors"}
BIASES = ("fc.bias", "conv1.bias")  # each as large as an alignment
SCHEMA = json.loads((harness.TOP / "codegen" / "json" / "plan.schema.json").read_text())


def statements(path):
    """Rows of the step's operations, without the loops' names."""
    lines = [line.strip() for line in path.read_text().splitlines() if line.startswith("    {Op::")]
    return [re.sub(r"\w+Loop(_\d+)?, ", "LOOP, ", line) for line in lines]


def runtime_library():
    """CUDA's runtime library, where nvcc says that it links: nvcc may be a script far from
    the toolkit."""
    said = subprocess.run([NVCC, "--dryrun", "nothing.cu"], capture_output=True, text=True).stderr
    folders = [pathlib.Path(folder) for folder in re.findall(r'"-L([^"]*)"', said)]
    found = (folder / "libcudart.so" for folder in folders if (folder / "libcudart.so").exists())
    return next(found, "libcudart.so")


@unittest.skipUnless(NVCC, "nvcc is not installed")
class CudaPlanTest(unittest.TestCase):
    """Models are compiled once, with every warning of nvcc an error: two, and all in a long run."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        strict = unittest.mock.patch.dict(os.environ, NVCC=NVCC + " -Werror all-warnings")
        with strict:
            cls.plans = {
                path.stem: harness.compile_plan(
                    path, folder, ranks=2, batch=2, extra=CUDA, cluster=harness.RING
                )
                for path in repeat([DIGITS, GOOGLENET], sorted(MODELS.glob("*.onnx")))
            }

    def test_plans_say_what_they_are_for(self):
        self.assertGreater(len(self.plans), repeat(1, 3))
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
        for name in (GOOGLENET.stem, DIGITS.stem):
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                cpu = harness.compile_plan(
                    MODELS / f"{name}.onnx", folder, ranks=2, batch=2, cluster=harness.RING
                )
                expected = statements(cpu / "step.cpp")
                self.assertGreater(len(expected), 10)
                self.assertEqual(statements(self.plans[name] / "step.cu"), expected)


# What the compiler makes is of no interest here: it writes an empty file.
FAKE_NVCC = """\
#!/bin/sh
while [ "$1" != -o ]; do shift; done
: > "$2"
"""


class EveryMachineTest(RefusalTest):
    """Compiles for GPUs by a stand-in for nvcc."""

    def setUp(self):
        super().setUp()
        self.cluster = self.write("cluster.yaml", harness.CLUSTER.format(ranks=4))
        compiler = self.write("nvcc", FAKE_NVCC)
        compiler.chmod(0o755)
        self.environment = unittest.mock.patch.dict(os.environ, NVCC=str(compiler))
        self.environment.start()
        self.addCleanup(self.environment.stop)

    def words(self, *extra, backend="cuda"):
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 2, "--backend", backend)
        overlap = () if "--overlap" in extra else ("--overlap", "backward")
        return [*words, *overlap, "--quiet", "-o", self.folder / "out.plan", *extra]

    def compile(self, *extra, backend="cuda"):
        """The plan, its document, and of what compile warned."""
        done = self.command(*self.words(*extra, backend=backend))
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = self.folder / "out.plan"
        harness.syncline("verify", plan)
        document = harness.plan_json(plan)
        self.assertEqual(violations(document, SCHEMA), [])
        return plan, document, done.stderr


class NcclTest(EveryMachineTest):
    """What NCCL is to carry, and how."""

    def rows(self, plan):
        lines = (plan / "nccl-tuner.csv").read_text().splitlines()
        self.assertTrue(lines[0].startswith("# NCCL"), lines[0])
        names = lines[1].split(",")
        return [dict(zip(names, line.split(","), strict=True)) for line in lines[2:]]

    def test_choices_are_what_nccl_has(self):
        """A cluster on which others are faster: by GPUs they are left out, and reports say so."""
        plan, document, _ = self.compile(backend="cpu")
        self.assertTrue({bucket["scheme"] for bucket in document["buckets"]} - NCCLS)
        self.assertFalse(document["nccl"])
        self.assertFalse((plan / "nccl-tuner.csv").exists())
        self.assertNotIn("NCCL", harness.syncline("inspect", plan))
        plan, document, said = self.compile()
        self.assertEqual(said, "")
        self.assertTrue(document["optimal"])
        self.assertLessEqual({bucket["scheme"] for bucket in document["buckets"]}, NCCLS)
        self.assertTrue(document["nccl"])
        report = harness.syncline("inspect", plan)
        self.assertIn("NCCL carries the messages; it has no recursive-doubling", report)
        why = harness.syncline("inspect", plan, "--why", "fc")
        self.assertIn(
            "not offered, as NCCL carries the messages: recursive-doubling, halving-doubling\n", why
        )
        self.assertNotRegex(why, "(?m)^[* ] +halving-doubling")

    def test_every_planner(self):
        for planner in (
            "wfbp",
            "single",
            "mg-wfbp",
            "ddp:25MiB",
            "horovod:64MiB",
            "poseidon",
            "ps",
            "sfb",
        ):
            with self.subTest(planner=planner):
                _, document, _ = self.compile("--planner", planner)
                self.assertLessEqual({bucket["scheme"] for bucket in document["buckets"]}, NCCLS)

    def test_elsewhere(self):
        """Other clusters and ranks are planned for NCCL as well."""
        plan, _, _ = self.compile()
        faster = self.write("b.yaml", harness.CLUSTER.format(ranks=8).replace("10 Gb/s", "1 Gb/s"))
        for words in (
            ["--cluster", faster],
            ["--sweep", "ranks=2..16"],
            ["--sweep", "latency=1us..1ms"],
        ):
            self.assertIn("step", harness.syncline("simulate", plan, *words))

    def test_trees_are_pipelined(self):
        """By NCCL's two trees every byte goes up and down a link once, in virtual time too."""
        plan, document, _ = self.compile("--scheme", "*=tree")
        messages = json.loads(harness.syncline("simulate", plan, "--json"))["messages"]
        self.assertEqual(len(messages), len(document["buckets"]) + 1)
        self.assertEqual(messages[-1]["name"], "loss")
        for message in messages:
            self.assertTrue(message["by_cost"])
            expected = 2 * 2 * 20e-6 + message["bytes"] * 2 * 8e-10  # as harness.CLUSTER's network
            self.assertAlmostEqual(message["end"] - message["start"], expected, delta=1e-9)

    def test_differences(self):
        """Who carries the messages is one."""
        cpu, _, _ = self.compile(backend="cpu")
        cpu = cpu.rename(self.folder / "cpu.plan")
        plan, _, _ = self.compile()
        said = harness.syncline("inspect", cpu, "--diff", plan)
        self.assertRegex(said, r"(?m)^backend +cpu +cuda$")

    def test_table(self):
        """A row for each size that is summed; protocol and channels are left to NCCL."""
        schemes = ("--scheme", "conv*=tree", "--scheme", "fc*=reduce-scatter")
        plan, document, said = self.compile(*schemes)
        self.assertEqual(said, "")
        self.assertTrue(document["nccl"])
        report = harness.syncline("inspect", plan)
        self.assertIn("NCCL carries the messages; it has no", report)
        fixed = {"protocol": "", "channels": "-1", "nodes": "-1", "ranks": "4"}
        sizes = dict.fromkeys(
            str(b["extent"]) for b in document["buckets"] if b["scheme"] == "tree"
        )
        self.assertGreaterEqual(len(sizes), 1)
        expected = [("allreduce", size, size, "tree") for size in sizes]
        expected += [(name, "0", "-1", "ring") for name in ("reducescatter", "allgather")]
        columns = ("collective", "min_bytes", "max_bytes", "algorithm")
        self.assertEqual(self.rows(plan), [dict(zip(columns, row)) | fixed for row in expected])

    def test_clashes(self):
        """Buckets that NCCL cannot tell apart are named, with whose algorithm both take."""
        schemes = ("--scheme", f"{BIASES[0]}=ring", "--scheme", f"{BIASES[1]}=tree")
        plan, document, said = self.compile(*schemes)
        ring, tree = (
            {b["id"] for b in document["buckets"] if name in b["members"]} for name in BIASES
        )
        (ring,), (tree,) = ring, tree
        first, second = min(ring, tree), max(ring, tree)
        stands = "ring" if ring < tree else "tree"
        self.assertIn(f"warning: buckets {first} and {second} both have 64 bytes", said)
        self.assertIn(f"both go by {stands}, bucket {second} not by", said)
        self.assertEqual(
            [row["algorithm"] for row in self.rows(plan) if row["min_bytes"] == "64"], [stands]
        )

    def test_refusals(self):
        for scheme in ("recursive-doubling", "halving-doubling", "hierarchical"):
            with self.subTest(scheme=scheme):
                said = (
                    f"cannot travel by '{scheme}': NCCL, which carries the messages, has ring,"
                    " tree,"
                )
                self.refuses(self.words("--scheme", f"fc.weight={scheme}"), "fc.weight", said)
        self.refuses(
            self.words("--scheme", "fc.weight=library"),
            *("fc.weight", "states no time of what NCCL chooses", "'syncline calibrate --backend"),
        )
        self.cluster = harness.TOP / "samples" / "clusters" / "servers-200m.yaml"
        self.refuses(self.words("--scheme", "fc.weight=ps"), "NCCL", "knows no dedicated servers")
        self.refuses(self.words("--planner", "ps"), "'ps'", "which this cluster does not offer")
        stated = "collectives: {all-reduce: {halving-doubling: {a: 1 ms, b: 1 ns/B}}}\n"
        self.cluster = self.write("stated.yaml", harness.CLUSTER.format(ranks=4) + stated)
        self.refuses(
            self.words(), "'test' states no all-reduce that NCCL has", "got halving-doubling"
        )

    def test_changed_tables(self):
        plan, _, _ = self.compile()
        with (plan / "nccl-tuner.csv").open("a") as table:
            table.write("allreduce,0,-1,tree,,-1,-1,-1\n")
        self.refuses(["verify", plan], "nccl-tuner.csv", "changed")

    def test_profile(self):
        """Times that were measured on a GPU are taken as any."""
        times = {"forward": "10us", "backward": "20us"}
        profile = {"schema": 1, "name": "H100", "batch": 2, "operations": {"/conv1/Conv": times}}
        slow = self.write("slow.json", json.dumps(profile))
        profile["operations"]["/conv1/Conv"] = {"forward": "1s", "backward": "2s"}
        slower = self.write("slower.json", json.dumps(profile))
        ends = [
            self.compile("--profile", path)[1]["predicted"]["forward_end"]
            for path in (slow, slower)
        ]
        self.assertAlmostEqual(ends[1] - ends[0], 1 - 1e-5, places=7)


# CUDA's libraries on the host, and nvcc for them: plays a machine with GPUs.
HOST_MODULE = harness.BUILD / "lib" / "libsyncline-host-cuda.so"
HOST_NVCC = harness.TOP / "tests" / "host-cuda" / "nvcc"


@unittest.skipUnless(HOST_MODULE.exists(), "built without CUDA")
class HostProfileTest(RefusalTest):
    """Profiles of what runs on GPUs, which the host plays."""

    def setUp(self):
        super().setUp()
        playing = {"NVCC": str(HOST_NVCC), "SYNCLINE_CUDA_BACKEND": str(HOST_MODULE)}
        environment = unittest.mock.patch.dict(os.environ, playing)
        environment.start()
        self.addCleanup(environment.stop)

    def profile(self, *words):
        out = self.folder / "p.json"
        harness.syncline("profile", *words, "-o", out)
        return out, json.loads(out.read_text())

    def test_of_plans(self):
        """A plan is measured on its backend, even a plan that was made with a profile."""
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 8, *CUDA)
        harness.syncline(*words, "-o", self.folder / "nominal.plan")
        path, nominal = self.profile(self.folder / "nominal.plan", "-n", 1)
        self.assertEqual(nominal["batch"], 8)
        harness.syncline(*words, "--profile", path, "-o", self.folder / "out.plan")
        _, plan = self.profile(self.folder / "out.plan")
        for profile in (nominal, plan):
            self.assertLessEqual(
                {"/conv1/Conv", "/conv2/Conv", "/fc/Gemm", "loss"}, profile["operations"].keys()
            )
        document = harness.plan_json(self.folder / "out.plan")
        self.assertEqual(document["backend"], "cuda")
        # The host's convolutions take milliseconds. By the cluster's rates they would take
        # some microseconds.
        self.assertGreater(document["predicted"]["backward_end"], 1e-3)

    def test_precision_is_the_plans(self):
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 2, *CUDA)
        harness.syncline(*words, "--precision", "bf16", "-o", self.folder / "out.plan")
        _, profile = self.profile(self.folder / "out.plan", "-n", 1)
        self.assertEqual(profile["precision"], "bf16")


@unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "this machine has a GPU")
class NoGpuTest(EveryMachineTest):
    """Plans are made anywhere; what measures or trains says what is missing."""

    def test_profiles(self):
        plan, _, _ = self.compile()
        words = ["-o", self.folder / "p.json"]
        missing = (
            "backend 'cuda'" if CUDA_MODULE.exists() else "libsyncline-cuda.so': no such backend"
        )
        self.refuses(["profile", plan, *words], missing)
        self.refuses(["run", plan, "--steps", 1], missing)
        self.refuses(["profile", plan, "--batch", 2, *words], "--batch is for models", code=2)


class CudaRefusalTest(RefusalTest):
    def refuses_digits(self, nvcc, *names):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 2, *CUDA]
        with unittest.mock.patch.dict(os.environ, NVCC=nvcc):
            self.refuses([*words, "-o", self.folder / "out.plan"], *names)

    def test_missing_compiler(self):
        self.refuses_digits(
            "/no/such/nvcc", "cannot find the CUDA compiler '/no/such/nvcc'", "set NVCC"
        )

    def test_broken_compiler(self):
        self.refuses_digits("/bin/false", "'/bin/false' cannot compile even an empty function")

    def test_bad_command_lines(self):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--backend", "tpu"]
        self.refuses([*words, "-o", self.folder / "out.plan"], "tpu", code=2)

    def test_options_of_gpus(self):
        plan = harness.compile_plan(DIGITS, self.folder, ranks=1, batch=2)
        for option, *value in (
            ("--device", 0),
            ("--share-device",),
            ("--cuda-graph",),
            ("--tune-convolutions", "off"),
        ):
            said = f"{option} needs a plan of 'syncline compile --backend cuda'"
            self.refuses(["run", plan, "-n", 1, "--steps", 1, option, *value], said, code=2)

    @unittest.skipUnless(NVCC, "nvcc is not installed")
    def test_changed_plans(self):
        plan = harness.compile_plan(DIGITS, self.folder, ranks=1, batch=2, extra=CUDA)
        with (plan / "step.cu").open("a") as step:
            step.write("// and more\n")
        self.refuses(["verify", plan], "step.cu", "changed")


if __name__ == "__main__":
    unittest.main()
