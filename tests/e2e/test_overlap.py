"""Plans whose messages reach into the next forward pass: what they train, who is named when a rank
is lost, what reports say of them."""

import json
import re
import unittest

import numpy

import harness
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
TEST = f"{DATA}/digits-test-x.npy,{DATA}/digits-test-y.npy"
SERVERS = harness.CLUSTER + "servers: {{count: 2, dedicated: yes}}\n"
WAYS = {
    "ring": {"extra": ("--planner", "wfbp", "--scheme", "*=ring")},
    "factors": {"extra": ("--scheme", "fc*=factors")},
    "sharded": {"extra": ("--planner", "wfbp", "--scheme", "*=reduce-scatter")},
    "servers": {"cluster": SERVERS, "extra": ("--planner", "wfbp", "--scheme", "*=ps")},
}
STEPS = 20
LAST = STEPS - 1
LONG = 1000000  # steps, more than a test waits for


class OverlapTest(RefusalTest):
    def plan(self, way, ranks, overlap):
        more = WAYS[way]
        extra = (*more["extra"], "--overlap", overlap)
        return harness.compile_plan(
            DIGITS,
            self.folder,
            ranks=ranks,
            label=f"{way}-{overlap}",
            **{**more, "extra": extra},
        )

    def train(self, plan, ranks, dumped, label):
        """The dump of the steps `dumped`, the saved model, and the log."""
        out, saved = self.folder / f"{label}.dump", self.folder / f"{label}.onnx"
        log = harness.syncline(
            *("run", plan, "-n", ranks, "--data", PAIR, "--eval", TEST, "--steps", STEPS),
            *("--lr", 0.05, "--momentum", 0.9, "--weight-decay", 1e-4, "--save", saved),
            *("--dump", out, "--dump-steps", ",".join(map(str, dumped)), "--log", "json"),
        )
        return harness.Dump(out), saved.read_bytes(), [json.loads(x) for x in log.splitlines()]

    def assert_same(self, one, other, step):
        self.assertEqual(one.loss(step), other.loss(step))
        for kind in ("gradients", "parameters"):
            mine, theirs = getattr(one, kind)(step), getattr(other, kind)(step)
            self.assertEqual(mine.names(), theirs.names())
            for name in mine.names():
                numpy.testing.assert_array_equal(mine[name], theirs[name], f"{kind} {name}")

    def check(self, way, ranks):
        barrier = self.plan(way, ranks, "backward")
        carrying = self.plan(way, ranks, "step")
        self.assertEqual(harness.plan_json(carrying)["overlap"], "step")
        wanted, model, log = self.train(barrier, ranks, (0, 7, LAST), "barrier")
        found, same, told = self.train(carrying, ranks, (0, 7, LAST), "step")
        for step in (0, 7, LAST):
            self.assert_same(found, wanted, step)
        undisturbed, also, quiet = self.train(carrying, ranks, (LAST,), "quiet")
        self.assert_same(undisturbed, wanted, LAST)
        self.assertEqual(same, model)
        self.assertEqual(also, model)
        for lines in (told, quiet):
            for line, other in zip(lines, log):
                self.assertEqual(line.get("loss"), other.get("loss"))
            self.assertEqual(lines[-1]["test_loss"], log[-1]["test_loss"])

    def test_trains_the_same_bits(self):
        """Parameters, gradients, losses and the saved model are those of a plan whose steps wait
        for their own messages; dumps in the middle change nothing."""
        for way in WAYS:
            for ranks in (1, 2, 3):
                with self.subTest(way=way, ranks=ranks):
                    self.check(way, ranks)

    def test_killed_rank(self):
        """The others say who was lost, and in which message of which step."""
        plan = self.plan("ring", 3, "step")
        words = ["--data", PAIR, "--steps", LONG, "--timeout", 10]
        ranks = [self.started(rank, 3, words, plan) for rank in range(3)]
        for _ in range(20):
            ranks[0].stdout.readline()
        ranks[1].kill()
        for process in (ranks[0], ranks[2]):
            self.addCleanup(process.kill)
            process.stdout.read()
            said = process.stderr.read()
            self.assertEqual(process.wait(60), 1, said)
            found = re.search(r"rank 1.* in the all-reduce of (.*) in step (\d+); (.*)", said)
            self.assertIsNotNone(found, said)
            self.assertIn(f"step {int(found[2]) - 1}", found[3])
        ranks[1].communicate()

    def test_reports(self):
        plan = self.plan("factors", 2, "step")
        self.assertIn("reach into the next forward pass", harness.syncline("inspect", plan))
        harness.syncline("inspect", plan, "--why", "fc.weight")
        harness.syncline("inspect", plan, "--plot", self.folder / "plot.svg")
        harness.syncline("simulate", plan, "--trace", self.folder / "simulated.json")
        predicted = harness.plan_json(plan)["predicted"]["step"]
        # The mean of many steps; the first one waits for nothing, and the last one drains.
        simulated = json.loads(harness.syncline("simulate", plan, "--steps", 24, "--json"))
        self.assertAlmostEqual(simulated["step"], predicted, delta=2e-3 * predicted)
        trace = self.folder / "measured.json"
        run = ("run", plan, "-n", 2, "--data", PAIR, "--steps", 6, "--timings")
        harness.syncline(*run, "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        messages = [e for e in events if e.get("cat") == "message"]
        updates = {
            (e["pid"], e["args"]["step"], e["args"]["bucket"]): e
            for e in events
            if e.get("cat") == "update"
        }
        for message in messages:
            key = (message["pid"], message["args"]["step"] + 1, message["args"]["bucket"])
            if update := updates.get(key):
                self.assertLessEqual(message["ts"] + message["dur"], update["ts"] + 1)
        harness.syncline("inspect", plan, "--measured", trace)

    def test_refuses_what_it_cannot(self):
        plan = self.plan("ring", 2, "step")
        self.refuses(["simulate", plan, "--sweep", "nodes=2..4"], "'--overlap backward'")
        words = ["compile", DIGITS, "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        self.refuses([*words, "--overlap", "both"], "--overlap", code=2)


if __name__ == "__main__":
    unittest.main()
