"""The tables of published rates hold to their rules: each row is used or says why not, each model
has the operations that are known of it, each system is a cluster."""

import collections
import csv
import pathlib
import re
import sys
import tempfile
import unittest

import harness

FOLDER = harness.TOP / "tests" / "bench" / "devices"
sys.path.append(str(FOLDER))

import multi_rows  # noqa: E402
import rows  # noqa: E402

KINDS = harness.TOP / "frontend" / "files" / "devices.yaml"
MOST_LEFT_OUT = 0.15  # of the figures of PyTorch
FLOPS = (0.95, 1.1)  # counted to known
PRECISIONS = {"fp32", "tf32", "amp_fp16", "amp_bf16", "bf16", "fp16", "fp16_apex"}
OPTIMIZERS = {"sgd", "adam", "adamw", "lamb", "rmsprop", "novograd", "none"}
SCOPES = {"step", "step with recomputation", "forward and backward"}


def table(name):
    with open(FOLDER / name, newline="") as file:
        return list(csv.DictReader(file))


def used(name):
    return [row for row in table(name) if not row["left_out"]]


class TablesTest(unittest.TestCase):
    def check(self, row):
        """The rules of both tables."""
        number = row["row"]
        self.assertIn(row["precision"], PRECISIONS, number)
        self.assertIn(row["class"], {"pytorch", "compiled", "other"}, number)
        self.assertIn(row["layout"], {"NCHW", "NHWC", "n/a"}, number)
        self.assertIn(row["scope"], SCOPES, number)
        self.assertIn(row["optimizer"], OPTIMIZERS, number)
        self.assertEqual(row["scope"] == "forward and backward", row["optimizer"] == "none", number)
        self.assertIn(row["kind"], rows.KINDS.values(), number)
        self.assertTrue(row["source"], number)
        self.assertGreater(int(row["batch"]), 0, number)
        rate = float(row["published"]) / float(row["per_sample"])
        self.assertAlmostEqual(float(row["samples_per_second"]) / rate, 1, 4, number)

    def test_rows_of_one_gpu(self):
        for row in used("rows.csv"):
            self.check(row)

    def test_rows_of_several_gpus(self):
        for row in used("multi_rows.csv"):
            self.check(row)
            gpus, nodes = int(row["gpus"]), int(row["nodes"])
            self.assertGreater(gpus, 1)
            self.assertEqual(gpus % nodes, 0, row["row"])
            linear = gpus * float(row["one_gpu"])
            share = float(row["samples_per_second"]) / linear
            self.assertAlmostEqual(float(row["efficiency"]), share, 3, row["row"])
            self.assertLess(share, multi_rows.MOST, row["row"])

    def test_each_row_is_there_once(self):
        numbers = [int(row["row"]) for row in table("rows.csv")]
        self.assertEqual(numbers, list(range(2, 2 + len(numbers))))
        count = collections.Counter(row["row"] for row in table("multi_rows.csv"))
        self.assertEqual(set(count.values()), {1})

    def test_rows_are_what_the_script_makes(self):
        for row in table("rows.csv"):
            figure = {**row, "samples_per_second": row["published"]}
            made = rows.made(int(row["row"]), figure)
            self.assertEqual({key: str(made.get(key, "")) for key in row}, row)

    def test_runs_are_taken_as_logs_state_them(self):
        for row in used("rows.csv"):
            if "lambdal" in row["source"] and row["model"].startswith("transformer_xl"):
                self.assertTrue(row["onnx"].endswith("_full"), row["row"])
            if "lambdal" in row["source"] and row["model"] == "ncf" and "80GB" in row["gpu"]:
                self.assertEqual(row["precision"], "tf32", row["row"])

    def test_rows_that_are_left_out_say_why_and_nothing_else(self):
        for name in ("rows.csv", "multi_rows.csv"):
            for row in table(name):
                if row["left_out"]:
                    self.assertEqual(row["onnx"] + row["samples_per_second"], "", row["row"])

    def test_few_figures_of_pytorch_are_left_out(self):
        ours = [row for row in table("rows.csv") if "orch" in row["framework"]]
        left = [row for row in ours if row["left_out"]]
        self.assertLessEqual(len(left), MOST_LEFT_OUT * len(ours))

    @unittest.skipUnless(KINDS.exists(), "kinds are not in devices.yaml")
    def test_kinds_are_those_of_the_product(self):
        known = set(re.findall(r"^  ([\w-]+):", KINDS.read_text(), re.MULTILINE))
        self.assertLessEqual({row["kind"] for row in used("rows.csv")}, known)
        self.assertLessEqual({row["kind"] for row in used("multi_rows.csv")}, known)


class ModelsTest(unittest.TestCase):
    def setUp(self):
        self.models = {row["onnx"]: row for row in table("models.csv")}

    def test_each_model_of_a_row_is_planned(self):
        for row in used("rows.csv") + used("multi_rows.csv"):
            self.assertIn(row["onnx"], self.models, row["row"])
            self.assertEqual(row["options"], rows.OPTIONS.get(row["onnx"], ""), row["row"])
        for name, model in self.models.items():
            self.assertNotEqual(model["planned"], "refused", name)
            self.assertEqual(model["planned"] == "as a step", model["why"] == "", name)

    def test_models_have_the_operations_that_are_known(self):
        known = [model for model in self.models.values() if model["known_gflop"]]
        self.assertGreater(len(known), 50)
        for model in known:
            ratio = float(model["gflop"]) / float(model["known_gflop"])
            self.assertAlmostEqual(float(model["ratio"]), ratio, 2, model["onnx"])
            self.assertGreater(ratio, FLOPS[0], model["onnx"])
            self.assertLess(ratio, FLOPS[1], model["onnx"])

    def test_models_have_the_parameters_that_logs_state(self):
        logged = {"base_192_full": 191948759, "large_256_full": 519963095}
        for name, count in logged.items():
            self.assertEqual(int(self.models["transformer_xl_" + name]["parameters"]), count)

    def test_models_have_the_parameters_that_the_source_counts(self):
        said = 0
        for row in used("rows.csv"):
            if found := re.search(r"([\d.]+) M parameters", row["variant"]):
                counted = int(self.models[row["onnx"]]["parameters"]) / 1e6
                self.assertAlmostEqual(counted, float(found[1]), 1, row["onnx"])
                said += 1
        self.assertGreater(said, 50)


class ClustersTest(unittest.TestCase):
    def test_systems_are_clusters(self):
        """With a kind that every build has."""
        model = harness.TOP / "samples" / "models" / "alexnet.onnx"
        systems = {(row["system"], row["nodes"], row["gpus"]) for row in used("multi_rows.csv")}
        shapes = {}
        for system, nodes, gpus in sorted(systems):
            text = multi_rows.cluster(system, int(nodes), int(gpus))
            kind = system.partition("+")[0]
            shapes.setdefault((system, nodes), text.replace(f"kind: {kind}}}", "kind: v100}"))
        self.assertGreater(len(shapes), 15)
        with tempfile.TemporaryDirectory() as folder:
            for i, text in enumerate(shapes.values()):
                file = pathlib.Path(folder) / f"{i}.yaml"
                file.write_text(text)
                plan = file.with_suffix(".plan")
                words = ["--plan-only", "--batch", 4, "--planner", "single", "--cluster", file]
                harness.syncline("compile", model, *words, "-o", plan)


if __name__ == "__main__":
    unittest.main()
