"""Imports torchvision's models as PyTorch exports them and compares parameters with PyTorch's.

usage: torchvision_import.py SYNCLINE_IMPORT. Exit code 77 (skipped) without torchvision.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import warnings

try:
    import onnx
    import torch
    import torchvision
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

warnings.filterwarnings("ignore")
STORED = re.compile(r'nn\.(parameter|state) "(.+?)" at (\d+) : tensor<(.*)f32>')

# What may be said of a file that was exported for inference, each thing once.
NOTES = ("exported for inference", "is in inference mode", "trained apart")

# name, side of the image, opset
MODELS = [
    ("resnet18", 224, 13),
    ("resnet50", 224, 16),
    ("alexnet", 224, 9),
    ("googlenet", 224, 12),
    ("inception_v3", 299, 13),
    ("densenet121", 224, 11),
    ("mobilenet_v2", 224, 14),
    ("mobilenet_v3_small", 224, 14),
    ("squeezenet1_1", 224, 10),
    ("shufflenet_v2_x1_0", 224, 13),
]


def build(name):
    options = (
        {"aux_logits": False, "init_weights": False}
        if name in ("googlenet", "inception_v3")
        else {}
    )
    torch.manual_seed(0)
    return getattr(torchvision.models, name)(weights=None, **options)


def run_import(tool, path, folder):
    weights, skeleton = os.path.join(folder, "weights.bin"), os.path.join(folder, "skeleton.onnx")
    command = [tool, path, "--batch", "3", "--weights", weights, "--skeleton", skeleton]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(weights, "rb") as file:
        return done.stdout, file.read(), skeleton


def check(tool, name, side, opset, folder):
    model = build(name)
    path = os.path.join(folder, name + ".onnx")
    torch.onnx.export(model, torch.randn(2, 3, side, side), path, opset_version=opset,
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                      input_names=["x"], output_names=["y"])
    ir, weights, skeleton = run_import(tool, path, folder)
    stored = {match[2]: match for match in STORED.finditer(ir)}
    for kind, tensors in (
        ("parameter", model.named_parameters()),
        ("state", model.named_buffers()),
    ):
        for key, value in tensors:
            if key.endswith("num_batches_tracked"):
                continue
            match = stored.pop(key)
            assert match[1] == kind, f"{name}: {key} is a {match[1]}"
            assert [int(d) for d in match[4].split("x")[:-1]] == list(value.shape), f"{name}: {key}"
            first = struct.unpack_from("<f", weights, int(match[3]))[0]
            assert first == value.flatten()[0].item(), f"{name}: {key} starts with {first}"
    assert not stored, f"{name}: unexpected {list(stored)}"
    assert "tensor<3x1000xf32>" in ir and os.path.getsize(skeleton) < 1 << 20
    assert not [
        t for t in onnx.load(skeleton).graph.initializer if t.data_type == onnx.TensorProto.FLOAT
    ]


class Folded(torch.nn.Module):
    """Linear layers on sequences: the exporter transposes their weights when it folds constants."""

    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(4, 5), torch.nn.Linear(5, 3)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).mean(1)


def trained(model):
    """Moves every value off what it starts with, so that no two tensors are equal."""
    with torch.no_grad():
        for tensor in [*model.parameters(), *model.buffers()]:
            if tensor.is_floating_point():
                tensor.add_(0.1 * torch.rand_like(tensor))
    return model


def check_inference(tool, folder):
    """A default export (evaluation mode) is told apart from one of a network
    without normalisation."""
    path = os.path.join(folder, "inference.onnx")
    for name, model, sign in (
        ("resnet18", build("resnet18"), "BatchNormalization is folded into 20 convolutions)"),
        (
            "trained resnet18",
            trained(build("resnet18")),
            "BatchNormalization is folded into 20 convolutions)",
        ),
        (
            "mobilenet_v3_small",
            build("mobilenet_v3_small"),
            "BatchNormalization is folded into 34 convolutions)",
        ),
        ("densenet121", build("densenet121"), "BatchNormalization is folded into 59 convolutions)"),
        ("linear", Folded(), "the weights of '/a/MatMul', '/b/MatMul' are copies"),
        ("squeezenet1_1", build("squeezenet1_1"), None),
        ("trained squeezenet1_1", trained(build("squeezenet1_1")), None),
        ("alexnet", build("alexnet"), None),
        ("vgg11", build("vgg11"), None),
    ):
        x = torch.randn(2, 6, 4) if name == "linear" else torch.randn(1, 3, 224, 224)
        torch.onnx.export(model.eval(), x, path)
        done = subprocess.run([tool, path], capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        notes = done.stderr.splitlines()
        found = [note for note in notes if "exported for inference" in note]
        assert len(found) == (sign is not None), f"{name}: {notes}"
        assert not sign or sign in found[0], f"{name}: {found}"
        kinds = [kind for note in notes for kind in NOTES if kind in note]
        assert len(notes) == len(kinds) == len(set(kinds)), f"{name}: {notes}"
        print(f"{name} for inference: good", flush=True)
    torch.onnx.export(
        Folded(),
        torch.randn(2, 6, 4),
        path,
        training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False,
    )
    done = subprocess.run([tool, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, side, opset in MODELS:
            check(sys.argv[1], name, side, opset, folder)
            os.remove(os.path.join(folder, name + ".onnx"))
            print(f"{name}: good", flush=True)
        check_inference(sys.argv[1], folder)


if __name__ == "__main__":
    main()
