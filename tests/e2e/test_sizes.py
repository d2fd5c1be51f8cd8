"""Plans of one model for several sizes of a dimension, in one folder."""

import json
import os
import pathlib
import shutil
import tempfile
import unittest

import harness
import refusal
import varied

SIZES = (8, 16, 512)


class SizesTest(refusal.RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.common = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model, cls.plan = cls.common / "model.onnx", cls.common / "a.plan"
        varied.write(cls.model)
        harness.syncline(*cls.words(cls.plan))

    @classmethod
    def words(cls, plan, sizes="8,16,512"):
        words = ("--cluster", "ethernet-1g", "--batch", 4, "--dim", f"seq={sizes}", "-o", plan)
        return ("compile", cls.model, *words)

    def copy(self, name="b.plan"):
        return shutil.copytree(self.plan, self.folder / name)

    def test_each_size_has_a_plan_with_the_same_buckets(self):
        listed = json.loads((self.plan / "lengths.json").read_text())
        self.assertEqual(listed["dimension"], "seq")
        self.assertEqual([plan["size"] for plan in listed["plans"]], list(SIZES))
        documents = [harness.plan_json(self.plan / plan["folder"]) for plan in listed["plans"]]
        for size, plan, document in zip(SIZES, listed["plans"], documents):
            self.assertEqual(document["inputs"][0]["shape"], [4, size])
            self.assertEqual(document["hashes"]["plan"], plan["hash"])
            self.assertEqual(document["options"]["dimensions"], {"seq": size})
            for bucket, own in zip(document["buckets"], documents[-1]["buckets"], strict=True):
                for key in ("members", "scheme", "channel", "offset", "extent"):
                    self.assertEqual(bucket[key], own[key])
        planners = {document["planner"] for document in documents}
        self.assertEqual(planners, {"common", "optimal"})
        steps = [document["predicted"]["step"] for document in documents]
        self.assertEqual(steps, sorted(steps))

    def test_equal_values_are_one_file(self):
        own = os.stat(self.plan / "weights.bin")
        for size in SIZES[:-1]:
            self.assertTrue(
                os.path.samestat(own, os.stat(self.plan / f"seq-{size}" / "weights.bin"))
            )

    def test_verify_and_inspect_know_all_sizes(self):
        said = harness.syncline("verify", self.plan, "--model", self.model)
        self.assertEqual(said.count("bound proved"), len(SIZES), said)
        table = harness.syncline("inspect", self.plan).split("plans for sizes of 'seq'")[1]
        self.assertEqual([int(row.split()[0]) for row in table.splitlines()[2:5]], list(SIZES))

    def test_a_size_is_a_plan_of_its_own(self):
        said = harness.syncline("inspect", self.plan / "seq-8")
        self.assertIn("read with --dim seq=8", said)
        self.assertNotIn("plans for sizes", said)

    def test_is_replaced_but_for_what_is_not_ours(self):
        plan = self.copy()
        harness.syncline(*self.words(plan, "8"))
        self.assertFalse((plan / "lengths.json").exists())
        self.assertFalse((plan / "seq-8").exists())
        harness.syncline(*self.words(plan, "8,9"))
        (plan / "seq-8" / "mine").touch()
        self.refuses(self.words(plan, "8,9"), "holds 'seq-8', which 'compile' did not write")

    def test_changed_folders(self):
        document = json.loads((self.plan / "lengths.json").read_text())
        other = self.folder / "other.plan"
        harness.syncline(*self.words(other, "8,9"), "--optimizer", "adam")

        def without(plan):
            shutil.rmtree(plan / "seq-8")

        def exchanged(plan):
            shutil.rmtree(plan / "seq-8")
            shutil.copytree(other / "seq-8", plan / "seq-8")

        def outside(plan):
            document["plans"][0]["folder"] = "../other.plan"
            (plan / "lengths.json").write_text(json.dumps(document))

        def broken(plan):
            (plan / "lengths.json").write_text("[" * 100000)

        def changed(plan):
            with open(plan / "seq-8" / "step.cpp", "a") as file:
                file.write("//")

        for change, words in (
            (without, "seq-8': does not exist"),
            (exchanged, "is another one than it was compiled with"),
            (outside, "not the list of plans that 'compile' writes"),
            (broken, "expected at most 32 levels"),
            (changed, "was changed after it was compiled"),
        ):
            with self.subTest(change=change.__name__):
                plan = self.copy(f"{change.__name__}.plan")
                change(plan)
                self.refuses(("verify", plan), words)

    def test_bad_input(self):
        for options, code, said in (
            (("--dim", "seq=8,8"), 2, "sizes of 'seq' that ascend"),
            (("--dim", "seq=" + ",".join(map(str, range(1, 18)))), 2, "at most 16 sizes"),
            (("--dim", "seq=8,x"), 2, "expected NAME=N[,N..] with N of at least 1"),
            (("--dim", "seq=8,9", "--dim", "a=2,3"), 2, "have several sizes, one may"),
            (("--dim", "seq=8,9", "--dim", "seq=8"), 2, "'seq' is given twice"),
            (("--dim", "a=8,9"), 1, "('seq') is not fixed"),
            (("--dim", "seq=8,9", "--overlap", "step"), 2, "the next step may have another size"),
            (("--dim", "seq=8,9", "--backend", "cuda"), 2, "no GPU has run steps"),
            (("--dim", "seq=8,9", "--consistency", "local:4"), 2, "weights that travel"),
            (("--dim", "seq=8,9", "--plan-only"), 2, "such a plan has no program"),
        ):
            with self.subTest(options=options):
                words = ("compile", self.model, "--cluster", "local4", "--batch", 4)
                self.refuses((*words, "-o", self.folder / "bad.plan", *options), said, code=code)


if __name__ == "__main__":
    unittest.main()
