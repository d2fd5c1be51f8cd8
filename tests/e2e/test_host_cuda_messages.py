"""Messages of the CUDA backend without a GPU: every scheme that NCCL has, in every type, told
and replayed, over tests/host-cuda; ranks that are lost, and what of the environment contradicts
a plan."""

import ctypes
import json
import os
import signal
import subprocess
import unittest
import unittest.mock

import harness
import models
import numpy
from depth import repeat
from host_cuda import CUDA, DIGITS, MODULE, NODE, HostCudaCase
from test_host_cuda import digits
from test_token_ids import LENGTH, WORDS, language
from waiting import PATIENCE, SILENCE

SCHEMES = ("ring", "tree", "library", "parameter-server", "reduce-scatter", "factors")
# What NCCL chooses is offered where its times are stated.
MEASURED = """\
name: test
nodes: 1
devices-per-node: {ranks}
device: {{compute: 50 GFLOP/s, memory: 10 GB/s}}
collectives:
  all-reduce:
    ring: {{table: [[1KiB, 1ms], [1MiB, 2ms]]}}
    library: {{table: [[1KiB, 100us], [1MiB, 200us]]}}
"""
# Relative errors of gradients and parameters, from sums in another order and from gradients that
# are rounded on their way.
LIMITS = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 2e-2}


class Tuner:
    """A communicator's tuner, by version 4 of NCCL's interface: tree is its first algorithm, ring
    its second."""

    CHOICES = ("tree", "ring")
    PROTOCOLS = 3

    def __init__(self, ranks):
        library = ctypes.CDLL(str(MODULE.parent / "libnccl-tuner-syncline.so"))
        _, init, self.choose, _ = (ctypes.c_void_p * 4).in_dll(library, "ncclTunerPlugin_v4")
        init = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p
        )(init)
        log = ctypes.CFUNCTYPE(None)(lambda: None)
        self.context = ctypes.c_void_p()
        if init(ranks, 1, log, ctypes.addressof(self.context)) != 0:
            raise AssertionError("the tuner refused its table")

    def algorithms(self, size):
        """Which it leaves for an all-reduce of so many bytes."""
        table = (ctypes.c_float * (2 * self.PROTOCOLS))(*([1.0] * 2 * self.PROTOCOLS))
        channels = ctypes.c_int(0)
        numbers = (ctypes.c_int,) * 2
        choose = ctypes.CFUNCTYPE(
            ctypes.c_int,
            *(ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p),
            *(*numbers, ctypes.c_int, ctypes.c_void_p),
        )(self.choose)
        addresses = ctypes.addressof(table), ctypes.addressof(channels)
        choose(self.context, 4, size, 1, addresses[0], 2, self.PROTOCOLS, 0, addresses[1])
        rows = (table[a * self.PROTOCOLS : (a + 1) * self.PROTOCOLS] for a in range(2))
        return {name for name, row in zip(self.CHOICES, rows) if max(row) >= 0}


