"""Which parameters of a model the members of a plan are. Knows nothing of PyTorch."""

import dataclasses

ROWS = ":rows"  # ends the name of an embedding's part of a tied table's gradient


class Mismatch(ValueError):
    """The plan is that of another model."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    bytes: int
    kind: str  # of its elements, such as "float32"

    def __str__(self):
        return f"{self.bytes} bytes of {self.kind}"


def plain(name):
    """The name without what DataParallel and torch.compile put into it."""
    parts = [part for part in name.split(".") if part != "_orig_mod"]
    while len(parts) > 1 and parts[0] == "module":
        del parts[0]
    return ".".join(parts)


def is_rows(member, members):
    """Whether a member travels with another one, of which it is the embedding's rows: PyTorch adds
    both up in one gradient."""
    return member.endswith(ROWS) and member[: -len(ROWS)] in members


def match(members, parameters, names):
    """{member: parameter} for a plan's members {name: bytes} and a model's trained parameters
    {name: Parameter}. `names` has all names of these, as {name: the one in `parameters`}. By name,
    else by a size that no other has. Raises Mismatch."""
    found = by_name(members, names)
    check_sizes(members, parameters, found)
    left = [member for member in members if member not in found]
    free = [name for name in parameters if name not in found.values()]
    for member in left:
        alike = [name for name in free if parameters[name].bytes == members[member]]
        rivals = [other for other in left if members[other] == members[member]]
        if len(alike) == 1 and len(rivals) == 1:
            found[member] = alike[0]
        elif alike:
            raise Mismatch(
                f"'{member}' of {members[member]} bytes is no parameter's name, and of this size"
                f" are {listed(alike)} of the model and {listed(rivals)} of the plan: expected one"
                " of each"
            )
    check_all(members, parameters, found)
    return found


def check(members, parameters, names):
    """Raises Mismatch where a plan's members {name: Parameter} are not the parameters, whichever is
    which: by name, else by size. A member may be several parameters, as one of a recording is."""
    sizes = {name: each.bytes for name, each in members.items()}
    found = by_name(members, names)
    check_sizes(sizes, parameters, found)
    for member, name in found.items():
        if parameters[name].kind != members[member].kind:
            raise Mismatch(
                f"parameter '{name}': expected {members[member]}, got {parameters[name]}"
            )
    free = {name: each for name, each in parameters.items() if name not in found.values()}
    for member in [name for name in members if name not in found]:
        alike = next((name for name in free if free[name] == members[member]), None)
        if alike:
            found[member] = alike
            del free[alike]
    left = [each for name, each in members.items() if name not in found]
    if len(left) < len(free) and totals(left) == totals(free.values()):
        return
    if left and not by_name(members, names):
        raise Mismatch(
            f"no member of the plan is a parameter by its name, and all have {told(members)}, the"
            f" model's gradients {told(parameters)}"
        )
    check_all(sizes, parameters, found)


def totals(parameters):
    """Bytes of each kind."""
    found = {}
    for each in parameters:
        found[each.kind] = found.get(each.kind, 0) + each.bytes
    return found


def told(parameters):
    sizes = totals(parameters.values())
    return ", ".join(f"{size} bytes of {kind}" for kind, size in sizes.items())


def named(model, trained):
    """All names of a model's trained parameters {name: tensor}, as match() wants them."""
    first = {id(each): name for name, each in trained.items()}
    every = model.named_parameters(remove_duplicate=False)
    return {name: first[id(each)] for name, each in every if id(each) in first}


def by_name(members, names):
    found, claimed = {}, {}
    plain_names = {}
    for name, parameter in names.items():
        plain_names.setdefault(plain(name), set()).add(parameter)
    for member in members:
        alike = {names[member]} if member in names else plain_names.get(plain(member), set())
        if len(alike) > 1:
            raise Mismatch(f"'{member}' may be {listed(sorted(alike))}: expected one parameter")
        for name in alike:
            if name in claimed:
                raise Mismatch(
                    f"{listed([claimed[name], member])} of the plan are both parameter '{name}':"
                    " expected a plan of the tied model"
                )
            found[member], claimed[name] = name, member
    return found


def check_sizes(members, parameters, found):
    for member, name in found.items():
        if parameters[name].bytes != members[member]:
            raise Mismatch(
                f"parameter '{name}': expected {members[member]} bytes, got {parameters[name]}"
            )


def check_all(members, parameters, found):
    """Raises for the first member or parameter without a counterpart."""
    for member, size in members.items():
        if member not in found:
            raise Mismatch(
                f"parameter '{member}': expected {size} bytes that are trained, got no parameter of"
                " this name or size"
            )
    for name, parameter in parameters.items():
        if name not in found.values():
            raise Mismatch(
                f"parameter '{name}': expected none, or one that is not trained, got {parameter}"
            )


def listed(names, most=4):
    """Names in a sentence."""
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
