"""The optimizer is the plan's: what compile writes and counts, and what run then takes."""

import pathlib
import tempfile
import unittest

import harness
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"


class OptimizersTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        cls.plans = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.sgd, cls.adamw, cls.lamb = (cls.plan(name) for name in ("sgd", "adamw", "lamb"))

    @classmethod
    def plan(cls, name, cluster=harness.CLUSTER, label=""):
        extra = ("--optimizer", name)
        return harness.compile_plan(
            DIGITS, cls.plans, ranks=2, cluster=cluster, label=name + label, extra=extra
        )

    def test_plan(self):
        """Two moments for each parameter, and seven passes over memory in place of SGD's five; ten
        with LAMB."""
        sgd, adamw, lamb = map(harness.plan_json, (self.sgd, self.adamw, self.lamb))
        self.assertEqual((sgd["optimizer"], adamw["optimizer"]), ("sgd", "adamw"))
        self.assertEqual(sgd["memory"]["optimizer"], 0)
        self.assertEqual(adamw["memory"]["optimizer"], 2 * adamw["memory"]["parameters"])
        ratio = adamw["predicted"]["updates"] / sgd["predicted"]["updates"]
        self.assertAlmostEqual(ratio, 7 / 5, places=3)
        self.assertEqual(lamb["memory"]["optimizer"], adamw["memory"]["optimizer"])
        ratio = lamb["predicted"]["updates"] / sgd["predicted"]["updates"]
        self.assertAlmostEqual(ratio, 10 / 5, places=3)
        self.assertIn(", optimizer adamw", harness.syncline("inspect", self.adamw))
        self.assertNotIn("optimizer", harness.syncline("inspect", self.sgd).splitlines()[0])

    def test_memory(self):
        """Moments that do not fit are refused; SGD fits."""
        least = sum(harness.plan_json(self.sgd)["memory"].values())  # samples come on top
        cluster = harness.CLUSTER.replace("10 GB/s}", f"10 GB/s, memory-size: {least + 2048} B}}")
        self.plan("sgd", cluster, "-small")
        small = self.write("small.yaml", cluster.format(ranks=2))
        words = ["compile", DIGITS, "--cluster", small, "--batch", 4, "--overlap", "backward"]
        words += ["--optimizer", "adam", "-o", self.folder / "no.plan"]
        self.refuses(words, "of memory on every device")

    def test_flags_of_other_optimizers(self):
        run = ["run", self.adamw, "-n", 2, "--steps", 1]
        said = "--momentum is for '--optimizer sgd', the plan is compiled for 'adamw'"
        self.refuses([*run, "--momentum", 0.9], said, code=2)
        said = "--group 'nn*:lr=1': no trained parameter's name matches 'nn*'"
        self.refuses([*run, "--group", "nn*:lr=1"], said)

    def test_elastic_momentum_is_sgd(self):
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 4, "--optimizer", "adam"]
        words += ["--consistency", "easgd:momentum,0.1", "-o", self.folder / "no.plan"]
        self.refuses(words, "'--optimizer adam'", "SGD with momentum", code=2)


if __name__ == "__main__":
    unittest.main()
