"""What syncline.torch.ddp() refuses: other plans than the process group's, other models than the
plan's, changed models, and versions of PyTorch that lack what it uses."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest

import harness
from torch_ranks import PACKAGE, TESTS, TorchRanksTest


class TorchDdpTest(TorchRanksTest):
    script = TESTS / "torch_ddp.py"

    def found(self, kind, ranks=1, plan=None, **variables):
        """What each rank was refused."""
        other = self.plan(2, "--scheme", "*=tree")
        variables |= {"OTHER": str(other), "HERE": str(self.folder)}
        started = self.ranks(kind, ranks, plan, **variables)
        return [json.loads(said) for said, _ in self.ends(started)]

    def ordered_plan(self):
        plan = self.folder / "ordered.plan"
        words = ("--cluster", self.slow(2), "--quiet", "--batch", 128, "--overlap", "step")
        model = self.folder / "net.onnx"
        harness.syncline("compile", model, *words, "--plan-only", "-o", plan)
        return plan

    def expect(self, found, **expected):
        self.assertEqual(found.keys(), expected.keys())
        for name, pattern in expected.items():
            self.assertRegex(str(found[name]), pattern, name)

    def test_other_plans_and_models(self):
        """Each by one message on all ranks, which says what differs, and what to do."""
        mine, other = r"'\S+net-2\d\.plan' \(hash \w+\)", r"'\S+net-22\.plan' \(hash \w+\)"
        fit = r"net-20\.plan': the plan does not fit the model: "
        second = rf"the process group with the plan {mine}, the first one, got another one, of "
        changed = r"the model was changed after ddp\(\): parameter "
        plan = rf"ddp\(\): expected the plan of the process group, {mine}, got {other}: leave out"
        for found in self.found("with_plan", 2, self.plan(2)):
            self.expect(
                found,
                wider=fit + r"parameter '2\.bias': expected 1536 bytes, got 2576 bytes of float32",
                frozen=fit + r"parameter '1\.bias': expected 2560 bytes that are trained, got no",
                more=fit + r"parameter 'more\.weight': expected none, or one that is not trained",
                double=fit + r"parameter '\d\.bias': expected \d+ bytes, got \d+ bytes of float6",
                half=fit + r"parameter '\d\.bias': expected \d+ bytes, got \d+ bytes of bfloat16",
                given=plan + r" 'plan', or set SYNCLINE_PLAN=\S+net-22.plan before init_process_gr",
                variable=plan,
                missing=r"/none\.plan",
                **{
                    "second gloo": second + r"'gloo', without a plan: leave out 'process_group'$",
                    "second cpu:syncline": second,
                    "group's": "^nothing was refused$",
                    "replace": rf"^{changed}'0\.weight' was replaced$",
                    "cast": rf"^{changed}'2\.bias': expected float32 of .* got float64",
                    "freeze": "^nothing was refused$",
                    "<lambda>": rf"^{changed}'6\.weight' was added$",
                    "views": "^True False$",
                },
            )

    def test_detailed_debugging(self):
        self.found("detailed", 2, self.plan(2), TORCH_DISTRIBUTED_DEBUG="DETAIL")

    def test_groups_without_a_plan(self):
        wanted = (
            r"ddp\(\): expected a process group with the plan '\S+net-22\.plan' \(hash \w+\), got"
            r" one of '{}' without a plan: set SYNCLINE_PLAN=\S+net-22\.plan and call"
            r" init_process_group\('cpu:syncline'\), or for its buckets alone"
        )
        none = "expected a plan's folder, or SYNCLINE_PLAN in the environment, got none"
        (found,) = self.found("without_plan", ORDERED=str(self.ordered_plan()))
        self.expect(
            found,
            buckets=r"^\d+$",
            lazy=r"^Error: 'model': expected values in '0\.weight', got none yet: run the m",
            ordered=r"ordered\.plan': the plan overlaps steps, which DistributedDataParallel d",
            **{
                "no group": r"expected torch\.distributed\.init_process_group\('cpu:syncline'\)",
                "gloo": wanted.format("gloo"),
                "gloo, none": none,
                "cpu:syncline": wanted.format("cpu:syncline"),
                "cpu:syncline, none": none,
            },
        )

    def test_other_versions_of_pytorch(self):
        (found,) = self.found("versions")
        bucket_list = r"^ddp\(\): expected a PyTorch whose DistributedDataParallel takes 'bucket_c"
        self.expect(
            found,
            ddp=bucket_list,
            buckets=bucket_list,
            group=r"^PyTorch 2\.\S+: process_group\(\): expected c10d's table 'pg_map', got none",
            wrap=r"^wrap\(\): expected PyTorch 2\.1 or later, got 2\.",
            calibrate=r"^PyTorch 2\.\S+: calibrate\(\): expected c10d's '_process_group_name', got",
        )


@unittest.skipUnless(importlib.util.find_spec("torch"), "needs Debian's PyTorch")
class OldPytorchTest(unittest.TestCase):
    def test_each_call_says_what_it_needs(self):
        for call, expected in (
            ("wrap(None)", r"wrap\(\): expected PyTorch 2\.1 or later, got 1\."),
            ("ddp(None)", r"ddp\(\): expected a PyTorch whose DistributedDataParallel takes"),
            ("buckets(None)", r"ddp\(\): expected a PyTorch whose DistributedDataParallel takes"),
            ("register()", r"PyTorch 1\.\S+: the backend 'syncline' needs PyTorch 2\.14 or later"),
            ("process_group()", r"PyTorch 1\.\S+: process_group\(\): expected c10d's table"),
        ):
            with self.subTest(call):
                program = f"import syncline.torch\nsyncline.torch.{call}\n"
                done = subprocess.run(
                    [sys.executable, "-W", "ignore", "-c", program],
                    env={**os.environ, "PYTHONPATH": str(PACKAGE)},
                    capture_output=True,
                    text=True,
                )
                last = done.stderr.splitlines()[-1]
                self.assertRegex(last, f"^RuntimeError: {expected}")


if __name__ == "__main__":
    unittest.main()
