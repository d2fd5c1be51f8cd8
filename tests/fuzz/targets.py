"""The thirteen targets: what is changed, and by which commands it is then read.

A target is a function of a Case. `case.run` calls a command and judges how it ended, `case.must`
also demands that it succeeds; both say whether it did.
"""

import hashlib
import json
import random
import shutil

import numpy

import mutate
import seeds

COMPILE = ("--batch", "8", "--loss", "cross-entropy")
RUN = ("-n", "1", "--steps", "2", "--timeout", "5", "--start-timeout", "8")


def onnx_model(case):
    if case.rng.random() < 0.7:
        changed = mutate.onnx_graph(case.rng, case.seeds.model).SerializeToString()
    else:
        changed = mutate.data(case.rng, seeds.DIGITS.read_bytes())
    compile_and_verify(
        case, case.write("m.onnx", changed), *COMPILE, cluster=case.seeds.folder / "four.yaml"
    )


def layer_trace(case):
    trace = case.write("layers.csv", mutate.data(case.rng, case.seeds.data("layers.csv")))
    cluster = case.write("c.yaml", case.rng.choice(case.seeds.clusters))
    compile_and_verify(case, trace, cluster=cluster)


def cluster_file(case):
    cluster = case.write("c.yaml", mutate.data(case.rng, case.rng.choice(case.seeds.clusters)))
    compile_and_verify(case, case.seeds.folder / "layers.csv", cluster=cluster)


def nccl_topology(case):
    topology = case.write("t.xml", mutate.data(case.rng, seeds.TOPOLOGY.read_bytes()))
    words = ("cluster", "--from-nccl-topology", topology, "--nodes", "2", "--device", "a100")
    import_cluster(case, *words, "--network", "infiniband-hdr")


def host_file(case):
    hosts = case.write("hosts", mutate.data(case.rng, seeds.HOSTS.encode()))
    import_cluster(
        case, "cluster", "--from-hostfile", hosts, "--device", "v100", "--network", "ethernet-10g"
    )


def profile(case):
    changed = case.write("p.json", json_input(case, "profile.json"))
    compile_and_verify(
        case,
        seeds.DIGITS,
        *COMPILE,
        "--profile",
        changed,
        cluster=case.seeds.folder / "cluster.yaml",
    )


def run_trace(case):
    trace = case.write("t.json", json_input(case, "trace.json"))
    case.run("profile", "--from-trace", trace, "-o", "p.json", made="p.json")
    case.run("inspect", case.seeds.folder / "one.plan", "--measured", trace)


def torch_trace(case):
    names = ["torch.json", "map.json"]
    changed = case.rng.choice(names)
    trace, events = (
        case.write(name, json_input(case, name) if name == changed else case.seeds.data(name))
        for name in names
    )
    case.run("profile", "--from-trace", trace, "--map", events, "-o", "p.json", made="p.json")


def plan_text(case):
    """plan.json or plan.mlir, mostly with hashes that fit again."""
    plan = copy_plan(case, "four.plan")
    if case.rng.random() < 0.5:
        (plan / "plan.json").write_bytes(json_input(case, "four.plan/plan.json"))
    else:
        (plan / "plan.mlir").write_bytes(
            mutate.data(case.rng, case.seeds.data("four.plan/plan.mlir"), MLIR_WORDS)
        )
    if case.rng.random() < 0.85:
        rehash(plan)
    other = case.seeds.folder / "four.plan"
    reads = [
        *(
            ("inspect", plan),
            ("inspect", plan, "--members"),
            ("inspect", plan, "--diff", other),
            ("simulate", plan),
        ),
        *(
            ("inspect", plan, "--why", "fc.weight"),
            ("simulate", plan, "--sweep", "bandwidth=1Gb/s..10Gb/s"),
        ),
    ]
    case.run("verify", plan)
    case.run(*case.rng.choice(reads))


def plan_files(case):
    """What `run` reads of a plan: plan.json, weights.bin, model.onnx, with hashes that
    fit again."""
    plan = copy_plan(case, "one.plan")
    name = case.rng.choice(("plan.json", "plan.json", "weights.bin", "model.onnx"))
    source = f"one.plan/{name}"
    changed = (
        json_input(case, source)
        if name == "plan.json"
        else mutate.data(case.rng, case.seeds.data(source))
    )
    (plan / name).write_bytes(changed)
    rehash(plan)
    case.run("run", plan, *RUN, "--save", "s.onnx", "--dump", "d", "--dump-steps", "1")


