"""Plans for a PyTorch model: from its ONNX file, or from a recording of its steps."""

import dataclasses
import tempfile
from pathlib import Path
from typing import List, Optional

import syncline
from syncline.errors import Error, UsageError
from syncline.torch import export, hooks, layers

RECORDED = 3  # steps
WAYS = ("auto", "export", "recording")
# Options of compile: a recording takes the first ones; its measured times contain the second.
TAKEN = {"backend", "channels", "nodes", "planner", "quiet", "scheme", "wire"}
CONTAINED = {"classes_in", "like", "loss", "loss_on", "optimizer", "plan_only", "precision"}


@dataclasses.dataclass(frozen=True)
class Planned:
    """A plan of a model, with the notes of `compile`. `way` is 'export' or 'recording'; `why_not`
    says of a recording why the model was not planned by its ONNX file."""

    plan: syncline.Plan
    notes: List[str]
    way: str
    why_not: Optional[str]


def plan(model, sample, cluster, output, way="auto", **options):
    """See syncline.torch.plan."""
    if way not in WAYS:
        raise Error(f"'way': expected 'auto', 'export' or 'recording', got {way!r}")
    parameters = hooks.trained(model)
    hooks.arguments(sample)
    if next(iter(parameters.values())).device.type == "cuda":
        options.setdefault("backend", "cuda")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        check_cluster(folder, cluster, options)
        why_not = None
        if way != "recording":
            try:
                return by_export(folder, model, sample, cluster, output, options)
            except UsageError:
                raise
            except Error as failure:
                if way == "export":
                    raise
                why_not = str(failure)
        return by_recording(folder, model, sample, cluster, output, options, why_not)


def check_cluster(folder, cluster, options):
    """Refuses what is wrong with the cluster before anything is run."""
    trace = folder / "one.csv"
    trace.write_text("name,bytes,forward,backward\none,4B,1us,1us\n", encoding="utf-8")
    chosen = {name: options[name] for name in ("backend", "nodes") if name in options}
    syncline.compile(trace, cluster=cluster, output=folder / "one.plan", **chosen)


def by_export(folder, model, sample, cluster, output, options):
    # The plan has the file's name.
    file = folder / f"{type(model).__name__}.onnx"
    listed = folder / "parameters.txt"
    listed.write_text(export.write(model, sample, file), encoding="utf-8")
    options = {"plan_only": True, "parameters": listed, **options}
    made = syncline.compile(file, cluster=cluster, output=output, **options)
    return Planned(made.plan, made.notes, "export", None)


def by_recording(folder, model, sample, cluster, output, options, why_not):
    because = f" (why its ONNX file was not planned: {why_not})" if why_not else ""
    batch = options.pop("batch", None)
    if batch not in (None, hooks.batch_of(sample)):
        raise Error(
            f"'batch': expected {hooks.batch_of(sample)} as the sample's for a recording, got"
            f" {batch}{because}"
        )
    unknown = sorted(name for name in options if name not in TAKEN | CONTAINED)
    if unknown:
        raise Error(f"'{unknown[0]}': a recording does not take this option{because}")
    times = hooks.times(model, sample, steps=RECORDED)
    file = folder / f"{type(model).__name__}.csv"
    file.write_text(layers.text(rows_of(model, times)), encoding="utf-8")
    taken = {name: value for name, value in options.items() if name in TAKEN}
    made = syncline.compile(file, cluster=cluster, output=output, **taken)
    return Planned(made.plan, [*made.notes, *notes(model, times, options)], "recording", why_not)


def rows_of(model, times):
    trained = hooks.trained(model).items()
    return layers.rows(times, {name: each.numel() * each.element_size() for name, each in trained})


def notes(model, times, options):
    """What the recording leaves out."""
    found = [
        f"'{name}' is left out: the recorded times are as the model runs"
        for name in sorted(CONTAINED & options.keys() - {"plan_only"})
    ]
    unused = [name for name in hooks.trained(model) if name not in times.parameters]
    if unused:
        found.append(f"parameters without a gradient are left out: {export.quoted(unused)}")
    return found
