"""Whole runs of the CUDA backend without a GPU: plans, steps, messages and graphs
over tests/host-cuda, whose streams run by themselves, with the CPU's losses,
gradients and parameters."""

import os
import subprocess
import unittest
import unittest.mock

import harness
import models
import numpy
from depth import repeat
from host_cuda import CUDA, DIGITS, MODULE, NODE, PLAYED, HostCudaCase
from onnx import helper
from refusal import RefusalTest

LIMIT = 1e-5
# Factors of 8 bits: of the two largest values of a window, the other may be the larger one then.
# PyTorch's gradients by autocast are off by 0.1 on some of these samples, too.
ROUNDED = 0.15
# One machine with a device a rank.
def mixed(path):
    """Convolutions with and without bias and groups, normalizations, poolings, a branch, dropout
    and a product."""
    random = numpy.random.default_rng(1)
    weights = {
        "w1": random.normal(0, 0.3, (16, 1, 3, 3)),
        "b2": random.normal(0, 0.3, 8),
        "scale": random.uniform(0.5, 1.5, 16),
        "shift": random.uniform(0.5, 1.5, 16),
        "mean": numpy.zeros(16),
        "variance": numpy.ones(16),
        "w2": random.normal(0, 0.3, (8, 8, 3, 3)),
        "w3": random.normal(0, 0.3, (4, 16, 1, 1)),
        "w4": random.normal(0, 0.2, (12 * 16, 10)),
        "b4": numpy.zeros(10),
        "ratio": numpy.array(0.25),
    }
    values = {name: value.astype(numpy.float32) for name, value in weights.items()}
    values["training"] = numpy.array(True)
    node = helper.make_node
    nodes = [
        node("Conv", ["input", "w1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
        node(
            "BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"], name="norm"
        ),
        node("Relu", ["n1"], ["r1"], name="relu"),
        node("LRN", ["r1"], ["l1"], name="lrn", size=5),
        node("MaxPool", ["l1"], ["m1"], name="most", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["m1", "w2", "b2"], ["c2"], name="conv2", group=2, pads=[1, 1, 1, 1]),
        node("AveragePool", ["m1"], ["a1"], name="mean", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Conv", ["a1", "w3"], ["c3"], name="conv3"),
        node("Concat", ["c2", "c3"], ["joined"], name="join", axis=1),
        node("Dropout", ["joined", "ratio", "training"], ["dropped"], name="drop"),
        node("Flatten", ["dropped"], ["flat"], name="flatten"),
        node("Gemm", ["flat", "w4", "b4"], ["output"], name="last"),
    ]
    return models.save(models.model(nodes, values, ("batch", 1, 8, 8)), path)


def digits(count):
    folder = harness.TOP / "samples" / "data"
    return tuple(numpy.load(folder / f"digits-train-{name}.npy")[:count] for name in "xy")


class HostCudaTest(HostCudaCase):
    """Every run takes three steps of one global batch; its dump is compared with the CPU's."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.mixed = mixed(cls.folder / "mixed.onnx")

    def plan(self, model, ranks, backend, decided=()):
        label = "-".join(("", backend, *decided))
        folder = self.folder / f"{model.stem}{label}-{ranks}x4.plan"
        if folder.exists():
            return folder
        extra = ("--backend", backend, *decided)
        return harness.compile_plan(
            model, self.folder, ranks, 4, extra=extra, cluster=NODE, label=label
        )

    def trained(self, plan, ranks, extra=(), **environment):
        with unittest.mock.patch.dict(os.environ, environment):
            return harness.train(plan, self.folder, digits(4 * ranks), ranks, extra=extra)

    def compare(self, model, ranks=1, extra=(), limit=LIMIT, **environment):
        """The CUDA backend's losses, gradients and parameters are the CPU's."""
        expected = self.trained(self.plan(model, ranks, "cpu"), ranks)
        environment.setdefault("SYNCLINE_HOST_CUDA_DEVICES", str(ranks))
        decided, extra = harness.apart(extra)
        actual = self.trained(
            self.plan(model, ranks, "cuda", decided), ranks, extra, **environment
        )
        for step in (0, 2):
            self.assertAlmostEqual(
                actual.loss(step), expected.loss(step), delta=limit * expected.loss(step)
            )
            for kind in ("gradients", "parameters"):
                wanted, got = getattr(expected, kind)(step), getattr(actual, kind)(step)
                self.assertEqual(got.names(), wanted.names())
                self.assertGreater(len(wanted.names()), 5)
                for name in wanted.names():
                    error = numpy.linalg.norm(got[name] - wanted[name])
                    most = limit * numpy.linalg.norm(wanted[name])
                    self.assertLessEqual(error, most, f"{kind} of step {step}: {name}")

    def test_one_rank(self):
        for model in (DIGITS, self.mixed):
            with self.subTest(model=model.stem):
                self.compare(model)

    def test_two_ranks(self):
        for model in (DIGITS, self.mixed):
            with self.subTest(model=model.stem):
                self.compare(model, 2)

    def test_streams_that_dawdle(self):
        """Nothing waits for what it does not name: with works late at random, numbers stay."""
        for seed in repeat((1,), range(1, 30)):
            with self.subTest(seed=seed):
                delays = {"SYNCLINE_HOST_CUDA_DELAY": "300", "SYNCLINE_HOST_CUDA_SEED": str(seed)}
                self.compare(DIGITS, 2, **delays)
                self.compare(DIGITS, 2, ("--cuda-graph",), **delays)

    def test_missing_waits_show(self):
        """The runs above can fail: where no stream waits for another, the numbers are wrong."""
        source = self.folder / "nowaits.c"
        source.write_text("int cudaStreamWaitEvent(void *s, void *e, unsigned f) { return 0; }\n")
        library = source.with_suffix(".so")
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
        with self.assertRaisesRegex(AssertionError, "of step|within|not finite"):
            for seed in range(1, 6):
                delays = {"SYNCLINE_HOST_CUDA_DELAY": "1000", "SYNCLINE_HOST_CUDA_SEED": str(seed)}
                self.compare(DIGITS, 2, LD_PRELOAD=str(library), **delays)

    def test_graphs(self):
        self.compare(self.mixed, 1, ("--cuda-graph",))
        self.compare(self.mixed, 2, ("--cuda-graph",))

    def test_channels_last(self):
        """Images lie channels last, and weights with them, over ranks and in graphs."""
        for model in (DIGITS, self.mixed):
            for ranks, graph in ((1, ()), (2, ("--cuda-graph",))):
                with self.subTest(model=model.stem, ranks=ranks):
                    self.compare(model, ranks, ("--precision", "tf32", *graph))

    def test_rounded_factors(self):
        """Images are bf16, so that numbers are near to the CPU's; weights that are updated are
        rounded again."""
        for model in (DIGITS, self.mixed):
            for ranks, graph in ((1, ()), (2, ("--cuda-graph",))):
                with self.subTest(model=model.stem, ranks=ranks):
                    self.compare(model, ranks, ("--precision", "bf16", *graph), limit=ROUNDED)

    def test_one_device_is_shared(self):
        self.compare(DIGITS, 2, ("--share-device",), SYNCLINE_HOST_CUDA_DEVICES="1")


class HostCudaRefusalTest(RefusalTest):
    """Machines on which a plan for GPUs cannot run say why."""

    def setUp(self):
        if not MODULE.exists():
            self.skipTest("built without CUDA's toolkit")
        super().setUp()
        with unittest.mock.patch.dict(os.environ, PLAYED):
            self.plan = harness.compile_plan(DIGITS, self.folder, 1, 4, extra=CUDA, cluster=NODE)

    def refuses_run(self, *names, extra=(), **environment):
        with unittest.mock.patch.dict(os.environ, {**PLAYED, **environment}):
            self.refuses(["run", self.plan, "-n", 1, "--steps", 1, *extra], *names)

    def test_old_driver(self):
        self.refuses_run("expected an NVIDIA driver", "12.4", SYNCLINE_HOST_CUDA_DRIVER="12040")

    def test_no_device(self):
        self.refuses_run("no CUDA device", SYNCLINE_HOST_CUDA_DEVICES="0")
        self.refuses_run("no device 3", extra=("--device", 3))

    def test_too_little_memory(self):
        self.refuses_run(
            "not enough memory on device 0", "9.77 KiB are free", SYNCLINE_HOST_CUDA_MEMORY="10000"
        )


if __name__ == "__main__":
    unittest.main()
