"""Which layers travel by factors, and what a node moves: the published figures of Poseidon (ATC
2017) come out of the planner of that name."""

import pathlib
import subprocess
import tempfile
import unittest

import harness

TRACES = harness.TOP / "samples" / "traces"
CLUSTER = harness.TOP / "samples" / "clusters" / "poseidon-titanx-40gbe.yaml"
# GB that a node moves in one iteration in both directions, by number of nodes: with servers alone,
# and with factors.
TRAFFIC = {
    "vgg19": {8: (2.01, 0.36), 16: (2.15, 0.46), 32: (2.23, 0.65)},
    "vgg19-22k": {8: (3.21, 0.39), 16: (3.44, 0.54), 32: (3.55, 0.81)},
}
# The table has two digits after the point. The tolerance is half of the last digit, besides the two
# per cent that are allowed.
ROUNDING = 0.005


class ChoicesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def plan(self, trace, nodes, planner):
        plan = self.folder / f"{trace}-{nodes}-{planner}.plan"
        words = ["--cluster", CLUSTER, "--nodes", nodes, "--planner", planner, "-o", plan]
        harness.syncline("compile", TRACES / f"{trace}.csv", *words)
        harness.syncline("verify", plan)
        return harness.plan_json(plan)

    def by_factors(self, plan):
        return {m for b in plan["buckets"] if b["scheme"] == "factors" for m in b["members"]}

    def test_vgg19_sends_its_fully_connected_layers_by_factors(self):
        for nodes in (8, 16, 32):
            with self.subTest(nodes=nodes):
                plan = self.plan("vgg19", nodes, "poseidon")
                self.assertEqual(self.by_factors(plan), {"fc6", "fc7", "fc8"})

    def test_googlenet_crosses_over_at_eight_nodes(self):
        for nodes in range(2, 12):
            with self.subTest(nodes=nodes):
                layers = self.by_factors(self.plan("googlenet", nodes, "poseidon"))
                self.assertEqual(len(layers), 1 if nodes <= 7 else 0, layers)

    def test_traffic_of_a_node(self):
        for trace, by_nodes in TRAFFIC.items():
            for nodes, expected in by_nodes.items():
                for planner, gigabytes in zip(("ps", "poseidon"), expected):
                    with self.subTest(trace=trace, nodes=nodes, planner=planner):
                        traffic = self.plan(trace, nodes, planner)["predicted"]["traffic"] / 1e9
                        self.assertAlmostEqual(
                            traffic, gigabytes, delta=0.02 * gigabytes + ROUNDING
                        )


class DevicesTest(unittest.TestCase):
    """What NCCL or Gloo would send by depends on the kind of a device, not on its rate."""

    def compiled(self, device, planner="ddp:1MiB", extra=()):
        """The schemes of a plan for ranks that compute with `device`, and what compile says."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        cluster = folder / "cluster.yaml"
        network = "network: {bandwidth: 8 Gb/s, latency: 60us, reduce-rate: 4 GB/s}"
        cluster.write_text(f"name: ranks\nranks: 32\ndevice: {device}\n{network}\n")
        trace = folder / "one.csv"
        trace.write_text("name,bytes,forward,backward\none,160B,10us,10us\n")
        plan = folder / "one.plan"
        words = ("--cluster", cluster, "--planner", planner, *extra, "-o", plan)
        command = [str(word) for word in (harness.SYNCLINE, "compile", trace, *words)]
        done = subprocess.run(
            command,
            env=harness.environment(),
            capture_output=True,
            text=True,
            timeout=harness.PATIENCE,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        harness.syncline("verify", plan)
        schemes = {bucket["scheme"] for bucket in harness.plan_json(plan)["buckets"]}
        return schemes, done.stderr

    def schemes(self, device):
        return self.compiled(device)[0]

    def test_fast_processors_are_no_gpus(self):
        for rate in ("999 GFLOP/s", "1 TFLOP/s", "4 TFLOP/s"):
            device = f"{{compute: {rate}, memory: 100 GB/s}}"
            self.assertEqual(self.schemes(device), {"ring"}, rate)
        self.assertEqual(self.schemes("{kind: cpu}"), {"ring"})
        for backend in ((), ("--backend", "cpu")):
            self.assertEqual(self.compiled("{kind: k80}", extra=backend)[0], {"tree"}, backend)

    def test_no_device(self):
        """Where the cluster file states none, times are a usual processor's, as a note says."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        digits = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
        plans = []
        for kind, notes in (("none", 1), ("cpu", 0)):
            cluster, plan = folder / f"{kind}.yaml", folder / f"{kind}.plan"
            words = ("--nodes", 2, "--device", kind, "--network", "ethernet-1g", "-o", cluster)
            harness.syncline("cluster", *words)
            words = (digits, "--cluster", cluster, "--batch", 4, "--plan-only", "-o", plan)
            done = subprocess.run(
                [str(word) for word in (harness.SYNCLINE, "compile", *words)],
                capture_output=True,
                text=True,
                timeout=harness.PATIENCE,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("those of the kind 'cpu', 60 GFLOP/s"), notes)
            plans.append(harness.plan_json(plan)["predicted"])
            self.assertIn("GFLOP/s, 10.0 GB/s)", harness.syncline("inspect", plan))
        self.assertEqual(*plans)
        stated = folder / "none.yaml"
        stated.write_text(stated.read_text() + "device: {memory-size: 7 GB}\n")
        harness.syncline(
            *("compile", digits, "--cluster", stated, "--batch", 4, "--plan-only", "-o", plan)
        )
        device = harness.plan_json(plan)["cluster"]["device"]
        self.assertEqual((device["memory_size"], device["compute"]), (7_000_000_000, 60e9))

    def test_rates_of_gpus_without_a_kind_are_noted(self):
        v100 = "{compute: 15.7 TFLOP/s, memory: 900 GB/s}"
        for planner in ("ddp:1MiB", "horovod:1MiB"):
            schemes, said = self.compiled(v100, planner)
            self.assertEqual(schemes, {"ring"})
            lines = [line for line in said.splitlines() if "sends by ring" in line]
            self.assertEqual(
                lines,
                [
                    f"syncline: note: planner '{planner}' sends by ring, as Gloo does on"
                    " processors: devices count as GPUs by a 'kind' of 'device' in the cluster file"
                    " or by '--backend cuda'"
                ],
            )
        slowed = "{compute: 3 TFLOP/s, memory: 900 GB/s, efficiency: 0.5}"
        self.assertIn("sends by ring", self.compiled(slowed)[1])
        silent = [
            ("{kind: v100}",),
            ("{compute: 60 GFLOP/s, memory: 10 GB/s}",),
            (v100, "wfbp"),
            (v100, "ddp:1MiB", ("--scheme", "*=ring")),
        ]
        for words in silent:
            self.assertNotIn("sends by ring", self.compiled(*words)[1], words)


if __name__ == "__main__":
    unittest.main()
