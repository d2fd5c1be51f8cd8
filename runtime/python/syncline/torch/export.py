"""A model as an ONNX file, whose parameters have their names in named_parameters()."""

import contextlib
import hashlib
import importlib.util
import inspect
import io
import logging
import warnings

import torch

from syncline.errors import Error
from syncline.torch import hooks, nodes

MOST_INLINE = 2**31 - 2**20  # bytes; protobuf reads no larger file
LARGEST_OPSET = 17  # of the TorchScript exporter that Syncline was tested with


class NotExported(Error):
    """The model has no file of its own: str() says why."""


def has_current():
    """Whether this PyTorch has the current exporter, torch.export's, and what it needs."""
    known = inspect.signature(torch.onnx.export).parameters
    return "optimize" in known and importlib.util.find_spec("onnxscript") is not None


def write(model, sample, path):
    """Exports the model in training mode, with the sample's batch, by the current exporter where
    `onnxscript` is there, else by TorchScript's. Raises NotExported."""
    if importlib.util.find_spec("onnx") is None:
        raise NotExported("expected the package 'onnx', got none")
    positional, named = hooks.arguments(sample)
    with hooks.kept(model), quiet():
        try:
            if has_current():
                by_current(model, positional, named, path)
            else:
                by_torchscript(model, positional, named, path)
        except Exception as failure:  # PyTorch's exporters raise of every kind
            raise NotExported(f"PyTorch cannot export it: {hooks.refusal(failure)}") from failure
    return settle(model, path)


@contextlib.contextmanager
def quiet():
    """Without the exporter's warnings, logs and graphs: an exception says what is wrong."""
    before = logging.root.manager.disable
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(before)


def by_current(model, positional, named, path):
    """Its optimizer renames parameters and folds normalizations away, so it stays off."""
    torch.onnx.export(
        model,
        positional,
        str(path),
        kwargs=named or None,
        external_data=size_of(model) > MOST_INLINE,
        dynamo=True,
        optimize=False,
        verbose=False,
    )


def by_torchscript(model, positional, named, path):
    known = inspect.signature(torch.onnx.export).parameters
    torch.onnx.export(
        model,
        # A dict at the end has the arguments by name.
        (*positional, named),
        str(path),
        opset_version=LARGEST_OPSET,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        keep_initializers_as_inputs=False,
        **({"dynamo": False} if "dynamo" in known else {}),
    )


def size_of(model):
    return sum(each.numel() * each.element_size() for each in hooks.tensors(model.state_dict()))


def settle(model, path):
    """Gives the file's tensors their parameters' names. Returns the lines of a parameter list:
    names and shapes in the file. Raises NotExported where a name is not found."""
    import onnx

    proto = onnx.load(str(path))
    names = renamings(model, proto.graph.initializer)
    if names:
        rename(proto.graph, names)
        outside = {}
        if size_of(model) > MOST_INLINE:
            outside = {"save_as_external_data": True, "location": f"{path.name}.data"}
        onnx.save(proto, str(path), **outside)
    shapes = {each.name: tuple(each.dims) for each in proto.graph.initializer}
    return "".join(f"{name} {shapes[name]}\n" for name in hooks.trained(model))


def check_reached(model, path, loss="", loss_on=None):
    """Raises NotExported where a parameter would be left out of the file's plan, since the outputs
    that the loss is on do not depend on it. `loss` and `loss_on` are those of compile, which by
    default takes the first output."""
    graph = nodes.Graph(path)
    outputs = graph.outputs[:1]
    if str(loss).startswith("output:"):
        outputs = [str(loss).partition(":")[2]]
    elif loss_on:
        outputs = [each.partition("=")[0] for each in str(loss_on).split(",")]
    if not set(outputs) <= set(graph.outputs):
        return  # compile says which ones there are
    reached = graph.needed(outputs)
    left_out = [name for name in hooks.trained(model) if name not in reached]
    if left_out:
        raise NotExported(
            f"it has the outputs {quoted(graph.outputs)}, and {quoted(outputs)}, on which the loss"
            f" would be, not depend on {quoted(left_out)}"
        )


def digest(data):
    return hashlib.sha256(data).hexdigest()


def bytes_of(tensor):
    """A tensor's values in the order of its elements, also of types that NumPy does not have."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()


def renamings(model, initializers):
    """New names of the file's tensors, by their names there. A shared parameter has one name."""
    import onnx

    parameters = dict(model.named_parameters())
    first = {id(each): name for name, each in parameters.items()}
    every = model.named_parameters(remove_duplicate=False)
    aliases = {name: first[id(each)] for name, each in every if name != first[id(each)]}
    present = {each.name for each in initializers}
    names = {name: aliases[name] for name in present & aliases.keys()}
    there = present | set(names.values())
    missing = [name for name in hooks.trained(model) if name not in there]
    if not missing:
        return names
    known = parameters.keys() | aliases.keys() | dict(model.named_buffers()).keys()
    others = {}  # names of unknown tensors, by shape and values
    for each in initializers:
        if each.name not in known:
            values = onnx.numpy_helper.to_array(each)
            key = (values.shape, digest(values.tobytes()))
            others.setdefault(key, []).append(each.name)
    return {**names, **by_values({name: parameters[name] for name in missing}, others)}


def by_values(missing, others):
    """Finds parameters by their values, or by those of the transpose."""
    names, wanted = {}, {}
    for name, parameter in missing.items():
        transpose = parameter.detach().permute(*reversed(range(parameter.dim())))
        forms = {(tuple(form.shape), digest(bytes_of(form))) for form in (parameter, transpose)}
        found = sorted({other for form in forms for other in others.get(form, [])})
        if not found:
            raise NotExported(f"its file has no tensor with the name or the values of '{name}'")
        wanted.setdefault(tuple(found), []).append(name)
        names[found[0]] = name
    for found, of in wanted.items():
        if len(found) > 1 or len(of) > 1:
            raise NotExported(
                f"its file has other names, and {quoted(found)} may each be {quoted(of, ' or ')}:"
                " they have the same values"
            )
    return names


def quoted(names, between=", "):
    return between.join(f"'{name}'" for name in names)


def rename(graph, names):
    """Renames values of the graph, in its nodes' graphs too. Of those that get one name the first
    one stays."""
    for field in ("initializer", "value_info", "input"):
        kept = {}
        for each in getattr(graph, field):
            each.name = names.get(each.name, each.name)
            kept.setdefault(each.name, type(each).FromString(each.SerializeToString()))
        graph.ClearField(field)
        getattr(graph, field).extend(kept.values())
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node or inner.initializer:
                    rename(inner, names)
