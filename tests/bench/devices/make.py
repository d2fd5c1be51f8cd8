#!/usr/bin/env python3
"""Exports the models of the published figures, as they train, without weights.

    PYTHON make.py FOLDER [NAME ..]     writes FOLDER/NAME.onnx of each, or of the named ones

PYTHON has torch, torchvision, timm, transformers, onnx and onnxscript. Parameters become nodes that
say how they are initialised, so that a model of any size is a small file. The batch is open where
PyTorch can export it so, otherwise that of the sample. A line of JSON says of each model what was
written.
"""

import json
import pathlib
import sys
import time
import warnings

import onnx
import onnx_ir
import torch
from onnx import helper

import models

OPSET = 18


class WithoutValues(torch.overrides.TorchFunctionMode):
    """Leaves memory of parameters as it is: what nothing touches takes no room."""

    FILLS = frozenset(
        {"normal_", "uniform_", "erfinv_", "clamp_", "kaiming_normal_", "kaiming_uniform_"}
        | {"xavier_normal_", "xavier_uniform_", "trunc_normal_", "orthogonal_"}
    )

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(function, "__name__", "") in self.FILLS:
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def exported(model, sample, opened):
    """The program of PyTorch's current exporter; `opened` leaves the batch open."""
    shapes = {name: {0: "batch"} for name in sample} if opened else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.onnx.export(
            model,
            (),
            kwargs=sample,
            opset_version=OPSET,
            input_names=list(sample),
            output_names=["output"],
            dynamic_shapes=shapes,
            dynamo=True,
            optimize=False,
            verbose=False,
        )


def without_weights(program, trained):
    """The model, in which the initialisers that are `trained` are outputs of nodes, and other
    numbers, which training leaves as they are, are constants."""
    shapes = {}
    for name, value in program.model.graph.initializers.items():
        if name in trained:
            kind, shapes[name] = value.const_value.dtype, list(value.const_value.shape.numpy())
            value.const_value = onnx_ir.ExternalTensor(
                "none", 0, 0, kind, shape=value.const_value.shape, name=name
            )
    proto = onnx_ir.serde.serialize_model(program.model)
    nodes = [
        helper.make_node("RandomNormal", [], [name], scale=0.02, shape=shape)
        for name, shape in shapes.items()
    ]
    kept = []
    for tensor in proto.graph.initializer:
        if tensor.name in trained:
            continue
        if is_float(tensor) and "running_" not in tensor.name:
            nodes.append(helper.make_node("Constant", [], [tensor.name], value=tensor))
        else:
            kept.append(tensor)
    nodes += list(proto.graph.node)
    for node in nodes:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    replace(proto.graph, initializer=kept, node=nodes, value_info=[])
    return proto


def replace(graph, **fields):
    """Gives the graph these entries, of which it may hold some already."""
    for field, entries in fields.items():
        copies = [type(entry).FromString(entry.SerializeToString()) for entry in entries]
        graph.ClearField(field)
        getattr(graph, field).extend(copies)


def is_float(tensor):
    return tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)


def write(name, make, folder):
    """Exports the model; what is said of it."""
    begun = time.monotonic()
    with WithoutValues():
        model, sample = make()
    names = dict(model.named_parameters(remove_duplicate=False))
    trained = {name for name, parameter in names.items() if parameter.requires_grad}
    said = {"model": name, "parameters": sum(p.numel() for p in model.parameters())}
    said |= {"inputs": {key: list(value.shape) for key, value in sample.items()}, "open": True}
    try:
        program = exported(model, sample, True)
    except Exception as error:  # noqa: BLE001: the exporter raises whatever it likes
        said |= {"open": False, "why": str(error).strip().split("\n")[0][:200]}
        program = exported(model, sample, False)
    proto = without_weights(program, trained)
    path = folder / f"{name}.onnx"
    onnx.save(proto, str(path))
    return said | {"bytes": path.stat().st_size, "seconds": round(time.monotonic() - begun)}


def main(folder, *wanted):
    makers = models.every()
    for name in wanted or makers:
        try:
            said = write(name, makers[name], pathlib.Path(folder))
        except Exception as error:  # noqa: BLE001: the libraries raise whatever they like
            said = {"model": name, "failed": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
