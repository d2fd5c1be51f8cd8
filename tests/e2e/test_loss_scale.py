"""--loss-scale: what arrives by fp16 with it, what it skips, and that it changes nothing else."""

import json
import pathlib
import tempfile
import unittest

import harness
import numpy
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
RANKS = 4
SCHEMES = (
    "ring",
    "recursive-doubling",
    "halving-doubling",
    "tree",
    "parameter-server",
    "reduce-scatter",
)


class LossScaleTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.plans = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.made = {}
        cls.data = ("--data", f"{DATA / 'digits-train-x.npy'},{DATA / 'digits-train-y.npy'}")

    @classmethod
    def plan(cls, label, *extra, cluster=harness.CLUSTER):
        if label not in cls.made:
            cls.made[label] = harness.compile_plan(
                DIGITS, cls.plans, RANKS, extra=extra, label=label, cluster=cluster
            )
        return cls.made[label]

    def by(self, scheme, *extra):
        layers = "fc*" if scheme == "factors" else "*"
        return self.plan("-".join((scheme, *extra)), "--scheme", f"{layers}={scheme}", *extra)

    def trained(self, plan, *words, steps=3, data=None):
        """The steps' log, its summary, and the dump of all ranks in the last step."""
        out = self.folder / f"dump{len(list(self.folder.iterdir()))}"
        done = self.command(
            *("run", plan, "-n", RANKS),
            *(data or self.data),
            *("--steps", steps, "--log", "json", "--dump", out),
            *("--dump-steps", steps - 1, *words),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        *log, summary = map(json.loads, done.stdout.splitlines())
        return log, summary, harness.dumps(out, RANKS)

    def assert_same(self, one, other):
        for name in one.names():
            self.assertTrue(numpy.array_equal(one[name], other[name]), name)

    def test_powers_of_two_keep_the_bits_of_float32(self):
        for scheme in (*SCHEMES, "factors"):
            with self.subTest(scheme=scheme):
                plan = self.by(scheme)
                words = ("--momentum", 0.9, "--weight-decay", 1e-3)
                _, _, plain = self.trained(plan, *words)
                log, told, scaled = self.trained(plan, *words, "--loss-scale", 1024)
                self.assertEqual(told["skipped_steps"], 0)
                self.assertEqual({line["loss_scale"] for line in log}, {1024})
                for one, other in zip(plain, scaled):
                    self.assert_same(one.parameters(2), other.parameters(2))
                    if scheme != "reduce-scatter":
                        self.assert_same(one.gradients(2), other.gradients(2))

    def test_moments_clipping_and_accumulation_keep_the_bits(self):
        plan = self.plan("adam", "--optimizer", "adam")
        words = ("--clip-norm", 0.01, "--clip-value", 1e-3, "--accumulate", 2)
        _, plain_told, plain = self.trained(plan, *words)
        _, told, scaled = self.trained(plan, *words, "--loss-scale", 2**20)
        self.assertEqual(plain_told["clipped_steps"], told["clipped_steps"])
        self.assertGreater(told["clipped_steps"], 0)
        self.assert_same(plain[0].parameters(2), scaled[0].parameters(2))

    def scaled_samples(self, factor):
        """Training data whose inputs are multiplied by a factor."""
        x = numpy.load(DATA / "digits-train-x.npy")
        numpy.save(self.folder / "x.npy", (x * factor).astype(x.dtype))
        return ("--data", f"{self.folder / 'x.npy'},{DATA / 'digits-train-y.npy'}")

    def test_small_gradients_arrive_by_fp16_with_it_alone(self):
        """The first weights' gradient is proportional to the samples, here such that fp16 rounds
        every rank's to 0. A rank keeps its own bits of what it updates by reduce-scatter."""
        name = "conv1.weight"
        first = 1e-6
        size = numpy.abs(
            self.trained(self.by("ring"), steps=1, data=self.scaled_samples(first))[2][0]
            .gradients(0)[name]
        ).max()
        data = self.scaled_samples(first * 1e-8 / float(size))
        for scheme in (*SCHEMES, "factors"):
            with self.subTest(scheme=scheme):
                exact = self.trained(self.by(scheme), steps=1, data=data)[2][0].gradients(0)[name]
                narrow = self.by(scheme, "--wire", "fp16")
                lost = self.trained(narrow, steps=1, data=data)[2][0].gradients(0)[name]
                words = ("--loss-scale", 8192)  # the sum of 4 ranks' largest gradients fits
                log, told, dumps = self.trained(narrow, *words, steps=1, data=data)
                self.assertEqual((log[0]["skipped"], told["skipped_steps"]), (False, 0))
                norm = numpy.linalg.norm
                self.assertGreater(norm(lost - exact), 0.5 * norm(exact))
                self.assertLess(norm(dumps[0].gradients(0)[name] - exact), 5e-3 * norm(exact))

    def test_one_infinite_value_skips_the_step_on_all_ranks(self):
        """The scale lets the largest gradient alone overflow: by reduce-scatter on one rank."""
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                exact = self.trained(self.by(scheme), steps=1)[2][0].gradients(0)
                sums = [numpy.abs(exact[name]).ravel() * RANKS for name in exact.names()]
                second, first = numpy.sort(numpy.concatenate(sums))[-2:]
                if second > 0.98 * first:
                    self.skipTest("the two largest gradients are too close to each other")
                scale = 65520 / numpy.sqrt(float(first) * float(second))
                narrow = self.by(scheme, "--wire", "fp16")
                words = ("--loss-scale", scale)
                log, told, dumps = self.trained(narrow, *words, steps=1)
                self.assertEqual((log[0]["skipped"], told["skipped_steps"]), (True, 1))
                start = self.trained(narrow, "--lr", 0, steps=1)[2][0].parameters(0)
                for dump in dumps:
                    self.assert_same(start, dump.parameters(0))

    def test_servers_of_their_own(self):
        plan = self.plan("served", *harness.BY_SERVERS["extra"], "--wire", "fp16",
                         cluster=harness.BY_SERVERS["cluster"])
        log, told, dumps = self.trained(plan, "--loss-scale", 1e9)
        self.assertEqual(told["skipped_steps"], 3)
        self.assert_same(dumps[0].parameters(2), dumps[-1].parameters(2))

    def test_dynamic_scales_halve_until_nothing_overflows(self):
        """Large samples make gradients that overflow with the first scale."""
        data = self.scaled_samples(1e2)
        words = ("--loss-scale", "dynamic", "--lr", 1e-8)
        log, told, _ = self.trained(self.by("ring", "--wire", "fp16"), *words, steps=30, data=data)
        self.assertGreater(told["skipped_steps"], 0)
        self.assertLess(told["skipped_steps"], 17)
        expected = 65536
        for line in log:
            self.assertEqual(line["loss_scale"], expected)
            expected /= 2 if line["skipped"] else 1

    def test_checkpoints_have_the_scale_and_the_steps_that_were_skipped(self):
        data = self.scaled_samples(1e2)
        plan = self.plan("saved", "--wire", "fp16", "--optimizer", "adam")
        words = ("--loss-scale", "dynamic", "--lr", 1e-6)
        whole, _, dumps = self.trained(plan, *words, steps=24, data=data)
        self.assertIn(True, [line["skipped"] for line in whole[:12]])
        saved = ("--checkpoint", self.folder / "saved")
        self.trained(plan, *words, *saved, steps=12, data=data)
        rest, _, resumed = self.trained(plan, *words, *saved, "--resume", steps=24, data=data)
        same = ("loss", "loss_scale", "skipped")
        self.assertEqual(
            [[line[key] for key in same] for line in rest],
            [[line[key] for key in same] for line in whole[12:]],
        )
        self.assert_same(dumps[0].parameters(23), resumed[0].parameters(23))

    def test_refusals(self):
        plan = self.by("ring")
        run = ["run", plan, "-n", RANKS, "--steps", 1, "--loss-scale"]
        for wrong in ("0", "0.5", "nan", "auto", "1e31", "12x"):
            self.refuses([*run, wrong], "--loss-scale: expected 'dynamic' or a number", code=2)
        late = self.plan("late", "--overlap", "step")
        self.refuses(["run", late, "-n", RANKS, "--loss-scale", 2], "--overlap backward")
        local = self.plan("local", "--consistency", "local:2")
        self.refuses(["run", local, "-n", RANKS, "--loss-scale", 2], "'local:2' weights do")


if __name__ == "__main__":
    unittest.main()
