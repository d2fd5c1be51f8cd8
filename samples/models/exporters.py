"""How PyTorch's two exporters are called so that what they write can be trained."""

import copy
import importlib.util
import inspect
import pathlib
import warnings

import onnx
import torch

CURRENT_OPSET = 18  # the first that the current exporter writes
MOST_INLINE = 2**31 - 2**20  # bytes; protobuf reads no larger file


def has_current():
    """Whether this PyTorch has the current exporter, torch.export's, and what it needs."""
    known = inspect.signature(torch.onnx.export).parameters
    return "optimize" in known and importlib.util.find_spec("onnxscript") is not None


def write(model, sample, path, opset=17, dynamic=True):
    """Exports `model` as it trains, from opset 18 on by the current exporter. `sample` is an
    example input [batch, ...], a tuple of them, or a dict by the names of the model's arguments;
    other names are the inputs' in the file, in the order of the arguments. With `dynamic` the batch
    is a named dimension, otherwise the sample's; a dict has the names of further dimensions, as
    {1: "seq"}."""
    if isinstance(sample, torch.Tensor):
        sample = (sample,)
    if dynamic is not False:
        dynamic = {0: "batch", **(dynamic if isinstance(dynamic, dict) else {})}
    names = names_of(model, sample)
    if isinstance(sample, dict) and not set(sample) <= set(arguments_of(model)):
        sample = tuple(sample.values())
    # Exporting runs the model, which moves the running statistics: they are put back, here and in
    # the file. A copy of the whole dictionary, because MNASNet's version stands in its attributes.
    state = copy.deepcopy(model.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by = by_current if opset >= CURRENT_OPSET else by_torchscript
        by(model, sample, names, path, opset, dynamic)
    model.load_state_dict(state)
    outside = {}
    if size_of(model) > MOST_INLINE:
        outside = {"save_as_external_data": True, "location": f"{pathlib.Path(path).name}.data"}
    buffers = {name: value.numpy() for name, value in model.named_buffers()}
    put_back(path, buffers, untrained(model), **outside)


def size_of(model):
    """The bytes of its values."""
    tensors = (value for value in model.state_dict().values() if isinstance(value, torch.Tensor))
    return sum(value.numel() * value.element_size() for value in tensors)


def names_of(model, sample):
    """The inputs' names: a single one is 'input', others are named as the model's arguments."""
    if isinstance(sample, dict):
        return list(sample)
    if len(sample) == 1:
        return ["input"]
    return arguments_of(model)[: len(sample)]


def arguments_of(model):
    return list(inspect.signature(model.forward).parameters)


def by_torchscript(model, sample, names, path, opset, dynamic):
    axes = {name: dynamic for name in names} | {"output": {0: "batch"}} if dynamic else None
    # From PyTorch 2.9 on the default exporter is the other one.
    tracing = (
        {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    )
    torch.onnx.export(
        model,
        (sample,) if isinstance(sample, dict) else (*sample,),
        str(path),
        opset_version=opset,
        training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False,
        keep_initializers_as_inputs=False,
        input_names=names,
        output_names=["output"],
        dynamic_axes=axes,
        **tracing,
    )


def by_current(model, sample, names, path, opset, dynamic):
    """Its optimizer folds normalizations away and makes tensors without names, so it stays off."""
    by_name = isinstance(sample, dict)
    shapes = {name: dynamic for name in names} if by_name else (dynamic,) * len(sample)
    torch.onnx.export(
        model,
        () if by_name else sample,
        str(path),
        kwargs=sample if by_name else None,
        opset_version=opset,
        input_names=names,
        output_names=["output"],
        dynamic_shapes=shapes if dynamic else None,
        external_data=size_of(model) > MOST_INLINE,
        dynamo=True,
        optimize=False,
        verbose=False,
    )


def untrained(model):
    """The names of floating-point buffers that training leaves as they are: all but running
    statistics."""
    moving = torch.nn.modules.batchnorm._NormBase
    return {
        f"{prefix}.{name}" if prefix else name
        for prefix, module in model.named_modules()
        for name, buffer in module.named_buffers(recurse=False)
        if buffer.is_floating_point() and not isinstance(module, moving)
    }


def put_back(path, values, constants, **outside):
    """Gives the initialisers of the model at `path` these values, by name, and makes those among
    `constants` Constant nodes: Syncline trains floating-point initialisers. `outside` tells
    onnx.save where values go that the file cannot hold."""
    proto = onnx.load(str(path))
    graph = proto.graph
    moved = [initializer for initializer in graph.initializer if initializer.name in values]
    for initializer in moved:
        value = onnx.numpy_helper.from_array(values[initializer.name], initializer.name)
        initializer.CopyFrom(value)
    fixed = [
        onnx.helper.make_node("Constant", [], [initializer.name], value=initializer)
        for initializer in moved
        if initializer.name in constants
    ]
    kept = [initializer for initializer in graph.initializer if initializer.name not in constants]
    if not moved:
        return
    nodes = fixed + list(graph.node)
    for field, entries in (("initializer", kept), ("node", nodes)):
        entries = [type(entry).FromString(entry.SerializeToString()) for entry in entries]
        graph.ClearField(field)
        getattr(graph, field).extend(entries)
    onnx.save(proto, str(path), **outside)
