"""Slurm on this machine alone, for tests: its daemons on loopback, with all their files in
one folder."""

import ctypes
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile

import harness
from waiting import PATIENCE, until

DAEMONS = {"munged", "slurmctld", "slurmd"}
PROGRAMS = {*DAEMONS, "srun", "sbatch", "scancel", "sinfo"}
SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class SlurmMissing(Exception):
    """Says what this machine lacks."""


def user():
    """By the process's number: variables may name somebody else."""
    return pwd.getpwuid(os.geteuid()).pw_name


def end_with_parent():
    """In a child: nobody leaves a daemon behind, whatever becomes of the test."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Slurm:
    """A context: inside it, `environment` lets srun find the daemons, which have `processors` to
    give. Raises SlurmMissing where they are not installed or do not start."""

    def __init__(self, processors):
        # Slurm takes no blanks in paths, and names of sockets are short: not below $TMPDIR.
        self.temporary = tempfile.TemporaryDirectory(dir="/tmp")
        self.folder = pathlib.Path(self.temporary.name)
        self.processors = processors
        self.daemons = []
        self.path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        missing = sorted(name for name in PROGRAMS if not self.find(name))
        if missing:
            raise SlurmMissing(f"{', '.join(missing)}: not installed")
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        self.temporary.cleanup()

    def find(self, program):
        return shutil.which(program, path=self.path)

    def start(self):
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        (self.folder / "spool").mkdir()
        (self.folder / "slurm.conf").write_text(
            SETTINGS.format(
                host=socket.gethostname().split(".")[0],
                user=user(),
                controller=harness.free_port(),
                node=harness.free_port(),
                folder=self.folder,
                processors=self.processors,
            )
        )
        files = {
            "key-file": "key",
            "socket": "socket",
            "pid-file": "pid",
            "log-file": "log",
            "seed-file": "seed",
        }
        options = [f"--{option}={self.folder}/munge.{end}" for option, end in files.items()]
        self.launch("munged", "--foreground", "--force", *options)
        self.await_that((self.folder / "munge.socket").exists)
        self.launch("slurmctld", "-D")
        self.launch("slurmd", "-D", "-N", "localhost")
        self.await_that(lambda: self.ask("sinfo", "--noheader", "--format=%T") == "idle")

    def launch(self, daemon, *options):
        with open(self.folder / f"{daemon}.output", "w") as output:
            self.daemons.append(
                subprocess.Popen(
                    [self.find(daemon), *options],
                    env={**os.environ, **self.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    preexec_fn=end_with_parent,
                )
            )

    def ask(self, *words):
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        return done.stdout.strip()

    def await_that(self, condition):
        """A daemon that ends while it starts cannot run on this machine."""

        def is_decided():
            return any(daemon.poll() is not None for daemon in self.daemons) or condition()

        until(is_decided, "Slurm starts")
        ended = [d.args[0] for d in self.daemons if d.poll() is not None]
        if ended:
            logs = [path.read_text()[-300:] for path in self.folder.glob("*.output")]
            raise SlurmMissing("Slurm does not start here: " + " ".join([*ended, *logs]))

    def stop(self):
        """Jobs first: what runs a job is no child of slurmd's."""
        if len(self.daemons) == len(DAEMONS):
            self.ask("scancel", "--user", user())
            until(lambda: not self.ask("squeue", "--noheader"), "Slurm ends its jobs")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(PATIENCE)
        self.daemons = []
