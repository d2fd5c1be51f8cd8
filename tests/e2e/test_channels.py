"""Plans whose messages take turns on several channels: what they train, what reports say of them,
and when they are chosen."""

import unittest

import numpy

import harness
import stepcache
from depth import repeat
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
TRACE = harness.TOP / "samples" / "traces" / "resnet152.csv"
STEPS = 12
SAME = 1e-9  # what rounding makes of two equal steps
GAIN = 0.01  # of a step, which another overlap has to save
WAYS = {
    "hierarchical": {"ranks": 4, "cluster": harness.NODES, "scheme": "*=hierarchical"},
    "servers": {"ranks": 3, "cluster": harness.BY_SERVERS["cluster"], "scheme": "*=ps"},
    "mixed": {"ranks": 2, "cluster": harness.CLUSTER, "scheme": "fc*=factors"},
    "sharded": {"ranks": 2, "cluster": harness.CLUSTER, "scheme": "*=reduce-scatter"},
}
# Stated costs, and gradients that are ready long before their messages end.
MEASURED = """\
name: measured
ranks: 4
device: {{compute: 50 GFLOP/s, memory: 10 GB/s}}
interference: {{messages: {messages}}}
collectives: {{all-reduce: {{ring: {{a: 1ms, b: 1 ns/B}}}}}}
"""


class ChannelsTest(RefusalTest):
    """Runs on CPUs; test_host_cuda_channels.py derives runs of the CUDA backend."""

    ways = WAYS
    late = ("servers", 2, "step"), ("servers", 8, "backward"), ("hierarchical", 2, "step")
    cases = [*((way, 2, "backward") for way in WAYS), *repeat(late[:1], late)]
    backend = ()  # options of compile

    def plan(self, way, channels, overlap="backward"):
        chosen = self.ways[way]
        planner = ("--planner", "wfbp") if chosen["scheme"].startswith("*") else ()
        return harness.compile_plan(
            *(DIGITS, self.folder, chosen["ranks"]),
            cluster=chosen["cluster"],
            label=f"{way}-{channels}-{overlap}",
            extra=(
                *("--scheme", chosen["scheme"], "--channels", channels),
                *("--overlap", overlap, *planner, *self.backend),
            ),
        )

    def trained(self, plan, ranks, extra=()):
        out = self.folder / f"{plan.name}.dump"
        harness.syncline(
            *("run", plan, "-n", ranks, "--data", PAIR, "--steps", STEPS, "--lr", 0.05),
            *("--momentum", 0.9, "--dump", out, "--dump-steps", f"3,{STEPS - 1}"),
            *extra,
        )
        return harness.Dump(out)

    def assert_same(self, one, other, step):
        self.assertEqual(one.loss(step), other.loss(step))
        for kind in ("gradients", "parameters"):
            mine, theirs = getattr(one, kind)(step), getattr(other, kind)(step)
            self.assertEqual(mine.names(), theirs.names())
            for name in mine.names():
                numpy.testing.assert_array_equal(mine[name], theirs[name], f"{kind} {name}")

    def check(self, way, channels, overlap, extra=()):
        one, several = self.plan(way, 1, overlap), self.plan(way, channels, overlap)
        used = [bucket["channel"] for bucket in harness.plan_json(several)["buckets"]]
        self.assertEqual(used, [i % channels for i in range(len(used))])
        self.assertGreater(len(used), 1)
        ranks = self.ways[way]["ranks"]
        wanted, found = self.trained(one, ranks, extra), self.trained(several, ranks, extra)
        for step in (3, STEPS - 1):
            self.assert_same(found, wanted, step)

    def test_trains_the_same_bits(self):
        """Losses, gradients and parameters are those of a plan of one channel, whichever scheme
        carries the messages and whatever they hide behind."""
        for way, channels, overlap in self.cases:
            with self.subTest(way=way, channels=channels, overlap=overlap):
                self.check(way, channels, overlap)


