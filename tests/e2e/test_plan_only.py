"""Plans of models by their shapes alone: against the same models' own plans, and of models that
cannot be trained."""

import csv
import importlib.util
import json
import unittest
import warnings

from onnx import TensorProto, helper

import harness
import models
import stepcache
from refusal import RefusalTest

SAMPLES = harness.TOP / "samples" / "models"
TOLERANCE = 0.01  # of the step, and of the ends of forward and backward


def classes(place, count, other):
    """The note on the classes of an output of three dimensions."""
    return (
        f"syncline: note: the output's {place} dimension, {count}, holds the classes; "
        f"--classes-in {other}"
    )


def plan_json(plan):
    return json.loads((plan / "plan.json").read_text())


class PlanOnlyTest(RefusalTest):
    def plan(self, model, *extra, name="only"):
        """A plan of the model's shapes, verified."""
        folder = self.folder / f"{name}.plan"
        words = ["compile", model, "--cluster", self.cluster, "--plan-only", "-o", folder, *extra]
        done = self.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.notes = [
            line for line in done.stderr.splitlines() if line.startswith("syncline: note:")
        ]
        harness.syncline("verify", folder)
        return folder

    def layers(self, model, *extra):
        """The rows of the layer trace that goes with the plan, by name."""
        file = self.folder / "layers.csv"
        self.plan(model, *extra, "--write-layers", file)
        with open(file, newline="") as rows:
            return {row["name"]: row for row in csv.DictReader(rows)}

    def trained(self, rows):
        """Bytes of the parameters among these rows."""
        return {name: int(row["bytes"][:-1]) for name, row in rows.items() if row["bytes"] != "0B"}


class SampleTest(PlanOnlyTest):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(stepcache.none())

    def agree(self, name, batch):
        model = SAMPLES / f"{name}.onnx"
        whole = plan_json(harness.compile_plan(model, self.folder, ranks=2, batch=batch))
        only = plan_json(self.plan(model, "--batch", batch))
        sizes = [
            [(layer["name"], layer["bytes"]) for layer in plan["layers"]] for plan in (whole, only)
        ]
        self.assertEqual(sizes[0], sizes[1])
        self.assertEqual(self.notes, [])
        for key in ("step", "backward_end", "forward_end"):
            ratio = only["predicted"][key] / whole["predicted"][key] - 1
            self.assertLess(abs(ratio), TOLERANCE, f"{name}: {key}")
        self.assertFalse(only["runnable"])

    def test_resnet(self):
        self.agree("resnet-50", 4)

    def test_alexnet(self):
        self.agree("alexnet", 16)

    def test_vgg(self):
        self.agree("vgg-19", 4)

    def test_googlenet(self):
        self.agree("googlenet", 8)

    def test_layers_are_a_trace(self):
        """Planned from the file that --write-layers writes, the plan is the same."""
        model, file = SAMPLES / "alexnet.onnx", self.folder / "alexnet.csv"
        only = plan_json(self.plan(model, "--batch", 4, "--write-layers", file))
        harness.syncline("compile", file, "--cluster", self.cluster, "-o", self.folder / "csv.plan")
        harness.syncline("verify", self.folder / "csv.plan")
        again = plan_json(self.folder / "csv.plan")
        self.assertEqual(
            [bucket["members"] for bucket in only["buckets"]],
            [bucket["members"] for bucket in again["buckets"]],
        )
        for key, value in only["predicted"].items():
            if isinstance(value, float):
                self.assertAlmostEqual(
                    again["predicted"][key], value, delta=1e-7 * abs(value) + 1e-12
                )

    def test_plan_is_read_but_not_run(self):
        plan = self.plan(SAMPLES / "digits-cnn.onnx", "--batch", 4)
        self.assertIn("to read, not to run", harness.syncline("inspect", plan))
        self.assertIn("step", harness.syncline("simulate", plan))
        self.refuses(["run", plan], "only.plan", "layer trace")

    def test_profile(self):
        """Measured times take the place of estimates, shared out among a node's layers."""
        profile = {
            "schema": 1,
            "batch": 4,
            "operations": {"/fc/Gemm": {"forward": "2s", "backward": "5s"}},
        }
        path = self.write("profile.json", json.dumps(profile))
        rows = self.layers(SAMPLES / "digits-cnn.onnx", "--batch", 4, "--profile", path)
        self.assertEqual(rows["/fc/Gemm"]["forward"].split(" ")[1], "s")
        self.assertAlmostEqual(float(rows["/fc/Gemm"]["forward"].split(" ")[0]), 2)
        mine = [rows[name]["backward"].split(" ") for name in ("/fc/Gemm", "fc.weight", "fc.bias")]
        scale = {"s": 1, "ms": 1e-3, "us": 1e-6}
        self.assertAlmostEqual(sum(float(value) * scale[unit] for value, unit in mine), 5, places=6)
        words = [
            "compile",
            SAMPLES / "digits-cnn.onnx",
            "--cluster",
            self.cluster,
            "--plan-only",
            "--profile",
            path,
        ]
        self.refuses(
            [*words, "--batch", 8, "-o", self.folder / "x.plan"],
            "measured with batch 4, expected 8",
        )


