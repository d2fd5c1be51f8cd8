"""Compilers that do not work, machines without room, and interruption: nothing stays behind."""

import os
import resource
import signal
import subprocess
import unittest

import harness
from refusal import RefusalTest
from waiting import PATIENCE, until

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
NOBODY = 65534


class CompilerTest(RefusalTest):
    def words(self, model=DIGITS, output="out.plan"):
        words = ["compile", model, "--cluster", self.cluster, "--batch", 2]
        return [*words, "-o", self.folder / output]

    def refuses_compiler(self, compiler, *names):
        before = self.listing()
        done = self.command(*self.words(), environment={"CXX": compiler})
        self.assert_refused(done, names)
        self.assertEqual(self.listing(), before)

    def test_missing_compiler(self):
        self.refuses_compiler("no-such-compiler", "no-such-compiler", "CXX")

    def test_compiler_that_fails(self):
        self.refuses_compiler("false", "'false'", "CXX")

    def test_compiler_that_writes_nothing(self):
        self.refuses_compiler("true", "'true'", "CXX")

    def test_empty_variable_and_missing_temporary_folder(self):
        """An empty CXX is an unset one, and no file is needed outside the plan's folder."""
        environment = {"CXX": "", "TMPDIR": str(self.folder / "absent")}
        done = self.command(*self.words(), environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_model_file_with_a_line_break_in_its_name(self):
        """The name stands in comments of the generated code and must not end them."""
        model = self.write("a\nint b;'.onnx", DIGITS.read_bytes())
        harness.syncline(*self.words(model))
        harness.syncline("verify", self.folder / "out.plan")

    def test_interrupted(self):
        """A signal while the compiler runs ends both and leaves the folder as it was."""
        compiler = self.write("slow", f"#!/bin/sh\ntouch '{self.folder}/started'\nsleep 1000\n")
        compiler.chmod(0o755)
        before = self.listing()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process = subprocess.Popen(
                    [str(harness.SYNCLINE), *map(str, self.words())],
                    env={**os.environ, "CXX": str(compiler)},
                    preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
                )
                self.addCleanup(process.kill)
                until((self.folder / "started").exists, "no compiler was started", process)
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), -number)
                (self.folder / "started").unlink()
                self.assertEqual(self.listing(), before)


class CrowdedMachineTest(RefusalTest):
    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_no_room_for_ranks(self):
        """Where the system starts no more processes, the ranks that were started end again."""
        plan = harness.compile_plan(DIGITS, self.folder, ranks=2)
        for path in (self.folder, *self.folder.rglob("*")):
            path.chmod(0o755)

        def become_nobody():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        done = subprocess.run(
            [str(harness.SYNCLINE), "run", str(plan), "--steps", "1"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            preexec_fn=become_nobody,
        )
        self.assert_refused(done, ["cannot start rank"])


if __name__ == "__main__":
    unittest.main()
