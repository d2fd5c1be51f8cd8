"""Z3: `verify --with-z3`, which proves a plan's bound again, and `--planner z3:messages=N`."""

import json
import os
import signal
import subprocess
import unittest

import harness
import stepcache
from refusal import RefusalTest
from waiting import PATIENCE, processor_ticks, until

SAMPLES = harness.TOP / "samples"
SEARCHED = os.sysconf("SC_CLK_TCK") // 2  # half a second of its processor
HAS_Z3 = "this build has no Z3" not in harness.syncline("verify", "--help")


class Z3Test(RefusalTest):
    def plan(self, model="digits-cnn", cluster=None, *extra):
        """A plan of the model's shapes."""
        folder = self.folder / "only.plan"
        words = ["compile", SAMPLES / "models" / f"{model}.onnx", "--cluster"]
        words += [cluster or self.cluster, "--batch", 8, "--plan-only", "-o", folder, *extra]
        harness.syncline(*words)
        return folder

    def hard_plan(self):
        """One that Z3 needs far longer than a second for."""
        return self.plan("googlenet", SAMPLES / "clusters" / "poseidon-titanx-10gbe.yaml")

    @unittest.skipIf(HAS_Z3, "this build has Z3")
    def test_build_without_z3(self):
        self.refuses(["verify", self.plan(), "--with-z3"], "built without Z3", "libz3-dev")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_optimal_plan(self):
        said = harness.syncline("verify", self.plan(), "--with-z3")
        self.assertRegex(said, r"\nZ3: no plan finishes before [0-9.]+ [mu]s \(proved in .*s\)\n$")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_worse_plan(self):
        """Of a plan that is not the best Z3 proves the bound, and finds a better one."""
        plan = self.plan("digits-cnn", None, "--planner", "wfbp")
        said = harness.syncline("verify", plan, "--with-z3")
        self.assertIn("Z3: no plan finishes before", said)
        self.assertRegex(said, r"does not claim to be optimal; one that finishes at .*s exists\n$")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_orders(self):
        """Z3 compares the orders of few messages, and says what it was not asked."""
        self.enterContext(stepcache.none())
        slow = harness.CLUSTER.replace("10 Gb/s", "200 Mb/s").format(ranks=4)
        cluster = self.write("slow.yaml", slow)
        plan = self.folder / "order.plan"

        def compiled(planner):
            harness.syncline(
                *("compile", SAMPLES / "models" / "digits-cnn.onnx", "--cluster", cluster),
                *("--batch", 64, "--overlap", "step", "--planner", planner),
                *("--scheme", "*=ring", "-o", plan),
            )
            return ["verify", plan, "--with-z3"]

        said = harness.syncline(*compiled("p3:2KiB"))
        self.assertRegex(said, r"\nZ3: the plan's 16 messages have no order with a step below ")
        self.assertIn("Z3 was not asked about other messages", said)
        said = harness.syncline(*compiled("tictac"))
        self.assertRegex(said, r"\nZ3: the plan's 6 messages have an order with a step of ")
        self.refuses(compiled("p3:256B"), "messages; Z3 compares orders of at most 64")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_interruption(self):
        """Ctrl-C ends the command while Z3 searches."""
        words = [harness.SYNCLINE, "verify", self.hard_plan(), "--with-z3"]
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertIn("bound proved", process.stdout.readline())
        begun = processor_ticks(process.pid)
        until(lambda: processor_ticks(process.pid) > begun + SEARCHED, "Z3 searches", process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), -signal.SIGINT)
        process.stdout.close()


