"""Plans of models by their shapes alone: against the same models' own plans, and refusals."""

import csv
import ctypes
import json
import os
import re
import struct
import unittest

from onnx import TensorProto, helper

import harness
import models
import plans
import stepcache
from plan_only import PlanOnlyTest, plan_json

SAMPLES = harness.TOP / "samples" / "models"
TOLERANCE = 0.01  # of the step, and of the ends of forward and backward
SLOW = harness.CLUSTER.replace("10 Gb/s", "100 Mb/s")
OPENED, CLOSED = 0x20, 0x10  # events of inotify; without the second, equal ones become one


def tails(plan):
    """The seconds of the next forward pass that follow the update of each gradient."""
    text = (plan / "plan.mlir").read_text()
    names = re.search(r"sync.problem @\S+ layers \[(.*?)\] bytes", text).group(1)
    seconds = re.search(r"tails <\[(.*?)\]>", text).group(1)
    return dict(zip(json.loads(f"[{names}]"), map(float, seconds.split(",")), strict=True))


class Opens:
    """Counts how often files are opened."""

    def __init__(self, paths):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.queue = self.libc.inotify_init1(os.O_NONBLOCK)
        self.paths = {self.watch(path): path for path in paths}

    def watch(self, path):
        return self.libc.inotify_add_watch(self.queue, os.fsencode(path), OPENED | CLOSED)

    def counts(self):
        counts = dict.fromkeys(self.paths.values(), 0)
        events = os.read(self.queue, 1 << 16)
        for watch, mask, _, name in struct.iter_unpack("iIII", events):
            assert name == 0, "files have no names of their own"
            counts[self.paths[watch]] += bool(mask & OPENED)
        os.close(self.queue)
        return counts


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
        """Planned from the layers in the plan's folder, the plan is the same."""
        folder = self.plan(SAMPLES / "alexnet.onnx", "--batch", 4)
        only, file = plan_json(folder), folder / "layers.csv"
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

    def order(self, *options, name="only"):
        """A plan of GoogLeNet on a slow network."""
        self.cluster = self.write("slow.yaml", SLOW.format(ranks=2))
        return self.plan(SAMPLES / "googlenet.onnx", "--batch", 8, *options, name=name)

    def test_order(self):
        """Layers know when the next forward pass reads each parameter, as the step does."""
        model, options = SAMPLES / "googlenet.onnx", ("--overlap", "step")
        whole = harness.compile_plan(
            model, self.folder, ranks=2, batch=8, cluster=SLOW, extra=options
        )
        only = self.order(*options)
        expected, found = tails(whole), tails(only)
        self.assertEqual(set(found), set(expected))
        for name, tail in expected.items():
            self.assertAlmostEqual(found[name] / tail, 1, delta=1e-6, msg=name)
        steps = [plan_json(plan)["predicted"]["step"] for plan in (whole, only)]
        self.assertAlmostEqual(steps[1] / steps[0], 1, delta=TOLERANCE)
        barrier = plan_json(self.order(name="barrier"))
        self.assertEqual(barrier["overlap"], "backward")
        self.assertLess(steps[1], 0.8 * barrier["predicted"]["step"])
        words = ("--model", model, "--cluster", self.cluster)
        self.assertIn("layers as the model gives them", harness.syncline("verify", only, *words))
        self.assertIn("reach into the next forward pass", harness.syncline("inspect", only))
        self.assertIn("conv1", harness.syncline("inspect", only, "--why", "conv1.conv.weight"))
        sweep = self.folder / "sweep.csv"
        axis = "overlap=backward,step"
        harness.syncline("simulate", only, "--sweep", axis, "--csv", sweep)
        with open(sweep) as rows:
            swept = [float(row["step_s"]) for row in csv.DictReader(rows)]
        self.assertLess(swept[1], 0.8 * swept[0])

    def test_order_of_a_trace(self):
        """Planned from the layers in the plan's folder, the order is the same."""
        options = ("--overlap", "auto")
        only, again = self.order(*options), self.folder / "csv.plan"
        words = ("--cluster", self.cluster, *options, "-o", again)
        harness.syncline("compile", only / "layers.csv", *words)
        harness.syncline("verify", again, "--model", only / "layers.csv")
        plans = [plan_json(plan) for plan in (only, again)]
        self.assertEqual([plan["overlap"] for plan in plans], ["step", "step"])
        steps = [plan["predicted"]["step"] for plan in plans]
        self.assertAlmostEqual(steps[1] / steps[0], 1, delta=1e-6)

    def test_orders_without_forward_passes(self):
        """An order needs to know when parameters are read; where it is open, none is looked for."""
        for rows, reason in (
            ("a,1MiB,0s,2ms\nb,2MiB,0s,2ms\n", "times of layers' forward passes, got none"),
            ("message-1,1MiB,1ms,2ms\nmessage-0,1MiB,1ms,2ms\n", "layers, got messages of Dist"),
        ):
            trace = self.write("t.csv", "name,bytes,forward,backward\n" + rows)
            words = ["compile", trace, "--cluster", self.cluster, "-o", self.folder / "x.plan"]
            for order in (("--overlap", "step"), ("--planner", "p3:1MiB")):
                self.refuses([*words, *order], "t.csv", reason)
            harness.syncline(*words, "--overlap", "auto")
            self.assertEqual(plan_json(self.folder / "x.plan")["overlap"], "backward")

    def test_samples_are_no_words(self):
        """A rank's samples are sentences, however many rows the products of a step have."""
        model = SAMPLES / "gpt-2.onnx"
        plan = self.plan(model, "--batch", 2)
        file = self.folder / "sweep.csv"
        harness.syncline("simulate", plan, "--sweep", "batch=1,2", "--csv", file)
        with open(file) as rows:
            half, whole = csv.DictReader(rows)
        predicted = plan_json(plan)["predicted"]["step"]
        self.assertAlmostEqual(float(whole["step_s"]) / predicted, 1, delta=1e-6)
        for samples, point in ((1, half), (2, whole)):
            rate = 2 * samples / float(point["step_s"])
            self.assertAlmostEqual(float(point["samples_per_s"]) / rate, 1, delta=1e-6)
        words = ("--model", model, "--cluster", self.cluster)
        self.assertIn("layers as the model gives them", harness.syncline("verify", plan, *words))

    def test_bytes_are_the_members(self):
        """A bucket's bytes are its members', those of biases that ride with factors too."""
        words = ("--batch", 4, "--planner", "sfb")
        plan = plan_json(self.plan(SAMPLES / "digits-cnn.onnx", *words))
        sizes = {layer["name"]: layer["bytes"] for layer in plan["layers"]}
        by_factors = {tuple(bucket["members"]): bucket["bytes"] for bucket in plan["buckets"]}
        self.assertEqual({bucket["scheme"] for bucket in plan["buckets"]}, {"factors"})
        self.assertIn(("fc.weight", "fc.bias"), by_factors)
        for members, size in by_factors.items():
            self.assertEqual(size, sum(sizes[name] for name in members), members)

    def test_reads_each_file_once(self):
        """The cluster's bytes are hashed besides."""
        profile = {"schema": 1, "operations": {"/fc/Gemm": {"forward": "2s", "backward": "5s"}}}
        path = self.write("profile.json", json.dumps(profile))
        opens = Opens([self.cluster, path])
        self.plan(SAMPLES / "digits-cnn.onnx", "--batch", 4, "--profile", path)
        self.assertEqual(opens.counts(), {self.cluster: 2, path: 1})

    def test_plan_is_read_but_not_run(self):
        plan = self.plan(SAMPLES / "digits-cnn.onnx", "--batch", 4)
        self.assertIn("no program for 'run'", harness.syncline("inspect", plan))
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
        trace = self.write("t.csv", "name,bytes,forward,backward\na,4KiB,1ms,2ms\n")
        words[1] = trace
        said = f"'the layer trace {trace}' and '--plan-only'"
        self.refuses([*words, "--plan-only"], said, code=2)

    def planning(self):
        """The words that plan a linear model."""
        model = models.save(models.linear(), self.folder / "m.onnx")
        words = ["compile", model, "--cluster", self.cluster, "--plan-only", "--batch", 2]
        return [*words, "-o", self.folder / "x.plan"]

    def test_layers_belong_to_the_plan(self):
        """They have a hash, and are replaced with the plan."""
        words = self.planning()
        harness.syncline(*words)
        layers = self.folder / "x.plan" / "layers.csv"
        text = layers.read_text()
        layers.write_text(text.replace("weight", "wieght"))
        self.refuses(["verify", self.folder / "x.plan"], "layers.csv", "its hash differs")
        plans.rehash(self.folder / "x.plan")
        judged = ["verify", self.folder / "x.plan", "--model", self.folder / "m.onnx"]
        self.refuses(judged, "layers.csv': differs from what")
        harness.syncline(*words)
        harness.syncline(*judged)
        self.assertEqual(layers.read_text(), text)
        document = plan_json(self.folder / "x.plan")
        del document["hashes"]["files"]["layers.csv"]
        plans.rehash(self.folder / "x.plan", document)
        self.refuses(["verify", self.folder / "x.plan"], "no hash of 'layers.csv'")

    def test_device_without_rates(self):
        self.cluster = self.write(
            "bare.yaml", harness.CLUSTER.format(ranks=2).replace(", memory: 10 GB/s", "")
        )
        words = self.planning()
        self.refuses(
            words,
            "expected a profile with the layer 'first' or a device with compute and memory rates",
        )


if __name__ == "__main__":
    unittest.main()
