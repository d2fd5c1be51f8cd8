"""What test_torch_plans.py asks of a Python with PyTorch: torch_models.py KIND FOLDER. Prints JSON.
FOLDER has the cluster file net.yaml."""

import json
import os
import pathlib
import sys

import torch
from torch import nn

import syncline
import syncline.torch


class Tied(nn.Module):
    """An embedding's table is the last layer's, too."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 16)
        self.hidden = nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        return self.head(self.norm(self.hidden(self.table(ids)).relu()))


class Moody(Tied):
    """Asks for values, which no exporter of graphs can do."""

    def forward(self, ids):
        found = super().forward(ids)
        return found if float(found.detach().sum()) < 1e9 else -found


class Convolutions(nn.Module):
    """Has buffers that a step moves, and an activation in place."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8 * 36, 10)

    def forward(self, x):
        return self.fc(nn.functional.relu(self.norm(self.conv(x)), inplace=True).flatten(1))


class Stacked(nn.Module):
    """Has two layers in one module, and a projection that attention does not call."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 16, 2, batch_first=True)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.head = nn.Linear(16, 50)

    def forward(self, ids):
        found, _ = self.lstm(self.table(ids))
        return self.head(self.attention(found, found, found, need_weights=False)[0])


class Heads(nn.Module):
    """Has two outputs."""

    def __init__(self):
        super().__init__()
        self.trunk, self.first, self.second = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        found = self.trunk(x).relu()
        return self.first(found), self.second(found)


class Reached(Heads):
    """The first of its outputs depends on all parameters."""

    def forward(self, x):
        first, second = super().forward(x)
        return first + second, second


IDS = torch.arange(32).reshape(4, 8)
IMAGES = torch.ones(4, 3, 8, 8)


def about(made):
    members = [name for message in made.plan.messages for name in message.members]
    return {
        "way": made.way,
        "why_not": made.why_not,
        "notes": made.notes,
        "members": sorted(members),
        "bytes": sum(message.bytes for message in made.plan.messages),
        "step": made.plan.step,
        "overlap": made.plan.json["overlap"],
        "order": members,
    }


def plan(model, sample, folder, **options):
    output = options.pop("output", folder / "made.plan")
    cluster = options.pop("cluster", folder / "net.yaml")
    return syncline.torch.plan(model, sample, cluster, output, **options)


def ways(folder):
    """Both ways of a net, and what becomes of the model."""
    model = Convolutions().eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    torch.manual_seed(3)
    random = torch.get_rng_state()
    found = {}
    for way in ("export", "recording"):
        found[way] = about(plan(Tied(), IDS, folder, way=way, loss="cross-entropy"))
        found[f"images by {way}"] = about(plan(model, IMAGES, folder, way=way, overlap="step"))
    torch.manual_seed(3)
    plan(model, IMAGES, folder, way="recording")
    syncline.torch.profile(model, IMAGES, folder / "a.csv", steps=1)
    after = model.state_dict()
    found["is kept"] = [
        all(torch.equal(value, after[name]) for name, value in before.items()),
        not model.training and not model.norm.training,
        all(each.grad is None for each in model.parameters()),
        torch.equal(random, torch.get_rng_state()),
    ]
    return found


def falls_back(folder):
    """Nets without an ONNX file, and an installation without the package."""
    found = {"values": about(plan(Moody(), IDS, folder, planner="ddp-list"))}
    for name, model, options in (
        ("options", Moody, {"freeze": "head*"}),
        ("overlap", Moody, {"overlap": "steps"}),
        ("planner", Moody, {"planner": "optimla"}),
        ("precision", Moody, {"precision": "fp17"}),
        ("profile", Moody, {"profile": folder / "none.json"}),
        ("run", Moody, {"plan_only": False}),
        ("batch", Moody, {"batch": 8}),
        ("loss on", Tied, {"loss_on": "none"}),
        ("output", Tied, {"output": "/dev/null"}),
    ):
        found[name] = refusal(lambda: about(plan(model(), IDS, folder, **options)))
    found["asked"] = refusal(lambda: plan(Moody(), IDS, folder, way="export"))
    found["json"] = refusal(lambda: syncline.torch.profile(Moody(), IDS, folder / "a.json"))
    sys.modules["onnx"] = None
    found["package"] = about(plan(Tied(), {"ids": IDS}, folder, loss="cross-entropy"))
    del sys.modules["onnx"]
    sys.modules["onnxscript"] = None
    found["torchscript"] = about(plan(Tied(), {"ids": IDS}, folder))
    return found


def outputs(folder):
    """Plans of a net with two outputs."""
    from syncline.torch import export, nodes

    sample = torch.ones(4, 8)
    export.write(Heads(), sample, folder / "heads.onnx")
    files = nodes.Graph(folder / "heads.onnx").outputs
    return {
        "files": files,
        "first": about(plan(Heads(), sample, folder)),
        "both": about(plan(Heads(), sample, folder, loss="mse", loss_on=",".join(files))),
        "reached": about(plan(Reached(), sample, folder)),
        "asked": refusal(lambda: plan(Heads(), sample, folder, way="export")),
        "json": refusal(lambda: syncline.torch.profile(Heads(), sample, folder / "a.json")),
    }


def names(folder):
    """A file whose tensors have other names."""
    import onnx

    from syncline.torch import export

    def renamed(model, sample, *names, transposed=()):
        """The parameter list, or the refusal, where the file's tensors have these new names."""
        file = folder / "renamed.onnx"
        export.write(model, sample, file)
        proto = onnx.load(str(file))
        export.rename(proto.graph, dict(names))
        for each in proto.graph.initializer:
            if each.name in transposed:
                values = onnx.numpy_helper.to_array(each).T.copy()
                each.CopyFrom(onnx.numpy_helper.from_array(values, each.name))
        onnx.save(proto, str(file))
        return refusal(lambda: export.settle(model, file))

    model = Convolutions()
    twins = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.LayerNorm(4))
    tied = renamed(Tied(), IDS, ("table.weight", "onnx::Gather_7"))
    return {
        "tied": tied,
        "same": renamed(model, IMAGES),
        "other": renamed(model, IMAGES, ("fc.weight", "onnx::MatMul_22")),
        "transposed": renamed(model, IMAGES, ("fc.weight", "t"), transposed=("t",)),
        "twins": renamed(twins, torch.ones(2, 4), ("0.weight", "a"), ("2.weight", "b")),
        "one twin": renamed(twins, torch.ones(2, 4), ("0.weight", "a")),
    }


