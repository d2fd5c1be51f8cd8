"""Every plan.json follows its schema, whatever it says: all schemes, both certificates, servers."""

import copy
import json
import pathlib
import tempfile
import unittest

import harness
import stepcache
from schema import violations

SCHEMA = json.loads((harness.TOP / "codegen" / "json" / "plan.schema.json").read_text())
DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
TRACE = harness.TOP / "samples" / "traces" / "alexnet.csv"
# Room for a third of AlexNet: servers of their own and a merge class that has a capacity.
SERVERS = harness.CLUSTER + "servers: {{count: 2, dedicated: yes, memory: 40 MiB}}\n"
SCHEMES = "ring recursive-doubling halving-doubling tree reduce-scatter parameter-server"
BARRIER = ("--overlap", "backward")


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(stepcache.none())

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def plan(self, model, cluster=harness.CLUSTER, words=()):
        """What the plan for four ranks says, once it is seen to follow the schema."""
        file = self.folder / "cluster.yaml"
        file.write_text(cluster.format(ranks=4))
        plan = self.folder / "test.plan"
        batch = ("--batch", 4) if model == DIGITS else ()
        harness.syncline("compile", model, "--cluster", file, "-o", plan, *batch, *words)
        harness.syncline("verify", plan)
        document = json.loads((plan / "plan.json").read_text())
        self.assertEqual(violations(document, SCHEMA), [])
        return document

    def test_schemes_of_a_model(self):
        for scheme in SCHEMES.split():
            with self.subTest(scheme=scheme):
                plan = self.plan(DIGITS, words=("--scheme", f"*={scheme}", *BARRIER))
                self.assertEqual({bucket["scheme"] for bucket in plan["buckets"]}, {scheme})
                self.assertEqual(plan["requested"], [f"*={scheme}"])
                self.assertIn("finish_times", plan["certificate"])

    def test_factors(self):
        """A bucket of factors counts its piggybacks among its members, and is reconstructed after
        its end."""
        plan = self.plan(DIGITS, words=("--scheme", "fc.*=factors", *BARRIER))
        bucket = next(bucket for bucket in plan["buckets"] if bucket["scheme"] == "factors")
        self.assertEqual(sorted(bucket["members"]), ["fc.bias", "fc.weight"])
        self.assertGreater(bucket["reconstructed"], bucket["end"])
        self.assertIn("relaxations", plan["certificate"])
        total = sum(bucket["traffic"] for bucket in plan["buckets"])
        self.assertAlmostEqual(plan["predicted"]["traffic"] / total, 1)

    def test_order(self):
        """Layers have tails, messages say what of their gradients they leave out, and the
        certificate names the layers that prove the bound."""
        plan = self.plan(DIGITS, words=("--planner", "p3:2KiB", "--overlap", "step"))
        self.assertTrue(all("tail" in layer for layer in plan["layers"]))
        self.assertTrue(any("cut" in bucket for bucket in plan["buckets"]))
        self.assertIn("lines", plan["certificate"])
        self.assertTrue(plan["certificate"]["layers"])

    def test_halves(self):
        """A bucket in halves says where its all-gather stands and when it travels."""
        words = ("--planner", "dear:4KiB", "--overlap", "step", "--scheme", "*=reduce-scatter")
        plan = self.plan(DIGITS, words=words)
        for bucket in plan["buckets"]:
            second = bucket["all_gather"]
            self.assertGreaterEqual(second["start"], bucket["end"])
            self.assertEqual(bucket["reconstructed"], second["end"])

    def test_servers_of_a_trace(self):
        """Servers that hold a part are a merge class with a capacity, and named where anything
        uses them."""
        unused = self.plan(TRACE, cluster=SERVERS, words=("--scheme", "*=ring"))
        self.assertEqual(unused["servers"], 0)
        plan = self.plan(TRACE, cluster=SERVERS, words=("--scheme", "conv*=parameter-server"))
        served = [bucket for bucket in plan["buckets"] if bucket["scheme"] == "parameter-server"]
        self.assertEqual(sum(len(bucket["members"]) for bucket in served), 5)
        self.assertEqual(plan["servers"], 2)
        self.assertEqual(plan["cluster"]["servers"]["memory"], 40 << 20)
        problem = (self.folder / "test.plan" / "plan.mlir").read_text()
        self.assertIn(f"capacity = {2 * (40 << 20)}", problem)

    def test_weights_of_classes(self):
        file = self.folder / "w.csv"
        file.write_text("1,2,0,0.5,1,1,1,1,1,1\n")
        for parameters in ("", "targets=probabilities,", "smoothing=0.1,"):
            loss = f"cross-entropy:{parameters}weights="
            plan = self.plan(DIGITS, words=("--loss", f"{loss}{file}"))
            self.assertEqual(plan["loss"], f"{loss}class_weights")
            self.assertEqual(plan["options"]["class_weights"][:4], [1, 2, 0, 0.5])

    def test_nodes(self):
        plan = self.plan(TRACE, cluster=harness.NODES, words=("--scheme", "*=hierarchical"))
        self.assertEqual({bucket["scheme"] for bucket in plan["buckets"]}, {"hierarchical"})
        self.assertTrue(plan["cluster"]["half_duplex"])

    def test_local_updates(self):
        """The fragments of weights, and what a rank holds beside its spaces for them."""
        plan = self.plan(DIGITS, words=("--consistency", "diloco:8,2,1,0.5"))
        self.assertEqual([e["wait"] for e in plan["consistency"]["exchanges"]], [4, 8])
        self.assertGreater(plan["memory"]["exchange"], 2 * plan["memory"]["parameters"])
        self.assertIsNone(self.plan(DIGITS)["consistency"])

    def test_consistency(self):
        """Every form has its own numbers; those by servers have shards of the weights."""
        for form, numbers, shards in (
            ("ssp:3", {"form": "ssp", "staleness": 3}, 4),
            ("asp", {"form": "asp"}, 4),
            ("dssp:3,15", {"form": "dssp", "lower": 3, "upper": 15}, 4),
            ("easgd:async,0.1", {"variant": "async", "rho": 0.1, "period": 1}, 4),
            ("easgd:sync3,0.1,4", {"variant": "sync3", "rho": 0.1, "period": 4}, 0),
        ):
            with self.subTest(form=form):
                plan = self.plan(DIGITS, words=("--consistency", form))
                found = plan["consistency"]
                self.assertEqual({key: found[key] for key in numbers}, numbers)
                self.assertEqual([s["server"] for s in found["shards"]], list(range(shards)))
                self.assertEqual(plan["servers"], 0)
        plan = self.plan(DIGITS, SERVERS, words=("--consistency", "asp"))
        self.assertEqual(plan["servers"], 2)
        self.assertEqual(len(plan["consistency"]["shards"]), 2)
        self.assertIsNone(plan["consistency"]["exchanges"][0]["wait"])

    def test_refuses_what_breaks_it(self):
        """The validator finds a number that is none, a key too many, one too few, a
        foreign word."""
        good = self.plan(TRACE)
        for change in (
            lambda plan: plan["buckets"][0].update(traffic=-1),
            lambda plan: plan["buckets"][0].update(scheme="pigeon"),
            lambda plan: plan["buckets"][0].pop("reconstructed"),
            lambda plan: plan.update(extra=1),
            lambda plan: plan.update(asked=["ring"]),
            lambda plan: plan.pop("requested"),
            lambda plan: plan.update(certificate={"bound": 1}),
            lambda plan: plan["hashes"].update(model="x"),
        ):
            bad = copy.deepcopy(good)
            change(bad)
            self.assertNotEqual(violations(bad, SCHEMA), [])


if __name__ == "__main__":
    unittest.main()
