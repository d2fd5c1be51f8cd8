"""`syncline calibrate --backend cuda`, over stand-ins for CUDA and NCCL on the host: the file that
it writes plans for GPUs; wrong switches, missing devices and lost ranks are named. What the
stand-ins' times are is of no interest."""

import os
import pathlib
import re
import unittest

import harness
from calibrate_ranks import CalibrateRanksTest
from host_cuda import DIGITS, MODULE
from refusal import RefusalTest

SHARED = ["--backend", "cuda", "--share-device"]
SIZES = ["--sizes", "1KiB,64KiB,1MiB"]
SHORT = ["--time", "4s", *SIZES]

# What the compiler makes is of no interest here: it writes an empty file.
FAKE_NVCC = """\
#!/bin/sh
while [ "$1" != -o ]; do shift; done
: > "$2"
"""


@unittest.skipUnless(MODULE.exists(), "the CUDA backend's stand-in is not built")
class CalibrateCudaTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.folders = self.folder / "tmp"
        self.folders.mkdir()
        machine = {"SYNCLINE_CUDA_BACKEND": MODULE, "TMPDIR": self.folders}
        before = {name: os.environ.get(name) for name in machine}
        os.environ.update({name: str(value) for name, value in machine.items()})
        self.addCleanup(self.restore, before)

    def restore(self, before):
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})

    def calibrate(self, *words, **machine):
        done = self.command("calibrate", *words, environment=machine)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            list(self.folders.iterdir()), [], "a folder for NCCL's tuner stayed behind"
        )
        return done.stdout

    def table(self, text, scheme):
        """The points of a scheme's table: sizes as they stand there, times in their units."""
        lines = re.search(rf"^( *){scheme}:\n((?:\1  .*\n)*)", text, re.M)
        self.assertIsNotNone(lines, f"{scheme} is not in\n{text}")
        return re.findall(r"- \[(\w+), ([\d.]+)(?:us|ms|s)\]", lines[2])

    def seconds(self, text, scheme):
        """The time of the shortest message."""
        lines = re.search(rf"^( *){scheme}:\n((?:\1  .*\n)*)", text, re.M)[2]
        time, unit = re.search(r"- \[1KiB, ([\d.]+)(us|ms|s)\]", lines).groups()
        return float(time) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]

    def test_measured_file_plans(self):
        """Ranks on one device: everything that NCCL has is in the file, by which plans for GPUs
        are made."""
        output = self.folder / "gpus.yaml"
        # Time for the longest messages of every scheme, while other tests run beside it.
        self.calibrate("-n", 2, *SHARED, "--time", "20s", *SIZES, "-o", output)
        text = output.read_text()
        self.assertRegex(text, r"\(Syncline [\d.]+, CUDA [\d.]+, cuDNN [\d.]+, NCCL [\d.]+\)\.\n")
        self.assertRegex(
            text, r"# 2 ranks: 2 on .* \(.+\); --precision fp32 --share-device"
        )
        for part in (
            "ranks: 2",
            "copy of a tensor",
            "SGD with momentum",
            "transpose of 16",
            "network:",
            "at once",
        ):
            self.assertIn(part, text)
        for absent in ("Ranks 0 and", "recursive-doubling", "halving-doubling", "hierarchical"):
            self.assertNotIn(absent, text)
        sums = ("ring", "tree", "library", "parameter-server")
        for scheme in (*sums, "reduce-scatter", "all-gather"):
            points = self.table(text, scheme)
            self.assertGreaterEqual(len(points), 2)
            self.assertGreater(min(float(time) for _, time in points), 0)
        self.assertEqual(self.table(text, "tree")[-1][0], "1MiB")
        factor = float(
            re.search(r"^interference:\n(?:  #.*\n)+  computation: (.*)$", text, re.M)[1]
        )
        self.assertGreaterEqual(factor, 1)
        compiler = self.write("nvcc", FAKE_NVCC)
        compiler.chmod(0o755)
        plan = self.folder / "gpus.plan"
        words = [
            "compile",
            DIGITS,
            "--cluster",
            output,
            "--batch",
            2,
            "--backend",
            "cuda",
            "-o",
            plan,
        ]
        done = self.command(*words, environment={"NVCC": str(compiler)})
        self.assertEqual(done.returncode, 0, done.stderr)
        harness.syncline("verify", plan)
        self.assertEqual(harness.plan_json(plan)["cluster"]["ranks"], 2)

    def test_what_nccl_chooses(self):
        """NCCL has an algorithm of its own here, faster by 0.1 s than the ring and the tree: it is
        what is measured where no tuner's row says otherwise, and what plans then take."""
        output = self.folder / "nvls.yaml"
        words = ["-n", 2, *SHARED, "--time", "4s", "--sizes", "1KiB,64KiB", "-o", output]
        words += ["--schemes", "ring,tree,library"]
        done = self.command("calibrate", *words, environment={"SYNCLINE_HOST_NCCL_NVLS": "100000"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"size +ring +tree +library +fastest")
        self.assertRegex(done.stderr, r"1KiB .* library +[\d.e-]+\n")
        text = output.read_text()
        self.assertIn("library:\n      # NCCL chose the algorithm for each size.", text)
        times = {scheme: self.seconds(text, scheme) for scheme in ("ring", "tree", "library")}
        self.assertGreaterEqual(min(times["ring"], times["tree"]), 0.1)
        self.assertLess(times["library"], min(times["ring"], times["tree"]))
        plan = self.folder / "nvls.plan"
        words = ["compile", DIGITS, "--cluster", output, "--batch", 2, "--plan-only", "-o", plan]
        harness.syncline(*words, "--backend", "cuda")
        schemes = {bucket["scheme"] for bucket in harness.plan_json(plan)["buckets"]}
        self.assertEqual(schemes, {"library"})

    def test_devices_of_their_own(self):
        """A device each, no ring: the network is not made up."""
        words = ["-n", 2, "--backend", "cuda", "--schemes", "tree,reduce-scatter"]
        text = self.calibrate(*words, *SHORT, SYNCLINE_HOST_CUDA_DEVICES="2")
        self.assertIn("--precision fp32; measured", text)
        self.assertNotIn("    ring:", text)
        text = self.calibrate("-n", 2, *SHARED, *SHORT, "--schemes", "tree")
        self.assertIn("# Nothing is known of the network beside the collectives' times", text)
        self.assertNotIn("network:\n", text)
        cluster = self.write("tree.yaml", text)
        harness.syncline(
            "compile", DIGITS, "--cluster", cluster, "--batch", 2, "-o", self.folder / "t.plan"
        )

    def test_wrong_command_lines(self):
        for words, name in [
            (["--share-device"], "--share-device needs --backend cuda"),
            (["--device", 1], "--device needs --backend cuda"),
            (
                [*SHARED, "--schemes", "halving-doubling"],
                "does not carry 'halving-doubling'; expected some of ring",
            ),
        ]:
            with self.subTest(words=words):
                self.refuses(
                    ["calibrate", "-n", 2, *words, "-o", self.folder / "c.yaml"], name, code=2
                )

    def test_missing_devices(self):
        """One message says what the machine lacks."""
        cuda = ["calibrate", "-n", 2, "--backend", "cuda", "-o", self.folder / "c.yaml"]
        for words, machine, name in [
            ([], {}, "local rank 1 has no device of its own"),
            (["--device", 7], {}, "no device 7"),
            ([], {"SYNCLINE_HOST_CUDA_DEVICES": "0"}, "no CUDA device is visible"),
            ([], {"SYNCLINE_CUDA_BACKEND": "/no/such.so"}, "no such backend"),
            (["--share-device"], {"SYNCLINE_HOST_CUDA_MEMORY": "1000000"}, "memory"),
        ]:
            with self.subTest(words=words, machine=machine):
                self.assert_refused(self.command(*cuda, *words, environment=machine), [name])
                self.assertFalse((self.folder / "c.yaml").exists())

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "this machine has a GPU")
    def test_no_gpu(self):
        del os.environ["SYNCLINE_CUDA_BACKEND"]
        self.refuses(["calibrate", "-n", 2, "--backend", "cuda"], "backend")


@unittest.skipUnless(MODULE.exists(), "the CUDA backend's stand-in is not built")
class LostRankTest(CalibrateRanksTest):
    def test_killed_rank(self):
        """A rank that dies while NCCL carries messages ends the other within seconds, by
        its name."""
        backend = {"SYNCLINE_CUDA_BACKEND": str(MODULE)}
        (error,) = self.errors_after_kill(2, *SHARED, environment=backend)
        self.assertRegex(error, r"lost rank 1 \(its process ended\).* while measuring ")


if __name__ == "__main__":
    unittest.main()
