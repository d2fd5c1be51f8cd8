"""Tests do not depend on what stands around the run: a few that have are run again with everything
around them that a script, a launcher or a user may have set."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import harness
from waiting import PATIENCE

FOLDERS = [str(harness.TOP / name) for name in ("tests/support", "samples/models", "tests/e2e")]
SETTLED = f"""
import sys
sys.path[:0] = {FOLDERS!r}
import surroundings
surroundings.settle()
import unittest
unittest.main(None, argv=["tests", *sys.argv[1:]], verbosity=2)
"""
VARIABLES = {
    "RANK": "1",
    "WORLD_SIZE": "7",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "7",
    "GROUP_RANK": "0",
    "MASTER_ADDR": "192.0.2.1",
    "MASTER_PORT": "1",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "7",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "7",
    "OMPI_MCA_btl": "nothing",
    "PMIX_RANK": "1",
    "PMI_RANK": "1",
    "PMI_SIZE": "7",
    "MPIR_CVAR_DEBUG_HOLD": "1",
    "SLURM_PROCID": "1",
    "SLURM_NTASKS": "7",
    "SLURM_LOCALID": "1",
    "SLURM_JOB_ID": "11",
    "SLURM_JOB_NODELIST": "nowhere[1-7]",
    "GLOO_SOCKET_IFNAME": "none0",
    "NCCL_ALGO": "Tree",
    "OMP_NUM_THREADS": "3",
    "OMP_PROC_BIND": "true",
    "PYTHONPATH": "/nowhere",
    "PYTHONOPTIMIZE": "2",
    "PYTHONHASHSEED": "1",
    "PYTHONWARNINGS": "error",
    "CXX": "no-such-compiler",
    "COLUMNS": "20",
    "DISPLAY": "nowhere:7",
    "LANG": "C",
    "LC_ALL": "C",
    "SYNCLINE_FILL_NAN": "1",
    "SYNCLINE_CPU_BACKEND": "/nowhere",
    "SYNCLINE_LISTENER": "9",
    "SYNCLINE_MACHINE_RANK": "3",
    "SYNCLINE_JOB": "another",
    "JOB_COMPLETION_INDEX": "1",
    "PET_NNODES": "7",
}
# Ranks of the command and of mpirun, signals, folders, compilers and Python programs.
TESTS = (
    "test_checkpoint.CheckpointTest.test_signal_saves",
    "test_interruption.CompilerTest.test_interrupted",
    "test_launchers.LaunchersTest.test_mpirun",
    "test_plan_folder.PlanFolderTest.test_what_a_killed_compile_leaves",
    "test_text.TextTest",
    "test_z3.Z3Test.test_interruption",
)


def worsen():
    """In the child: what a shell's background process without a terminal may have."""
    os.setsid()
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
    os.close(0)


class SurroundingsTest(unittest.TestCase):
    def test_all_at_once(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        temporary = folder / "a folder of files"
        temporary.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", SETTLED, *TESTS],
            env={**os.environ, **VARIABLES, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            preexec_fn=worsen,
            restore_signals=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        self.assertRegex(done.stdout, r"\nRan [1-9]\d* tests in ")


if __name__ == "__main__":
    unittest.main()
