"""A Cast to 8 or 16 bits wraps around in a step, as it does in ONNX."""

import json

import numpy
from onnx import TensorProto, helper

import harness
import models
from refusal import RefusalTest

BATCH, COUNT, CLASSES = 4, 8, 5


def model(to):
    weight = numpy.random.RandomState(0).standard_normal((COUNT, CLASSES)).astype("f4") * 1e-3
    nodes = [
        helper.make_node("Cast", ["input"], ["narrow"], to=to),
        helper.make_node("Cast", ["narrow"], ["x"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "weight"], ["output"]),
    ]
    return models.model(nodes, {"weight": weight}, ("batch", COUNT), TensorProto.INT64), weight


class NarrowIntegersTest(RefusalTest):
    def loss(self, proto, ids, labels):
        file = models.save(proto, self.folder / "model.onnx")
        plan = harness.compile_plan(file, self.folder, ranks=1, batch=BATCH)
        for name, values in (("x", ids), ("y", labels)):
            numpy.save(self.folder / f"{name}.npy", values)
        data = f"{self.folder}/x.npy,{self.folder}/y.npy"
        said = harness.syncline("run", plan, "-n", 1, "--steps", 1, "--data", data, "--log", "json")
        return next(line["loss"] for line in map(json.loads, said.splitlines()) if "loss" in line)

    def test_wrap_around(self):
        ids = numpy.random.RandomState(1).randint(-70000, 70000, (BATCH, COUNT))
        ids[0] = [127, 128, 255, 256, 32767, 32768, 65535, -32769]
        labels = numpy.arange(BATCH) % CLASSES
        for to in (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16):
            with self.subTest(to=TensorProto.DataType.Name(to)):
                proto, weight = model(to)
                narrow = ids.astype(TensorProto.DataType.Name(to).lower())
                logits = narrow.astype(float) @ weight.astype(float)
                logits -= logits.max(axis=1, keepdims=True)
                picked = logits[numpy.arange(BATCH), labels]
                right = (numpy.log(numpy.exp(logits).sum(axis=1)) - picked).mean()
                self.assertAlmostEqual(self.loss(proto, ids, labels) / right, 1, delta=1e-5)

    def test_negative_numbers_are_no_wide_unsigned_ones(self):
        file = models.save(model(TensorProto.UINT32)[0], self.folder / "model.onnx")
        words = ("compile", file, "--cluster", "local4", "--nodes", 1, "--batch", BATCH)
        self.refuses((*words, "-o", self.folder / "p.plan"), "(Cast)", "may be negative", "uint32")
