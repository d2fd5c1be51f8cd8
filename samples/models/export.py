#!/usr/bin/python3
"""Exports a PyTorch model to ONNX, ready to be trained: BatchNormalization stays a node of its own,
every parameter keeps PyTorch's name. The model is torchvision's, whose auxiliary heads and (unless
requested) dropout are gone, or what a function of yours returns.

    export.py resnet50                      resnet50.onnx, random weights, any batch size
    export.py net:cnn --input 3,32,32       cnn.onnx: what cnn() in ./net.py returns, and weights
    export.py gpt:characters                the same of samples/models/gpt.py, with its own input
    export.py vgg19 --light                 a few KB: shapes and initial distributions, no weights
    export.py googlenet --weights none --batch 8 --size 128 --opset 13 -o g.onnx
"""

import argparse
import copy
import importlib
import inspect
import pathlib
import re
import sys
import warnings

import onnx
import torch

import light

# Constructors with auxiliary classifiers, and the arguments that leave these out, and with them the
# slow initialisation.
WITHOUT_AUX = {
    "googlenet": {"aux_logits": False, "init_weights": False},
    "inception_v3": {"aux_logits": False, "init_weights": False},
}
SIZE = {"inception_v3": 299}


def build(name, seed=0, dropout=False, classes=1000):
    """The named torchvision model in training mode with seeded random weights."""
    import torchvision  # networks of one's own do without

    constructor = getattr(torchvision.models, name, None)
    if name.startswith("_") or not callable(constructor):
        raise SystemExit(f"export: torchvision has no model '{name}'")
    torch.manual_seed(seed)
    model = constructor(weights=None, num_classes=classes, **WITHOUT_AUX.get(name, {}))
    if not dropout:
        remove_dropout(model)
    return model.train()


def call(name):
    """The network that MODULE:FUNCTION returns, in training mode, and the example of its input that
    the function returns beside it, or None. MODULE may lie in the current folder."""
    module, function = name.split(":", 1)
    sys.path.insert(0, "")
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise SystemExit(f"export: {name}: {error}") from error
    made = make()
    model, sample = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(model, torch.nn.Module) or not isinstance(sample, torch.Tensor | None):
        got = f"({type(model).__name__}, {type(sample).__name__})" if made is not model else ""
        raise SystemExit(
            f"export: {name}: expected it to return a torch.nn.Module, or one and an example of "
            f"its input, got {got or type(made).__name__}"
        )
    return model.train(), sample


def remove_dropout(model):
    """Replaces every dropout by the identity, in place: no node of it is exported."""
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if isinstance(child, torch.nn.modules.dropout._DropoutNd):
                setattr(parent, name, torch.nn.Identity())
    for module in model.modules():
        if hasattr(module, "drop_rate"):  # DenseNet calls the functional form
            module.drop_rate = 0.0
        if type(module).__name__ == "StochasticDepth":  # EfficientNet leaves out whole blocks
            module.p = 0.0


def write(model, sample, path, opset=17, dynamic=True):
    """Exports `model` as it trains; `sample` is an example input [batch, ...], or several by name,
    in the order of the model's arguments. With `dynamic` the batch is a named dimension, otherwise
    the sample's."""
    samples = sample if isinstance(sample, dict) else {"input": sample}
    axes = {name: {0: "batch"} for name in (*samples, "output")} if dynamic else None
    # From PyTorch 2.9 on the default exporter is another, which knows no training mode.
    tracing = (
        {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    )
    # Exporting runs the model, which moves the running statistics: they are put back, here and in
    # the file. A copy of the whole dictionary, because MNASNet's version stands in its attributes.
    state = copy.deepcopy(model.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            tuple(samples.values()),
            str(path),
            opset_version=opset,
            training=torch.onnx.TrainingMode.TRAINING,
            do_constant_folding=False,
            keep_initializers_as_inputs=False,
            input_names=list(samples),
            output_names=["output"],
            dynamic_axes=axes,
            **tracing,
        )
    model.load_state_dict(state)
    put_back(path, {name: value.numpy() for name, value in model.named_buffers()}, untrained(model))


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


def put_back(path, values, constants):
    """Gives the initialisers of the model at `path` these values, by name, and makes those among
    `constants` Constant nodes: Syncline trains floating-point initialisers."""
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
    onnx.save(proto, str(path))


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "model",
        help="a name in torchvision.models, such as resnet50, or MODULE:FUNCTION, which returns a "
        "torch.nn.Module, or a pair of it and an example of its input",
    )
    parser.add_argument("-o", "--output", help="file to write (default: MODEL.onnx, FUNCTION.onnx)")
    parser.add_argument(
        "--input", metavar="SHAPE", help="of one sample, such as 3,32,32 (default: 3,SIZE,SIZE)"
    )
    parser.add_argument("--batch", type=int, help="fix the batch size (default: left open)")
    parser.add_argument("--size", type=int, help="image height and width in pixels (default: 224)")
    parser.add_argument("--classes", type=int, default=1000, help="outputs (default: 1000)")
    parser.add_argument(
        "--weights",
        choices=["random", "none"],
        default="random",
        help="random: PyTorch's initialisation from --seed; none: as --light (default: random)",
    )
    parser.add_argument(
        "--light", action="store_true", help="write initial distributions, no values"
    )
    parser.add_argument(
        "--dropout",
        action="store_true",
        help="keep torchvision's dropout; a function's is always kept",
    )
    parser.add_argument("--opset", type=int, default=17, help="ONNX opset, 9 to 17 (default: 17)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights (default: 0)")
    chosen = parser.parse_args(words)
    if chosen.input and not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", chosen.input):
        parser.error(f"--input: expected a shape such as 3,32,32, got '{chosen.input}'")
    if not 9 <= chosen.opset <= 17:
        parser.error("this PyTorch exports opsets 9 to 17")
    return chosen


def main(words):
    chosen = arguments(words)
    sample = None
    if ":" in chosen.model:
        torch.manual_seed(chosen.seed)
        model, sample = call(chosen.model)
    else:
        model = build(chosen.model, chosen.seed, chosen.dropout, chosen.classes)
    path = pathlib.Path(chosen.output or f"{chosen.model.split(':')[-1]}.onnx")
    if sample is None or chosen.input:
        size = chosen.size or SIZE.get(chosen.model, 224)
        shape = map(int, chosen.input.split(",")) if chosen.input else (3, size, size)
        sample = torch.zeros(2, *shape)
    if chosen.batch:
        sample = sample[:1].expand(chosen.batch, *sample.shape[1:])
    write(model, sample, path, chosen.opset, dynamic=chosen.batch is None)
    if chosen.light or chosen.weights == "none":
        light.strip(path, {name for name, _ in model.state_dict().items()})
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
