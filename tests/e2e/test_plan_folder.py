"""Where plans are written: several at once, over each other, through links, onto full disks."""

import os
import pathlib
import shutil
import signal
import subprocess
import threading
import unittest
import unittest.mock

import harness
from depth import repeat
from refusal import RefusalTest
from waiting import PATIENCE, until

NOBODY = 65534
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
TRACE = harness.TOP / "samples" / "traces" / "alexnet.csv"


class PlanFolderTest(RefusalTest):
    def words(self, output, model=TRACE):
        batch = ["--batch", 2] if model == DIGITS else []
        return list(map(str, ["compile", model, "--cluster", self.cluster, *batch, "-o", output]))

    def start(self, output, model=TRACE, environment=None):
        process = subprocess.Popen(
            [str(harness.SYNCLINE), *self.words(output, model)],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def succeeds(self, process):
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, said)
        self.assertNotIn("error", said)

    def test_compiles_at_once(self):
        """All succeed, a plan is there at any time once there was one, and nothing else stays."""
        plan = self.folder / "ct.plan"
        harness.syncline(*self.words(plan))
        missing, over = [], threading.Event()

        def watch():
            while not over.is_set():
                try:
                    (plan / "plan.json").read_bytes()
                except OSError as error:
                    missing.append(error)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            for _ in range(repeat(1, 5)):
                started = [self.start(plan) for _ in range(40)]
                for process in started:
                    self.succeeds(process)
        finally:
            over.set()
            watcher.join()
        self.assertEqual(missing, [])
        self.assertEqual(sorted(os.listdir(self.folder)), ["cluster.yaml", "ct.plan"])
        harness.syncline("verify", plan)

    def test_first_compiles_at_once(self):
        """Nobody finds a plan there, and each makes one."""
        plan = self.folder / "first.plan"
        for _ in range(repeat(2, 10)):
            shutil.rmtree(plan, ignore_errors=True)
            started = [self.start(plan) for _ in range(8)]
            for process in started:
                self.succeeds(process)
        self.assertEqual(sorted(os.listdir(self.folder)), ["cluster.yaml", "first.plan"])
        harness.syncline("verify", plan)

    def test_what_a_killed_compile_leaves(self):
        """Its compiler and what that started end with it. The next one removes its folder, but not
        what a running one has, nor what only looks like it."""
        compiler = self.write(
            "slow",
            f"#!/bin/sh\nsleep 1000 &\necho $$ $! > '{self.folder}'/started$$\nwait\n",
        )
        compiler.chmod(0o755)
        plan = self.folder / "a.plan"
        killed, running = [self.start(plan, DIGITS, {"CXX": str(compiler)}) for _ in range(2)]

        def ids():
            return [path.read_text() for path in self.folder.glob("started*")]

        def is_alive(process):
            try:  # of a process that nobody has waited for only the number is left
                return pathlib.Path(f"/proc/{process}/cmdline").read_bytes() != b""
            except OSError:
                return False

        def alive():
            return sorted([is_alive(process) for process in text.split()] for text in ids())

        until(lambda: sum(text.endswith("\n") for text in ids()) == 2, "two compilers start")
        killed.send_signal(signal.SIGKILL)
        killed.wait(PATIENCE)
        until(
            lambda: alive() == [[False, False], [True, True]],
            "the killed one's compiler ends, the other stays",
        )
        similar = ("a.plan.partial-notes", "a.plan.partial-12345g", "b.plan.partial-123456")
        for name in similar:
            (self.folder / name).mkdir()
        similar += ("a.plan.partial-abcdef",)
        (self.folder / similar[-1]).mkdir()
        (self.folder / similar[-1] / "thesis.txt").write_text("mine")
        self.assertEqual(len(list(self.folder.glob("a.plan.partial-??????"))), 4)
        harness.syncline(*self.words(plan))
        left = {path.name for path in self.folder.glob("*.partial-*")}
        self.assertTrue(left.issuperset(similar))
        self.assertEqual(len(left), len(similar) + 1, left)
        running.send_signal(signal.SIGTERM)
        running.wait(PATIENCE)
        until(lambda: not any(map(any, alive())), "its compiler ends")
        self.assertEqual({path.name for path in self.folder.glob("*.partial-*")}, set(similar))
        harness.syncline("verify", plan)

    def test_link(self):
        """What the link leads to is written; the link stays, also where nothing is there yet."""
        (self.folder / "far").mkdir()
        for place in ("far/a.plan", "far/b.plan/"):
            link = self.folder / (place[4] + ".link")
            link.symlink_to(place)
            for _ in range(2):
                harness.syncline(*self.words(link))
                self.assertTrue(link.is_symlink())
                harness.syncline("verify", self.folder / place)
        self.assertEqual(sorted(os.listdir(self.folder / "far")), ["a.plan", "b.plan"])

    def test_links_in_a_circle(self):
        for one, other in (("x", "y"), ("y", "x")):
            (self.folder / one).symlink_to(other)
        self.refuses(self.words(self.folder / "x"), "'" + str(self.folder / "x"), "symbolic links")

    def test_long_names(self):
        """As long as the file system takes, also where a character is cut; one byte more is not."""
        for name in ("n" * 250, "n" * 255, "ä" * 127, "n" + "ä" * 127):
            with self.subTest(name=name):
                harness.syncline(*self.words(self.folder / name))
                harness.syncline("verify", self.folder / name)
                harness.syncline(*self.words(self.folder / name))
        self.refuses(self.words(self.folder / ("n" * 256)), "File name too long")

    def test_name_with_percent_signs(self):
        harness.syncline(*self.words(self.folder / "50%%.plan"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["50%%.plan", "cluster.yaml"])

    def test_what_people_keep_there(self):
        """A model saved into a plan stays, also behind a link."""
        plan = self.folder / "a.plan"
        harness.syncline(*self.words(plan, DIGITS))
        saved = plan / "trained.onnx"
        harness.syncline("run", plan, "-n", 2, "--steps", 1, "--save", saved)
        (self.folder / "link").symlink_to(plan)
        for place in (plan, self.folder / "link"):
            said = self.refuses(self.words(place, DIGITS), f"'{place}': exists and holds")
            self.assertIn("'trained.onnx', which 'compile' did not write", said)
        saved.unlink()
        layers = plan / "layers.csv"  # plans that are run have none
        layers.write_text("mine")
        self.refuses(self.words(plan, DIGITS), "'layers.csv', which 'compile' did not write")
        harness.syncline("verify", plan)
        layers.unlink()
        harness.syncline(*self.words(plan, DIGITS))

    def test_what_comes_meanwhile(self):
        """A folder of somebody's that appears while the step is compiled is left alone."""
        thesis = self.folder / "a.plan"
        begin = f"#!/bin/sh\nmkdir -p '{thesis}'\n: > '{thesis}'/chapter1\n"
        compiler = self.write("compiler", begin + 'exec c++ "$@"\n')
        compiler.chmod(0o755)
        done = self.command(*self.words(thesis, DIGITS), environment={"CXX": str(compiler)})
        self.assert_refused(done, ["is not a plan"])
        self.assertEqual(os.listdir(thesis), ["chapter1"])
        self.assertEqual(list(self.folder.glob("*.partial-*")), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
    def test_disk_that_fills_up(self):
        """Wherever the room ends, also within the compiler, it is the disk that is to blame."""
        # The compiler itself, whose temporary files need room.
        self.enterContext(unittest.mock.patch.dict(os.environ, CXX="c++"))
        small = self.folder / "small"
        small.mkdir()
        for size in (8, 24, 40, 64, 96, 160):
            with self.subTest(size=f"{size} KiB"):
                mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(small)]
                if subprocess.run(mount, capture_output=True).returncode != 0:
                    self.skipTest("may not mount here")
                try:
                    said = self.refuses(self.words(small / "a.plan", DIGITS), small)
                    self.assertRegex(said, "No space left|disk may be full")
                    self.assertNotIn("CXX", said)
                finally:
                    subprocess.run(["umount", str(small)], check=True)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_umask_that_forbids_everything(self):
        """The new folder is made once, is said to be what cannot be written, and does not stay."""
        (self.folder / "mine").mkdir()
        shutil.copy(TRACE, self.folder / "trace.csv")
        for path in (self.folder, self.folder / "mine", *self.folder.glob("*.*")):
            path.chmod(0o777)

        def become_nobody():
            os.umask(0o777)
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

        words = self.words(self.folder / "mine" / "u.plan", self.folder / "trace.csv")
        done = subprocess.run(
            [str(harness.SYNCLINE), *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            preexec_fn=become_nobody,
        )
        self.assert_refused(done, ["cannot write in a new folder: Permission denied"])
        self.assertEqual(list((self.folder / "mine").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
