"""Transformers among the samples: their light files are planned, and every parameter travels."""

import pathlib
import tempfile
import unittest

import harness
import stepcache

SAMPLES = harness.TOP / "samples" / "models"
# Parameter tensors and the elements of all of them; GPT-2's head is its table of words.
PARAMETERS = {
    "gpt-2": (148, 124_439_808),
    "bert-base": (201, 109_483_778),
    "llama-100m": (75, 99_496_704),
    "vit-b-16": (152, 86_567_656),
}


class SamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(stepcache.none())

    def test_transformers_are_planned(self):
        for name, (tensors, elements) in PARAMETERS.items():
            with self.subTest(model=name), tempfile.TemporaryDirectory() as folder:
                plan = harness.compile_plan(
                    SAMPLES / f"{name}.onnx", pathlib.Path(folder), ranks=4, batch=1
                )
                sizes = [layer["bytes"] for layer in harness.plan_json(plan)["layers"]]
                self.assertEqual((len(sizes), sum(sizes)), (tensors, 4 * elements))


if __name__ == "__main__":
    unittest.main()
