"""Updates of the CUDA backend that wait for all gradients, without a GPU, over tests/host-cuda:
--clip-norm with the CPU's norms and parameters by every scheme that NCCL has, told and replayed,
--loss-scale, and --accumulate."""

import json
import os
import unittest
import unittest.mock

import harness
import numpy
from host_cuda import DIGITS, NODE, HostCudaCase
from test_host_cuda import digits, mixed

SCHEMES = ("ring", "tree", "parameter-server", "reduce-scatter", "factors")
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
SUMS = ("ring", "tree", "parameter-server")
WHOLE_AND_PARTS = ("ring", "reduce-scatter")
STEPS = 4
LIMIT = 1e-5


class UpdatesCase(HostCudaCase):
    def plan(self, ranks, scheme, backend, extra=(), model=DIGITS):
        layers = "fc*" if scheme == "factors" else "*"
        label = "-".join(("", backend, scheme, *extra)).replace("=", "-")
        folder = self.folder / f"{model.stem}{label}-{ranks}x4.plan"
        if folder.exists():
            return folder
        words = ("--backend", backend, "--scheme", f"{layers}={scheme}", *extra)
        return harness.compile_plan(
            model, self.folder, ranks, 4, extra=words, cluster=NODE, label=label
        )

    def trained(self, plan, ranks, words, rate=0.1, times=1, **environment):
        """The steps' log, its summary, and the dump of all ranks in the last step."""
        files = [self.folder / f"{name}.npy" for name in "xy"]
        x, y = digits(16 * ranks * STEPS)
        for file, array in zip(files, ((x * times).astype(x.dtype), y)):
            numpy.save(file, array)
        out = self.folder / f"dump{len(list(self.folder.iterdir()))}"
        environment.setdefault("SYNCLINE_HOST_CUDA_DEVICES", str(ranks))
        with unittest.mock.patch.dict(os.environ, environment):
            log = harness.syncline(
                *("run", plan, "-n", ranks, "--data", ",".join(map(str, files))),
                *("--steps", STEPS, "--lr", rate, "--log", "json", "--dump", out),
                *("--dump-steps", STEPS - 1, *words),
            )
        *log, summary = map(json.loads, log.splitlines())
        return log, summary, harness.dumps(out, ranks)

    def assert_near(self, got, wanted, limit=LIMIT):
        self.assertEqual(got.names(), wanted.names())
        for name in wanted.names():
            error = numpy.linalg.norm(got[name] - wanted[name])
            self.assertLessEqual(error, limit * numpy.linalg.norm(wanted[name]), name)

    def assert_same(self, one, other):
        for name in one.names():
            self.assertTrue(numpy.array_equal(one[name], other[name]), name)


