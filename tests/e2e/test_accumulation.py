"""`run --accumulate`: what is refused, what a run says, and resuming."""

import json

import numpy

import harness
from checkpointed import PAIR, RANKS, CheckpointedTest

THREE = ("--accumulate", 3)


class AccumulationTest(CheckpointedTest):
    def test_numbers_that_are_none(self):
        plan = self.plan_of("ring")
        for micro_batches in ("0", "-1", "1.5", "x", "1000001"):
            with self.subTest(micro_batches=micro_batches):
                done = self.command("run", plan, f"--accumulate={micro_batches}")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--accumulate: expected ", done.stderr)

    def test_options_that_it_contradicts(self):
        plan = self.plan_of("ring")
        for words in (("--trace", self.folder / "t.json"), ("--alone",)):
            with self.subTest(words=words):
                done = self.command("run", plan, *THREE, *words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--accumulate", done.stderr)

    def test_too_few_samples(self):
        samples = [self.folder / "x.npy", self.folder / "y.npy"]
        numpy.save(samples[0], numpy.zeros((71, 1, 8, 8), numpy.float32))
        numpy.save(samples[1], numpy.zeros(71, numpy.int64))
        data = ",".join(map(str, samples))
        done = self.command("run", self.plan_of("ring"), "-n", RANKS, "--data", data, *THREE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("71 samples, fewer than one global batch of 72", done.stderr)

    def test_samples_of_a_step(self):
        """1437 samples are 19 steps of 3 ranks with 3 batches of 8, and 69 are left."""
        plan = self.plan_of("ring")
        words = ("run", plan, "-n", RANKS, "--data", PAIR, "--epochs", 1, "--log", "json", *THREE)
        done = self.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        *steps, summary = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((len(steps), summary["steps"]), (19, 19))
        self.assertIn("every epoch leaves out 69 of 1437 samples", done.stderr)
        for line in steps:
            self.assertAlmostEqual(line["samples_per_second"] * line["seconds"], 72, delta=1e-6)

    def test_predicts_the_step(self):
        """Each micro-batch but the last computes and adds up; factors travel in each."""
        for way in ("ring", "factors"):
            with self.subTest(way=way):
                plan = self.plan_of(way)
                predicted = harness.plan_json(plan)["predicted"]
                words = ("run", plan, "-n", RANKS, "--steps", 2)
                done = self.command(*words, "--log", "json", *THREE)
                self.assertEqual(done.returncode, 0, done.stderr)
                summary = json.loads(done.stdout.splitlines()[-1])
                self.assertAlmostEqual(
                    summary["predicted_step_seconds"],
                    predicted["step"] + 2 * predicted["micro_batch"],
                )
                buckets = harness.plan_json(plan)["buckets"]
                factors = sum(b["traffic"] for b in buckets if b["scheme"] == "factors")
                self.assertEqual(factors > 0, way == "factors")
                traffic = predicted["traffic"] + 2 * factors
                self.assertAlmostEqual(summary["predicted_traffic_bytes"], traffic, delta=1)
                moved = summary["median_bytes_sent"] + summary["median_bytes_received"]
                self.assertAlmostEqual(moved, traffic, delta=0.01 * traffic + 1024)
                self.assertIn(" (predicted ", self.command(*words, *THREE).stderr)
        done = self.command("run", self.plan_of("local"), "-n", RANKS, "--steps", 2, *THREE)
        self.assertNotIn(" ms (predicted ", done.stderr)

    def resumes(self, way):
        """A run of two parts trains the same bits as one run."""
        plan, steps = self.plan_of(way), 12
        wanted, lines, _, _ = self.train(plan, steps, "whole", extra=THREE)
        saved = self.saving(self.folder / way, 4, "--resume")
        self.train(plan, 8, "part", extra=(*saved, *THREE))
        found, after, _, _ = self.train(plan, steps, "rest", extra=(*saved, *THREE))
        self.assertEqual(found, wanted)
        for step, line in after.items():
            self.assertEqual(line["loss"], lines[step]["loss"])
        done = self.command(*self.words(plan, steps + 1, self.folder / "x.onnx", extra=saved))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--accumulate 3 is gone: a resumed run needs the checkpoint's", done.stderr)

    def test_resumes(self):
        """Dropout, running statistics and messages that reach into the next step go on."""
        for way in ("ring", "carried-sharded", "factors", "adamw", "local"):
            with self.subTest(way=way):
                self.resumes(way)

    def test_scaled_loss(self):
        """A power of two as the loss's scale changes no bit of any micro-batch."""
        for way in ("ring", "sharded"):
            with self.subTest(way=way):
                plan = self.plan_of(way)
                plain, _, _, _ = self.train(plan, 3, "plain", extra=THREE)
                extra = (*THREE, "--loss-scale", 1024)
                scaled, _, summary, _ = self.train(plan, 3, "scaled", extra=extra)
                self.assertEqual(scaled, plain)
                self.assertEqual(summary["skipped_steps"], 0)

    def test_dropout_differs_between_micro_batches(self):
        """With synthetic samples, the second micro-batch differs by its dropout alone."""
        plan = self.plan_of("ring")
        losses = []
        for micro_batches in (1, 2):
            words = ("--steps", 1, "--log", "json", "--accumulate", micro_batches)
            done = self.command("run", plan, "-n", RANKS, *words)
            losses.append(json.loads(done.stdout.splitlines()[0])["loss"])
        self.assertNotEqual(*losses)

    def test_finds_what_is_not_finite_in_any_micro_batch(self):
        """A sample of the second micro-batch is NaN: the run ends and names it."""
        images = numpy.load(PAIR.split(",")[0])[:72].copy()
        images[9] = numpy.nan  # rank 0, second micro-batch
        numpy.save(self.folder / "x.npy", images)
        numpy.save(self.folder / "y.npy", numpy.load(PAIR.split(",")[1])[:72])
        data = f"{self.folder}/x.npy,{self.folder}/y.npy"
        done = self.command("run", self.plan_of("ring"), "-n", RANKS, "--data", data, *THREE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("step 0: the loss is not finite; rank 0: element 0 of sample 9", done.stderr)
