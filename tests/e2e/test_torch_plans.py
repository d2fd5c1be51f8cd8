"""Plans and profiles of PyTorch models: by their ONNX files, and by recordings."""

import csv
import json
import os
import pathlib
import re
import subprocess
import unittest

import current_pytorch
import harness
from pytorch_case import PACKAGE, PyTorchCase

MODELS = pathlib.Path(__file__).with_name("torch_models.py")
TIED = ["hidden.bias", "hidden.weight", "norm.bias", "norm.weight", "table.weight"]
TIED_BYTES = 4 * (50 * 16 + 16 * 16 + 16 + 2 * 16)
HEADS = ["first.bias", "first.weight", "second.bias", "second.weight", "trunk.bias", "trunk.weight"]
IMAGES = ["conv.bias", "conv.weight", "fc.bias", "fc.weight", "norm.bias", "norm.weight"]
IMAGES_BYTES = 4 * (8 * 27 + 8 + 2 * 8 + 10 * 8 * 36 + 10)


def nanoseconds(text):
    return float(re.fullmatch(r"(\d+)ns", text).group(1))


class TorchPlansTest(PyTorchCase):
    environment = staticmethod(current_pytorch.python)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "net.yaml").write_text(harness.CLUSTER.format(ranks=2))

    def ask(self, kind):
        """What torch_models.py says."""
        asked = self.start((MODELS, kind, self.folder), self.variables())
        ((said, _),) = self.ends([asked])
        return json.loads(said.splitlines()[-1])

    def test_both_ways_plan_the_same_gradients(self):
        """A shared table travels once; the model stays as it was."""
        found = self.ask("ways")
        for way in ("export", "recording"):
            tied, images = found[way], found[f"images by {way}"]
            self.assertEqual((tied["way"], tied["why_not"]), (way, None))
            self.assertEqual((tied["members"], tied["bytes"]), (TIED, TIED_BYTES))
            members = sorted(set(images["members"]))  # an order may cut gradients
            self.assertEqual((members, images["bytes"]), (IMAGES, IMAGES_BYTES))
            self.assertGreater(tied["step"], 0)
            self.assertEqual((tied["overlap"], images["overlap"]), ("backward", "step"))
            # The table's gradient is the last: its rows are looked up first.
            self.assertEqual(tied["order"][-1], "table.weight")
        told = "'loss' is left out: the recorded times are as the model runs"
        self.assertIn(told, found["recording"]["notes"])
        self.assertNotIn(told, found["export"]["notes"])
        self.assertEqual(found["is kept"], [True] * 4)

    def test_records_what_cannot_be_exported(self):
        found = self.ask("falls_back")
        for name, way in (("values", "recording"), ("package", "recording")):
            self.assertEqual((found[name]["way"], found[name]["members"]), (way, TIED))
        self.assertRegex(found["values"]["why_not"], "^PyTorch cannot export it: ")
        self.assertEqual(found["package"]["why_not"], "expected the package 'onnx', got none")
        script = found["torchscript"]
        self.assertEqual((script["way"], script["members"]), ("export", TIED), script["why_not"])
        for name, expected in (
            ("options", r"^Error: 'freeze': a recording does not take this option \(why its"),
            ("overlap", "^UsageError: --overlap: unknown value 'steps'"),
            ("planner", "^UsageError: unknown planner 'optimla', did you mean 'optimal'?"),
            ("precision", "^UsageError: --precision: unknown value 'fp17'"),
            ("profile", "^Error: .*/none.json: cannot open: No such file or directory$"),
            ("output", "^Error: '/dev/null': exists and is not a plan"),
            ("run", r"^Error: 'plan_only': a recording cannot be run, expected True, got False"),
            ("batch", r"^Error: 'batch': expected 4 as the sample's for a recording, got 8 \(why"),
            ("loss on", r"^Error: 'loss_on': a recording does not .*'Tied\.onnx': the graph has"),
            ("asked", "^NotExported: PyTorch cannot export it: "),
            ("json", r"a\.json': expected a model with an ONNX file to plan from, got none \(Py"),
        ):
            self.assertRegex(found[name], expected)

    def test_leaves_no_parameter_out(self):
        """A model with several outputs is exported where all parameters reach those of the loss."""
        found = self.ask("outputs")
        why = (
            "it has the outputs 'a', 'b', and 'a', on which the loss would be, not depend on"
            " 'second.weight', 'second.bias'"
        )
        for name, way in (("first", "recording"), ("both", "export"), ("reached", "export")):
            made = found[name]
            self.assertEqual((made["way"], made["members"]), (way, HEADS), made["why_not"])
        self.assertEqual(self.names(found["first"]["why_not"], found["files"]), why)
        self.assertEqual(self.names(found["asked"], found["files"]), f"NotExported: {why}")
        self.assertRegex(found["json"], r"a\.json': expected a model with an ONNX file to plan")

    def names(self, text, outputs):
        """The text with names that do not hang on the exporter."""
        for name, output in zip("ab", outputs):
            text = text.replace(f"'{output}'", f"'{name}'")
        return text

    def test_finds_renamed_parameters(self):
        """By their values, or by those of the transpose; never where two are possible."""
        found = self.ask("names")
        expected = {line.split(" ")[0] for line in found["same"].splitlines()}
        self.assertEqual(expected, set(IMAGES))
        self.assertEqual(found["other"], found["same"])
        self.assertEqual(
            found["transposed"], found["same"].replace("fc.weight (10, 288)", "fc.weight (288, 10)")
        )
        self.assertIn("table.weight (50, 16)\n", found["tied"])
        self.assertEqual(
            found["twins"],
            "NotExported: its file has other names, and 'a', 'b' may each be '0.weight' or"
            " '2.weight': they have the same values",
        )
        self.assertIn("0.weight (4,)\n", found["one twin"])

    def test_profiles(self):
        """Times are those of a step, and compile takes them."""
        found = self.ask("profiles")
        for name in ("tied", "stacked", "images"):
            made = found[name]
            read = json.loads((self.folder / f"{name}.json").read_text())
            self.assertEqual((read["batch"], read["precision"], read["threads"]), (4, "fp32", 1))
            written = sum(
                nanoseconds(time) for each in read["operations"].values() for time in each.values()
            )
            whole = 1e-9 * (written + nanoseconds(read["overhead"]))
            self.assertAlmostEqual(whole, made["step"], delta=1e-6 * len(read["operations"]))
            parts = made["forward"] + made["backward"] + made["loss"]
            self.assertAlmostEqual(parts, made["step"], places=9)
            for key in ("forward", "backward", "loss"):
                self.assertGreater(made[key], 0)
            # All of the step is found by the names of nodes.
            self.assertGreater(made["covered"], 0.98)
            self.assertLess(made["covered"], 1.02)
            self.assertGreater(made["alone"], 0.98 * made["step"])
            self.assertLess(made["alone"], 2 * made["step"])
            self.assertEqual(made["plan"]["members"], made["expected"])
        # A module's gradients are ready one after the other.
        ready = found["stacked"]["ready"]
        order = ["attention.out_proj.weight", "attention.in_proj_weight"]
        order += ["lstm.weight_hh_l1", "lstm.weight_hh_l0", "table.weight"]
        self.assertEqual(sorted(order, key=ready.get), order)
        self.assertLess(ready[order[2]], ready[order[3]])
        self.assertRegex(found["another batch"], "was measured with batch 4, expected 2")
        self.assert_is_trace(found["trace"])

    def assert_is_trace(self, made):
        with open(self.folder / "images.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(sorted(row["name"] for row in rows), IMAGES)
        self.assertEqual({row["name"].split(".")[0] for row in rows[:2]}, {"conv"})
        for phase in ("forward", "backward"):
            total = 1e-9 * sum(nanoseconds(row[phase]) for row in rows)
            self.assertGreater(total, 0)
            self.assertLess(total, made["step"])
        words = ("--cluster", self.folder / "net.yaml", "-o", self.folder / "trace.plan")
        harness.syncline("compile", self.folder / "images.csv", "--quiet", *words)

    def test_says_what_is_wrong(self):
        found = self.ask("refusals")
        for name, expected in (
            ("model", r"^Error: 'model': expected a torch\.nn\.Module, got str$"),
            ("frozen", "^Error: 'model': expected a parameter that requires a gradient, got none$"),
            ("sample", "^Error: 'sample': the model refuses it: RuntimeError: "),
            ("no sample", "^Error: 'sample': expected a tensor, .*, got int without tensors$"),
            ("way", "^Error: 'way': expected 'auto', 'export' or 'recording', got 'quick'$"),
            ("cluster", r"^Error: .*/none\.yaml"),
            ("option", "^UsageError: .*--colour"),
            ("suffix", r"a\.txt': expected a file ending in \.json or, for a layer trace, \.csv$"),
            ("file", r"^Error: '/none/a\.csv': cannot be written: No such file or directory$"),
            ("steps", "^Error: 'steps': expected a number from 1 to 100000, got 0$"),
            ("meta", r"^Error: 'model': expected 'table\.weight' on 'cpu' or 'cuda', got 'meta'$"),
            ("buffer", r"^Error: 'model': expected 'norm\.running_mean' on 'cpu' or 'cuda', got"),
            ("meta sample", "^Error: 'sample': expected tensors on 'cpu' or 'cuda', got 'meta'$"),
            ("lazy", r"^Error: 'model': expected values in '0\.weight', got none yet: run the"),
            ("lazy times", r"^Error: 'model': expected values in '0\.weight', got none yet: run"),
            ("fifo", r"^Error: '.*/fifo\.csv': cannot be written: Not a regular file$"),
            ("nul", r"^Error: .*a\\x00b\.csv': cannot be written: embedded null byte$"),
            ("no path", "^Error: 'output': expected a path, got NoneType$"),
            ("loss", r"^Error: 'loss': expected a number that depends on .*, got \(4, 10\)$"),
            ("no loss", "^Error: 'loss': it fails: TypeError: "),
        ):
            with self.subTest(name):
                self.assertRegex(found[name], expected)


class LazyTest(unittest.TestCase):
    def test_needs_no_torch(self):
        """The package and its subpackage are imported without PyTorch."""
        program = "import sys; sys.modules['torch'] = None; import syncline, syncline.torch"
        done = subprocess.run(
            ["/usr/bin/python3", "-c", program],
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