class HostCudaClippingTest(UpdatesCase):
    def compare(self, ranks, scheme, words=(), extra=(), on_device=(), **environment):
        """Norms and parameters are those of the CPU's ring."""
        words = ("--momentum", 0.9, *words)
        plan = self.plan(ranks, "ring", "cpu", extra)
        log, told, expected = self.trained(plan, ranks, words)
        plan = self.plan(ranks, scheme, "cuda", extra)
        found_log, found, actual = self.trained(plan, ranks, (*words, *on_device), **environment)
        self.assertEqual(found["clipped_steps"], told["clipped_steps"])
        self.assertGreater(told["clipped_steps"], 0)
        for line, own in zip(log, found_log):
            norm = line["gradient_norm"]
            self.assertAlmostEqual(own["gradient_norm"], norm, delta=LIMIT * norm)
        wanted = expected[0].parameters(STEPS - 1)
        self.assert_near(actual[0].parameters(STEPS - 1), wanted)
        for dump in actual:
            self.assert_same(dump.parameters(STEPS - 1), actual[0].parameters(STEPS - 1))

    def test_every_scheme(self):
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                self.compare(2, scheme, ("--clip-norm", 0.5))

    def test_plan_that_clips(self):
        """Its own norm counts where the command line names none."""
        self.compare(2, "tree", extra=("--clip-norm", "0.5"))

    def test_one_rank_and_four(self):
        self.compare(1, "ring", ("--clip-norm", 0.5))
        self.compare(4, "reduce-scatter", ("--clip-norm", 0.5, "--clip-value", 0.05))

    def test_graphs(self):
        """Each replay has the norm of its own gradients, of parts in one more message."""
        for scheme in WHOLE_AND_PARTS:
            with self.subTest(scheme=scheme):
                self.compare(2, scheme, ("--clip-norm", 0.5), on_device=("--cuda-graph",))

    def test_streams_that_dawdle(self):
        """Updates wait for the norm, and the norm for the last message."""
        delays = {"SYNCLINE_HOST_CUDA_DELAY": "300"}
        for scheme in ("tree", "reduce-scatter"):
            for graph in ((), ("--cuda-graph",)):
                with self.subTest(scheme=scheme, graph=graph):
                    words = ("--clip-norm", 0.5)
                    self.compare(2, scheme, words, on_device=graph, **delays)

    def test_moments(self):
        words = ("--clip-norm", 0.5)
        adam = ("--optimizer", "adam")
        plan = self.plan(2, "reduce-scatter", "cpu", adam)
        _, told, dumps = self.trained(plan, 2, words, rate=1e-3)
        plan = self.plan(2, "reduce-scatter", "cuda", adam)
        _, found, own = self.trained(plan, 2, (*words, "--cuda-graph"), rate=1e-3)
        self.assertEqual(found["clipped_steps"], told["clipped_steps"])
        self.assert_near(own[0].parameters(STEPS - 1), dumps[0].parameters(STEPS - 1), 1e-4)


class HostCudaLossScaleTest(UpdatesCase):
    def test_powers_of_two_keep_the_bits(self):
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                plan = self.plan(2, scheme, "cuda")
                words = ("--momentum", 0.9, "--clip-norm", 0.5)
                plain_log, _, plain = self.trained(plan, 2, words)
                log, told, scaled = self.trained(plan, 2, (*words, "--loss-scale", 1024))
                self.assertEqual(told["skipped_steps"], 0)
                for own, other in zip(plain_log, log):
                    self.assertEqual(own["gradient_norm"], other["gradient_norm"])
                for one, other in zip(plain, scaled):
                    self.assert_same(one.parameters(STEPS - 1), other.parameters(STEPS - 1))

    def test_infinite_gradients_skip_the_step_on_all_ranks(self):
        """fp16 cannot hold gradients of this scale."""
        for scheme in WHOLE_AND_PARTS:
            with self.subTest(scheme=scheme):
                plan = self.plan(2, scheme, "cuda", ("--wire", "fp16", "--optimizer", "adam"))
                log, told, dumps = self.trained(plan, 2, ("--loss-scale", 1e9))
                self.assertEqual(told["skipped_steps"], STEPS)
                self.assertTrue(all(line["skipped"] for line in log))
                start = self.trained(plan, 2, rate=0)[2][0].parameters(STEPS - 1)
                for dump in dumps:
                    self.assert_same(start, dump.parameters(STEPS - 1))

    def test_dynamic_scales_are_those_of_cpus(self):
        """The first scale overflows, so that steps are skipped and the scale halves."""
        for scheme in WHOLE_AND_PARTS:
            with self.subTest(scheme=scheme):
                found = []
                for backend in ("cpu", "cuda"):
                    plan = self.plan(2, scheme, backend, ("--wire", "fp16"))
                    words = ("--loss-scale", "dynamic")
                    log, told, dumps = self.trained(plan, 2, words, times=1e3, rate=1e-8)
                    found.append([(line["loss_scale"], line["skipped"]) for line in log])
                self.assertEqual(*found)
                self.assertTrue(found[0][0][1])

    def test_refuses_graphs(self):
        """The host decides whether a step is skipped."""
        with self.assertRaisesRegex(AssertionError, "--loss-scale cannot be combined with"):
            plan = self.plan(2, "ring", "cuda")
            self.trained(plan, 2, ("--cuda-graph", "--loss-scale", "dynamic"))