class MessageTest(HostCudaCase):
    def plan(self, ranks, scheme, backend, wire="fp32"):
        label = f"-{backend}-{scheme}-{wire}"
        folder = self.folder / f"{DIGITS.stem}{label}-{ranks}x4.plan"
        if folder.exists():
            return folder
        layers = "fc*" if scheme == "factors" else "*"
        extra = ("--backend", backend, "--scheme", f"{layers}={scheme}", "--wire", wire)
        cluster = MEASURED if scheme == "library" else NODE
        return harness.compile_plan(
            DIGITS, self.folder, ranks, 4, extra=extra, cluster=cluster, label=label
        )

    def trained(self, plan, ranks, extra=()):
        with unittest.mock.patch.dict(os.environ, SYNCLINE_HOST_CUDA_DEVICES=str(ranks)):
            return harness.train(plan, self.folder, digits(4 * ranks), ranks, extra=extra)

    def compare(self, ranks, scheme, extra=(), wire="fp32"):
        """Losses, gradients and parameters are the CPU's by the ring."""
        expected = self.trained(self.plan(ranks, "ring", "cpu"), ranks)
        plan = self.plan(ranks, scheme, "cuda", wire)
        self.assertIn(scheme, {bucket["scheme"] for bucket in harness.plan_json(plan)["buckets"]})
        actual = self.trained(plan, ranks, extra)
        self.assert_near(actual, expected, LIMITS[wire])
        return actual, expected

    def assert_near(self, actual, expected, limit):
        for step in (0, 2):
            self.assertAlmostEqual(
                actual.loss(step), expected.loss(step), delta=limit * expected.loss(step)
            )
            for kind in ("gradients", "parameters"):
                wanted, got = getattr(expected, kind)(step), getattr(actual, kind)(step)
                for name in wanted.names():
                    error = numpy.linalg.norm(got[name] - wanted[name])
                    self.assertLessEqual(
                        error, limit * numpy.linalg.norm(wanted[name]), f"{kind} {step} {name}"
                    )

    def test_schemes(self):
        for scheme in SCHEMES:
            for ranks in repeat((3,), (2, 3)):
                with self.subTest(scheme=scheme, ranks=ranks):
                    self.compare(ranks, scheme)

    def test_replayed(self):
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                self.compare(2, scheme, ("--cuda-graph",))

    def test_rows_of_an_embedding(self):
        """Rows travel whole, on any wire; ids repeat on a rank and on several."""
        self.compare_rows(language(), "--scheme", "table=sparse")

    def test_rows_of_a_tied_table(self):
        """They are added to the dense part of the gradient, which has travelled before."""
        self.compare_rows(language(tied=True), "--split-tied", "always")

    def compare_rows(self, network, *forced):
        model = models.save(network, self.folder / "language.onnx")
        ids, labels = numpy.random.RandomState(1).randint(0, WORDS, (2, 3 * 2, LENGTH))
        ids[:, 1] = ids[:, 2]
        how = {"batch": 2, "cluster": NODE}
        for ranks in (2, 3):
            data, devices = (ids[: 2 * ranks], labels[: 2 * ranks]), str(ranks)
            whole = ("--scheme", "*=ring")
            ring = harness.compile_plan(model, self.folder, ranks, extra=whole, **how)
            expected = harness.train(ring, self.folder, data, ranks)
            for words in ((), ("--wire", "bf16"), ("--cuda-graph",)):
                decided, running = harness.apart(words)
                extra = (*CUDA, *forced, *decided)
                plan = harness.compile_plan(
                    model, self.folder, ranks, extra=extra, label="-rows", **how
                )
                schemes = {each["scheme"] for each in harness.plan_json(plan)["buckets"]}
                self.assertIn("sparse", schemes)
                with (
                    self.subTest(ranks=ranks, words=words),
                    unittest.mock.patch.dict(os.environ, SYNCLINE_HOST_CUDA_DEVICES=devices),
                ):
                    actual = harness.train(plan, self.folder, data, ranks, extra=running)
                    limit = LIMITS["bf16" if "bf16" in words else "fp32"]
                    self.assert_near(actual, expected, limit)

    def test_halves_travel(self):
        """Near, and not the same as in float32."""
        for wire in ("bf16", "fp16"):
            for scheme in ("tree", "parameter-server", "reduce-scatter", "factors"):
                with self.subTest(wire=wire, scheme=scheme):
                    actual, expected = self.compare(2, scheme, wire=wire)
                    name = "fc.weight"
                    got, wanted = actual.gradients(0)[name], expected.gradients(0)[name]
                    error = numpy.linalg.norm(got - wanted) / numpy.linalg.norm(wanted)
                    self.assertGreater(error, 1e-5)

    def test_trace_names_the_messages(self):
        trace = self.folder / "trace.json"
        plan = self.plan(2, "ring", "cuda")
        with unittest.mock.patch.dict(os.environ, SYNCLINE_HOST_CUDA_DEVICES="2"):
            harness.syncline("run", plan, "-n", 2, "--steps", 4, "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        sent = [e for e in events if e.get("ph") == "X" and "bucket" in e["name"]]
        buckets = len(harness.plan_json(plan)["buckets"])
        self.assertGreaterEqual(len(sent), 2 * 3 * buckets)
        self.assertEqual({e["pid"] for e in sent}, {0, 1})

    def test_variables_that_contradict_the_plan(self):
        plan = self.plan(2, "ring", "cuda")
        command = [str(harness.SYNCLINE), "run", str(plan), "-n", "2", "--steps", "1"]
        variables = {"SYNCLINE_HOST_CUDA_DEVICES": "2", "NCCL_ALGO": "Tree", "NCCL_DEBUG": "WARN"}
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        self.assertEqual(
            warnings,
            [
                "syncline-run: warning: NCCL_ALGO=Tree keeps NCCL from sending messages as the plan"
                " says"
            ],
        )

    def test_what_nccl_chooses(self):
        """Where it is measured to be the fastest, planners choose it, the tuner leaves its buckets
        to NCCL, and every command knows it."""
        cluster = self.folder / "measured.yaml"
        cluster.write_text(MEASURED.format(ranks=2))
        plan = self.folder / "measured.plan"
        words = ("compile", DIGITS, "--cluster", cluster, "--batch", 4, "-o", plan)
        words += ("--overlap", "backward")
        for planner in ("optimal", "ddp:25MiB"):
            harness.syncline(*words, *CUDA, "--planner", planner)
            buckets = harness.plan_json(plan)["buckets"]
            self.assertEqual({bucket["scheme"] for bucket in buckets}, {"library"})
            self.assertNotIn("allreduce,", (plan / "nccl-tuner.csv").read_text())
            harness.syncline("verify", plan)
        harness.syncline(*words, *CUDA)
        harness.syncline("simulate", plan)
        self.assertIn(" library ", harness.syncline("inspect", plan))
        why = harness.syncline("inspect", plan, "--why", "conv1.weight")
        self.assertRegex(why, r"\* *library")
        with unittest.mock.patch.dict(os.environ, SYNCLINE_HOST_NCCL_NVLS="1"):
            self.trained(plan, 2)
        harness.syncline(*words)
        why = harness.syncline("inspect", plan, "--why", "conv1.weight")
        self.assertIn("not offered, as NCCL does not carry the messages: library", why)

    def test_tuner_reads_what_plans_say(self):
        """NCCL's tuner, asked as NCCL asks it for each bucket: only the algorithm of its scheme
        is left."""
        plan = self.folder / "mixed-schemes.plan"
        cluster = self.folder / "mixed.yaml"
        cluster.write_text(NODE.format(ranks=3))
        # Behind a barrier, since messages in halves are no all-reduces for NCCL.
        schemes = ("--scheme", "conv*=tree", "--scheme", "fc*=ring", "--overlap", "backward")
        harness.syncline(
            "compile", DIGITS, "--cluster", cluster, "--batch", 4, *CUDA, *schemes, "-o", plan
        )
        buckets = harness.plan_json(plan)["buckets"]
        self.assertEqual({bucket["scheme"] for bucket in buckets}, {"ring", "tree"})
        with unittest.mock.patch.dict(os.environ, SYNCLINE_NCCL_TABLE=str(plan / "nccl-tuner.csv")):
            tuner = Tuner(3)
            for bucket in buckets:
                self.assertEqual(tuner.algorithms(bucket["extent"]), {bucket["scheme"]})
            self.assertEqual(tuner.algorithms(8), {"ring", "tree"})
            with unittest.mock.patch.dict(os.environ, SYNCLINE_NCCL_ELEMENT_BYTES="2"):
                halves = Tuner(3)
            for bucket in buckets:
                self.assertEqual(halves.algorithms(bucket["extent"] // 2), {bucket["scheme"]})

    def start(self, rank, ranks, port, extra=()):
        """One of several ranks, found from the environment as torchrun sets it."""
        variables = {
            "RANK": rank,
            "WORLD_SIZE": ranks,
            "LOCAL_RANK": rank,
            "MASTER_PORT": port,
            "MASTER_ADDR": "127.0.0.1",
            "SYNCLINE_HOST_CUDA_DEVICES": ranks,
        }
        words = [
            "run",
            self.plan(ranks, "tree", "cuda"),
            "--steps",
            10_000_000,
            "--log",
            "json",
            *extra,
        ]
        process = subprocess.Popen(
            [str(harness.SYNCLINE), *map(str, words)],
            env={**os.environ, **{name: str(value) for name, value in variables.items()}},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def loses(self, how, what, extra=()):
        """Of three ranks the last is lost after the first step: the others end, and say who
        and where."""
        port = harness.free_port()
        ranks = [self.start(rank, 3, port, extra) for rank in range(3)]
        self.assertTrue(ranks[0].stdout.readline(), "rank 0 ended before its first step")
        ranks[2].send_signal(how)
        for number, process in enumerate(ranks[:2]):
            _, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 1, errors)
            message = (
                r"syncline-run: error: rank %d: lost rank 2 \(%s\) in the all-reduce of (bucket"
                r" \d+|the loss)"
            )
            self.assertRegex(
                errors, message % (number, what) + r" in step \d+; last completed step \d+\n"
            )

    def test_killed_rank(self):
        self.loses(signal.SIGKILL, "its process ended")

    def test_killed_rank_of_a_captured_step(self):
        self.loses(signal.SIGKILL, "its process ended", ("--cuda-graph",))

    def test_stopped_rank(self):
        self.loses(signal.SIGSTOP, "it does not answer", ("--timeout", SILENCE))

    def test_stopped_rank_of_a_captured_step(self):
        self.loses(signal.SIGSTOP, "it does not answer", ("--timeout", SILENCE, "--cuda-graph"))


if __name__ == "__main__":
    unittest.main()
