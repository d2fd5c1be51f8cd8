"""Local updates tell losses, signals and values that are not finite once a window."""

import json
import re
import signal
import subprocess

import numpy

import harness
from depth import repeat
from refusal import LONG, RefusalTest
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
LABELS = f"{DATA}/digits-train-y.npy"
PAIR = f"{DATA}/digits-train-x.npy,{LABELS}"
BATCH = 4
LOSS = 200  # bytes of one message of losses, both directions, at most


class LocalWindowsTest(RefusalTest):
    def plan(self, form, ranks=2):
        label = re.sub(r"\W", "-", form)
        words = ("--consistency", form, "--scheme", "*=ring")
        return harness.compile_plan(
            DIGITS, self.folder, ranks=ranks, batch=BATCH, label=label, extra=words
        )

    def words(self, plan, steps, *more, data=PAIR, rate=0.05):
        words = ("run", plan, "-n", 2, "--data", data, "--steps", steps, "--lr", rate)
        return (*words, "--log", "json", *more)

    def train(self, plan, steps, *more):
        """The lines of the steps, and the summary."""
        said = harness.syncline(*self.words(plan, steps, *more)).splitlines()
        *steps, summary = [json.loads(line) for line in said]
        return steps, summary

    def test_a_line_a_step_with_the_mean_of_its_window(self):
        """A dumped step has its own loss. Dumps make losses travel at once, without changing
        them."""
        for form, windows in (
            ("local:4", (range(4), range(4, 8), range(8, 10))),
            ("diloco:8,2,1,0.5", (range(3), range(3, 7), range(7, 10))),
        ):
            with self.subTest(form=form):
                plan, out = self.plan(form), self.folder / f"{form}.dump"
                told, _ = self.train(plan, 10)
                every = ",".join(map(str, range(10)))
                dumped, _ = self.train(plan, 10, "--dump", out, "--dump-steps", every)
                self.assertEqual([line["step"] for line in told], list(range(10)))
                self.assertEqual([line["step"] for line in dumped], list(range(10)))
                losses = [harness.Dump(out).loss(step) for step in range(10)]
                for step, line in enumerate(dumped):
                    self.assertAlmostEqual(line["loss"], losses[step], delta=1e-9)
                for window in windows:
                    mean = numpy.mean([losses[step] for step in window])
                    for step in window:
                        self.assertAlmostEqual(told[step]["loss"], mean, delta=1e-9)

    def test_a_dump_within_a_window(self):
        """It has the loss of its step, although earlier losses travel with it."""
        plan, losses = self.plan("local:8"), []
        for steps in ("5", "2,3,4,5"):
            out = self.folder / f"{steps}.dump"
            self.train(plan, 8, "--dump", out, "--dump-steps", steps)
            losses.append(harness.Dump(out).loss(5))
        self.assertAlmostEqual(*losses, delta=1e-9)

    def test_bytes(self):
        """A period has one message of weights and one of losses for each window. A run that is
        shorter than a period has the last exchange."""
        for form, windows in (("local:16", 1), ("diloco:16,4,2,0.5", 4)):
            plan = self.plan(form)
            period = 16 * harness.plan_json(plan)["predicted"]["traffic"]
            for steps in (5, 32):
                with self.subTest(form=form, steps=steps):
                    _, summary = self.train(plan, steps)
                    moved = summary["median_bytes_sent"] + summary["median_bytes_received"]
                    least = period / min(steps, 16)
                    self.assertGreaterEqual(moved, least - 2)  # each direction is rounded
                    if steps > 16 or windows == 1:
                        messages = windows + 1 if steps < 16 else windows
                        self.assertLessEqual(moved, least + messages * LOSS / min(steps, 16))

    def rank(self, number, plan, *words):
        words = ("--data", PAIR, "--timeout", PATIENCE, "--steps", LONG, *words)
        process = self.started(number, 2, words, plan, LOCAL_RANK=number)
        self.addCleanup(process.kill)
        return process

    def test_ranks_meet_once_a_window(self):
        """What a rank waits for when another one has died is a window's end."""
        plan = self.plan("local:400")
        first, second = (self.rank(number, plan) for number in range(2))
        first.stdout.readline()
        second.kill()
        first.stdout.read()
        said = first.stderr.read()
        self.assertEqual(first.wait(PATIENCE), 1, said)
        found = re.search(r"rank 1.* the all-reduce of (the loss|fragment 0) in step (\d+)", said)
        self.assertTrue(found, said)
        self.assertEqual((int(found[2]) + 1) % 400, 0, said)
        second.communicate()

    def test_a_signal_ends_a_window(self):
        """One rank is told; all stop after the same window and save the common weights."""
        for form, window in (("local:50", 50), ("diloco:100,2,10,0.5", 50)):
            for victim in repeat((1,), (0, 1)):
                with self.subTest(form=form, victim=victim):
                    plan, saved = self.plan(form), self.folder / f"{victim}.onnx"
                    ranks = [self.rank(number, plan, "--save", saved) for number in range(2)]
                    ranks[0].stdout.readline()
                    ranks[victim].send_signal(signal.SIGTERM)
                    said = ranks[0].stdout.read().splitlines()
                    for rank in ranks:
                        errors = rank.stderr.read()
                        self.assertEqual(rank.wait(PATIENCE), 128 + signal.SIGTERM, errors)
                        rank.stdout.close()
                        rank.stderr.close()
                    summary = json.loads(said[-1])
                    self.assertEqual(summary["steps"] % window, 0)
                    self.assertEqual(json.loads(said[-2])["step"], summary["steps"] - 1)
                    self.assertGreater(saved.stat().st_size, 0)

    def poisoned(self, *samples):
        x = numpy.load(DATA / "digits-train-x.npy").astype("float32")
        for sample in samples:
            x.reshape(len(x), -1)[sample, 5] = numpy.nan
        numpy.save(self.folder / "x.npy", x)
        return f"{self.folder / 'x.npy'},{LABELS}"

    def test_not_finite(self):
        """The earliest step of any rank is named, whichever rank's it is, with its sample."""
        later, earlier = 5 * 2 * BATCH, 3 * 2 * BATCH + BATCH + 1
        for form in ("local:8", "diloco:8,1,3,0.5", "local:100"):
            with self.subTest(form=form):
                plan, data = self.plan(form), self.poisoned(later, earlier)
                self.refuses(
                    self.words(plan, 12, data=data),
                    *("step 3: the loss is not finite", f"rank 1: element 5 of sample {earlier} "),
                    *("is nan", "'--allow-nonfinite'"),
                )
        done = harness.syncline(*self.words(plan, 12, "--allow-nonfinite", data=data))
        self.assertEqual(json.loads(done.splitlines()[-1])["steps"], 12)

    def test_divergence(self):
        """A rank searches right after the step, before the ranks' mean hides the cause."""
        words = self.words(self.plan("local:8"), 12, rate=1e20)
        self.assertIn("makes it of finite values", self.refuses(words, "is not finite", "rank "))

    def test_trace(self):
        plan, trace = self.plan("local:8"), self.folder / "trace.json"
        self.train(plan, 20, "--trace", trace, "--trace-steps", 10)
        events = json.loads(trace.read_text())["traceEvents"]
        steps = {e["args"]["step"] for e in events if "step" in e.get("args", {})}
        self.assertEqual(steps, set(range(10, 20)))

    def test_alone(self):
        plan = self.plan("local:8")
        words = ("run", plan, "--alone", "--data", PAIR, "--steps", 3, "--log", "json")
        done = subprocess.run(
            [str(harness.SYNCLINE), *map(str, words)], capture_output=True, text=True, check=True
        )
        self.assertEqual(len(done.stdout.splitlines()), 4)