def profiles(folder):
    """Profiles, and plans by them."""
    found = {}
    for name, model, sample in (
        ("tied", Tied(), IDS),
        ("stacked", Stacked(), IDS),
        ("images", Convolutions(), IMAGES),
    ):
        file = folder / f"{name}.json"
        made = syncline.torch.profile(model, sample, file, steps=3)
        planned = about(plan(model, sample, folder, way="export", profile=file))
        read = syncline.Plan(folder / "made.plan").json
        found[name] = {
            **vars(made),
            "path": str(made.path),
            "alone": read["predicted"]["alone"],
            "plan": planned,
            "ready": {layer["name"]: layer["ready"] for layer in read["layers"]},
            "expected": sorted(name for name, _ in model.named_parameters()),
        }
    found["another batch"] = refusal(
        lambda: plan(Convolutions(), IMAGES[:2], folder, way="export", profile=file)
    )
    target = torch.zeros(4, dtype=torch.int64)
    made = syncline.torch.profile(
        Convolutions(),
        IMAGES,
        folder / "images.csv",
        loss=lambda output: nn.functional.cross_entropy(output, target),
        steps=3,
    )
    found["trace"] = {**vars(made), "path": str(made.path)}
    return found


def refusals(folder):
    """What is wrong with arguments, one message each."""
    frozen, lazy = Tied().requires_grad_(False), nn.Sequential(nn.LazyLinear(4))
    model, trace, fifo = Convolutions(), folder / "a.csv", folder / "fifo.csv"
    moved = Convolutions()
    moved.norm.running_mean = moved.norm.running_mean.to("meta")
    os.mkfifo(fifo)
    profile = syncline.torch.profile
    return {
        name: refusal(call)
        for name, call in {
            "model": lambda: plan("net", IDS, folder),
            "frozen": lambda: plan(frozen, IDS, folder),
            "sample": lambda: plan(model, IDS.float(), folder, way="recording"),
            "no sample": lambda: plan(model, 7, folder),
            "way": lambda: plan(model, IMAGES, folder, way="quick"),
            "cluster": lambda: plan(model, IMAGES, folder, cluster="/none.yaml"),
            "option": lambda: plan(model, IMAGES, folder, colour="red"),
            "meta": lambda: plan(Tied().to("meta"), IDS, folder),
            "buffer": lambda: plan(moved, IMAGES, folder),
            "meta sample": lambda: plan(Tied(), IDS.to("meta"), folder),
            "lazy": lambda: plan(lazy, IMAGES, folder),
            "lazy times": lambda: profile(lazy, IMAGES, trace),
            "suffix": lambda: profile(model, IMAGES, folder / "a.txt"),
            "file": lambda: profile(model, IMAGES, "/none/a.csv"),
            "fifo": lambda: profile(model, IMAGES, fifo),
            "nul": lambda: profile(model, IMAGES, "a\0b.csv"),
            "no path": lambda: profile(model, IMAGES, None),
            "steps": lambda: profile(model, IMAGES, trace, steps=0),
            "loss": lambda: profile(model, IMAGES, trace, loss=lambda y: y),
            "no loss": lambda: profile(model, IMAGES, trace, loss=lambda: 1),
        }.items()
    }


def refusal(call):
    """What the call raises as text, else what it returns."""
    try:
        return call()
    except syncline.Error as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(globals()[sys.argv[1]](pathlib.Path(sys.argv[2]))))
