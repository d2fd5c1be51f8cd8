"""Every planner of --help and --scheme pattern that the driver's README prints, on the samples.

A combination is compiled, or refused with exit code 1 for a reason of the cluster's or the
model's: never refused by a check of our own (exit code 3), never a crash. The C++ compiler is not
under test: a stand-in writes an empty object.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness
from depth import LONG, repeat
from waiting import PATIENCE

README = (harness.TOP / "frontend/driver/README.md").read_text()
SAMPLES = harness.TOP / "samples"
CLUSTERS = sorted((SAMPLES / "clusters").glob("*.yaml"))
# In the long run the smallest goes everywhere, and each pair of cluster and pattern meets one of
# the others and one layer trace, in turn. In the short run a pair meets one of the three.
SMALLEST = "digits-cnn"
# Planners of '--overlap step' alone, and what else they need.
ORDERING = {
    "p3:200KB": (),
    "bytescheduler:4096KB": (),
    "dear:25MiB": (),
    "tictac": (),
}
# What a refusal may say.
REASONS = (
    "the cluster does not offer it",
    "needs parameter servers, which this cluster does not offer",
    "which is what it has, got a cluster that does not offer it",
    "no layer matches",
    "is no product of two factors",
    "is not the sums of one embedding's rows alone",
    "has neither a network nor the cost of an all-gather",
    "in backward order cannot travel by",
    "expected gradients that travel by ring, halving-doubling or reduce-scatter",
    "no layer can travel by 'factors'",
    "servers hold ",
    "of memory on every device",
    "the cluster's largest message",
    "NCCL carries messages with '--backend cuda' only",
    "NCCL, which carries the messages, has ring",
    "the cluster file states no time of what NCCL chooses",
)


def section(title):
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def named(title):
    """What the first column of a section's table names."""
    return re.findall(r"^\| `([a-z][a-z0-9-]*(?::\w+)?)` \|", section(title), re.MULTILINE)


def planners():
    """Every planner that --help lists: its form, and the form with its system's size."""
    text = harness.syncline("compile", "--help")
    text = text.split("\n  --planner ")[1].split("\n  --scheme ")[0]
    rows = re.split(r"\n {32}(?=[a-z][\w-]*(?::[\w=]+)?: )", text)[1:]
    forms = {}
    for form, usage in (row.split(": ", 1) for row in rows):
        size = re.search(r"its default:\s+(\w+)", usage)
        forms[form] = form.replace("SIZE", size.group(1) if size else "25MiB")
    del forms["z3:messages=N"]
    return forms


def patterns():
    """The patterns that the section prints, and every scheme of its table for all gradients."""
    printed = re.findall(r"`'(\S+=[a-z-]+)'`", section("Schemes"))
    return sorted({*printed, *(f"*={scheme}" for scheme in named("Schemes"))})


class PatternsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        compiler = cls.folder / "compiler"
        compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
        compiler.chmod(0o755)
        cls.environment = {**os.environ, "CXX": str(compiler), "NVCC": str(compiler)}

    def compile(self, number, model, cluster, words):
        out = self.folder / f"{number}.plan"
        command = [harness.SYNCLINE, "compile", model, "--cluster", cluster, "-o", out, *words]
        if model.suffix == ".onnx":
            command += ["--batch", 4]
        done = subprocess.run(
            [*map(str, command)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        what = f"{model.name}, {cluster.name}, {' '.join(words)}: "
        what += f"exit code {done.returncode}\n{done.stderr}"
        if done.returncode == 1 and any(reason in done.stderr for reason in REASONS):
            return None
        return what if done.returncode != 0 or not (out / "plan.json").exists() else "compiled"

    def cases(self, forms):
        models = sorted((SAMPLES / "models").glob("*.onnx"))
        small = [model for model in models if model.stem == SMALLEST]
        others = [model for model in models if model.stem != SMALLEST]
        traces = sorted((SAMPLES / "traces").glob("*.csv"))
        for turn, (cluster, words) in enumerate(self.pairs(forms)):
            chosen = (*small, others[turn % len(others)], traces[turn % len(traces)])
            for model in repeat(chosen[turn % 3 : turn % 3 + 1], chosen):
                trace = model.suffix != ".onnx"
                if not trace or (repeat(True, turn % 2 == 0) and "--overlap" not in words):
                    yield model, cluster, words

    def pairs(self, forms):
        """Each cluster with each form; in the short run each cluster once, and each form."""
        if LONG:
            return [(cluster, words) for cluster in CLUSTERS for words in forms]
        return [(cluster, forms[i % len(forms)]) for i, cluster in enumerate(CLUSTERS)]

    def check(self, forms):
        cases = list(self.cases(forms))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda case: self.compile(case[0], *case[1]), enumerate(cases)))
        compiled = found.count("compiled")
        print(f"\n  {len(cases)} combinations, {compiled} compiled, {found.count(None)} refused")
        self.assertGreater(compiled, len(cases) / 2)
        wrong = [what for what in found if what not in (None, "compiled")]
        self.assertEqual(wrong, [], "\n".join(wrong[:10]))

    def test_readme_is_read(self):
        self.assertIn("ddp:25MiB", planners().values())
        self.assertEqual(len(planners()), 14)
        self.assertLessEqual(set(ORDERING), set(planners().values()))
        rules = (harness.TOP / "passes/solver/README.md").read_text()
        told = set(re.findall(r"^\| `([a-z][a-z0-9-]*(?::\w+)?)` \|", rules, re.MULTILINE))
        self.assertEqual(set(planners()) - told, {"optimal"})
        self.assertIn("*=reduce-scatter", patterns())
        self.assertIn("fc*=sfb", patterns())
        self.assertEqual(len(patterns()), 11)

    def test_planners(self):
        merging = [planner for planner in planners().values() if planner not in ORDERING]
        self.check([["--planner", planner] for planner in merging])

    def test_orders(self):
        orders = {**ORDERING, "optimal": ()}
        self.check([["--planner", p, "--overlap", "step", *words] for p, words in orders.items()])

    def test_schemes(self):
        self.check([["--scheme", pattern] for pattern in patterns()])

    def test_schemes_beside_another_planner(self):
        self.check([["--scheme", "*=reduce-scatter", "--planner", "ddp:25MiB"]])


if __name__ == "__main__":
    unittest.main()
