"""Checkpoints: a run that is resumed trains the same bits as one that was never stopped; a
checkpoint that is not whole is refused by name."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import numpy

import harness
from checkpointed import RANKS, WAYS, CheckpointedTest
from depth import LONG, repeat
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
STEPS = 20


class CheckpointTest(CheckpointedTest):
    def same_losses(self, lines, wanted):
        for step, line in lines.items():
            for key in ("loss", "mean_loss", "epoch"):
                self.assertEqual(line[key], wanted[step][key], f"step {step}: {key}")

    def resumes(self, way, ranks=RANKS):
        """A run of two parts, whose second begins with the checkpoint at the end of the first."""
        plan = self.plan_of(way, ranks)
        wanted, lines, _, _ = self.train(plan, STEPS, "whole", ranks)
        saved = self.folder / "kept"
        kept, also, summary, _ = self.train(
            plan, STEPS, "kept", ranks, self.saving(saved, 4, "--keep", 2)
        )
        self.assertEqual(kept, wanted, "saving changes what is trained")
        if way not in ("local", "diloco", "easgd"):  # a checkpoint ends a window of losses
            self.same_losses(also, lines)
        self.assertEqual(self.checkpoints(saved), [STEPS - 4, STEPS])
        self.assertEqual(summary["checkpoints"], STEPS // 4)
        self.assertGreater(summary["checkpoint_held_seconds"], 0)
        parts = self.folder / "parts"
        _, before, _, said = self.train(plan, 8, "part", ranks, self.saving(parts, 4, "--resume"))
        self.assertIn(f"no checkpoint in '{parts}': training begins at step 0", said)
        self.same_losses(before, also)
        resumed = self.saving(parts, 4, "--resume")
        found, after, summary, said = self.train(plan, STEPS, "rest", ranks, resumed)
        self.assertIn(f"resumes from checkpoint '{parts}/step8' after 8 steps", said)
        self.assertEqual(sorted(after), list(range(8, STEPS)))
        self.same_losses(after, also)
        self.assertEqual(summary["resumed_at"], 8)
        self.assertEqual(found, wanted, "the resumed run trained something else")
        if LONG or way == "ring":
            # At its end there is nothing left to train; the model is saved again.
            fewer = (*resumed, "--keep", 1)
            again, nothing, _, _ = self.train(plan, STEPS, "again", ranks, fewer)
            self.assertEqual((again, nothing), (wanted, {}))
            self.assertEqual(self.checkpoints(parts), [STEPS])

    def test_resumes_every_way(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
                self.resumes(way)

    def test_resumes_one_rank(self):
        for way in repeat(("diloco",), ("ring", "carried-sharded", "diloco")):
            with self.subTest(way=way):
                self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
                self.resumes(way, ranks=1)

    def test_resumes_synthetic_samples(self):
        plan = self.plan_of("ring")
        words = ["run", plan, "-n", RANKS, "--lr", 0.05, "--momentum", 0.9, "--save"]
        saved = self.saving(self.folder / "c", None, "--resume")
        harness.syncline(*words, self.folder / "whole.onnx", "--steps", 10)
        harness.syncline(*words, self.folder / "part.onnx", "--steps", 3, *saved)
        harness.syncline(*words, self.folder / "rest.onnx", "--steps", 10, *saved)
        whole, rest = ((self.folder / f"{name}.onnx").read_bytes() for name in ("whole", "rest"))
        self.assertEqual(rest, whole)
        # A run that is complete has nothing to trace, and is none the worse for it.
        trace = self.folder / "trace.json"
        words = [*words, self.folder / "rest.onnx", "--steps", 10, *saved, "--trace", trace]
        done = self.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"'{trace}' is not written: no step was left to trace", done.stderr)
        self.assertFalse(trace.exists())

    def test_resumes_in_another_epoch(self):
        """59 steps are an epoch: the order of samples and the epoch's mean loss go on."""
        plan, steps = self.plan_of("ring"), 130
        wanted, lines, _, _ = self.train(plan, steps, "whole")
        saved = self.saving(self.folder / "c", None, "--resume")
        self.train(plan, 70, "part", extra=saved)
        found, after, _, _ = self.train(plan, steps, "rest", extra=saved)
        self.assertEqual(found, wanted)
        self.same_losses(after, lines)
        self.assertEqual((after[70]["epoch"], after[129]["epoch"]), (1, 2))

    def test_signal_saves(self):
        """Ctrl-C and SIGTERM save what has been trained; the resumed run loses no step."""
        plan, out = self.plan_of("carried-sharded"), self.folder / "out.onnx"
        for number in (signal.SIGINT, signal.SIGTERM):
            saved = self.folder / number.name
            extra = self.saving(saved)
            process = self.begin(self.words(plan, 1000000, out, extra=extra))
            for _ in range(20):
                process.stdout.readline()
            process.send_signal(number)
            output, said = process.stdout.read(), process.stderr.read()
            self.assertEqual(process.wait(PATIENCE), 128 + number, said)
            done = json.loads(output.splitlines()[-1])["steps"]
            self.assertEqual(self.checkpoints(saved), [done])
            wanted, _, _, _ = self.train(plan, done + 5, "whole")
            found, _, _, _ = self.train(plan, done + 5, "rest", extra=[*extra, "--resume"])
            self.assertEqual(found, wanted)

    def test_refuses_what_is_not_whole(self):
        """The one before it is used, and the message names the rank and what is wrong."""
        plan, original = self.plan_of("sharded"), self.folder / "original"
        self.train(plan, 12, "part", extra=self.saving(original, 4))
        wanted, _, _, _ = self.train(plan, STEPS, "whole")

        def cut(folder):
            path = folder / "step12" / "rank2.bin"
            path.write_bytes(path.read_bytes()[:-10])

        def flip(folder):
            path = folder / "step12" / "rank1.bin"
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 16
            path.write_bytes(data)

        def lose(folder):
            (folder / "step12" / "rank0.bin").unlink()

        def cut_manifest(folder):
            path = folder / "step12" / "manifest.json"
            path.write_bytes(path.read_bytes()[:200])

        def flip_manifest(folder):
            path = folder / "step12" / "manifest.json"
            path.write_text(path.read_text().replace('"step": 12', '"step": 13'))

        for spoil, said in (
            (cut, "rank 2's file is cut off"),
            (flip, "rank 1's file was changed: its SHA-256 differs"),
            (lose, "rank 0's file is missing"),
            (cut_manifest, "its manifest is cut off"),
            (flip_manifest, "its manifest was changed"),
        ):
            with self.subTest(fault=spoil.__name__):
                saved = self.folder / spoil.__name__
                shutil.copytree(original, saved)
                spoil(saved)
                found, after, _, told = self.train(
                    plan, STEPS, "rest", extra=self.saving(saved, 4, "--resume")
                )
                self.assertIn(f"checkpoint '{saved}/step12' is refused: {said}", told)
                self.assertEqual(min(after), 8)
                self.assertEqual(found, wanted)
                # The refused one has been replaced.
                self.assertEqual(self.checkpoints(saved), [12, 16, 20])

    def resume_words(self, plan, saved, *more, steps=STEPS):
        out = self.folder / "never.onnx"
        return self.words(plan, steps, out, extra=self.saving(saved, None, "--resume", *more))

    def test_refuses_when_none_is_good(self):
        plan, saved = self.plan_of("ring"), self.folder / "c"
        self.train(plan, 8, "part", extra=self.saving(saved, 4))
        for path in saved.glob("*/rank1.bin"):
            path.unlink()
        words = self.resume_words(plan, saved)
        said = self.refuses(words, f"no checkpoint in '{saved}' can be resumed from")
        self.assertEqual(said.count("rank 1's file is missing"), 2)

    def test_unfinished_ones_are_left_out(self):
        """A folder without a manifest is no checkpoint, and goes when a later one is there."""
        plan, saved = self.plan_of("ring"), self.folder / "c"
        wanted, _, _, _ = self.train(plan, STEPS, "whole")
        self.train(plan, 8, "part", extra=self.saving(saved, 4))
        (saved / "step8" / "manifest.json").unlink()
        extra = self.saving(saved, None, "--resume")
        found, _, _, said = self.train(plan, STEPS, "rest", extra=extra)
        self.assertIn(f"'{saved}/step8' was not finished and is left out", said)
        self.assertEqual(found, wanted)
        self.assertEqual(sorted(path.name for path in saved.iterdir()), ["step20", "step4"])

    def test_refuses_other_plans_and_options(self):
        saved, plan = self.folder / "c", self.plan_of("ring")
        self.train(plan, 8, "part", extra=self.saving(saved, 4))
        other = self.resume_words(self.plan_of("local"), saved)
        said = self.refuses(other, f"no checkpoint in '{saved}' can be resumed from")
        wanted = ("step8' is refused: it is of another plan, 'net' for 3 ranks by 'bsp'",)
        for word in (*wanted, "expected this one by 'local:4', or both", "step4' is refused"):
            self.assertIn(word, said)
        for more, word in (
            (("--seed", 5), "--seed 0 is now 5"),
            (("--steps", 5), "step8' is behind the last of 5 steps"),
        ):
            words = [str(word) for word in self.resume_words(plan, saved)]
            if more[0] == "--steps":
                words[words.index("--steps") + 1] = "5"
            else:
                words += map(str, more)
            self.refuses(words, word)
        words = self.resume_words(plan, saved)
        words.remove("--shuffle")
        self.refuses(words, "--shuffle is gone: a resumed run needs the checkpoint's")
        words = self.resume_words(plan, saved)
        words.remove("--resume")
        self.refuses(words, f"'{saved}' has checkpoints of an earlier run, the last one after 8")

    def test_goes_on_with_another_plan(self):
        """Parameters and moments are put together by name: with other schemes and numbers of ranks
        of the same global batch, training goes on as with the plan before, but for rounding."""
        saved, last = self.folder / "c", 14
        self.train(self.plan_of("mixed", 2, 12, DIGITS), 10, "part", 2, self.saving(saved))
        parameters = {}
        for way, ranks in (("mixed", 2), ("sharded", 2), ("ring", 3), ("carried-sharded", 4)):
            copy, out = self.folder / f"{way}.copy", self.folder / f"{way}.dump"
            shutil.copytree(saved, copy)
            extra = self.saving(copy, None, "--resume", "--dump", out, "--dump-steps", last)
            plan = self.plan_of(way, ranks, 24 // ranks, DIGITS)
            _, lines, _, said = self.train(plan, last + 1, "rest", ranks, extra)
            self.assertEqual(min(lines), 10)
            parameters[way] = harness.Dump(out).parameters(last)
            if way != "mixed":
                self.assertIn("the checkpoint is of another plan, for 2 ranks of 12 samples", said)
                self.assertIn(f"for {ranks} ranks of {24 // ranks} samples: results differ", said)
        for way, found in parameters.items():
            for name in found.names():
                wanted = parameters["mixed"][name]
                error = numpy.abs(found[name] - wanted).max()
                self.assertLessEqual(error, 1e-5 * numpy.abs(wanted).max(), f"{way}: {name}")

    def test_refuses_another_model(self):
        saved = self.folder / "c"
        self.train(self.plan_of("ring"), 4, "part", extra=self.saving(saved))
        words = self.resume_words(self.plan_of("ring", model=DIGITS), saved)
        said = self.refuses(words, f"no checkpoint in '{saved}' can be resumed from")
        self.assertRegex(said, "of another plan, 'net' for 3 ranks by 'bsp': (this one has no|its)")

    def test_says_what_changed(self):
        plan, saved = self.plan_of("ring"), self.folder / "c"
        self.train(plan, 4, "part", extra=self.saving(saved))
        words = [*self.resume_words(plan, saved), "--nesterov"]
        words[words.index("--lr") + 1] = 0.01
        said = self.command(*words).stderr
        self.assertIn(
            f"resumes from checkpoint '{saved}/step4' after 4 steps; changed since: --lr 0.05", said
        )
        for word in (" is now 0.01", "--steps 4 is now 20", "--nesterov is new"):
            self.assertIn(word, said)

    def test_refuses_bad_requests(self):
        plan, saved = self.plan_of("diloco"), self.folder / "c"
        run = ("run", plan, "-n", RANKS, "--steps", 8)
        for words, said in (
            (("--every", 4), "--checkpoint"),
            (("--resume",), "--checkpoint"),
            (("--checkpoint", saved, "--every", 0), "--every"),
            (("--checkpoint", saved, "--keep", 0), "--keep"),
        ):
            self.refuses((*run, *words), said, code=2)
        every = ("--checkpoint", saved, "--every", 6)
        self.refuses((*run, *every), "--every 6: expected a multiple of 4 steps, the period of")
        file = self.write("file", "")
        for folder in (file, file / "below"):
            self.refuses((*run, "--checkpoint", folder), f"'{folder}'")
        served = harness.compile_plan(
            self.model, self.shared, ranks=2, label="ssp", extra=("--consistency", "ssp:3")
        )
        words = ("run", served, "-n", 2, "--checkpoint", saved)
        self.refuses(words, "the weights of 'ssp:3' travel by servers", "'--checkpoint'")

    def test_ranks_need_one_folder(self):
        """Ranks on other hosts that see another folder are found before training."""
        self.plan = self.plan_of("ring", 2)
        ranks = []
        for rank in range(2):
            (self.folder / f"host{rank}").mkdir()
            saved = self.saving(self.folder / f"host{rank}" / "c")
            words = ("--steps", 5, *saved)
            ranks.append(self.started(rank, 2, words))
        for code, said in self.ends(ranks):
            self.assertEqual(code, 1, said)
            self.assertIn("rank 1 does not see what rank 0 writes", said)

    def test_full_disk(self):
        """Training goes on without the checkpoints that do not fit; the run's end says so, and the
        ones before stay good."""
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("mounting a file system of 1 MB needs root")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        plan, saved = self.plan_of("sharded"), disk / "c"
        wanted, _, _, _ = self.train(plan, STEPS, "whole")
        self.train(plan, 8, "part", extra=self.saving(saved, 4))
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                pass
        out = self.folder / "full.onnx"
        words = self.words(plan, STEPS, out, extra=self.saving(saved, 4, "--resume"))
        done = self.command(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("; training goes on"), 2)
        self.assertIn(f"error: checkpoint '{saved}/step20' is not written: rank ", done.stderr)
        self.assertIn(os.strerror(28), done.stderr)
        summary = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((summary["checkpoints"], summary["checkpoints_not_written"]), (3, 3))
        self.assertEqual(out.read_bytes(), wanted, "what was trained is saved all the same")
        self.assertEqual(self.checkpoints(saved), [4, 8])
        self.assertEqual(sorted(p.name for p in saved.iterdir()), ["step4", "step8"])
        (disk / "filler").unlink()
        found, after, _, _ = self.train(
            plan, STEPS, "rest", extra=self.saving(saved, 4, "--resume")
        )
        self.assertEqual((found, min(after)), (wanted, 8))
