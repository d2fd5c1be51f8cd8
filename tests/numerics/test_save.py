"""`--save` writes a model that others can read: the trained values in the user's own graph."""

import pathlib
import tempfile
import unittest

import numpy
import onnx
import torch
from onnx import numpy_helper

import export
import harness
import modules


class SaveTest(unittest.TestCase):
    def train_and_save(self, folder, path, data):
        plan = harness.compile_plan(path, folder, ranks=2, batch=4)
        saved = folder / "trained.onnx"
        dump = harness.train(plan, folder, data, ranks=2, extra=["--save", saved])
        return onnx.load(str(saved)), dump

    def test_digits(self):
        """The graph is the user's; its initialisers are the last step's parameters to the bit."""
        random = numpy.random.RandomState(5)
        data = random.rand(8, 1, 8, 8).astype(numpy.float32), random.randint(0, 10, 8)
        path = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        with tempfile.TemporaryDirectory() as name:
            trained, dump = self.train_and_save(pathlib.Path(name), path, data)
            onnx.checker.check_model(trained)
            original = onnx.load(str(path)).graph
            self.assertEqual(list(trained.graph.node), list(original.node))
            values = {i.name: numpy_helper.to_array(i) for i in trained.graph.initializer}
            self.assertEqual(len(values), len(trained.graph.initializer))
            for parameter in dump.parameters(2).names():
                numpy.testing.assert_array_equal(values[parameter], dump.parameters(2)[parameter])

    def test_running_statistics(self):
        """BatchNormalization's statistics are saved as well, as PyTorch moves them: after three
        steps on one batch, from the first rank's half of it."""
        torch.manual_seed(1)
        model = modules.Perceptron()
        random = numpy.random.RandomState(6)
        data = random.standard_normal((8, 12)).astype(numpy.float32), random.randint(0, 5, 8)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path = folder / "perceptron.onnx"
            export.write(model, torch.zeros(2, 12), path)
            trained, dump = self.train_and_save(folder, path, data)
        values = {i.name: numpy_helper.to_array(i) for i in trained.graph.initializer}
        with torch.no_grad():  # the layers before the normalisation hardly move at this rate
            x = model.body[2](model.body[1](model.body[0](torch.from_numpy(data[0][:4]))))
        mean = (1 - 0.9**3) * x.mean(0).numpy()
        variance = 0.9**3 + (1 - 0.9**3) * x.var(0).numpy()
        numpy.testing.assert_allclose(values["body.3.running_mean"], mean, atol=2e-3)
        numpy.testing.assert_allclose(values["body.3.running_var"], variance, atol=2e-3)


if __name__ == "__main__":
    unittest.main()
