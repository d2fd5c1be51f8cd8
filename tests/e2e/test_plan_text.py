"""Plans whose text was changed by hand, with everything made again that follows from it and all
hashes right: `verify` refuses what `run` would refuse, or train wrongly by.
"""

import re
import shutil
import unittest

import harness
import plans
from refusal import ChangedPlanTest


def swap(old, new, count=1):
    """A change of the text; `old` is a regular expression that has to be there."""

    def change(text):
        changed, found = re.subn(old, new, text, count=count)
        assert found, f"'{old}' is not in the plan"
        return changed

    return change


def line_of(text, pattern):
    return next(line for line in text.splitlines(keepends=True) if re.search(pattern, line))


def without(pattern):
    return lambda text: text.replace(line_of(text, pattern), "", 1)


def both(*changes):
    def change(text):
        for one in changes:
            text = one(text)
        return text

    return change


def exchange(first, second):
    """Exchanges what the two expressions match."""

    def change(text):
        a, b = re.search(first, text)[0], re.search(second, text)[0]
        return text.replace(a, "\0", 1).replace(b, a, 1).replace("\0", b, 1)

    return change


OUTPUT = r'(plan.tensor "output" .*?) \{output\}'
FC = r'("fc.weight" in parameters .*?values = )19200'

# What is changed, how, and the rule that says so.
CHANGES = {
    "another batch": (swap("ranks 2 batch 8", "ranks 2 batch 16"), "P25"),
    "no output": (swap(OUTPUT, r"\1"), "P25"),
    "another output": (
        both(swap(OUTPUT, r"\1"), swap(r'("/Flatten" in arena .*?\])', r"\1 {output}")),
        "P25",
    ),
    "two outputs": (swap(r'("/Flatten" in arena .*?\])', r"\1 {output}"), "P25"),
    "a large bucket": (swap(r"extent \d+", "extent 100000000"), "P26|P12"),
    "a large arena": (swap(r"arena = \d+", f"arena = {1 << 42}"), "P26"),
    "large gradients": (swap(r"gradients = \d+", "gradients = 100000000"), "P26"),
    "large parameters": (swap(r"parameters = \d+", "parameters = 100000000"), "P26"),
    "values beyond the file": (swap(FC, r"\g<1>1000000"), "P27"),
    "values before the file": (swap(FC, r"\g<1>-64"), "P27"),
    "no values": (swap(r'("fc.weight" in parameters .*?), values = 19200 : i64', r"\1"), "P27"),
    "another's values": (swap(FC, r"\g<1>640"), "P27"),
    "no groups": (swap("groups = 1", "groups = 0"), "P28"),
    "a large kernel": (swap("kernel = array<i64: 2, 2>", "kernel = array<i64: 2000000, 2>"), "P28"),
    "a huge kernel": (
        swap("kernel = array<i64: 2, 2>", f"kernel = array<i64: {1 << 62}, 2>"),
        "P28",
    ),
    "another axis": (swap("axes = array<i64: 0>", "axes = array<i64: 7>"), "P23|P28"),
    "no transposition": (swap(", transpose_b", ""), "P28"),
    "other strides": (swap("strides = array<i64: 1, 1>", "strides = array<i64: 2, 2>"), "P28"),
    "no strides": (swap("strides = array<i64: 1, 1>", "other = 1 : i64"), "P28"),
    "another role": (swap(r'\["a", "b", "bias", "y"\]', '["a", "b", "c", "y"]'), "P28"),
    "a bias in the matrix's place": (
        swap(r'\["a", "b", "bias", "y"\]', '["a", "bias", "b", "y"]'),
        "P28",
    ),
    "a loop of another type": (
        swap(r"\^bb0\(%arg0: f32, %arg1: f32\)", "^bb0(%arg0: f32, %arg1: f64)"),
        ".",
    ),
    "no planner's name": (swap('by "optimal"', 'by "best"'), "no planner has"),
    "an early lifetime": (swap(r'("/MaxPool" in arena .*?) live \[1, ', r"\1 live [-5, "), "P26"),
    "a late lifetime": (swap(r"live \[18, 19\]", "live [18, 1000]"), "P26"),
    "dimensions of zero": (
        swap(r'("/Relu.grad" in arena .*? : memref)<8x', r"\1<0x"),
        "P2|expects|.",
    ),
    "an unknown dimension": (swap(r"memref<8x1x8x8xf32>", r"memref<?x1x8x8xf32>", 0), "P2"),
    "no issue": (without("plan.issue 1"), "P7"),
    "no wait": (without("plan.wait 0"), "P11"),
    "no update": (without("plan.update 0"), "P11"),
    "no loss": (without("plan.loss"), "P9|P25"),
    "no phase": (without("plan.phase backward"), "P18"),
    "an early update": (exchange("plan.wait 0", r"plan.update 0 .*"), "P11"),
    "another scheme": (swap(r'(plan.bucket 0 .*? by )"[a-z-]+"', r'\1"tree"'), "P19"),
    "a faster step": (
        swap(r"step (\d\S*)", lambda found: f"step {float(found[1]) * 0.999}"),
        "P22",
    ),
    "faster operations": (
        swap(r"seconds = \S+ : f64, transpose_b", "seconds = 1.0e-12 : f64, transpose_b"),
        "P20",
    ),
}


class PlanTextTest(ChangedPlanTest):
    def change(self, change):
        shutil.rmtree(self.plan)
        shutil.copytree(self.original, self.plan)
        plans.reseal(self.plan, change((self.plan / "plan.mlir").read_text()))

    def test_nothing_changed(self):
        """What is made again from the same text is what was there."""
        self.change(lambda text: text)
        for name in ("plan.mlir", "step.cpp"):
            self.assertEqual((self.plan / name).read_text(), (self.original / name).read_text())
        harness.syncline("verify", self.plan)

    def test_changes(self):
        for name, (change, rule) in CHANGES.items():
            with self.subTest(change=name):
                self.change(change)
                said = self.refuses(["verify", self.plan], "copy.plan")
                self.assertRegex(said, rule)
                self.assertEqual(len(said.splitlines()), 1, said)


if __name__ == "__main__":
    unittest.main()
