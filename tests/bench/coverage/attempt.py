"""One drawn model from its export to its gradients; prints one line of JSON.

    attempt.py NAME FOLDER [--default]     --default: as PyTorch exports by itself, in training mode
"""

import copy
import json
import pathlib
import subprocess
import sys
import warnings

import numpy
import onnx
import torch

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[2]
sys.path += [str(TOP / "tests" / part) for part in ("bench", "numerics", "support")]

import compare  # noqa: E402
import errors  # noqa: E402
import harness  # noqa: E402
import make  # noqa: E402
import reference  # noqa: E402


def exported(model, inputs, path, default):
    """Writes the file, with an open batch where that can be exported; whether the batch is open."""
    samples = tuple(torch.from_numpy(array) for array in inputs.values())
    how = {"dynamo": True, "input_names": list(inputs), "output_names": ["output"]}
    how |= {"optimize": default, "verbose": False, "external_data": False}
    batches = tuple({0: torch.export.Dim("batch")} for _ in samples)
    for shapes in ((batches,), None):  # of `*inputs`, one argument
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                own = copy.deepcopy(model).train(default)
                torch.onnx.export(own, samples, str(path), dynamic_shapes=shapes, **how)
            return shapes is not None
        except Exception as error:  # noqa: BLE001: the exporter raises whatever it likes
            failure = error
    raise failure


class Double(torch.overrides.TorchFunctionMode):
    """Float64 where a model asks for float32, as many do for a softmax or a norm, or for nothing:
    truth in float64 would otherwise be rounded as what it judges."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.float:
            function = torch.Tensor.double
        args = [torch.float64 if value is torch.float32 else value for value in args]
        kwargs = {
            name: torch.float64 if value is torch.float32 else value
            for name, value in (kwargs or {}).items()
        }
        return function(*args, **kwargs)

    def __enter__(self):
        torch.set_default_dtype(torch.float64)
        return super().__enter__()

    def __exit__(self, *error):
        torch.set_default_dtype(torch.float32)
        return super().__exit__(*error)


def truth_of(model, data, shards):
    with Double():
        return reference.train(model, data, 1, shards=shards)


def listed(model, path):
    """Names the parameters, which a file cannot tell from other tensors that was exported by
    default."""
    file = path.with_suffix(".txt")
    trained = (pair for pair in model.named_parameters() if pair[1].requires_grad)
    file.write_text("".join(f"{name} {tuple(p.shape)}\n" for name, p in trained))
    return ["--parameters", file]


def lacking(model, plan):
    """Says how many bytes of gradients the plan lacks; "" where it has them all."""
    said = json.loads((plan / "plan.json").read_text())
    planned = sum(bucket["bytes"] for bucket in said["buckets"])
    wanted = sum(4 * p.numel() for p in model.parameters() if p.requires_grad)
    return "" if planned == wanted else f"planned {planned} of {wanted} B; "


def frozen(model, path):
    """Flags for parameters of the file that the model does not train."""
    names = {tensor.name for tensor in onnx.load(str(path)).graph.initializer}
    still = (name for name, p in model.named_parameters() if not p.requires_grad)
    return [word for name in still if name in names for word in ("--freeze", name)]


def compiled(path, folder, ranks, extra=()):
    """The plan, or the message by which the file is refused."""
    cluster = folder / f"cluster{ranks}.yaml"
    cluster.write_text(harness.CLUSTER.format(ranks=ranks))
    plan = folder / f"{ranks}.plan"
    words = ("--cluster", cluster, "--batch", make.BATCH, "-o", plan, "--dropout", "off", *extra)
    done = subprocess.run(
        [str(harness.SYNCLINE), "compile", *map(str, (path, *words))],
        capture_output=True,
        text=True,
        env=harness.environment(),
    )
    refusal = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["killed"])[-1]
    return plan, refusal.replace(str(path), "model.onnx")


def file_names(model, ours):
    """The file's name of each parameter of the model; a tied one may have its other name."""
    names = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if not parameter.requires_grad:
            continue
        names.setdefault(parameter, []).append(name)
    chosen = (next((name for name in same if name in ours), same[0]) for same in names.values())
    return {same[0]: name for same, name in zip(names.values(), chosen)}


