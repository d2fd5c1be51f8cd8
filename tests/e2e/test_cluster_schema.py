"""cluster.schema.json: every sample and the documented example follow it, and what the reader
refuses by its structure does not."""

import copy
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness
import yaml
from schema import violations

FOLDER = harness.TOP / "frontend" / "files"
SCHEMA = json.loads((FOLDER / "cluster.schema.json").read_text())
EXAMPLE = re.search(r"```yaml\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL).group(1)
TRACE = harness.TOP / "samples" / "traces" / "alexnet.csv"

# One change of the example each: where, and what stands there then (None: nothing).
WRONG = [
    (["name"], None),
    (["name"], ""),
    (["nodes"], None),
    (["nodes"], 0),
    (["nodes"], 2000000),
    (["nodes"], "two"),
    (["nodes"], "0"),
    (["ranks"], 8),
    (["color"], "red"),
    (["device", "kind"], "a1000"),
    (["device", "memory"], "10 GB"),
    (["device", "memory-size"], "40 GB/s"),
    (["network", "bandwidth"], 10),
    (["network", "bandwidth"], None),
    (["network", "latency"], "20"),
    (["network", "cards"], 0),
    (["network", "duplex"], "double"),
    (["network", "reduce-rate"], "-1 GB/s"),
    (["network"], None),
    (["inside", "kind"], "ethernet-1g"),
    (["inside", "kind"], None),
    (["servers", "count"], None),
    (["servers", "dedicated"], "perhaps"),
    (["limits", "message"], "64"),
    (["interference", "computation"], 0.5),
    (["interference", "computation"], "much"),
    (["interference", "products"], 0.5),
    (["interference", "memory"], "much"),
    (["interference", "latency"], 0.5),
    (["interference"], 2),
    (["message-scatter"], []),
    (["message-scatter"], 1.5),
    (["message-scatter"], [1] * 1025),
    (["message-scatter"], [1, 0]),
    (["message-scatter"], [1, 1e7]),
    (["message-scatter"], [1, "-1"]),
    (["message-scatter"], [1, "1.2 ms"]),
    (["message-scatter"], [1, [1]]),
    (["collectives", "all-reduce"], {}),
    (["collectives", "all-reduce", "tree"], {"formula": "ring"}),
    (["collectives", "all-reduce", "ring"], {"a": "1ms"}),
    (["collectives", "all-reduce", "tree"], {"table": [["4KiB"]]}),
    (["collectives", "all-reduce", "tree"], {"table": []}),
    (["collectives", "all-reduce", "ring"], {"a": "1ms", "b": "1ns/B", "interference": 0.5}),
    (
        ["collectives", "all-reduce", "ring"],
        {"a": "1ms", "b": "1ns/B", "interference": {"memory": 0.5}},
    ),
    (
        ["collectives", "all-reduce", "ring"],
        {"a": "1ms", "b": "1ns/B", "interference": {"latency": 2}},
    ),
    (["collectives", "parameter-server"], {"formula": "tree"}),
    (["collectives", "reduce-scatter"], {"formula": "ring"}),
    (["overrides", 0, "nodes"], []),
    (["overrides", 0, "nodes"], [1, 1]),
    (["overrides", 0, "nodes"], [-1]),
    (["overrides", 0, "device", "slowdown"], 0),
    (["overrides", 0, "device", "slowdown"], 1e7),
    (["overrides", 0, "device", "slowdown"], "-1"),
    (["overrides", 0, "network"], {}),
    (["overrides", 0, "inside"], {"kind": "pcie-3"}),
    (["overrides"], [{"nodes": [0]}]),
]

# Other ways to write a value, in YAML as people type it. The reader and the schema accept them.
VARIANTS = [
    ("name: two hosts with four devices", "name: 2024"),
    ("name: two hosts with four devices", "name: yes"),
    ("nodes: 2", 'nodes: "2"'),
    ("devices-per-node: 4", "devices-per-node: '04'"),
    ("cards: 2", 'cards: "2"'),
    ("computation: 1.35", "computation: 1e0"),
    ("message-scatter: [0.98, 1,", "message-scatter: ['.98', 1e0,"),
    ("slowdown: 1.5", "slowdown: 1e1"),
    ("slowdown: 1.5", "slowdown: 2"),
    ("slowdown: 1.5", "slowdown: '.5'"),
    ("dedicated: yes", "dedicated: 'yes'"),
    ("dedicated: yes", "dedicated: 'true'"),
]


def changed(document, path, value):
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


class ClusterSchemaTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_samples(self):
        files = sorted((harness.TOP / "samples" / "clusters").glob("*.yaml"))
        self.assertGreaterEqual(len(files), 27)
        for file in files:
            with self.subTest(file.name):
                self.assertEqual(
                    violations(yaml.safe_load(file.read_text()), SCHEMA, where="cluster"), []
                )

    def test_example(self):
        self.assertEqual(violations(yaml.safe_load(EXAMPLE), SCHEMA, where="cluster"), [])

    def test_wrong_files(self):
        """Schema and reader refuse each; the reader in one line, as bad input."""
        example = yaml.safe_load(EXAMPLE)
        file = self.folder / "c.yaml"
        for path, value in WRONG:
            with self.subTest(path=path, value=value):
                document = changed(example, path, value)
                self.assertTrue(violations(document, SCHEMA, where="cluster"))
                file.write_text(yaml.safe_dump(document))
                command = [
                    harness.SYNCLINE,
                    "compile",
                    TRACE,
                    "--cluster",
                    file,
                    "-o",
                    self.folder / "x.plan",
                ]
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"\Asyncline: error: .*c\.yaml:\d+:\d+: .*\n\Z")

    def test_variants(self):
        """Reader and schema take each; the example's own words tell where."""
        file = self.folder / "c.yaml"
        for plain, variant in VARIANTS:
            with self.subTest(variant=variant):
                self.assertIn(plain, EXAMPLE)
                text = EXAMPLE.replace(plain, variant, 1)
                self.assertEqual(violations(yaml.safe_load(text), SCHEMA, where="cluster"), [])
                file.write_text(text)
                harness.syncline("compile", TRACE, "--cluster", file, "-o", self.folder / "v.plan")

    def test_imported_file(self):
        """What `syncline cluster` writes follows the schema."""
        hosts = self.folder / "hosts"
        hosts.write_text("a slots=2\nb slots=2\n")
        text = harness.syncline(
            "cluster", "--from-hostfile", hosts, "--device", "v100", "--network", "ethernet-25g"
        )
        self.assertEqual(violations(yaml.safe_load(text), SCHEMA, where="cluster"), [])


if __name__ == "__main__":
    unittest.main()
