#!/usr/bin/env python3
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
import importlib
import pathlib
import re
import sys

try:
    import torch

    import exporters
    import light
    from exporters import write
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"export: {sys.executable}: {missing}; expected a Python with PyTorch and onnx"
    ) from missing

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
    """The network that MODULE:FUNCTION returns, in training mode, and the example of its inputs
    that the function returns beside it, or None. MODULE may lie in the current folder."""
    module, function = name.split(":", 1)
    sys.path.insert(0, "")
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise SystemExit(f"export: {name}: {error}") from error
    made = make()
    model, sample = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(model, torch.nn.Module) or not is_example(sample):
        got = f"({type(model).__name__}, {type(sample).__name__})" if made is not model else ""
        raise SystemExit(
            f"export: {name}: expected it to return a torch.nn.Module, or one and an example of "
            "its inputs (a tensor, a tuple of tensors, or a dict of them by the names of the "
            f"module's arguments), got {got or type(made).__name__}"
        )
    return model.train(), sample


def is_example(sample):
    """Whether it is None, one tensor, a tuple of them, or a dict by name."""
    if sample is None or isinstance(sample, torch.Tensor):
        return True
    tensors = list(sample.values()) if isinstance(sample, dict) else sample
    return (
        isinstance(tensors, list | tuple)
        and len(tensors) > 0
        and all(isinstance(tensor, torch.Tensor) and tensor.dim() for tensor in tensors)
    )


def with_batch(sample, batch):
    """The example with that many samples, which its first one repeats."""
    if isinstance(sample, dict):
        return {name: with_batch(tensor, batch) for name, tensor in sample.items()}
    if isinstance(sample, tuple):
        return tuple(with_batch(tensor, batch) for tensor in sample)
    return sample[:1].expand(batch, *sample.shape[1:]).clone()


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


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "model",
        help="a name in torchvision.models, such as resnet50, or MODULE:FUNCTION, which returns a "
        "torch.nn.Module, or a pair of it and an example of its inputs: a tensor, a tuple of "
        "tensors, or a dict of them by the names of the module's arguments",
    )
    parser.add_argument("-o", "--output", help="file to write (default: MODEL.onnx, FUNCTION.onnx)")
    parser.add_argument(
        "--input", metavar="SHAPE", help="of one sample, such as 3,32,32 (default: 3,SIZE,SIZE)"
    )
    parser.add_argument("--batch", type=int, help="fix the batch size (default: left open)")
    parser.add_argument(
        "--open",
        metavar="D=NAME",
        action="append",
        default=[],
        help="leave dimension D of the inputs open by this name, as 1=seq; may be repeated",
    )
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
    parser.add_argument(
        "--opset",
        type=int,
        help="ONNX opset: 9 to 17 by PyTorch's TorchScript exporter, 18 to 23 by its current one "
        "(default: 18 where it has that one and onnxscript, otherwise 17)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the weights (default: 0)")
    chosen = parser.parse_args(words)
    if chosen.input and not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", chosen.input):
        parser.error(f"--input: expected a shape such as 3,32,32, got '{chosen.input}'")
    for text in chosen.open:
        if not re.fullmatch(r"[1-9]\d*=\w+", text):
            parser.error(f"--open: expected a dimension and its name such as 1=seq, got '{text}'")
    last = 23 if exporters.has_current() else 17
    if chosen.opset is None:
        chosen.opset = min(exporters.CURRENT_OPSET, last)
    if not 9 <= chosen.opset <= last:
        wanted = "; onnxscript and PyTorch 2.9 or later export 18 to 23" if last == 17 else ""
        parser.error(f"--opset: expected 9 to {last}, got {chosen.opset}{wanted}")
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
    if isinstance(sample, list):
        sample = tuple(sample)
    # A batch of one would be taken for a dimension that other tensors are broadcast to.
    sample = with_batch(sample, chosen.batch or 2)
    try:
        opened = {int(place): name for place, name in (text.split("=") for text in chosen.open)}
        if chosen.batch is not None and not opened:
            opened = False
        write(model, sample, path, chosen.opset, dynamic=opened)
    except Exception as error:  # PyTorch's exporters raise of every kind
        path.unlink(missing_ok=True)
        said = str(error).strip().split("\n")[0]
        raise SystemExit(f"export: {chosen.model}: PyTorch cannot export it: {said}") from error
    if chosen.light or chosen.weights == "none":
        light.strip(path, {name for name, _ in model.state_dict().items()})
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
