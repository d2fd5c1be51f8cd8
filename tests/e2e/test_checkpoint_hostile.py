"""Checkpoints that no run has written: what is no file, is too long, contradicts itself or is of
another model is refused by name; one of an older Syncline is read."""

import hashlib
import json
import os
import pathlib
import shutil

import onnx

import harness
from checkpointed import RANKS, CheckpointedTest

STEPS = 8


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
        words = ("run", cls.plan, "-n", RANKS, "--synthetic", "--steps", 6, "--every", 3)
        harness.syncline(*words, "--checkpoint", cls.original)

    def saved(self, name):
        folder = self.folder / name
        shutil.copytree(self.original, folder, symlinks=True)
        return folder

    def resuming(self, saved, *more, plan=None):
        words = ("run", plan or self.plan, "-n", RANKS, "--synthetic", "--steps", STEPS)
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
            ({"consistency": "local:4"}, "its manifest is for 3 ranks by 'local:4', which its plan"),
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
            self.assertIn(f"checkpoint '{saved}/step{step}' is refused: it is of another plan", said)
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