class HostCudaAccumulationTest(UpdatesCase):
    """Steps of several batches have the CPU's parameters."""

    def compare(self, scheme, words=(), extra=(), model=DIGITS, **environment):
        words = ("--accumulate", 3, "--momentum", 0.9, *words)
        dumps = []
        for backend in ("cpu", "cuda"):
            plan = self.plan(2, scheme, backend, extra, model)
            log, _, found = self.trained(plan, 2, words, **environment)
            dumps.append((found[0].parameters(STEPS - 1), [line["loss"] for line in log]))
        (wanted, losses), (got, found) = dumps
        self.assert_near(got, wanted)
        numpy.testing.assert_allclose(found, losses, LIMIT)

    def test_every_scheme(self):
        for scheme in SCHEMES:
            for overlap in ("backward", "step"):
                with self.subTest(scheme=scheme, overlap=overlap):
                    self.compare(scheme, extra=("--overlap", overlap))

    def replay(self, ranks, scheme, words=(), extra=(), model=DIGITS, micro_batches=3, rate=0.1):
        """Captured micro-batches train the bits of told ones, with the same losses."""
        plan = self.plan(ranks, scheme, "cuda", extra, model)
        late = {"SYNCLINE_HOST_CUDA_DEVICES": str(ranks), "SYNCLINE_HOST_CUDA_DELAY": "100"}
        runs = []
        for graph in ((), ("--cuda-graph",)):
            saved = self.folder / "out.onnx"
            with unittest.mock.patch.dict(os.environ, late):
                log = harness.syncline(
                    *("run", plan, "-n", ranks, "--data", PAIR, "--shuffle"),
                    *("--steps", 2 * STEPS, "--accumulate", micro_batches, "--lr", rate),
                    *("--log", "json", "--save", saved, *words, *graph),
                )
            *steps, _ = map(json.loads, log.splitlines())
            losses = [(line["step"], line["loss"]) for line in steps]
            self.assertEqual(len(losses), 2 * STEPS)
            runs.append((losses, saved.read_bytes()))
        self.assertEqual(*runs)

    def test_graphs(self):
        """The first micro-batch, those between and the last one are captured once each."""
        momentum = ("--momentum", 0.9)
        for scheme in (*SUMS, "reduce-scatter"):
            for overlap in ("backward", "step"):
                with self.subTest(scheme=scheme, overlap=overlap):
                    self.replay(2, scheme, momentum, ("--overlap", overlap))
        self.replay(2, "ring", momentum, micro_batches=2)
        self.replay(1, "ring", momentum, micro_batches=5)

    def test_graphs_of_masks_and_statistics(self):
        self.replay(2, "ring", model=mixed(self.folder / "mixed.onnx"))

    def test_graphs_clipped_and_scheduled(self):
        words = ("--clip-norm", 0.5, "--schedule", "cosine", "--warmup", 2)
        self.replay(2, "reduce-scatter", words, ("--optimizer", "adamw"), rate=1e-2)

    def test_graphs_of_rounded_weights(self):
        """Copies of weights in bf16 follow the updates of the last micro-batch."""
        for scheme in WHOLE_AND_PARTS:
            with self.subTest(scheme=scheme):
                self.replay(2, scheme, ("--momentum", 0.9), ("--precision", "bf16"))

    def test_graphs_of_exchanged_weights(self):
        self.replay(2, "ring", ("--momentum", 0.9), ("--consistency", "local:2"))

    def test_graphs_of_factors(self):
        """A message would travel in several captured micro-batches."""
        message = "travels by 'factors', in each micro-batch, but with '--cuda-graph'"
        with self.assertRaisesRegex(AssertionError, message):
            self.replay(2, "factors")
        self.replay(1, "factors")

    def test_masks_and_statistics_of_each_batch(self):
        self.compare("ring", model=mixed(self.folder / "mixed.onnx"))

    def test_clipped_and_late(self):
        delays = {"SYNCLINE_HOST_CUDA_DELAY": "300"}
        self.compare("reduce-scatter", ("--clip-norm", 0.5, "--loss-scale", 64), **delays)


if __name__ == "__main__":
    unittest.main()