class RefusedTest(PlanOnlyTest):
    def with_second(self, operator, *inputs):
        proto = models.linear()
        proto.graph.node.append(
            helper.make_node(operator, ["output", *inputs], ["result"], name="second")
        )
        proto.graph.output[0].name = "result"
        return proto

    def two_inputs(self):
        proto = self.with_second("Mul", "mask")
        other = helper.make_tensor_value_info("mask", TensorProto.FLOAT, ("batch", "features"))
        proto.graph.input.append(other)
        return models.save(proto, self.folder / "two.onnx")

    def test_pointers(self):
        path = models.save(self.with_second("Hardmax"), self.folder / "peak.onnx")
        self.refuses_model(path, "Hardmax", "--plan-only")

    def test_open_dimension(self):
        words = [
            "compile",
            self.two_inputs(),
            "--cluster",
            self.cluster,
            "--plan-only",
            "--batch",
            2,
        ]
        out = ["-o", self.folder / "x.plan"]
        self.refuses([*words, *out], "input 'mask'", "dimension 1 ('features')", "--dim features=N")
        self.refuses(
            [*words, "--dim", "width=3", "--dim", "features=3", *out],
            "no input has a dimension 'width'",
        )
        self.refuses([*words, "--dim", "features=0", *out], "--dim: expected NAME=N", code=2)
        rows = self.layers(self.two_inputs(), "--batch", 2, "--dim", "features=3")
        self.assertEqual(self.trained(rows), {"weight": 48, "bias": 12})

    def test_command_line(self):
        model = models.save(models.linear(), self.folder / "m.onnx")
        words = ["compile", model, "--cluster", self.cluster, "-o", self.folder / "x.plan"]
        self.refuses(
            [*words, "--write-layers", self.folder / "l.csv"],
            "--write-layers is for --plan-only",
            code=2,
        )
        trace = self.write("t.csv", "name,bytes,forward,backward\na,4KiB,1ms,2ms\n")
        words[1] = trace
        self.refuses([*words, "--plan-only"], "--plan-only is for models", code=2)

    def planning(self):
        """The words that plan a linear model."""
        model = models.save(models.linear(), self.folder / "m.onnx")
        words = ["compile", model, "--cluster", self.cluster, "--plan-only", "--batch", 2]
        return [*words, "-o", self.folder / "x.plan"]

    def test_unwritable_layers(self):
        words = self.planning()
        self.refuses([*words, "--write-layers", self.folder / "no" / "l.csv"], "l.csv")

    def test_device_without_rates(self):
        self.cluster = self.write(
            "bare.yaml", harness.CLUSTER.format(ranks=2).replace(", memory: 10 GB/s", "")
        )
        words = self.planning()
        self.refuses(
            words,
            "expected a profile with the layer 'first' or a device with compute and memory rates",
        )


@unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
class TorchTest(PlanOnlyTest):
    """What PyTorch exports of models that cannot be trained here: every parameter once, with
    its size."""

    def export(self, model, inputs, **options):
        import torch

        path = self.folder / "model.onnx"
        settings = {
            "training": torch.onnx.TrainingMode.TRAINING,
            "do_constant_folding": False,
            **options,
        }
        if settings["training"] == torch.onnx.TrainingMode.TRAINING:
            model.train()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(model, inputs, path, **settings)
        return path

    def check(self, model, inputs, *extra, renamed=False, notes=(), stepless="", **options):
        """Planned, with the model's own names where the exporter keeps them. `stepless` is an
        operator for which no step can be made."""
        rows = self.layers(self.export(model, inputs, **options), *extra)
        sizes = {name: 4 * tensor.numel() for name, tensor in model.named_parameters()}
        mine = self.trained(rows)
        if not renamed:
            self.assertEqual(mine, sizes)
        self.assertEqual(sum(mine.values()), sum(sizes.values()))
        if stepless:
            reason = self.notes.pop()
            self.assertIn("planned by its nodes' shapes, since no step can be made of it", reason)
            self.assertIn(f"({stepless})", reason)
        self.assertEqual(self.notes, list(notes))
        return rows

    def encoder(self, d=16):
        import torch

        layer = torch.nn.TransformerEncoderLayer(d, 2, 32, batch_first=True)
        return torch.nn.TransformerEncoder(layer, 2)

    def test_transformer_encoder(self):
        import torch

        for opset in (14, 17):
            with self.subTest(opset=opset):
                rows = self.check(
                    self.encoder(),
                    torch.zeros(2, 6, 16),
                    opset_version=opset,
                    notes=[classes("last", 16, "1 takes the second")],
                )
                self.assertEqual(rows["layers.0.linear1.weight"]["K"], "12")

    def language(self, tied=False):
        import torch

        class Language(torch.nn.Module):
            def __init__(this):
                super().__init__()
                this.embedding, this.encoder = torch.nn.Embedding(50, 16), self.encoder()
                this.head = torch.nn.Linear(16, 50, bias=False)
                if tied:
                    this.head.weight = this.embedding.weight

            def forward(this, ids):
                return this.head(this.encoder(this.embedding(ids))).transpose(1, 2)

        return Language()

    def test_language_model(self):
        import torch

        ids = torch.zeros(2, 6, dtype=torch.long)
        options = {"opset_version": 17, "input_names": ["ids"]}
        for tied in (False, True):
            with self.subTest(tied=tied):
                rows = self.check(
                    self.language(tied),
                    ids,
                    "--batch",
                    8,
                    **options,
                    notes=[classes("second", 50, "-1 takes the last")],
                    dynamic_axes={"ids": {0: "batch"}},
                )
                self.assertEqual(rows["encoder.layers.0.linear1.weight"]["K"], "48")
        path = self.export(
            self.language(), ids, **options, dynamic_axes={"ids": {0: "batch", 1: "words"}}
        )
        rows = self.layers(path, "--batch", 8, "--dim", "words=10")
        self.assertEqual(rows["encoder.layers.0.linear1.weight"]["K"], "80")

    def test_vision_transformer(self):
        import torch
        import torchvision

        model = torchvision.models.VisionTransformer(16, 4, 2, 2, 8, 16, num_classes=5)
        axes = {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}}
        self.check(model, torch.zeros(2, 3, 16, 16), "--batch", 4, opset_version=17, **axes)

    def test_windows_and_stochastic_depth(self):
        """Exported in evaluation mode, since PyTorch cannot export stochastic depth in the other:
        tensors that start alike are merged, and told apart again."""
        import torch
        import torchvision

        block = torchvision.models.convnext.CNBlockConfig
        swin = torchvision.models.SwinTransformer([4, 4], 8, [2, 2], [2, 2], [4, 4], num_classes=5)
        convnext = torchvision.models.ConvNeXt([block(8, 16, 2), block(16, None, 1)], num_classes=5)
        mode = {"training": torch.onnx.TrainingMode.EVAL}
        for model in (swin, convnext):
            path = self.export(model.eval(), torch.zeros(1, 3, 32, 32), **mode)
            mine = self.trained(self.layers(path))
            self.assertEqual(mine, {name: 4 * p.numel() for name, p in model.named_parameters()})
            self.assertEqual(len(self.notes), 1, self.notes)
            self.assertIn("trained apart", self.notes[0])

    def test_refusal_lists_all(self):
        import torch

        class Waves(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(16, 5)

            def forward(self, x):
                return self.fc(x).sin().cos()

        path = self.export(Waves(), torch.zeros(2, 16))
        words = (
            "2 nodes cannot be trained",
            "(Sin)",
            "(Cos)",
            "frontend/onnx/README.md",
            "--plan-only",
        )
        self.refuses_model(path, *words)

    def test_lstm(self):
        import torch

        class Recurrent(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.fc = torch.nn.LSTM(8, 16, 2, batch_first=True), torch.nn.Linear(
                    16, 5
                )

            def forward(self, x):
                return self.fc(self.lstm(x)[0][:, -1])

        axes = {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}}
        self.check(Recurrent(), torch.zeros(2, 6, 8), "--batch", 4, renamed=True, stepless="LSTM", **axes)

    def test_decoder_of_images(self):
        import torch

        class Decoder(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.GroupNorm(2, 8)
                self.c, self.d = torch.nn.ConvTranspose2d(8, 4, 2, stride=2), torch.nn.Conv2d(
                    4, 2, 1
                )

            def forward(self, x):
                y = torch.nn.functional.gelu(self.c(self.b(self.a(x))))
                return self.d(torch.nn.functional.interpolate(y, scale_factor=2, mode="bilinear"))

        note = (
            "syncline: note: 'x': its dimension 0, of 2 in the file, is the batch, now of 4; "
            "--batch-dimension NAME=D takes another"
        )
        for opset in (14, 17):
            names = {"input_names": ["x"], "opset_version": opset}
            images = torch.zeros(2, 3, 8, 8)
            self.check(
                Decoder(), images, "--batch", 4, notes=[note], stepless="ConvTranspose", **names
            )

    def test_loss_inside(self):
        import torch

        class Whole(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(8, 5)

            def forward(self, x, target):
                return torch.nn.functional.cross_entropy(self.fc(x), target)

        inputs = (torch.zeros(4, 8), torch.zeros(4, dtype=torch.long))
        axes = {"x": {0: "batch"}, "y": {0: "batch"}}
        names = {"input_names": ["x", "y"], "stepless": "SoftmaxCrossEntropyLoss"}
        rows = self.check(Whole(), inputs, "--batch", 6, dynamic_axes=axes, **names)
        self.assertNotIn("loss", rows)


if __name__ == "__main__":
    unittest.main()