def npy_data(case):
    names = ["x.npy", "y.npy"]
    changed = case.rng.choice(names)
    files = [
        case.write(n, npy_input(case, n) if n == changed else case.seeds.data(n)) for n in names
    ]
    read_data(case, ",".join(map(str, files)))


def csv_data(case):
    names = ["x.csv", "y.csv"]
    changed = case.rng.choice(names)
    files = [
        case.write(
            n, mutate.data(case.rng, case.seeds.data(n)) if n == changed else case.seeds.data(n)
        )
        for n in names
    ]
    read_data(case, ",".join(map(str, files)))


def image_data(case):
    """One image of a folder, changed; the others are good. Contents tell the format."""
    changed = case.rng.choice(("image.png", "palette.png", "image.jpg", "progressive.jpg"))
    for label in ("cat", "dog"):
        (case.folder / "images" / label).mkdir(parents=True)
        for i in range(4):
            name = case.folder / "images" / label / f"{i}.png"
            shutil.copy(case.seeds.folder / "image.png", name)
    made = mutate.data(case.rng, case.seeds.data(changed))
    (case.folder / "images" / "cat" / "0.png").write_bytes(made)
    read_data(case, case.folder / "images")


TARGETS = {
    f.__name__: f
    for f in (
        *(
            onnx_model,
            layer_trace,
            cluster_file,
            nccl_topology,
            host_file,
            profile,
            run_trace,
            torch_trace,
        ),
        *(plan_text, plan_files, npy_data, csv_data, image_data),
    )
}
MLIR_WORDS = mutate.WORDS + [
    "[" * 300,
    "%0",
    "%999",
    "f32",
    "memref<8xf32>",
    "i64",
    "dense<0>",
    "#sync.x",
    "!plan.x",
    "unit",
    "true",
]


def compile_and_verify(case, source, *words, cluster):
    """What compiles must verify."""
    if case.run("compile", source, "--cluster", cluster, *words, "-o", "o.plan", made="o.plan"):
        case.must("verify", "o.plan")


def import_cluster(case, *words):
    """A cluster file that was written must be one that compiles."""
    if case.run(*words, "-o", "c.yaml", made="c.yaml"):
        case.must(
            "compile", case.seeds.folder / "layers.csv", "--cluster", "c.yaml", "-o", "o.plan"
        )


def json_input(case, name):
    """A changed JSON file: its tree (mostly), or its bytes."""
    if case.rng.random() < 0.3:
        return mutate.data(case.rng, case.seeds.data(name))
    return json.dumps(mutate.tree(case.rng, case.seeds.document(name))).encode(
        "utf-8", "surrogatepass"
    )


def npy_input(case, name):
    """A changed .npy file: its bytes, or another array altogether."""
    if case.rng.random() < 0.7:
        return mutate.data(case.rng, case.seeds.data(name))
    shapes = ((0,), (1,), (32,), (32, 1), (32, 1, 8, 8), (32, 64), (8, 1, 8, 8), (32, 2, 8, 8), ())
    types = ("<f4", ">f4", "<f8", "u1", "<i8", "<i4", "?", "<c8", "S3", "<f2", "<U2")
    made = numpy.zeros(case.rng.choice(shapes), case.rng.choice(types))
    if case.rng.random() < 0.5:
        made = numpy.asfortranarray(made)
    numpy.save(case.folder / "made.npy", made)
    return (case.folder / "made.npy").read_bytes()


def read_data(case, data):
    evaluate = ("--eval", data) if case.rng.random() < 0.5 else ()
    case.run("run", case.seeds.folder / "one.plan", *RUN, "--data", data, *evaluate)


def copy_plan(case, name):
    plan = case.folder / "p.plan"
    shutil.copytree(case.seeds.folder / name, plan)
    return plan


def rehash(plan):
    """Makes the hashes of a plan folder fit its files again, where plan.json still has any."""
    path = plan / "plan.json"
    try:
        document = json.loads(path.read_bytes())
        for name in document["hashes"]["files"]:
            document["hashes"]["files"][name] = hashlib.sha256(
                (plan / name).read_bytes()
            ).hexdigest()
        document["hashes"]["plan"] = ""
        compact = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        document["hashes"]["plan"] = hashlib.sha256(compact.encode()).hexdigest()
        path.write_text(json.dumps(document, indent=2))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        pass  # no plan.json with hashes any more: it stays as it is


def rng_of(seed, target, number):
    """Each input has a generator of its own, so that one can be made again alone."""
    return random.Random(f"{seed}/{target}/{number}")