class PlannerTest(RefusalTest):
    def words(self, model="digits-cnn", messages=1, cluster=None):
        model = SAMPLES / "models" / f"{model}.onnx"
        words = ["compile", model, "--cluster", cluster or self.cluster, "--batch", 8]
        words += ["--plan-only", "--planner", f"z3:messages={messages}"]
        return [*words, "-o", self.folder / "limited.plan"]

    def hard_words(self):
        """Words of a plan that Z3 needs far longer than a second for."""
        whole = self.folder / "whole.plan"
        cluster = SAMPLES / "clusters" / "poseidon-titanx-10gbe.yaml"
        model = SAMPLES / "models" / "googlenet.onnx"
        words = ["--cluster", cluster, "--batch", 8, "--plan-only", "-o", whole]
        harness.syncline("compile", model, *words)
        layers = (whole / "layers.csv").read_text()
        half = self.write("half.csv", "".join(layers.splitlines(True)[:101]))
        words = ["compile", half, "--cluster", cluster, "--planner", "z3:messages=4"]
        return [*words, "-o", self.folder / "limited.plan"]

    @unittest.skipIf(HAS_Z3, "this build has Z3")
    def test_build_without_z3(self):
        self.refuses(self.words(), "z3:messages=1", "built without Z3", "libz3-dev")
        self.assertIn("this build has no Z3", harness.syncline("compile", "--help"))

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_limit_binds(self):
        """The plan keeps the limit, is later than the best and says so, and can be verified."""
        harness.syncline(*self.words(messages=1))
        folder = self.folder / "limited.plan"
        plan = json.loads((folder / "plan.json").read_text())
        self.assertEqual(plan["planner"], "z3:messages=1")
        self.assertEqual(len(plan["buckets"]), 1)
        self.assertFalse(plan["optimal"])
        self.assertNotIn("optimal", harness.syncline("inspect", folder))
        said = harness.syncline("verify", folder, "--with-z3")
        said = said.splitlines()[-1]
        self.assertRegex(said, "^Z3: no plan with at most 1 message finishes before .* m?u?s, and ")
        self.assertRegex(said, r"and none with more before .*s \(proved in .*s\)$")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_limit_does_not_bind(self):
        """A bound that holds for any number of messages proves the plan optimal."""
        harness.syncline(*self.words(messages=8))
        self.assertIn("optimal, proved", harness.syncline("inspect", self.folder / "limited.plan"))

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_equal_bytes(self):
        def text():
            harness.syncline(*self.words("alexnet", 2, SAMPLES / "clusters" / "servers-200m.yaml"))
            return (self.folder / "limited.plan" / "plan.mlir").read_bytes()

        self.assertEqual(text(), text())

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_other_clusters(self):
        """What plans anew says that this planner cannot."""
        harness.syncline(*self.words())
        folder = self.folder / "limited.plan"
        words = ["simulate", folder, "--sweep", "ranks=2..4"]
        self.refuses(words, "planner 'z3:messages=1' plans only in 'syncline compile'", "--replan")
        harness.syncline(*words, "--replan", "no")
        said = harness.syncline("inspect", folder, "--why", "fc")
        self.assertIn("planner z3:messages=1 plans only in 'syncline compile'", said)

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_impossible_limit(self):
        """One message cannot carry gradients by two schemes."""
        words = [*self.words(), "--scheme", "fc.weight=sfb"]
        self.refuses(words, "z3:messages=1", "no plan has so few messages")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_many_gradients(self):
        words = self.words("googlenet", 1, SAMPLES / "clusters" / "poseidon-titanx-10gbe.yaml")
        self.refuses(words, "z3:messages=1", "at most 100 gradients, got 173")

    @unittest.skipUnless(HAS_Z3, "this build has no Z3")
    def test_interruption(self):
        """Ctrl-C ends the command while Z3 searches, and no plan is left."""
        words = [harness.SYNCLINE, *self.hard_words()]
        before = self.listing()
        process = subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertIn("planning", process.stderr.readline())  # of what takes seconds
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), -signal.SIGINT)
        process.stderr.close()
        self.assertEqual(self.listing(), before)

    def test_limit_on_the_command_line(self):
        words = ["compile", "x.onnx", "--cluster", self.cluster, "-o", self.folder / "x.plan"]
        self.refuses([*words, "--planner", "z3"], "z3:messages=N", code=2)


if __name__ == "__main__":
    unittest.main()
