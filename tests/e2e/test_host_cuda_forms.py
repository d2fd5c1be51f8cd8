"""Weights that travel between GPUs in place of gradients, without a GPU: local updates, DiLoCo and
synchronous EASGD over tests/host-cuda, with the CPU's weights."""

import json
import os
import re
import unittest
import unittest.mock

import harness
import numpy
from depth import repeat
from host_cuda import CUDA, DIGITS, MODULE, PLAYED
from refusal import RefusalTest
from test_local_updates import PAIR, TEST

# What the stand-ins' products and sums round otherwise than the CPU's, after all steps.
LIMIT = 1e-5
STEPS = 10
LAST = STEPS - 1
DEVICES = {"SYNCLINE_HOST_CUDA_DEVICES": "3"}
LATE = {"SYNCLINE_HOST_CUDA_DELAY": "300"}
FORMS = ("local:4", "diloco:4,2,1,0.5", "diloco:6,1,3,0.25", "easgd:sync2,0.5,2", "easgd:sync3,0.5")


class HostCudaFormsTest(RefusalTest):
    def setUp(self):
        if not MODULE.exists():
            self.skipTest("built without CUDA's toolkit")
        super().setUp()
        self.enterContext(unittest.mock.patch.dict(os.environ, {**PLAYED, **DEVICES}))

    def plan(self, form, ranks, backend="cuda"):
        label = re.sub(r"\W", "-", f"{form}-{backend}")
        folder = self.folder / f"{DIGITS.stem}{label}-{ranks}x4.plan"
        if folder.exists():
            return folder
        extra = ("--consistency", form, "--backend", backend)
        return harness.compile_plan(DIGITS, self.folder, ranks, label=label, extra=extra)

    def trained(self, plan, ranks, label, extra=(), steps=STEPS, momentum=0.9, **environment):
        """The saved model's bytes, every rank's dump of the last step, the log."""
        out, saved = self.folder / f"{label}.dump", self.folder / f"{label}.onnx"
        words = ("run", plan, "-n", ranks, "--data", PAIR, "--steps", steps, "--lr", 0.05)
        words += ("--momentum", momentum, "--weight-decay", 1e-4, "--save", saved, "--log", "json")
        words += ("--dump", out, "--dump-steps", steps - 1)
        with unittest.mock.patch.dict(os.environ, environment):
            log = harness.syncline(*words, *extra)
        dumps = harness.dumps(out, ranks)
        return saved.read_bytes(), dumps, [json.loads(line) for line in log.splitlines()]

    def assert_same(self, one, other):
        """The saved weights and those of all ranks in the last step."""
        self.assertEqual(one[0], other[0])
        for mine, theirs in zip(one[1], other[1]):
            for name in mine.parameters(LAST).names():
                mine_is, theirs_is = mine.parameters(LAST)[name], theirs.parameters(LAST)[name]
                numpy.testing.assert_array_equal(mine_is, theirs_is, name)

    def assert_near(self, found, wanted):
        for step in range(STEPS):
            loss = wanted[2][step]["loss"]
            self.assertAlmostEqual(found[2][step]["loss"], loss, delta=LIMIT * loss)
        for mine, theirs in zip(found[1], wanted[1]):
            names = theirs.parameters(LAST).names()
            self.assertGreater(len(names), 5)
            for name in names:
                expected = theirs.parameters(LAST)[name]
                error = numpy.linalg.norm(mine.parameters(LAST)[name] - expected)
                self.assertLessEqual(error, LIMIT * numpy.linalg.norm(expected), name)

    def test_trains_what_the_cpu_trains(self):
        """With works of streams late at random, on ranks of which the number is no power of two."""
        for form in FORMS:
            for ranks in repeat((3,), (1, 3)):
                with self.subTest(form=form, ranks=ranks):
                    wanted = self.trained(self.plan(form, ranks, "cpu"), ranks, "cpu")
                    found = self.trained(self.plan(form, ranks), ranks, "cuda", **LATE)
                    self.assert_near(found, wanted)

    def test_captured_steps(self):
        """Exchanges stay outside the graph, which holds a step's operations and updates."""
        for form in FORMS:
            with self.subTest(form=form):
                plan = self.plan(form, 2)
                told = self.trained(plan, 2, "told")
                self.assert_same(self.trained(plan, 2, "r", ("--cuda-graph",), **LATE), told)

    def test_variants_of_easgd(self):
        """sync1, sync2 and sync3 have the same bits."""
        for period in (1, 3):
            first = None
            for variant in ("sync1", "sync2", "sync3"):
                form = f"easgd:{variant},0.5,{period}"
                found = self.trained(self.plan(form, 3), 3, variant, **LATE)
                first = first or found
                self.assert_same(found, first)

    def test_checkpoints(self):
        """A run that stopped after 6 steps goes on with the bits of one that did not."""
        for form in ("diloco:6,1,3,0.25", "easgd:sync3,0.5,2"):
            with self.subTest(form=form):
                plan, place = self.plan(form, 2), self.folder / form
                through = self.trained(plan, 2, "through")
                saves = ("--checkpoint", place, "--every", 6, "--resume")
                self.trained(plan, 2, "part", saves, steps=6)
                self.assert_same(self.trained(plan, 2, "rest", saves), through)

    def test_learns(self):
        plan = self.plan("diloco:10,2,1,0", 2)
        extra = ("--eval", TEST)
        log = self.trained(plan, 2, "long", extra, steps=200, momentum=0)[2]
        self.assertGreater(log[-1]["test_accuracy"], 0.8)

    def test_traces(self):
        """A fragment's message spans steps."""
        plan, trace = self.plan("diloco:4,1,2,0", 2), self.folder / "trace.json"
        self.trained(plan, 2, "traced", ("--trace", trace, "--trace-steps", STEPS))
        events = json.loads(trace.read_text())["traceEvents"]
        fragments = [e for e in events if e.get("cat") == "message" and "fragment" in e["args"]]
        issued = {(e["pid"], e["args"]["step"]) for e in fragments}
        self.assertEqual(issued, {(rank, step) for rank in (0, 1) for step in (1, 5)})
        for event in fragments:
            self.assertGreater(event["dur"], 0)

    def test_killed_rank(self):
        """The others say who was lost, and in which step; in which fragment or loss, too, where one
        is under way when they learn of it."""
        for form in ("diloco:4,2,1,0.5", "easgd:sync2,0.5"):
            plan = self.plan(form, 3)
            for said in self.said_when_killed(plan, PAIR):
                message = r"in the all-reduce of (the loss|fragment [01]) "
                self.assertRegex(said, rf"lost rank 1.* ({message})?in step \d+; last completed")

    def test_refuses_servers(self):
        words = ("compile", DIGITS, "--cluster", self.cluster, "--batch", 4, *CUDA)
        words += ("-o", self.folder / "new.plan", "--consistency")
        for form in ("ssp:3", "asp", "dssp:3,15", "easgd:original,0.1,1", "easgd:hogwild,0.1,2"):
            said = f"P31: the weights of '{form}' travel by servers, which GPUs do not have"
            self.refuses((*words, form), said, "--backend cpu")


if __name__ == "__main__":
    unittest.main()
