"""One measurement of each side: Syncline's run of a plan, PyTorch's step of the same model."""

import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
SYNCLINE = str(BUILD / "bin" / "syncline")
PYTHON = "/usr/bin/python3"
WARM_UP = 2
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

CLUSTER = """\
name: bench
ranks: {ranks}
device: {{compute: {compute} GFLOP/s, memory: {memory} GB/s}}
network: {{bandwidth: {bandwidth}, latency: 100 us}}
"""
PROCESSOR = {"compute": 80, "memory": 10}  # roughly what one of them reaches; hosts share them
SERVERS = "servers: {{count: {count}, dedicated: yes, bandwidth: {bandwidth}}}\n"


@dataclasses.dataclass
class Sample:
    seconds: float  # a step, the median
    peak: int  # bytes resident at most, of the largest process
    mean: float = 0  # seconds of a step, where all of them were kept


def run(command):
    """Runs `command`; its output and the peak resident bytes of it and its children."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)}: exit code {child.returncode}")
    return output, usage.ru_maxrss * 1024


@contextlib.contextmanager
def busy_loops(count):
    """So many processes that compute while the block runs, on whatever processor is free."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def model_file(folder, name):
    """A network by the name that export.py takes, exported where it is not there yet."""
    model = folder / f"{name.replace(':', '-')}.onnx"
    if not model.exists():
        export = TOP / "samples" / "models" / "export.py"
        run([PYTHON, str(export), name, "-o", str(model)])
    return model


def calibrate(folder, ranks, label, wrap, seconds):
    """The cluster file that `syncline calibrate` writes on the hosts of `wrap`."""
    cluster = folder / f"{ranks}-{label}.yaml"
    if not cluster.exists():
        run([*wrap, SYNCLINE, "calibrate", "--quiet", "--time", f"{seconds}s", "-o", str(cluster)])
    return cluster


def profile(folder, name, batch, ranks):
    """Times of a model's operations while `ranks` ranks compute side by side, pinned as
    on hosts."""
    out = folder / f"{name.replace(':', '-')}-{batch}-{ranks}.json"
    if not out.exists():
        words = ["--batch", str(batch), "-n", str(ranks), "--pin", "-o", str(out)]
        run([SYNCLINE, "profile", str(model_file(folder, name)), *words])
    return out


def compile_measured(folder, name, batch, cluster, times, planner, extra=()):
    """A plan by a cluster file and a profile that were measured; its folder and predicted step."""
    label = "".join((planner, *extra)).replace(":", "")
    plan = folder / f"{times.stem}-{cluster.stem}-{label}.plan"
    if "--overlap" not in extra:  # the default would compare planners under different overlaps
        extra = ("--overlap", "backward", *extra)
    words = [
        "--cluster",
        str(cluster),
        "--profile",
        str(times),
        "--batch",
        str(batch),
        "--planner",
        planner,
        *extra,
    ]
    run([SYNCLINE, "compile", "--quiet", str(model_file(folder, name)), *words, "-o", str(plan)])
    return plan, json.loads((plan / "plan.json").read_text())["predicted"]["step"]


def make_plan(folder, name, batch, ranks, bandwidth, servers="", extra=()):
    """Exports and compiles a network for a cluster of `ranks`, and `servers` as a cluster
    file says it; the plan's folder."""
    model = model_file(folder, name)
    label = f"{model.stem}-{batch}-{ranks}-{bandwidth.replace('/', '').replace(' ', '')}"
    label += "".join(extra).replace("/", "") + ("-servers" if servers else "")
    cluster, plan = folder / f"{label}.yaml", folder / f"{label}.plan"
    share = min(1, os.cpu_count() / ranks)
    device = {key: round(share * rate, 1) for key, rate in PROCESSOR.items()}
    cluster.write_text(CLUSTER.format(ranks=ranks, bandwidth=bandwidth, **device) + servers)
    words = ["--cluster", str(cluster), "--batch", str(batch), "--loss", "cross-entropy", *extra]
    words += [] if "--overlap" in extra else ["--overlap", "backward"]
    run([SYNCLINE, "compile", "--quiet", str(model), *words, "-o", str(plan)])
    return plan


def ours(plan, steps, wrap, extra=()):
    """A Sample of `syncline run` on synthetic data, started through `wrap`. The run has one step
    more, which does not count: behind it messages are waited for that otherwise reach into the
    next step."""
    words = f"--steps {WARM_UP + steps + 1} --lr 0.001 --momentum 0.9 --log json".split()
    output, peak = run([*wrap, SYNCLINE, "run", str(plan), *words, *extra])
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    times = [line["seconds"] for line in lines if "step" in line]
    times = times[WARM_UP:-1]
    return Sample(statistics.median(times), peak, statistics.mean(times))


def theirs(name, batch, steps, wrap, python=PYTHON, ways=()):
    """A Sample of PyTorch's step by the interpreter `python`; torch_step.py has the ways."""
    words = [python, str(HERE / "torch_step.py"), name, str(batch), str(steps), *ways]
    output, peak = run([*wrap, *words])
    said = json.loads(output.splitlines()[-1])
    return Sample(said["seconds"], peak)


def blas():
    """The file behind the system's BLAS, which PyTorch's linear layers run on."""
    found = "/etc/alternatives/libblas.so.3-x86_64-linux-gnu"
    return os.path.realpath(found) if os.path.exists(found) else "unknown BLAS"


def machine(python=PYTHON):
    with open("/proc/cpuinfo") as text:
        names = [line.split(":")[1].strip() for line in text if line.startswith("model name")]
    version = subprocess.run(
        [python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True
    ).stdout.strip()
    return (
        f"{len(names)} x {names[0]}; PyTorch {version}, one thread a rank, BLAS {blas()}\n"
        "ratio: Syncline / PyTorch; below 1 Syncline is faster or smaller"
    )
