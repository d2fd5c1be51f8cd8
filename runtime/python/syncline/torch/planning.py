"""Plans for a PyTorch model: from its ONNX file, or from a recording of its steps."""

import dataclasses
from typing import List, Optional

import syncline
from syncline.errors import Error, InternalError
from syncline.torch import export, files, hooks, layers

RECORDED = 3  # steps
WAYS = ("auto", "export", "recording")
# Options of compile: a recording takes the first ones; its measured times contain the second.
TAKEN = {"backend", "channels", "nodes", "overlap", "planner", "quiet", "scheme", "wire"}
CONTAINED = {"classes_in", "like", "loss", "optimizer", "plan_only", "precision"}


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
    with files.scratch() as folder:
        check_options(folder, cluster, options)
        why_not = None
        if way != "recording":
            try:
                return by_export(folder, model, sample, cluster, output, options)
            except (export.NotExported, InternalError) as failure:
                if way == "export":
                    raise
                why_not = files.without(folder, str(failure))
        return by_recording(folder, model, sample, cluster, output, options, why_not)


def check_options(folder, cluster, options):
    """Refuses a wrong option or cluster before anything is run: the command reads them before it
    reads the model, which is empty here."""
    empty = folder / "empty.onnx"
    empty.touch()
    given = {"plan_only": True, **options}
    try:
        syncline.compile(empty, cluster=cluster, output=folder / "empty.plan", **given)
    except Error as failure:
        if str(empty) not in str(failure):
            raise


def by_export(folder, model, sample, cluster, output, options):
    """Raises NotExported where something is wrong with the file, not with options or output."""
    # The plan has the file's name.
    file = folder / f"{type(model).__name__}.onnx"
    listed = folder / "parameters.txt"
    listed.write_text(export.write(model, sample, file), encoding="utf-8")
    export.check_reached(model, file, options.get("loss", ""), options.get("loss_on"))
    options = {"plan_only": True, "parameters": listed, **options}
    try:
        made = syncline.compile(file, cluster=cluster, output=output, **options)
    except Error as failure:
        if type(failure) is not Error or str(file) not in str(failure):
            raise
        raise export.NotExported(str(failure)) from failure
    return Planned(made.plan, noted(folder, made), "export", None)


def noted(folder, made):
    return [files.without(folder, note) for note in made.notes]


def by_recording(folder, model, sample, cluster, output, options, why_not):
    because = f" (why its ONNX file was not planned: {why_not})" if why_not else ""
    batch = options.pop("batch", None)
    if batch not in (None, hooks.batch_of(sample)):
        raise Error(
            f"'batch': expected {hooks.batch_of(sample)} as the sample's for a recording, got"
            f" {batch}{because}"
        )
    if not options.get("plan_only", True):
        raise Error(f"'plan_only': a recording cannot be run, expected True, got False{because}")
    unknown = sorted(name for name in options if name not in TAKEN | CONTAINED)
    if unknown:
        raise Error(f"'{unknown[0]}': a recording does not take this option{because}")
    times = hooks.times(model, sample, steps=RECORDED)
    file = folder / f"{type(model).__name__}.csv"
    file.write_text(layers.text(rows_of(model, times)), encoding="utf-8")
    taken = {name: value for name, value in options.items() if name in TAKEN}
    made = syncline.compile(file, cluster=cluster, output=output, **taken)
    found = [*noted(folder, made), *notes(model, times, options)]
    return Planned(made.plan, found, "recording", why_not)


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
