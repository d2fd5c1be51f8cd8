"""Four ranks started by Open MPI, MPICH, Intel MPI, Slurm, torchrun and as an indexed Job's pods:
they learn what `-n 4` does, and save the same bits. A killed one is named."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import current_pytorch
import depth
import harness
import virtual
from processes import descendants
from slurm import Slurm, SlurmMissing
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = ",".join(str(harness.TOP / "samples" / "data" / f"digits-train-{name}.npy") for name in "xy")
RANKS = 4
# As root, and with more ranks than processors.
OPEN_MPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS)]
MPICH = ["mpirun.mpich", "-n", str(RANKS)]
STARTERS = ("OMPI_", "PMI", "PET_", "SLURM_", "TORCHELASTIC_", "MASTER_", "LOCAL_", "SYNCLINE_JOB")
VARIABLES = {"RANK", "WORLD_SIZE", "GROUP_RANK", "JOB_COMPLETION_INDEX", "GLOO_SOCKET_IFNAME"}
INTEL_MPI = ("impi-rt==2021.18.1",)


def losses(output):
    """As they were printed, one a step: every digit counts."""
    steps = [line for line in output.splitlines() if line.startswith('{"step"')]
    return [json.loads(line, parse_float=str)["loss"] for line in steps]


def runs(process):
    """Whether it does; one that has ended may be listed until somebody asks for its exit code."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class LaunchersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plan = harness.compile_plan(DIGITS, folder, ranks=RANKS, batch=16)
        cls.saved = folder / "saved.onnx"
        local = folder / "local.onnx"
        cls.expected = losses(harness.syncline(*cls.words("-n", RANKS, "--save", local)[1:]))
        cls.weights = local.read_bytes()

    @classmethod
    def words(cls, *extra, steps=5):
        command = [harness.SYNCLINE, "run", cls.plan, "--data", DATA, "--shuffle", "--steps", steps]
        return [str(word) for word in (*command, "--lr", 0.05, "--log", "json", *extra)]

    def start(self, launcher, words, environment=None):
        """What the launcher starts knows of no other launcher."""
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(STARTERS) and k not in VARIABLES
        }
        process = subprocess.Popen(
            [*launcher, *words],
            env={**kept, "OMP_NUM_THREADS": "1", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        running = process.poll() is None
        for number in (process.pid, *descendants(process.pid)) if running else ():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
        process.stdout.close()
        process.stderr.close()

    def trains(self, launcher, environment=None, more=()):
        """It learns what local ranks learn, and saves the same bits."""
        words = self.words("--save", self.saved, *more)
        self.learns([self.start(launcher, words, environment)])

    def learns(self, processes):
        self.addCleanup(self.saved.unlink, missing_ok=True)
        done = [(*process.communicate(timeout=PATIENCE), process) for process in processes]
        for _, errors, process in done:
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(len(self.expected), 5)
        self.assertEqual(losses(done[0][0]), self.expected, done[0][1])
        self.assertEqual(self.saved.read_bytes(), self.weights)

    def pods(self, address, port, ranks=range(RANKS), job="digits"):
        """An indexed Job's pods, by the variable that Kubernetes gives each."""
        for rank in ranks:
            variables = {"JOB_COMPLETION_INDEX": str(rank), "SYNCLINE_JOB": job}
            meeting = {"MASTER_ADDR": address, "MASTER_PORT": str(port)}
            words = self.words("--save", self.saved, "--start-timeout", PATIENCE)
            yield self.start([], words, {**variables, **meeting})

    def test_pinned(self):
        """With `--pin` every local rank has as many processors as it has threads, in turn."""
        for threads in (1, 2):
            self.is_pinned(threads)

    def is_pinned(self, threads):
        usable = sorted(os.sched_getaffinity(0))
        words = ("-n", RANKS, "--pin", "--threads", threads)
        process = self.start([], self.words(*words, steps=10_000_000))
        self.addCleanup(self.end, process)
        self.assertTrue(process.stdout.readline(), "no step was done")
        allowed = {}
        for number in descendants(process.pid):
            environment = pathlib.Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
            rank = [int(word[5:]) for word in environment if word.startswith(b"RANK=")]
            running = [int(thread) for thread in os.listdir(f"/proc/{number}/task")]
            for own in rank:
                allowed[own] = {tuple(sorted(os.sched_getaffinity(each))) for each in running}
        expected = {}
        for rank in range(RANKS):
            places = range(rank * threads, (rank + 1) * threads)
            expected[rank] = {tuple(sorted({usable[place % len(usable)] for place in places}))}
        self.assertEqual(allowed, expected)
        self.end(process)

    def test_threads(self):
        """Ranks with fewer processors than threads, and an ignored OMP_NUM_THREADS, are named."""
        one = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
        ignored = (
            "'OMP_NUM_THREADS=3' is ignored: '--threads' says how many threads compute in each "
            "rank, 1 by default"
        )
        lacking = (
            "'--threads 2' is more than the 1 processor that ranks 0, 1, 2, 3 may use: threads "
            "wait for each other"
        )
        for threads, said in ((1, ignored), (2, lacking)):
            words = self.words("-n", RANKS, "--threads", threads, steps=1)
            _, errors = self.start(one, words, {"OMP_NUM_THREADS": "3"}).communicate()
            self.assertIn(f"syncline-run: {said}\n", errors)

    def test_typed_ranks(self):
        """They meet at MASTER_PORT; a port that is taken is an error at once."""
        port = harness.free_port()
        meeting, ranks = {"MASTER_PORT": str(port)}, ("--ranks", RANKS, "--save", self.saved)
        started = [
            self.start([], self.words("--rank", rank, *ranks), meeting) for rank in range(RANKS)
        ]
        self.learns(started)
        with socket.create_server(("127.0.0.1", port)):
            done = self.start([], self.words("--rank", 0, "--ranks", RANKS), meeting)
            _, errors = done.communicate(timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            errors,
            f"syncline-run: error: cannot listen on port {port}: Address already in use\n",
        )

    @unittest.skipUnless(shutil.which(OPEN_MPI[0]), "Open MPI is not installed")
    def test_mpirun(self):
        self.trains(OPEN_MPI, {"MASTER_PORT": str(harness.free_port())})

    @unittest.skipUnless(shutil.which(MPICH[0]), "MPICH is not installed")
    def test_mpich(self):
        self.trains(MPICH, {"MASTER_PORT": str(harness.free_port())})

    @depth.long("MPICH, which sets the same variables")
    def test_intel_mpi(self):
        try:
            root = virtual.environment("intel-mpi", INTEL_MPI).parent.parent
        except virtual.Missing as missing:
            self.skipTest(str(missing))
        own = {"I_MPI_ROOT": str(root), "LD_LIBRARY_PATH": str(root / "lib")}
        port = {"MASTER_PORT": str(harness.free_port())}
        self.trains([str(root / "bin" / "mpirun"), "-n", str(RANKS)], {**own, **port})

    def test_indexed_job(self):
        """Pods of a Kubernetes Job, which say neither how many they are nor where they meet."""
        self.learns(list(self.pods("localhost", harness.free_port())))

    def test_rank_of_another_job(self):
        """It is refused with both jobs' names, and the job that it came to trains on."""
        port = harness.free_port()
        first, second, third = self.pods("127.0.0.1", port, range(3))
        (stray,) = self.pods("127.0.0.1", port, [3], job="other")
        _, errors = stray.communicate(timeout=PATIENCE)
        self.assertEqual(stray.returncode, 1)
        self.assertEqual(
            errors,
            "syncline-run: error: rank 3 belongs to 'other', rank 0 to 'digits'\n",
        )
        (last,) = self.pods("127.0.0.1", port, [3])
        self.learns([first, second, third, last])

    @unittest.skipUnless(shutil.which(MPICH[0]), "MPICH is not installed")
    def test_contradiction(self):
        """Variables that a script left from another launcher are named, by every rank."""
        process = self.start(MPICH, self.words(), {"RANK": "1", "WORLD_SIZE": "2"})
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(
            "'RANK=1' of 'WORLD_SIZE=2' (torchrun) contradicts 'PMI_RANK=0' of 'PMI_SIZE=4' (MPICH "
            "or Intel MPI): unset the variables",
            output + errors,
        )

    def test_option_of_another_rank(self):
        """A file that one rank only loads, or only another than rank 0 writes, is named."""
        for option, message in (
            ("--load", "their file of '--load': rank 1 '[0-9a-f]+', ranks 0, 2, 3 'none'"),
            ("--save", "rank 1 was given '--save', but rank 0, which writes the file, was not"),
        ):
            meeting = {"MASTER_PORT": str(harness.free_port())}
            model = self.plan / "model.onnx" if option == "--load" else self.saved
            more = ("--ranks", RANKS)
            given = {1: (option, model)}
            ranks = [
                self.start([], self.words("--rank", rank, *more, *given.get(rank, ())), meeting)
                for rank in range(RANKS)
            ]
            for process in ranks:
                _, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 1)
                self.assertRegex(errors, message)

    def test_interface(self):
        """One that this host lacks is named with the variable, beside those that it has."""
        variables = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1"}
        port = {"MASTER_PORT": str(harness.free_port()), "GLOO_SOCKET_IFNAME": "^lo"}
        ranks = [
            self.start([], self.words(), {"RANK": str(rank), **variables, **port})
            for rank in range(RANKS)
        ]
        for process in ranks:
            _, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 1)
            self.assertRegex(
                errors,
                "'GLOO_SOCKET_IFNAME': expected a network interface with an address "
                r"\(.*'lo'.*\), got '\^lo'",
            )

    @unittest.skipUnless(shutil.which(OPEN_MPI[0]), "Open MPI is not installed")
    def test_killed_rank_under_mpirun(self):
        """mpirun ends with an error, the rank is named, and no rank stays behind."""
        process = self.start(
            OPEN_MPI, self.words(steps=10_000_000), {"MASTER_PORT": str(harness.free_port())}
        )
        self.assertTrue(process.stdout.readline(), "no step was done")
        ranks = {
            rank: number for number in descendants(process.pid) if (rank := self.mpi_rank(number))
        }
        self.assertEqual(len(ranks), RANKS, ranks)
        os.kill(ranks["2"], signal.SIGKILL)
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("rank 2", errors + output)
        self.assertEqual([number for number in ranks.values() if runs(number)], [])

    def mpi_rank(self, process):
        """Which rank a process is; nothing for one that is none, such as a shell."""
        try:
            name = os.readlink(f"/proc/{process}/exe")
            variables = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except OSError:
            return None
        found = [
            v.partition(b"=")[2].decode()
            for v in variables
            if v.startswith(b"OMPI_COMM_WORLD_RANK=")
        ]
        return found[0] if found and "syncline" in name else None

    def test_srun(self):
        try:
            with Slurm(RANKS) as slurm:
                port = {"MASTER_PORT": str(harness.free_port())}
                self.trains(["srun", "-n", str(RANKS)], {**slurm.environment, **port})
                self.trains_in_script(slurm)
        except SlurmMissing as missing:
            self.skipTest(str(missing))

    def trains_in_script(self, slurm):
        """A batch script is task 0 of its job by its variables, but no rank: `-n` starts four."""
        self.saved.unlink(missing_ok=True)
        log = slurm.folder / "script.output"
        command = shlex.join(self.words("-n", RANKS, "--save", self.saved))
        words = ["sbatch", "--wait", "--ntasks", str(RANKS), "--output", str(log), "--wrap"]
        _, errors = self.start(words, [command], slurm.environment).communicate(timeout=PATIENCE)
        self.assertEqual(losses(log.read_text()), self.expected, errors)
        self.assertEqual(self.saved.read_bytes(), self.weights)

    def test_torchrun(self):
        """Its agent holds the port that it announces; behind `--` all words are the program's."""
        try:
            command = current_pytorch.torchrun()
        except virtual.Missing as missing:
            self.skipTest(str(missing))
        port = str(harness.free_port())
        options = ["--nproc-per-node", str(RANKS), "--master-port", port, "--no-python", "--"]
        self.trains([*command, *options])


if __name__ == "__main__":
    unittest.main()
