"""Compiles the plans of a check and what they are compared with, into a folder; prepare.sh
calls it.

prepare.py OUT [--small]
"""

import argparse
import dataclasses
import json
import math
import pathlib
import os
import shutil
import subprocess
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / name) for name in ("numerics", "support")] + [
    str(TOP / "samples" / "models")
]

import cases  # noqa: E402
import export  # noqa: E402
import harness  # noqa: E402
import light  # noqa: E402
import truth  # noqa: E402
import values  # noqa: E402

SEEDS = 24
LEFT_OUT = f"float32 PyTorch misses the limit itself on {SEEDS} seeds"
ROUNDINGS = 4  # PyTorch's own, and three neighbours of the values
DIGITS = TOP / "samples" / "models" / "digits-cnn.onnx"


def say(text):
    print(f"prepare: {text}", flush=True)


def ranges(model, case):
    """Between which values every parameter is drawn: normalisations' and convolutions' biases as
    the case says, all others with the deviation that PyTorch's initialisation has. Those without an
    entry start equal.
    """
    found = {}
    for prefix, module in model.named_modules():
        for name, parameter in module.named_parameters(prefix, recurse=False):
            bound = math.sqrt(3) * float(parameter.detach().std()) if parameter.numel() > 1 else 0
            if isinstance(module, torch.nn.BatchNorm2d):
                between = case.scale if name.endswith("weight") else case.shift
            elif isinstance(module, torch.nn.Conv2d) and parameter.dim() == 1 and case.shift:
                between = case.shift
            else:
                between = (-bound, bound) if bound else ()
            if between:
                found[name] = tuple(float("%.4g" % value) for value in between)
    return found


class Preparation:
    def __init__(self, out):
        self.out = out
        for name in ("plans", "scripts", "references", "models"):
            (out / name).mkdir(parents=True)
        self.manifest = {"numbers": [], "whole": [], "speed": {}}

    def model(self, name, size, case):
        """The ONNX file, with initial distributions in place of values, and the TorchScript file of
        a model."""
        path, script = (
            self.out / "models" / f"{name}-{size}.onnx",
            self.out / "scripts" / f"{name}.pt",
        )
        if not path.exists():
            built = export.build(name)
            export.write(built, torch.zeros(2, 3, size, size), path)
            light.strip(path, set(built.state_dict()), ranges(built, case))
            if not script.exists():
                save_script(built, size, script)
        return path, script

    def plan(self, label, model, ranks, batch, bandwidth=cases.FAST, extra=(), backend="cuda"):
        cluster = self.out / "models" / f"{label}.yaml"
        cluster.write_text(cases.CLUSTER.format(ranks=ranks, bandwidth=bandwidth))
        plan = self.out / "plans" / f"{label}.plan"
        words = (
            "--cluster",
            cluster,
            "--batch",
            batch,
            "--loss",
            "cross-entropy",
            "--backend",
            backend,
        )
        overlap = () if "--overlap" in extra else ("--overlap", "backward")
        harness.syncline("compile", model, *words, *overlap, "-o", plan, *extra)
        harness.syncline("verify", plan)
        say(f"compiled {label}")
        return plan

    def relative(self, *words, **how):
        """The path of a plan beside the manifest."""
        return str(self.plan(*words, **how).relative_to(self.out))

    def numbers(self, case):
        path, script = self.model(case.model, case.size, case)
        for ranks, start in zip(case.ranks, case.seeds):
            label = f"{case.model}-{ranks}"
            plan = self.plan(label, path, ranks, case.batch)
            found = choose(case, plan, script, ranks, start)
            if not found:
                shutil.rmtree(plan)
                self.manifest["numbers"].append(
                    {"name": label, "ranks": ranks, "left_out": LEFT_OUT}
                )
                say(f"{label}: left out: {LEFT_OUT}")
                continue
            seed, reference, own = found
            file = self.out / "references" / f"{label}.json"
            file.write_text(json.dumps(sketches(reference)))
            say(f"{label}: seed {seed}, float32 PyTorch on this processor {own:.1e}")
            files = {"plan": plan, "script": script, "reference": file}
            modes = {
                precision: self.relative(
                    *(f"{label}-{precision}", path, ranks, case.batch),
                    extra=("--precision", precision),
                )
                for precision in ("tf32", "bf16")
                if case.modes and ranks == 1
            }
            self.manifest["numbers"].append(
                {
                    "name": label,
                    "ranks": ranks,
                    "batch": case.batch,
                    "size": case.size,
                    "seed": seed,
                    "modes": modes,
                }
                | {key: str(value.relative_to(self.out)) for key, value in files.items()}
            )

    def whole(self, case):
        """Plans for one rank with all samples, and for several with their part."""
        path, script = DIGITS, None
        if case.model != "digits":
            path, script = self.model(
                case.model, case.shape[-1], cases.Case(case.model, case.batch, case.shape[-1])
            )
        for ranks in case.ranks:
            label = f"{case.name}-{ranks}"
            many = self.plan(label, path, ranks, case.batch, extra=case.extra)
            one = self.plan(f"{label}-in-one", path, 1, case.batch * ranks)
            seed = choose_whole(case, one, script, ranks) if script else 7
            wires = {
                wire: self.relative(
                    *(f"{label}-{wire}", path, ranks, case.batch),
                    extra=(*case.extra, "--wire", wire),
                )
                for wire in ("bf16", "fp16")
                if not self.manifest["whole"]  # others are not compared by wire
            }
            self.manifest["whole"].append(
                {"name": label, "ranks": ranks, "seed": seed, "samples": case.batch * ranks}
                | {
                    "shape": case.shape,
                    "classes": case.classes,
                    "gradients": "reduce-scatter" not in str(case.extra),
                    "wires": wires,
                }
                | {"one": str(one.relative_to(self.out)), "many": str(many.relative_to(self.out))}
            )

    def speed(self, case):
        path, script = self.model(
            case.model, case.size, cases.Case(case.model, case.batch, case.size)
        )
        for bandwidth in (case.bandwidth, cases.SLOW):
            plan = self.plan(
                *(f"speed-{case.name}", path, case.ranks, case.batch, bandwidth),
                extra=(*case.extra, "--precision", "tf32"),
            )
            schemes = {bucket["scheme"] for bucket in harness.plan_json(plan)["buckets"]}
            if not case.wants or case.wants in schemes:
                break
        else:
            raise SystemExit(
                f"prepare: {case.name}: expected a bucket by '{case.wants}', got {sorted(schemes)}"
            )
        plans = {"tf32": plan}
        if case.ranks == 1 and case is not cases.TOO_LARGE:
            plans["bf16"] = self.plan(
                *(f"speed-{case.name}-bf16", path, 1, case.batch, bandwidth),
                extra=(*case.extra, "--precision", "bf16"),
            )
        self.manifest["speed"][case.name] = dataclasses.asdict(case) | {
            "plan": str(plan.relative_to(self.out)),
            "plans": {key: str(each.relative_to(self.out)) for key, each in plans.items()},
            "script": str(script.relative_to(self.out)),
            "schemes": sorted(schemes),
        }

    def digits(self):
        """Plans of the smallest model: one rank's, two ranks', and one that no GPU can run."""
        self.manifest["digits"] = "plans/digits.plan"
        self.manifest["digits-two"] = "plans/digits-two.plan"
        self.manifest["processor"] = "plans/processor.plan"
        self.plan("digits", DIGITS, 1, 4)
        self.plan("digits-two", DIGITS, 2, 4)
        self.plan("processor", DIGITS, 1, 4, backend="cpu")