class ChosenChannelsTest(RefusalTest):
    def nodes(self, *extra):
        return harness.compile_plan(
            *(DIGITS, self.folder, 4),
            cluster=harness.NODES,
            label="".join(map(str, extra)).replace("-", ""),
            extra=extra,
        )

    def test_says_what_is_proved(self):
        """The certificate is of one channel, so nothing is called optimal or close to it."""
        self.enterContext(stepcache.none())
        plan = self.nodes("--planner", "wfbp", "--channels", 2)
        self.assertFalse(harness.plan_json(plan)["optimal"])
        self.assertIn("bound of one channel proved", harness.syncline("verify", plan))
        shown = harness.syncline("inspect", plan)
        self.assertIn(
            "so says a model of one channel; of the 2 on which this plan's messages take turns no "
            "bound is known",
            shown,
        )
        self.assertRegex(shown, r"exposed +channel")
        self.assertNotIn("optimal, proved", shown)
        why = harness.syncline("inspect", plan, "--why", "fc.weight")
        self.assertIn("messages take turns on 2 channels; only virtual times say so", why)
        self.assertRegex(harness.syncline("simulate", plan), r"channel 1 +rank 0")
        self.refuses(["verify", plan, "--with-z3"], "2 channels; Z3 proves plans of one")

    def compile_trace(self, cluster, channels):
        file, plan = self.folder / "cluster.yaml", self.folder / "trace.plan"
        file.write_text(cluster)
        harness.syncline(
            *("compile", TRACE, "--cluster", file, "--planner", "wfbp"),
            *("--channels", channels, "-o", plan),
        )
        harness.syncline("verify", plan)
        found = harness.plan_json(plan)
        return found["predicted"]["step"], max(b["channel"] for b in found["buckets"]) + 1

    def test_chooses_by_the_predicted_step(self):
        """Two channels are chosen where messages at once gain, one where they gain nothing."""
        self.enterContext(stepcache.none())
        for messages, chosen in ((1.2, 2), (2, 1)):
            with self.subTest(messages=messages):
                cluster = MEASURED.format(messages=messages)
                steps = {n: self.compile_trace(cluster, n)[0] for n in (1, 2)}
                self.assertEqual(steps[2] < steps[1] * (1 - GAIN), chosen == 2, steps)
                self.assertEqual(self.compile_trace(cluster, "auto"), (steps[chosen], chosen))
                words = ("--cluster", self.folder / "cluster.yaml", "--planner", "wfbp")
                words += ("--channels", "auto", "-o", self.folder / "said.plan")
                said = self.command("compile", TRACE, *words).stderr  # a trace has no --overlap
                self.assertIn(f"planned with '--channels {chosen}': step", said)

    def test_composes_with_overlap(self):
        """What is on 'auto' has the best of the steps that it may take, but for what saves too
        little."""
        self.enterContext(stepcache.none())
        tried = {}
        for overlap in ("backward", "step", "auto"):
            for channels in (1, 2, "auto"):
                plan = self.nodes("--overlap", overlap, "--channels", channels)
                tried[overlap, channels] = harness.plan_json(plan)["predicted"]["step"]
        best = min(tried.values())
        self.assertLessEqual(tried["auto", "auto"] * (1 - GAIN), best * (1 + SAME), tried)
        for overlap in ("backward", "step"):
            best = min(tried[overlap, channels] for channels in (1, 2))
            taken = tried[overlap, "auto"]
            self.assertLessEqual(taken * (1 - GAIN), best * (1 + SAME), tried)
            self.assertIn(taken, (tried[overlap, 1], tried[overlap, 2]))
            self.assertEqual(taken == tried[overlap, 1], best >= tried[overlap, 1] * (1 - GAIN))

    def test_refuses(self):
        """Numbers of channels that no plan may have."""
        self.enterContext(stepcache.none())
        words = ["compile", DIGITS, "--cluster", "local4", "--batch", 4, "-o", self.folder / "p"]
        for count in (0, 9, -1, "two", "1.5", ""):
            self.refuses([*words, "--channels", count], "--channels", code=2)


if __name__ == "__main__":
    unittest.main()
