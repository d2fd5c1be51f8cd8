"""Plans by shapes alone of what PyTorch exports, of models that cannot be trained here too."""

import importlib.util
import unittest
import warnings

from plan_only import PlanOnlyTest


def classes(place, count, other):
    """The note on the classes of an output of three dimensions."""
    return (
        f"syncline: note: the output's {place} dimension, {count}, holds the classes; "
        f"--classes-in {other}"
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
        self.assertEqual(self.certain(), list(notes))
        return rows

    def certain(self):
        """The notes without those on what a file without marks, as PyTorch 1.13 writes it, leaves
        open; unit-onnx and test_inventory judge these."""
        doubts = ("these hold the same numbers", "no node reads them as weights")
        return [note for note in self.notes if not any(doubt in note for doubt in doubts)]

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
            self.assertEqual(len(self.certain()), 1, self.notes)
            self.assertIn("trained apart", self.certain()[0])

    def test_refusal_lists_all(self):
        import torch

        class Remainders(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(16, 5)

            def forward(self, x):
                y = self.fc(x).fmod(2)
                return y * torch.linalg.det(y[:, :4].reshape(-1, 2, 2)).unsqueeze(-1)

        path = self.export(Remainders(), torch.zeros(2, 16))
        words = (
            "2 nodes cannot be trained",
            "(Mod)",
            "(Det)",
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
        self.check(
            Recurrent(),
            torch.zeros(2, 6, 8),
            "--batch",
            4,
            renamed=True,
            **axes,
        )

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
                y = torch.nn.functional.interpolate(y, scale_factor=2, mode="bilinear")
                return self.d(torch.fmod(y, 2.0))

        note = (
            "syncline: note: 'x': its dimension 0, of 2 in the file, is the batch, now of 4; "
            "--batch-dimension NAME=D takes another"
        )
        for opset in (14, 17):
            names = {"input_names": ["x"], "opset_version": opset}
            images = torch.zeros(2, 3, 8, 8)
            self.check(Decoder(), images, "--batch", 4, notes=[note], stepless="Mod", **names)

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
