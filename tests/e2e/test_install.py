"""`cmake --install`: what is installed needs neither the build folder nor the sources."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness
from waiting import PATIENCE

PROGRAMS = ("syncline", "syncline-run", "syncline-calibrate")
SAMPLES = harness.TOP / "samples"


def can_hide():
    """Whether this user may mount something over a folder, for processes of its own."""
    done = (
        subprocess.run(["unshare", "--mount", "true"], capture_output=True)
        if shutil.which("unshare")
        else None
    )
    return done is not None and done.returncode == 0


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Installed once, then moved, so that no path of the installation counts either."""
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()
        first = cls.folder / "first"
        done = subprocess.run(
            ["cmake", "--install", harness.BUILD, "--prefix", first], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.prefix = cls.folder / "prefix"
        first.rename(cls.prefix)
        for name in (
            "models/digits-cnn.onnx",
            "data/digits-train-x.npy",
            "data/digits-train-y.npy",
        ):
            shutil.copy(SAMPLES / name, cls.folder)

    def shell(self, line, hidden=()):
        """Runs `line` with only the installed programs on PATH, and empty folders in place
        of `hidden`."""
        environment = {
            "HOME": str(self.folder),
            "PATH": f"{self.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        }
        command = ["sh", "-c", line]
        if hidden:
            mounts = " && ".join(f"mount -t tmpfs none '{path}'" for path in hidden)
            command = ["unshare", "--mount", "sh", "-c", f"{mounts} && {line}"]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
        return done.stdout, done.stderr

    def test_names_no_folder_of_the_build(self):
        """No installed file holds the path of the sources or of the build."""
        files = [path for path in self.prefix.rglob("*") if path.is_file()]
        for program in PROGRAMS:
            self.assertIn(self.prefix / "bin" / program, files)
        links = {
            str(path.relative_to(self.prefix)): os.readlink(path)
            for path in self.prefix.rglob("*")
            if path.is_symlink()
        }
        self.assertEqual(links, {"lib/libsyncline.so": "libsyncline.so.1"})
        for path in files:
            content = path.read_bytes()
            for folder in (harness.TOP, harness.BUILD.resolve()):
                self.assertNotIn(os.fsencode(folder) + b"/", content, path)

    def test_builds_a_c_program(self):
        """The header and the library are where a compiler looks for them."""
        sample = SAMPLES / "c-api" / "all_reduce.c"
        shutil.copy(sample, self.folder)
        self.shell(
            f"cc -std=c99 all_reduce.c -I '{self.prefix}/include' -L '{self.prefix}/lib' -lsyncline"
            f" -o all_reduce && export LD_LIBRARY_PATH='{self.prefix}/lib'"
            " && { ./all_reduce; test $? = 2; }"
        )

    def test_compiles_and_runs(self):
        hidden = (harness.TOP, harness.BUILD.resolve()) if can_hide() else ()
        # A build inside the sources is hidden with them.
        hidden = [
            path
            for path in hidden
            if not any(path != other and path.is_relative_to(other) for other in hidden)
        ]
        self.shell(
            "syncline compile digits-cnn.onnx --cluster local4 --batch 16 -o digits.plan", hidden
        )
        out, _ = self.shell("syncline verify digits.plan && syncline inspect digits.plan", hidden)
        self.assertIn("plan valid", out)
        run = (
            "syncline run digits.plan -n 4 --data digits-train-x.npy,digits-train-y.npy --steps 20"
            " --save o.onnx"
        )
        _, said = self.shell(run, hidden)
        self.assertIn("step", said)
        self.assertTrue((self.folder / "o.onnx").exists())
        self.shell(
            "syncline calibrate -n 2 --time 1s --sizes 1KiB,1MiB --schemes ring -o c.yaml", hidden
        )
        self.shell("syncline profile digits-cnn.onnx --batch 4 -o p.json", hidden)
        self.shell(
            "syncline compile digits-cnn.onnx --cluster c.yaml --batch 4 --profile p.json -o"
            " d.plan",
            hidden,
        )


if __name__ == "__main__":
    unittest.main()
