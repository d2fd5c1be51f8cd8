"""Forms of consistency that compile compares: each competes by the plan that it has alone."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import harness
import stepcache

MODELS = harness.TOP / "samples" / "models"
FORMS = (
    "bsp",
    "ssp:3",
    "asp",
    "dssp:3,15",
    "easgd:sync1,0.1",
    "easgd:sync2,0.1",
    "easgd:sync3,0.1",
    "easgd:original,0.1",
    "easgd:async,0.1",
    "easgd:hogwild,0.1",
    "easgd:momentum,0.1",
    "local:16",
    "diloco:16,1,0,0",
)
NUMBER = r"([\d.]+ \w+)"


class AutoConsistencyTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(stepcache.none())
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cluster = self.folder / "lab.yaml"
        words = ("--nodes", 2, "--devices-per-node", 4, "--device", "v100", "-o", self.cluster)
        links = ("--inside", "nvlink-v100", "--network", "ethernet-10g")
        harness.syncline("cluster", *links, *words)
        # Its rates as a roofline: with kernels, the host would set the pace of such small models.
        rates = "{compute: 15.7 TFLOP/s, memory: 900 GB/s, launch-overhead: 5us}"
        text = self.cluster.read_text().replace("{kind: v100}", rates)
        self.assertIn(rates, text)
        self.cluster.write_text(text)

    def compile(self, model, form, name):
        plan = self.folder / name
        words = ("--cluster", self.cluster, "--batch", 8, "--loss", "cross-entropy", "-o", plan)
        words += ("--backend", "cpu", "--consistency", form)  # NCCL has no servers
        command = [harness.SYNCLINE, "compile", MODELS / model, *words]
        done = subprocess.run(
            list(map(str, command)), env=harness.environment(), capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return plan, done.stderr

    def step_alone(self, model, form):
        plan, _ = self.compile(model, form, "alone.plan")
        told = harness.syncline("simulate", plan, "--sweep", f"consistency={form}")
        return self.step_of(form, told)

    def step_of(self, form, table):
        return re.search(rf"^{re.escape(form)} +{NUMBER}", table, re.MULTILINE)[1]

    def test_each_form_has_the_step_of_its_own_plan(self):
        for model in ("digits-cnn.onnx", "fashion-cnn.onnx", "googlenet.onnx"):
            _, table = self.compile(model, "auto:" + ",".join(FORMS), "auto.plan")
            for form in FORMS:
                with self.subTest(model=model, form=form):
                    self.assertEqual(self.step_of(form, table), self.step_alone(model, form))

    def test_bsp_has_its_overlap(self):
        plan, table = self.compile("digits-cnn.onnx", "auto:bsp,local:1", "auto.plan")
        alone, note = self.compile("digits-cnn.onnx", "bsp", "alone.plan")
        self.assertIn("planned with '--overlap step'", note)
        self.assertIn("planned with '--overlap step'", table)
        self.assertEqual(
            harness.plan_json(plan)["predicted"], harness.plan_json(alone)["predicted"]
        )


if __name__ == "__main__":
    unittest.main()
