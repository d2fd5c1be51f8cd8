"""What sweeps say is what compile does: memory at another batch, one rank, DDP's buckets."""

import csv
import json
import re
import unittest

import harness
import stepcache
from refusal import RefusalTest

MODELS = harness.TOP / "samples" / "models"
TINY = "device: {{compute: 50 GFLOP/s, memory: 10 GB/s, memory-size: 1 KiB}}"
NEEDS = re.compile(r"needs (\S+ \S+) of memory on every device")


class SweepTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(stepcache.none())

    def plan(self, model, *words, batch=4, cluster=None):
        plan = self.folder / "test.plan"
        harness.syncline(
            *("compile", MODELS / model, "--cluster", cluster or self.cluster),
            *("--batch", batch, "-o", plan, *words),
        )
        return plan

    def sweep(self, plan, axis, *words):
        file = self.folder / "sweep.csv"
        harness.syncline("simulate", plan, "--sweep", axis, "--csv", file, *words)
        with open(file) as rows:
            return list(csv.DictReader(rows))

    def needs(self, *words):
        """The memory that a refusal names."""
        done = self.command(*words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return NEEDS.search(done.stderr).group(1)

    def test_memory_is_what_compile_needs(self):
        """At another batch, with the plan's decisions, to the three digits that compile prints:
        activations, factors and what they are gathered into, BatchNorm's workspaces."""
        rates = harness.CLUSTER.splitlines()[2]
        tiny = harness.CLUSTER.replace(rates, TINY).format(ranks=4)
        small, large = self.write("tiny.yaml", tiny), self.write(
            "large.yaml", harness.CLUSTER.format(ranks=4)
        )
        for model, scheme, batches, overlap in (
            ("digits-cnn.onnx", "*=ring", (16, 64, 1000), "backward"),
            ("digits-cnn.onnx", "fc*=factors", (16, 64), "backward"),
            # At batch 16 'compile' decides on another order, which keeps other factors at once.
            ("digits-cnn.onnx", "fc*=factors", (64,), "step"),
            ("alexnet.onnx", "*=ring", (3, 16), "backward"),
            ("alexnet.onnx", "classifier*=factors", (3, 16), "backward"),
            ("resnet-50.onnx", "*=ring", (2, 24), "backward"),
            ("googlenet.onnx", "*=ring", (7,), "backward"),
        ):
            extra = ("--scheme", scheme, "--overlap", overlap)
            plan = self.plan(model, *extra, cluster=large)
            for batch in batches:
                with self.subTest(model=model, scheme=scheme, batch=batch, overlap=overlap):
                    words = ("--cluster", small)
                    compiled = self.needs(
                        *("compile", MODELS / model, *words, "--batch", batch),
                        *(*extra, "-o", self.folder / "no.plan"),
                    )
                    swept = self.needs(
                        *("simulate", plan, *words, "--sweep", f"batch={batch}", "--replan", "no")
                    )
                    self.assertEqual(swept, compiled)

    def test_one_rank_is_one_device(self):
        """The baseline is the step of a plan for one rank, and efficiency is relative to it."""
        plan = self.plan("digits-cnn.onnx", batch=16)
        alone, pair = self.sweep(plan, "ranks=1,2")
        self.assertEqual((alone["messages"], alone["efficiency"]), ("0", "1"))
        one = self.plan("digits-cnn.onnx", "--nodes", 1, batch=16)
        step = json.loads((one / "plan.json").read_text())["predicted"]["step"]
        self.assertAlmostEqual(float(alone["step_s"]) / step, 1, places=6)
        share = float(pair["samples_per_s"]) / (2 * float(alone["samples_per_s"]))
        self.assertAlmostEqual(float(pair["efficiency"]), share, places=6)
        self.assertLess(share, 1)

    def test_alone_counts_what_messages_update(self):
        """By reduce-scatter the messages update; one device alone updates all by itself."""
        ring, sharded = (
            json.loads(
                (self.plan("digits-cnn.onnx", "--scheme", f"*={scheme}") / "plan.json").read_text()
            )
            for scheme in ("ring", "reduce-scatter")
        )
        self.assertAlmostEqual(
            ring["predicted"]["alone"] / sharded["predicted"]["alone"], 1, places=6
        )

    def test_efficiency_of_a_device(self):
        """Half of the rates is twice the time, and plan.json says so."""
        rates = "device: {compute: 50 GFLOP/s, memory: 10 GB/s}"
        half = harness.CLUSTER.format(ranks=2).replace(rates, rates[:-1] + ", efficiency: 0.5}")
        full = json.loads((self.plan("digits-cnn.onnx") / "plan.json").read_text())
        plan = self.plan("digits-cnn.onnx", cluster=self.write("half.yaml", half))
        slow = json.loads((plan / "plan.json").read_text())
        self.assertAlmostEqual(slow["predicted"]["alone"] / full["predicted"]["alone"], 2, places=6)
        self.assertEqual(slow["provenance"]["efficiency"], 0.5)
        self.assertIn(
            "estimated from 50 % of the cluster file's rates", harness.syncline("inspect", plan)
        )
        harness.syncline("verify", plan)

    def test_advice_is_the_best_of_the_sweep(self):
        """What is advised is as fast as any size of a sweep, and compile agrees with
        its planner."""
        slow = self.write("slow.yaml", harness.CLUSTER.format(ranks=8).replace("10 Gb/s", "1 Gb/s"))
        plan = self.plan("alexnet.onnx", cluster=slow)
        text = harness.syncline("inspect", plan, "--advise", "ddp")
        steps = dict(re.findall(r"bucket_cap_mb=(\d+).*?(\d\.\d+) s ", text))
        advised = re.search(r"bucket_cap_mb=(\d+)\)|keep the default", text)
        self.assertTrue(advised, text)
        best = float(steps[advised.group(1) or "25"])
        points = self.sweep(plan, "bucket=1MiB..256MiB")
        self.assertLessEqual(best, min(float(point["step_s"]) for point in points) * 1.002)
        self.refuses(("inspect", plan, "--advise", "horovod"), "--advise", code=2)

    def test_advice_says_what_it_does_not_know(self):
        """A trace's layers may have several gradients; frozen parameters are in no bucket."""
        plan = self.folder / "trace.plan"
        trace = harness.TOP / "samples" / "traces" / "alexnet.csv"
        harness.syncline("compile", trace, "--cluster", self.cluster, "-o", plan)
        said = harness.syncline("inspect", plan, "--advise", "ddp")
        self.assertIn("a layer of the trace counts as one module", said)
        self.assertNotIn("requires_grad", said)
        for words in ((), ("--plan-only",)):
            plan = self.plan("digits-cnn.onnx", "--freeze", "conv1.*", *words)
            said = harness.syncline("inspect", plan, "--advise", "ddp")
            self.assertNotIn("a layer of the trace", said)
            self.assertIn("expected to have requires_grad=False before Distributed", said)
        gradients = [layer["name"] for layer in harness.plan_json(plan)["layers"]]
        self.assertFalse([name for name in gradients if name.startswith("conv1.")])

    def test_a_sweep_at_the_plans_own_place(self):
        """There it says what inspect says, updates of many small parameters and gradients by
        factors included."""
        for model, words in (
            ("digits-cnn.onnx", ()),
            ("alexnet.onnx", ("--scheme", "classifier*=factors")),
            ("resnet-50.onnx", ("--scheme", "*=ring")),
        ):
            plan = self.plan(model, *words)
            step = json.loads((plan / "plan.json").read_text())["predicted"]["step"]
            (point,) = self.sweep(plan, "ranks=2", "--replan", "no")
            self.assertAlmostEqual(float(point["step_s"]) / step, 1, delta=1e-4)

    def order(self, planner, bandwidth=200, ranks=4, overlap="step", scheme="*=ring"):
        """A plan on links on which messages take about as long as computation."""
        slow = harness.CLUSTER.replace("10 Gb/s", f"{bandwidth} Mb/s").format(ranks=ranks)
        words = ("--overlap", overlap, "--planner", planner, "--scheme", scheme)
        cluster = self.write(f"{bandwidth}-{ranks}.yaml", slow)
        return self.plan("digits-cnn.onnx", *words, batch=64, cluster=cluster)

    def test_orders(self):
        """At its own place an order's step and gap are the plan's, whether kept or planned anew;
        elsewhere they are those of a plan that is made there, by the same planner."""
        for planner in ("optimal", "p3:2KiB", "bytescheduler:4KiB", "tictac", "ddp:25MiB"):
            here = harness.plan_json(self.order(planner))["predicted"]
            there = harness.plan_json(self.order(planner, bandwidth=400))["predicted"]
            wide = harness.plan_json(self.order(planner, ranks=8))["predicted"]
            plan = self.order(planner)
            with self.subTest(planner=planner):
                (kept,) = self.sweep(plan, "ranks=4", "--replan", "no")
                self.assertAlmostEqual(float(kept["step_s"]) / here["step"], 1, delta=1e-4)
                self.assertEqual((kept["planned_overlap"], kept["gap"]), ("step", ""))
                points = self.sweep(plan, "bandwidth=200Mb/s,400Mb/s")
                points += self.sweep(plan, "ranks=8")
                for point, wanted in zip(points, (here, there, wide)):
                    self.assertAlmostEqual(float(point["step_s"]) / wanted["step"], 1, delta=1e-3)
                    self.assertAlmostEqual(
                        float(point["gap"]), wanted["planner"]["gap"], delta=1e-4
                    )
                    self.assertEqual(point["planned_overlap"], "step")

    def test_orders_by_factors(self):
        """What is gathered is reconstructed before its reader."""
        plan = self.order("optimal", scheme="fc*=factors")
        step = harness.plan_json(plan)["predicted"]["step"]
        (point,) = self.sweep(plan, "ranks=4", "--replan", "no")
        self.assertAlmostEqual(float(point["step_s"]) / step, 1, delta=1e-3)

    def test_overlaps_side_by_side(self):
        """The axis plans both, and only plans with an order say what it needs."""
        backward = self.order("optimal", overlap="backward")
        barrier = harness.plan_json(backward)["predicted"]["step"]
        self.refuses(["simulate", backward, "--sweep", "overlap=step"], "'--overlap step'")
        plan = self.order("optimal")
        both = self.sweep(plan, "overlap=backward,step")
        self.assertEqual([point["overlap"] for point in both], ["backward", "step"])
        self.assertEqual([point["planned_overlap"] for point in both], ["backward", "step"])
        steps = [float(point["step_s"]) for point in both]
        self.assertAlmostEqual(steps[0] / barrier, 1, delta=1e-4)
        self.assertLess(steps[1], steps[0])
        self.refuses(
            ["simulate", plan, "--sweep", "overlap=step", "--replan", "no"], "anew", code=2
        )
        self.refuses(
            ["simulate", plan, "--sweep", "overlap=step", "--plot", self.folder / "x.svg"],
            "--plot",
            code=2,
        )
        ordered = self.order("tictac")
        (point, left_out) = self.sweep(ordered, "overlap=backward,step")[::-1]
        self.assertIn("--overlap step", left_out["left_out"])
        self.assertEqual(point["planned_overlap"], "step")


if __name__ == "__main__":
    unittest.main()
