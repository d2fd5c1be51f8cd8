"""Checkpoints that no run has written: what is no file, is too long, contradicts itself or is of
another model is refused by name; one of an older Syncline is read. Folders of checkpoints that
others write into: links are not followed, and one run holds a folder."""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil

import onnx

import harness
from checkpointed import RANKS, CheckpointedTest

STEPS = 8
OTHER_RUN = "another run writes its checkpoints there"


def rewrite(manifest, change):
    """Changes a manifest's values, and its SHA-256 to the one that fits."""
    values = json.loads(manifest.read_text())
    change(values)
    values["sha256"] = ""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    values["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    manifest.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n")


class HostileCheckpointTest(CheckpointedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.original = cls.shared / "original"
        cls.plan = harness.compile_plan(cls.model, cls.shared, ranks=RANKS, batch=8)
        words = ("run", cls.plan, "-n", RANKS, "--steps", 6, "--every", 3)
        harness.syncline(*words, "--checkpoint", cls.original)

    def saved(self, name):
        folder = self.folder / name
        shutil.copytree(self.original, folder, symlinks=True)
        return folder

    def resuming(self, saved, *more, plan=None):
        words = ("run", plan or self.plan, "-n", RANKS, "--steps", STEPS)
        return (*words, "--checkpoint", saved, "--resume", *more)

    def takes_the_one_before(self, saved, *said):
        done = self.command(*self.resuming(saved))
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in (*said, f"resumes from checkpoint '{saved}/step3' after 3 steps"):
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_reads_only_files_of_some_length(self):
        def pipe(path):
            os.mkfifo(path)

        def link(path):
            path.symlink_to("/dev/zero")

        def long(path):
            with path.open("w") as file:
                file.truncate(256 << 30)

        manifest, own = "manifest.json", "rank1.bin"
        for name, make, why in (
            (manifest, pipe, "cannot open: it is not a regular file"),
            (manifest, link, "cannot open: it is a link"),
            (manifest, long, f"expected at most {64 << 20} bytes, got {256 << 30}"),
            (own, pipe, "cannot open: it is not a regular file"),
        ):
            with self.subTest(name=name, kind=make.__name__):
                saved = self.saved(f"{name}-{make.__name__}")
                path = saved / "step6" / name
                path.unlink()
                make(path)
                refused = f"checkpoint '{saved}/step6' is refused: "
                said = self.takes_the_one_before(saved, refused, f"'{path}': {why}")
                self.assertEqual(said.count("is refused"), 1)

    def test_numbers_have_ranges(self):
        for key, value in (("skipped_steps", 7), ("skipped_steps", -1), ("batch", -7)):
            with self.subTest(key=key, value=value):
                saved = self.saved(f"{key}{value}")
                rewrite(saved / "step6" / "manifest.json", lambda m: m.update({key: value}))
                self.takes_the_one_before(saved, f"'{key}': {value} is out of range")

    def test_contradicts_its_plan(self):
        for values, why in (
            ({"batch": 16}, "its manifest is for 16 samples a rank, expected 8"),
            ({"consistency": "local:4"}, "its manifest is for 3 ranks by 'local:4', which its"),
        ):
            with self.subTest(values=values):
                saved = self.saved(next(iter(values)))
                rewrite(saved / "step6" / "manifest.json", lambda m: m.update(values))
                self.takes_the_one_before(saved, f"step6' is refused: {why}")

    def test_negative_step_is_no_checkpoint(self):
        saved = self.saved("negative")
        (saved / "step6").rename(saved / "step-6")
        rewrite(saved / "step-6" / "manifest.json", lambda m: m.update({"step": -6}))
        self.assertNotIn("step-6", self.takes_the_one_before(saved))

    def test_another_model_of_equal_shapes(self):
        model = onnx.load(self.model)
        for node in model.graph.node:
            node.op_type = "Tanh" if node.op_type == "Relu" else node.op_type
        other = self.folder / "tanh.onnx"
        onnx.save(model, other)
        plan = harness.compile_plan(other, self.folder, ranks=RANKS, batch=8)
        saved = self.saved("model")
        said = self.refuses(self.resuming(saved, plan=plan), "can be resumed from")
        for step in (3, 6):
            refused = f"checkpoint '{saved}/step{step}' is refused: it is of another plan"
            self.assertIn(refused, said)
        hashes = [
            json.loads(pathlib.Path(p, "plan.json").read_text())["hashes"]["model"][:16]
            for p in (self.plan, plan)
        ]
        self.assertIn("its model is another one, of SHA-256 {}, expected {}".format(*hashes), said)

    def test_reads_one_that_names_no_model(self):
        """As Syncline wrote it before manifests had the model's hash."""
        saved = self.saved("old")
        rewrite(saved / "step6" / "manifest.json", lambda m: m.pop("model_hash"))
        more = ("--scheme", "*=reduce-scatter")
        other = harness.compile_plan(self.model, self.folder, ranks=RANKS, batch=8, extra=more)
        done = self.command(*self.resuming(saved, plan=other))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("resumes from checkpoint", done.stderr)
        self.assertIn("the checkpoint does not say of which model it is", done.stderr)

    def test_links_are_not_followed(self):
        """Neither where files are removed nor where they are written."""
        saved, victim = self.saved("links"), self.folder / "victim"
        victim.mkdir()
        (victim / "manifest.json").write_text("precious")
        (saved / "step2").symlink_to(victim)  # older than those that are kept
        (saved / "step8").mkdir()
        for name in ("rank0.bin.partial", "rank1.bin", "manifest.json.partial"):
            (saved / "step8" / name).symlink_to(victim / "manifest.json")
        done = self.command(*self.resuming(saved, "--keep", 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((victim / "manifest.json").read_text(), "precious")
        self.assertEqual([path.name for path in victim.iterdir()], ["manifest.json"])
        self.assertTrue((saved / "step2").is_symlink())
        own = ["manifest.json", *(f"rank{rank}.bin" for rank in range(RANKS))]
        self.assertEqual(sorted(path.name for path in (saved / "step8").iterdir()), own)
        self.assertFalse(any(path.is_symlink() for path in (saved / "step8").iterdir()))

    def test_step_that_is_a_link_is_not_written(self):
        saved, victim = self.saved("link"), self.folder / "victim"
        victim.mkdir()
        (victim / "manifest.json").write_text("precious")
        (saved / "step8").symlink_to(victim)
        said = self.refuses(self.resuming(saved), f"checkpoint '{saved}/step8' is not written")
        self.assertIn("step8/rank", said)
        self.assertEqual([path.name for path in victim.iterdir()], ["manifest.json"])
        self.assertEqual((victim / "manifest.json").read_text(), "precious")

    def test_foreign_files_stay(self):
        """A folder by the name of a checkpoint may hold something else."""
        saved = self.saved("foreign")
        (saved / "step4").mkdir()
        (saved / "step4" / "model.bin").write_text("precious")
        done = self.command(*self.resuming(saved, "--keep", 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(path.name for path in saved.iterdir())
        self.assertEqual(names, ["step4", "step8"])
        self.assertEqual((saved / "step4" / "model.bin").read_text(), "precious")

    def test_one_run_holds_a_folder(self):
        saved = self.saved("held")
        with (saved / ".lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.refuses(self.resuming(saved), f"'{saved}': {OTHER_RUN}")
        self.assertEqual(self.checkpoints(saved), [3, 6])
        # A lock's file without a holder is a killed run's.
        done = self.command(*self.resuming(saved))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(p.name for p in saved.iterdir()), ["step3", "step6", "step8"])
        (saved / ".lock").symlink_to(saved / "step3" / "manifest.json")
        self.refuses(self.resuming(saved), f"'{saved}/.lock': cannot open: it is a link")

    def test_two_runs_at_once(self):
        saved = self.folder / "shared"
        words = [*self.resuming(saved, "--every", 5, "--log", "json")]
        words[words.index("--steps") + 1] = 1000000
        first = self.begin(words)
        for _ in range(10):
            first.stdout.readline()
        second = self.command(*self.resuming(saved))
        self.assertEqual(second.returncode, 1, second.stderr)
        self.assertIn(f"'{saved}': {OTHER_RUN}", second.stderr)
        self.assertIsNone(first.poll())

    def test_litter_of_killed_runs_goes(self):
        """Also that of runs whose steps are ahead of those of this run."""
        saved = self.saved("litter")
        (saved / "step7").mkdir()
        litter = ("step7/rank0.bin", "step7/rank1.bin.partial-01234567", "step7/rank2.bin.partial")
        for name in (*litter, ".seen-17", ".seen-18.partial", ".lock"):
            (saved / name).write_text("part")
        words = [*self.resuming(saved)]
        words[words.index("--steps") + 1] = 6
        done = self.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"'{saved}/step7' was not finished and is left out", done.stderr)
        self.assertEqual(sorted(path.name for path in saved.iterdir()), ["step3", "step6"])

    def test_says_that_loaded_values_are_not_used(self):
        saved, model = self.saved("load"), self.folder / "other.onnx"
        words = ("run", self.plan, "-n", RANKS, "--steps", 2, "--save", model)
        harness.syncline(*words)
        rests = []
        for more in ((), ("--load", model)):
            copy = self.folder / f"copy{len(more)}"
            shutil.copytree(saved, copy)
            out = self.folder / f"rest{len(more)}.onnx"
            done = self.command(*self.resuming(copy, "--save", out, *more))
            self.assertEqual(done.returncode, 0, done.stderr)
            said = f"the values of '--load {model}' are not used"
            self.assertEqual(said in done.stderr, bool(more), done.stderr)
            rests.append(out.read_bytes())
        self.assertEqual(*rests)
