"""Plans whose messages reach into the next forward pass: what they train, who is named when a rank
is lost, what reports say of them."""

import json
import random
import re
import signal
import time
import unittest

import numpy

import harness
from depth import repeat
from refusal import RefusalTest
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
TEST = f"{DATA}/digits-test-x.npy,{DATA}/digits-test-y.npy"
SERVERS = harness.CLUSTER + "servers: {{count: 2, dedicated: yes}}\n"
WAYS = {
    "ring": {"extra": ("--planner", "wfbp", "--scheme", "*=ring")},
    "factors": {"extra": ("--planner", "sfb")},
    "lone-factors": {"extra": ("--scheme", "fc*=factors")},  # one rank has no factors by a rule
    "sharded": {"extra": ("--planner", "wfbp", "--scheme", "*=reduce-scatter")},
    "servers": {"cluster": SERVERS, "extra": ("--planner", "wfbp", "--scheme", "*=ps")},
}
STEPS = 20
LAST = STEPS - 1


class Overlapped(RefusalTest):
    """Plans and runs with overlap."""

    ways = WAYS
    ranks = (1, 2, 3)
    few = {"factors": (2, 3), "lone-factors": (1,)}  # ranks of these ways
    backend = ()  # options of compile

    def plan(self, way, ranks, overlap, decided=()):
        more = self.ways[way]
        extra = (*more["extra"], "--overlap", overlap, *self.backend, *decided)
        return harness.compile_plan(
            DIGITS,
            self.folder,
            ranks=ranks,
            label=f"{way}-{overlap}",
            **{**more, "extra": extra},
        )

    def train(self, plan, ranks, dumped, label, extra=()):
        """The dump of the steps `dumped`, the saved model, and the log."""
        out, saved = self.folder / f"{label}.dump", self.folder / f"{label}.onnx"
        log = harness.syncline(
            *("run", plan, "-n", ranks, "--data", PAIR, "--eval", TEST, "--steps", STEPS),
            *("--lr", 0.05, "--momentum", 0.9, "--weight-decay", 1e-4, "--save", saved),
            *("--dump", out, "--dump-steps", ",".join(map(str, dumped)), "--log", "json"),
            *extra,
        )
        return harness.Dump(out), saved.read_bytes(), [json.loads(x) for x in log.splitlines()]

    def assert_same(self, one, other, step):
        self.assertEqual(one.loss(step), other.loss(step))
        for kind in ("gradients", "parameters"):
            mine, theirs = getattr(one, kind)(step), getattr(other, kind)(step)
            self.assertEqual(mine.names(), theirs.names())
            for name in mine.names():
                numpy.testing.assert_array_equal(mine[name], theirs[name], f"{kind} {name}")

    def members(self, plan):
        return [bucket["members"] for bucket in harness.plan_json(plan)["buckets"]]

    def check(self, way, ranks, extra=()):
        decided, extra = harness.apart(extra)
        barrier = self.plan(way, ranks, "backward", decided)
        carrying = self.plan(way, ranks, "step", decided)
        self.assertEqual(harness.plan_json(carrying)["overlap"], "step")
        wanted, model, log = self.train(barrier, ranks, (0, 7, LAST), "barrier", extra)
        found, same, told = self.train(carrying, ranks, (0, 7, LAST), "step", extra)
        for step in (0, 7, LAST):
            self.assert_same(found, wanted, step)
        undisturbed, also, quiet = self.train(carrying, ranks, (LAST,), "quiet", extra)
        self.assert_same(undisturbed, wanted, LAST)
        self.assertEqual(also, same)
        if self.members(barrier) == self.members(carrying):  # models list tensors as they lie
            self.assertEqual(same, model)
        for lines in (told, quiet):
            for line, other in zip(lines, log):
                self.assertEqual(line.get("loss"), other.get("loss"))
            self.assertEqual(lines[-1]["test_loss"], log[-1]["test_loss"])

    def order(self, planner, overlap="step", ranks=2):
        """A plan for links on which messages take about as long as computation."""
        return harness.compile_plan(
            DIGITS,
            self.folder,
            ranks=ranks,
            batch=64,
            cluster=harness.CLUSTER.replace("10 Gb/s", "200 Mb/s"),
            label=f"{planner.partition(':')[0]}-{overlap}",
            extra=("--planner", planner, "--scheme", "*=ring", "--overlap", overlap, *self.backend),
        )

    def assert_close(self, found, wanted, step):
        for kind in ("gradients", "parameters"):
            mine, theirs = getattr(found, kind)(step), getattr(wanted, kind)(step)
            for name in theirs.names():
                scale = numpy.abs(theirs[name]).max()
                error = numpy.abs(mine[name] - theirs[name]).max()
                self.assertLessEqual(error, 1e-6 * scale, f"step {step}: {kind} {name}")

    def loses(self, extra=()):
        plan = self.plan("ring", 3, "step")
        for said in self.said_when_killed(plan, PAIR, extra):
            found = re.search(r"rank 1.* in the all-reduce of (.*) in step (\d+); (.*)", said)
            self.assertIsNotNone(found, said)
            self.assertIn(f"step {int(found[2]) - 1}", found[3])

    def traces(self, plan, extra=()):
        trace = self.folder / "measured.json"
        run = ("run", plan, "-n", 2, "--data", PAIR, "--steps", 6)
        harness.syncline(*run, "--trace", trace, *extra)
        events = json.loads(trace.read_text())["traceEvents"]
        messages = [e for e in events if e.get("cat") == "message"]
        updates = {
            (e["pid"], e["args"]["step"], e["args"]["bucket"]): e
            for e in events
            if e.get("cat") == "update"
        }
        self.assertTrue(messages)
        for message in messages:
            key = (message["pid"], message["args"]["step"] + 1, message["args"]["bucket"])
            if update := updates.get(key):
                self.assertLessEqual(message["ts"] + message["dur"], update["ts"] + 1)
        harness.syncline("inspect", plan, "--measured", trace)

    def check_explanations(self, planner):
        """Whether a gradient is cut."""
        folder = self.order(planner)
        plan = harness.plan_json(folder)
        cut = False
        buckets = plan["buckets"]
        gathers = {x["all_gather"]["place"]: x["id"] for x in buckets if "all_gather" in x}
        others = iter(range(len(buckets)))
        pieces = range(len(buckets) + len(gathers))
        order = [gathers[i] if i in gathers else next(others) for i in pieces]
        for layer in plan["layers"]:
            name = layer["name"]
            why = harness.syncline("inspect", folder, "--why", name)
            marked = [int(number) for number in re.findall(r"(?m)^\*[+-]* +(\d+)  ", why)]
            brought = [x["id"] for x in buckets if name in x["members"]]
            self.assertEqual(marked, brought, why)
            cut = cut or len(brought) > 1
            count = "one message" if len(brought) == 1 else f"{len(brought)} messages"
            self.assertIn(f"travels in {count}; planned by {planner}", why)
            self.assertRegex(why, r"first read by \S+\n")
            self.assertRegex(why, r"must arrive by [\d.]+ [mu]?s(; it|, and) arrives")
            behind = order[-sum(x in brought for x in order) :]
            last = "as planned" if set(behind) <= set(brought) else "a step "
            self.assertRegex(why, rf"(?m)^  its messages? last: {last}")
            self.assertIn("no order with the schemes requested has a step below", why)
        return cut

    def compiled(self, bandwidth, *words, memory="", more="", model=DIGITS, ranks=2):
        """The plan.json of a compilation, in which only `words` speak of overlap, and its notes.
        `more` stands in the cluster file besides."""
        cluster = harness.CLUSTER.replace("10 Gb/s", bandwidth).format(ranks=ranks) + more
        if memory:
            cluster = cluster.replace("10 GB/s}", f"10 GB/s, memory-size: {memory} B}}")
        plan = self.folder / "chosen.plan"
        done = self.command(
            *("compile", model, "--cluster", self.write("chosen.yaml", cluster), "--batch", 64),
            *("-o", plan, *self.backend, *words),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return harness.plan_json(plan), done.stderr


class OverlapTest(Overlapped):
    """Runs on CPUs; test_host_cuda_overlap.py derives runs of the CUDA backend."""

    def test_trains_the_same_bits(self):
        """Parameters, gradients, losses and the saved model are those of a plan whose steps wait
        for their own messages; dumps in the middle change nothing."""
        for way in self.ways:
            every = self.few.get(way, self.ranks)
            for ranks in repeat(every if way == "ring" else every[-1:], every):
                with self.subTest(way=way, ranks=ranks):
                    self.check(way, ranks)

    def test_rates_are_their_steps(self):
        """With a schedule too, though the next step does the update of messages under way."""
        for way in self.ways:
            if 2 in self.few.get(way, self.ranks):
                with self.subTest(way=way):
                    self.check(way, 2, ("--schedule", "step:1,0.8", "--warmup", 4))

    def test_orders_train_alike(self):
        """Messages that overtake each other and carry parts of gradients sum the same numbers, in
        another order of summation."""
        barrier = self.order("optimal", "backward")
        wanted, _, _ = self.train(barrier, 2, (0, 7, LAST), "barrier")
        for planner in ("optimal", "p3:2KiB", "bytescheduler:4KiB", "tictac"):
            with self.subTest(planner=planner):
                plan = self.order(planner)
                buckets = harness.plan_json(plan)["buckets"]
                cut = [bucket for bucket in buckets if "cut" in bucket]
                if planner == "optimal":  # may send halves in the place of parts
                    cut += [bucket for bucket in buckets if "all_gather" in bucket]
                self.assertEqual(bool(cut), planner != "tictac")
                found, _, _ = self.train(plan, 2, (0, 7, LAST), planner.partition(":")[0])
                for step in (0, 7, LAST):
                    self.assert_close(found, wanted, step)

    def test_arrival_times_change_nothing(self):
        """Ranks that are stopped at random for some milliseconds train the same bits."""
        plan = self.order("optimal", ranks=3)
        saved = []
        for disturbed in (False, True):
            models = self.folder / f"disturbed-{disturbed}.onnx"
            words = ["--data", PAIR, "--steps", 60, "--lr", 0.05, "--save", models]
            ranks = [self.started(rank, 3, words, plan, LOCAL_RANK=rank) for rank in range(3)]
            chance = random.Random(7)
            while disturbed and ranks[0].poll() is None:
                late = chance.choice(ranks)
                late.send_signal(signal.SIGSTOP)
                time.sleep(chance.uniform(0, 0.02))
                late.send_signal(signal.SIGCONT)
                time.sleep(chance.uniform(0, 0.01))
            for rank in ranks:
                _, said = rank.communicate(timeout=PATIENCE)
                self.assertEqual(rank.returncode, 0, said)
            saved.append(models.read_bytes())
        self.assertEqual(saved[0], saved[1])

    def test_killed_rank(self):
        """The others say who was lost, and in which message of which step."""
        self.loses()

    def test_reports(self):
        plan = self.plan("factors", 2, "step")
        self.assertIn("reach into the next forward pass", harness.syncline("inspect", plan))
        why = harness.syncline("inspect", plan, "--why", "fc.weight")
        self.assertIn("computing it from factors takes", why)
        harness.syncline("inspect", plan, "--plot", self.folder / "plot.svg")
        harness.syncline("simulate", plan, "--trace", self.folder / "simulated.json")
        predicted = harness.plan_json(plan)["predicted"]["step"]
        # The mean of many steps; the first one waits for nothing, and the last one drains.
        simulated = json.loads(harness.syncline("simulate", plan, "--steps", 240, "--json"))
        self.assertAlmostEqual(simulated["step"], predicted, delta=2e-3 * predicted)
        self.traces(plan)


if __name__ == "__main__":
    unittest.main()