def save_script(model, size, path):
    """TorchScript without values: every parameter is one zero, seen many times."""
    script = torch.jit.trace(model, torch.zeros(2, 3, size, size), check_trace=False)
    for _, parameter in script.named_parameters():
        parameter.data = torch.zeros(1).expand(parameter.shape)
    script.save(str(path))


def choose(case, plan, script, ranks, start):
    """The first seed on which float32 PyTorch, in several roundings, stays away from the limit, the
    truth on it, and the worst error of PyTorch; None where there is none."""
    for seed in range(start, start + SEEDS):
        data = values.samples(ranks * case.batch, (3, case.size, case.size), cases.CLASSES, seed)
        reference = truth.train(truth.load(script, plan, seed), data, ranks)
        worst = 0.0
        for rounding in range(ROUNDINGS):
            other = truth.train(truth.load(script, plan, seed, rounding), data, ranks, double=False)
            worst = max(
                worst,
                truth.errors(other.losses, other.gradients, other.parameters, reference)["error"],
            )
            if not worst <= cases.LIMIT / case.margin:
                break
        else:
            return seed, reference, worst
    return None


def choose_whole(case, plan, script, ranks):
    """The first seed on which float32 PyTorch, whole and in shards, agrees with float64 to a third
    of the limit."""
    for seed in range(SEEDS):
        data = values.samples(ranks * case.batch, case.shape, case.classes, seed)
        reference = truth.train(truth.load(script, plan, seed), data, 1)
        others = [
            truth.train(truth.load(script, plan, seed), data, shards, double=False)
            for shards in (1, ranks)
        ]
        worst = max(
            truth.errors(o.losses, o.gradients, o.parameters, reference)["error"] for o in others
        )
        if worst <= cases.SAME / 3:
            return seed
    raise SystemExit(
        f"prepare: {case.name}: float32 PyTorch misses the limit itself on {SEEDS} seeds"
    )


def sketches(trace):
    def of(tensors):
        return {name: values.sketch(array, name).tolist() for name, array in tensors.items()}

    return {
        "losses": trace.losses,
        "gradients": of(trace.gradients),
        "parameters": of(trace.parameters),
    }


def versions():
    """What check.sh has to know of this machine: its nvcc, for steps hold code that needs its
    runtime library."""
    name = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    compiler = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=TOP, capture_output=True, text=True
    ).stdout.strip()
    return {"commit": commit, "nvcc": compiler, "torch": torch.__version__}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument(
        "--small", action="store_true", help="only what libraries on the host can run"
    )
    chosen = parser.parse_args(words)
    torch.set_num_threads(1)
    preparation = Preparation(chosen.out)
    preparation.digits()
    for case in cases.NUMBERS:
        if case.small or not chosen.small:
            preparation.numbers(case)
    for case in cases.WHOLE:
        if case.model == "digits" or not chosen.small:
            preparation.whole(case)
    for case in cases.SMALL_SPEED if chosen.small else (*cases.SPEED, cases.TOO_LARGE):
        preparation.speed(case)
    preparation.manifest["versions"] = versions()
    (chosen.out / "manifest.json").write_text(json.dumps(preparation.manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
