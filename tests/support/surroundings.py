"""What tests start from, whatever stands around the run: signals, standard files, the mask of new
files' permissions, and environment variables."""

import os
import re
import signal
import sys

# Variables that begin with one of these are meant for somebody else's ranks, or change what
# libraries, Python, shells and our programs do.
PREFIXES = (
    *("OMPI_", "OPAL_", "PRTE_", "PMIX_", "PMI_", "MPI", "I_MPI_", "MV2_", "HYDRA_", "HYDI_"),
    *("SLURM", "SRUN_", "SALLOC_", "SBATCH_", "PBS_", "LSB_", "FLUX_"),
    *("TORCHELASTIC_", "TORCH_", "PET_", "LOCAL_", "GROUP_", "ROLE_", "MASTER_"),
    *("NCCL_", "GLOO_", "UCX_", "FI_"),
    *("OMP_", "GOMP_", "KMP_", "MKL_", "BLIS_"),
    *("PYTHON", "LC_", "BASH_FUNC_", "MPL"),
    *("SYNCLINE_HOST_", "SYNCLINE_NCCL_", "SYNCLINE_FILL_", "SYNCLINE_FORK_"),
)
NAMES = {
    *("RANK", "WORLD_SIZE", "JOB_COMPLETION_INDEX", "LANG", "LANGUAGE", "DISPLAY"),
    # Not OPENBLAS_CORETYPE, without which an old OpenBLAS computes wrong values on some processors.
    *("OPENBLAS_NUM_THREADS", "OPENBLAS_VERBOSE"),
    *("WAYLAND_DISPLAY", "XAUTHORITY", "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE"),
    *("BASH_ENV", "ENV", "CDPATH", "POSIXLY_CORRECT", "GREP_OPTIONS", "MAKEFLAGS", "DESTDIR"),
    *("CXX", "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GIT_DIR", "GIT_WORK_TREE"),
    *("GIT_INDEX_FILE", "SYNCLINE_CUDA_BACKEND", "SYNCLINE_CPU_BACKEND"),
    *("SYNCLINE_MACHINE_RANK", "SYNCLINE_LISTENER", "SYNCLINE_COMMAND", "SYNCLINE_JOB"),
}
# Nothing is written into the source tree.
SET = {"LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
PLAIN = re.compile(r"[\w/.+-]*")
# Nobody can set these, and Python itself ignores those, but gives them back to its children.
UNTOUCHABLE = {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}


def clean(environment):
    """The variables that tests get of these."""
    kept = {
        name: value
        for name, value in environment.items()
        if name not in NAMES and not name.startswith(PREFIXES)
    }
    # Launchers, and what plays nvcc, take no blanks in paths.
    if not PLAIN.fullmatch(kept.get("TMPDIR", "/")):
        del kept["TMPDIR"]
    return {**kept, **SET}


def settled(is_long=False):
    """Gives this process what tests start from, and so the processes that it starts. Returns the
    variables for them, which ask for the long run or do not."""
    open_standard_files()
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # A script's background process ignores SIGINT and SIGQUIT, and so would its children.
    for number in signal.valid_signals() - UNTOUCHABLE:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = {name: value for name, value in clean(os.environ).items() if name != "SYNCLINE_LONG"}
    return {**kept, "SYNCLINE_LONG": "1"} if is_long else kept


def settle():
    """As `settled`, for a process that runs tests itself. Where a variable has to change, the
    process begins again, since Python has read some already."""
    wanted = settled(bool(os.environ.get("SYNCLINE_LONG")))
    if wanted != dict(os.environ) or None in (sys.stdout, sys.stderr):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], wanted)


def open_standard_files():
    """Nothing is read from a terminal, and no file that a test opens becomes standard output."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
