"""Models of Hugging Face's transformers that are given labels and return their loss, as current
PyTorch exports them: they train as in PyTorch in float64. test_hugging_face.py runs this in an
environment that has both packages."""

import logging
import pathlib
import tempfile
import unittest
import warnings

import torch

import compare
import gradients
import harness
import hugging_face
import test_model_losses

SAME = 1e-5
SHAPES = ((1, 4, 1), (2, 2, 1), (2, 1, 2))  # ranks, batch, micro-batches
MODELS = {"BERT": hugging_face.bert, "GPT-2": hugging_face.gpt2}


class HuggingFaceLossesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        torch.manual_seed(2)

    def made(self, name):
        """The library's own model, and inputs with labels, of which GPT-2's parts have different
        numbers."""
        model, data_of = MODELS[name]()
        gradients.spread(model)
        model._forward_hooks.clear()
        model._forward_pre_hooks.clear()
        inputs, labels = data_of(4, 1)
        model.config.problem_type = "single_label_classification"
        return model, {**inputs, "labels": labels}

    def exported(self, name, model, data):
        path = self.folder / f"{name}.onnx"
        sample = {key: torch.from_numpy(array[:3]) for key, array in data.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                model,
                (),
                str(path),
                kwargs=sample,
                input_names=list(sample),
                output_names=["loss", "logits"],
                dynamic_shapes={key: {0: "batch"} for key in sample},
                dynamo=True,
                optimize=False,
                verbose=False,
            )
        return path

    def check(self, name, shape, optimizer):
        model, data = self.made(name)
        path = self.exported(name, model, data)
        ranks, batch, micro_batches = shape
        plan = harness.compile_plan(
            path,
            self.folder,
            ranks=ranks,
            batch=batch,
            loss="output:loss",
            extra=("--optimizer", optimizer),
        )
        dump = test_model_losses.run(plan, self.folder, data, ranks, micro_batches, optimizer)
        losses, *true = test_model_losses.train(model, data, batch, optimizer)
        wanted, parameters = (
            {hugging_face.TIED.get(key, key): array for key, array in one.items()} for one in true
        )
        last = test_model_losses.STEPS - 1
        for step in (0, last):
            self.assertLess(abs(dump.loss(step) / losses[step] - 1), SAME)
        self.assertEqual(dump.gradients(0).names(), set(wanted))
        for worst in (
            compare.gradients(dump.gradients(0), wanted),
            compare.parameters(dump.parameters(last), parameters),
        ):
            print(f"\n  {name}, {shape}, {optimizer}: {worst}")
            self.assertLess(worst.error, SAME)

    def test_training(self):
        """In the short run GPT-2 in micro-batches, and BERT by Adam."""
        for name, turn in (("GPT-2", 4), ("BERT", 3)):
            for shape, optimizer in test_model_losses.ways(turn, SHAPES):
                with self.subTest(model=name, shape=shape, optimizer=optimizer):
                    self.check(name, shape, optimizer)


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # packages that an exporter would have liked
    unittest.main(verbosity=2)