def compared(model, data, plan, folder, ranks):
    """The worst tensor by the ratio of our error to that of PyTorch in float32."""
    dump = harness.train(plan, folder, data, ranks=ranks, steps=1, dump=(0,))
    ours = dump.gradients(0)
    single = reference.train(model, data, 1, shards=ranks, double=False)
    truth = truth_of(model, data, ranks)
    names = file_names(model, ours.names())
    missing = sorted(set(names.values()) - ours.names())
    found = {key: ours[name] for key, name in names.items() if name not in missing}
    kept = {key: truth.gradients[key] for key in found if key in truth.gradients}
    tensors = list(errors.errors(found, single.gradients, kept))
    below = [t for t in tensors if max(t.ours, t.theirs) <= errors.TURNED]
    worst = max(below or tensors, key=lambda tensor: tensor.ratio)
    loss = abs(dump.loss(0) - truth.losses[0]) / max(abs(truth.losses[0]), 1e-12)
    return {
        "ratio": round(worst.ratio, 2),
        "tensor": worst.name,
        "ours": worst.ours,
        "theirs": worst.theirs,
        "turned": len(tensors) - len(below),
        "missing": missing,
        "loss": loss,
    }


def leave_out_unused(model, data):
    """Parameters that the output does not depend on have no gradient."""
    own = copy.deepcopy(model).train()
    outputs = own(*map(torch.from_numpy, data[0].values()))
    outputs.float().sum().backward()
    unused = {name for name, parameter in own.named_parameters() if parameter.grad is None}
    for name, parameter in model.named_parameters():
        if name in unused:
            parameter.requires_grad_(False)


def data_of(model, inputs, batch):
    """Inputs and labels of `batch` samples: classes of the output's last or second dimension."""
    values = inputs(batch, 1)
    with torch.no_grad():
        shape = copy.deepcopy(model).eval()(*map(torch.from_numpy, inputs(2, 1).values())).shape
    random = numpy.random.RandomState(2)
    if len(shape) == 3:  # a text's words have their classes last
        return values, random.randint(0, shape[2], (batch, shape[1]))
    return values, random.randint(0, shape[1], (batch, *shape[2:]))


def attempt(model, inputs, path, is_open, default):
    nodes = onnx.load(str(path), load_external_data=False).graph.node
    said = {"batch": "open" if is_open else "fixed"}
    said["operators"] = sorted({node.op_type for node in nodes})
    folder = path.parent
    extra = listed(model, path) if default else frozen(model, path)
    # Listed parameters must all be planned; what else a default export does, one rank shows.
    plans = {ranks: compiled(path, folder, ranks, extra) for ranks in ((1,) if default else (1, 2))}
    refusal = next((why for _, why in plans.values() if why), "")
    if refusal:
        plan, planless = compiled(path, folder, 4, ("--plan-only", *extra))
        why = planless or lacking(model, plan) + refusal
        return {**said, "outcome": "refused" if planless else "planned", "why": why}
    for ranks, (plan, _) in plans.items():
        data = data_of(model, inputs, ranks * make.BATCH)
        said[f"ranks{ranks}"] = compared(model, data, plan, folder, ranks)
    return {**said, "outcome": "trained", "why": lacking(model, plans[1][0])}


def main():
    name, path = sys.argv[1], pathlib.Path(sys.argv[2]) / "model.onnx"
    torch.set_num_threads(1)
    outcome = "not exported"
    try:
        model, inputs = make.make(name)
        default = "--default" in sys.argv
        is_open = exported(model, inputs(make.BATCH, 0), path, default)
        leave_out_unused(model, data_of(model, inputs, make.BATCH))  # which PyTorch may refuse
        outcome = "failed"
        said = attempt(model, inputs, path, is_open, default)
    except Exception as error:  # noqa: BLE001: the libraries raise whatever they like
        said = {"outcome": outcome, "why": f"{type(error).__name__}: {error}"[-300:]}
    print(json.dumps({"name": name, **said}))


if __name__ == "__main__":
    main()
