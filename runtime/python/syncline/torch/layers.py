"""A model's steps as a layer trace, from which `compile` plans without a file of the model."""

import csv
import io


def module_of(parameter):
    """The path of the module that has the parameter."""
    return parameter.rpartition(".")[0]


def caller_of(module, modules):
    """The module itself where it is among `modules`, those that were called, or else the next one
    around it: attention computes with its projection's parameters without calling it."""
    while module and module not in modules:
        module = module_of(module)
    return module


def rows(times, bytes_of):
    """(name, bytes, forward, backward) of each parameter with a gradient, in forward order: the
    other way round than their gradients exist. A module's forward pass needs all of its parameters,
    so the last one of them has its time."""
    order = list(reversed(times.parameters))
    last = {
        caller_of(module_of(name), times.modules): place for place, name in enumerate(order)
    }
    forward, place = [0.0] * len(order), 0
    for module, seconds in times.modules.items():
        # A module may have no row: its parameters are shared, and named after another module. Its
        # time then goes to the row of the module that was called before it.
        place = last.get(module, place)
        forward[place] += seconds
    forward[place] += times.loss
    return [
        (name, bytes_of[name], forward[place], times.parameters[name])
        for place, name in enumerate(order)
    ]


def text(rows):
    """The rows as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "bytes", "forward", "backward"])
    for name, size, *seconds in rows:
        writer.writerow([name, f"{size}B", *(f"{max(each, 0.0) * 1e9:.0f}ns" for each in seconds)])
    return out.getvalue()
