"""The wheel of the Python package, which brings the commands along."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import harness
import torch_plugin
import virtual
from depth import long
from waiting import PATIENCE

PACKAGE = harness.TOP / "runtime" / "python"
MODEL = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
SYSTEM = r"linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so"
# What an installed package is asked to do; prints program, library and numbers of the plan.
PROGRAM = """
import sys, syncline
plan = syncline.compile(sys.argv[1], cluster="local4", output="a.plan", batch=16).plan
syncline.verify(plan)
text = syncline.inspect(plan).text
print(syncline._library.command(), syncline._library.library(), plan.ranks, len(plan.messages))
"""

sys.path.insert(0, str(PACKAGE))
import syncline  # noqa: E402, the package of these sources


class BackendTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def build(self, backend, **variables):
        return subprocess.run(
            [sys.executable, backend, self.folder],
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], **variables},
        )

    def test_no_build(self):
        """Sources alone give a wheel of the package alone, for any machine."""
        copy = self.folder / "runtime" / "python"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        done = self.build(copy / "backend.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        (wheel,) = self.folder.glob("*.whl")
        self.assertEqual(wheel.name, f"syncline-{syncline.__version__}-py3-none-any.whl")
        names = zipfile.ZipFile(wheel).namelist()
        self.assertIn("syncline/py.typed", names)
        self.assertFalse([name for name in names if "prefix" in name])

    def test_licences(self):
        """Of Syncline, of every library in the wheel, and of what is compiled into programs."""
        if not shutil.which("dpkg"):
            self.skipTest("texts are Debian's")
        done = self.build(PACKAGE / "backend.py", SYNCLINE_BUILD=str(harness.BUILD))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (wheel,) = self.folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as files:
            names = files.namelist()
            about = next(name for name in names if name.endswith("/METADATA"))
            told = re.findall("^License-File: (.*)$", files.read(about).decode(), re.MULTILINE)
            folder = about.replace("METADATA", "licenses")
            texts = {name: files.read(f"{folder}/{name}") for name in told}
        self.assertEqual(texts["LICENSE"], (harness.TOP / "LICENSE").read_bytes())
        self.assertEqual(len(told), sum("/licenses/" in name for name in names))
        packages = {name.split("/")[0] for name in told}
        for name in names:
            if re.search(r"prefix/lib/(?!libsyncline)[^/]*\.so\.", name):
                found = self.packages_with(pathlib.Path(name).name)
                self.assertTrue(packages & found, f"{name} of {found}")
        for package in ("libmlir-19-dev", "llvm-19-dev", "libcli11-dev", "nlohmann-json3-dev"):
            self.assertIn(package, packages)
        self.assertIn(b"LLVM", texts["libmlir-19-dev/copyright"])
        self.assertIn("common-licenses/Apache-2.0", told)
        for text in texts.values():
            self.assertGreater(len(text), 500)

    def packages_with(self, file):
        """The Debian packages that have a file of the name."""
        done = subprocess.run(["dpkg", "-S", f"*/{file}*"], capture_output=True, text=True)
        return set(re.findall(r"^([^:,]+)[:,]", done.stdout, re.MULTILINE))

    def test_no_source_archive(self):
        program = "import backend; backend.build_sdist('.')"
        done = subprocess.run([sys.executable, "-c", program], cwd=PACKAGE, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"there is no source archive", done.stderr)

    def test_wrong_build(self):
        done = self.build(PACKAGE / "backend.py", SYNCLINE_BUILD=str(self.folder))
        expected = f"'SYNCLINE_BUILD': expected a build folder, got '{self.folder}'\n"
        self.assertEqual((done.returncode, done.stderr), (1, expected))


@long("the package is imported from the sources")
class WheelTest(unittest.TestCase):
    """Each test has an empty virtual environment, and pip has no network."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.environment = self.folder / "venv"
        self.run_in_folder(sys.executable, "-m", "venv", self.environment)
        self.before = self.installed()

    def run_in_folder(self, *command, **variables):
        keep = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder), **variables}
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env={**keep, "SYNCLINE_BUILD": str(harness.BUILD)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        said = done.stdout[-2000:] + done.stderr[-3000:]
        self.assertEqual(done.returncode, 0, f"{command}\n{said}")
        return done.stdout

    def installed(self):
        """The files of the environment that are Syncline's, and all its programs."""
        paths = self.environment.rglob("*")
        return {path for path in paths if "syncline" in str(path) or path.parent.name == "bin"}

    def pip(self, *words):
        return self.run_in_folder(self.environment / "bin" / "python", "-m", "pip", *words)

    def use(self):
        """Compiles, verifies and inspects by the installed package alone, then removes it."""
        python = self.environment / "bin" / "python"
        program, library, ranks, messages = self.run_in_folder(python, "-c", PROGRAM, MODEL).split()
        prefix = pathlib.Path(program).parents[1]
        self.assertTrue(prefix.is_relative_to(self.environment))
        self.assertEqual(library, str(prefix / "lib" / "libsyncline.so.1"))
        self.assertEqual((ranks, messages), ("4", "3"))
        for name in ("syncline", "syncline-run", "syncline-calibrate"):
            for line in self.run_in_folder("ldd", prefix / "bin" / name).splitlines():
                if not re.search(SYSTEM, line):
                    file = os.path.realpath(line.split()[2])
                    self.assertTrue(file.startswith(str(prefix)), line)
        for name in os.listdir(prefix / "lib"):
            self.assertNotRegex(name, SYSTEM)
        said = self.run_in_folder(self.environment / "bin" / "syncline", "--version")
        self.assertIn(syncline.__version__, said)
        self.uninstall()

    def uninstall(self):
        """Nothing is left."""
        self.pip("uninstall", "-y", "syncline")
        self.assertEqual(self.installed(), self.before)

    def test_wheel(self):
        """What CMake's target `wheel` builds; the same build gives the same bytes."""
        made = []
        for name in ("first", "second"):
            (self.folder / name).mkdir()
            self.run_in_folder(sys.executable, PACKAGE / "backend.py", self.folder / name)
            made += (self.folder / name).iterdir()
        self.assertRegex(made[0].name, r"^syncline-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
        self.assertEqual(made[0].read_bytes(), made[1].read_bytes())
        self.pip("install", "--no-index", made[0])
        self.use()

    def test_tree(self):
        """`pip install` of the sources."""
        self.pip("install", "--no-index", PACKAGE)
        self.use()

    def test_one_string_trains_by_a_plan(self):
        """The sample's script with another backend alone: a run is recorded, then planned with a
        message a bucket; any other message would end the run."""
        python = self.environment / "bin" / "python"
        try:
            site = virtual.site_of("wheel", torch_plugin.python())
        except virtual.Missing as missing:
            self.skipTest(str(missing))
        (virtual.site_of("wheel", python) / "torch.pth").write_text(f"{site}\n")
        script = self.folder / "pytorch" / "train.py"
        script.parent.mkdir()
        (self.folder / "data").symlink_to(harness.TOP / "samples" / "data")
        text = (harness.TOP / "samples" / "pytorch" / "train.py").read_text()
        self.assertEqual(text.count('"gloo"'), 1)
        script.write_text(text.replace('"gloo"', '"cpu:syncline"'))
        self.pip("install", "--no-index", PACKAGE)
        self.assertGreater(self.right(python, script, SYNCLINE_RECORD="net.csv"), 90)
        words = ("--cluster", "laptop", "--planner", "wfbp", "-o", "net.plan")
        self.run_in_folder(self.environment / "bin" / "syncline", "compile", "net.csv", *words)
        planned = {"SYNCLINE_PLAN": "net.plan", "SYNCLINE_STRICT": "1"}
        self.assertGreater(self.right(python, script, **planned), 90)
        self.uninstall()

    def right(self, python, script, **variables):
        """How many images two ranks recognise, in percent."""
        said = self.run_in_folder(
            *(python, "-W", "ignore", "-m", "torch.distributed.run", "--nproc-per-node", 2),
            *("--master-port", harness.free_port(), script),
            **variables,
            GLOO_SOCKET_IFNAME="lo",
            OMP_NUM_THREADS="1",
        )
        return float(re.search(r"right: ([\d.]+) %", said).group(1))


if __name__ == "__main__":
    unittest.main()
