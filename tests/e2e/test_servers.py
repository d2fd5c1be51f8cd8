"""Dedicated servers and nodes of several ranks: who is started, what they move, who is named
when lost."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import numpy

import harness
from refusal import RefusalTest
from waiting import PATIENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
HOSTS = harness.TOP / "tests" / "bench" / "hosts.sh"
WORKERS = 3
SAME = 1e-5  # the same sums in another order


class ServersTest(RefusalTest):
    @classmethod
    def setUpClass(cls):
        path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plan = harness.compile_plan(
            DIGITS, path, ranks=WORKERS, label="servers", **harness.BY_SERVERS
        )
        cls.ring = harness.compile_plan(
            DIGITS, path, ranks=WORKERS, cluster=harness.RING, label="ring"
        )
        cls.nodes = harness.compile_plan(
            *(DIGITS, path, 4),
            cluster=harness.NODES,
            extra=("--scheme", "*=hierarchical"),
            label="nodes",
        )

    def summary(self, *words):
        """The last line of a run's JSON."""
        return json.loads(harness.syncline("run", *words, "--log", "json").splitlines()[-1])

    def test_trains_like_the_ring(self):
        random = numpy.random.RandomState(1)
        x = random.standard_normal((4 * WORKERS, 1, 8, 8)).astype(numpy.float32)
        data = x, random.randint(0, 10, 4 * WORKERS)
        settings = {"lr": 0.1}
        wanted = harness.train(
            self.ring, self.folder, data, ranks=WORKERS, settings=settings
        ).parameters(2)
        found = harness.train(self.plan, self.folder, data, ranks=WORKERS, settings=settings)
        self.assertEqual(found.parameters(2).names(), wanted.names())
        for name in wanted.names():
            error = numpy.abs(found.parameters(2)[name] - wanted[name]).max()
            self.assertLessEqual(error, SAME * numpy.abs(wanted[name]).max(), name)

    def test_plan_says_who_is_needed(self):
        plan = harness.plan_json(self.plan)
        self.assertEqual((plan["ranks"], plan["servers"]), (WORKERS, 2))
        self.assertEqual(self.summary(self.plan, "--steps", 2)["servers"], 2)

    def test_contradictions(self):
        self.refuses(["run", self.plan, "-n", 5], "3 ranks and 2 servers", "'-n' says 5", code=2)
        code, errors = self.ends([self.started(0, WORKERS)])[0]
        self.assertEqual(code, 2, errors)
        self.assertIn("5 processes together; 'WORLD_SIZE' says 3", errors)

    def test_started_one_by_one(self):
        processes = [self.started(rank, WORKERS + 2, ["--steps", 5]) for rank in range(WORKERS + 2)]
        self.assertEqual(self.ends(processes), [(0, "")] * (WORKERS + 2))

    def test_moves_what_the_plan_predicts(self):
        for plan in (self.plan, self.ring, self.nodes):
            with self.subTest(plan=plan.name):
                told = self.summary(plan, "--steps", 9)
                moved = told["median_bytes_sent"] + told["median_bytes_received"]
                self.assertEqual(
                    told["predicted_traffic_bytes"], harness.plan_json(plan)["predicted"]["traffic"]
                )
                # Members are aligned, and the loss travels too.
                self.assertAlmostEqual(moved / told["predicted_traffic_bytes"], 1, delta=0.02)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for network namespaces")
    def test_moves_it_on_the_wire(self):
        steps = 300
        if subprocess.run([HOSTS, "-n", "1", "--", "true"], capture_output=True).returncode != 0:
            self.skipTest("may not make network namespaces here")
        words = [
            "-n",
            WORKERS,
            "-S",
            2,
            "-b",
            "--",
            harness.SYNCLINE,
            "run",
            self.plan,
            "--steps",
            steps,
        ]
        done = subprocess.run(
            [HOSTS, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("host ")]
        self.assertEqual(len(lines), WORKERS + 2, done.stdout)
        traffic = steps * harness.plan_json(self.plan)["predicted"]["traffic"]
        for _, rank, _, received, _, sent in lines:
            share = 1 if int(rank) < WORKERS else WORKERS / 2
            # Short messages: headers and acknowledgements count.
            moved = (int(received) + int(sent)) / (share * traffic)
            self.assertTrue(1 <= moved <= 1.3, f"rank {rank}: {moved} of the prediction")

    def test_lost_participants_are_named(self):
        for victim, name in ((2, "rank 2"), (4, "server 1 (rank 4)")):
            with self.subTest(victim=name):
                self.port = harness.free_port()
                crew = [
                    self.started(r, WORKERS + 2, ["--steps", 10**9]) for r in range(WORKERS + 2)
                ]
                for process in crew:
                    self.addCleanup(process.kill)
                self.assertTrue(crew[0].stdout.readline(), "rank 0 ended before its first step")
                crew[victim].send_signal(signal.SIGKILL)
                for code, errors in self.ends([p for p in crew if p is not crew[victim]]):
                    self.assertEqual(code, 1, errors)
                    self.assertIn("lost " + name, errors)

    def test_launcher_names_the_killed_server(self):
        words = [harness.SYNCLINE, "run", self.plan, "--steps", 10**9, "--log", "json"]
        launcher = subprocess.Popen(
            list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(launcher.kill)
        self.assertTrue(launcher.stdout.readline())
        children = (
            pathlib.Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
        )
        self.assertEqual(len(children), WORKERS + 2)
        os.kill(int(children[3]), signal.SIGKILL)
        code, errors = self.ends([launcher])[0]
        self.assertEqual(code, 1, errors)
        self.assertIn("server 0 (rank 3)", errors)

    def test_nodes_of_local_ranks_are_the_plans(self):
        self.assertEqual(self.summary(self.nodes, "-n", 4, "--steps", 2)["ranks"], 4)
        self.refuses(["run", self.nodes, "--ranks-per-node", 4], "2 ranks a node", "says 4", code=2)

    def test_nodes_that_the_starter_contradicts(self):
        def run(*extra):
            self.port = harness.free_port()
            more = {"plan": self.nodes, "LOCAL_WORLD_SIZE": 4}
            crew = [
                self.started(r, 4, ["--steps", 2, *extra], LOCAL_RANK=r, **more) for r in range(4)
            ]
            return self.ends(crew)

        for code, errors in run():
            self.assertEqual(code, 1, errors)
            self.assertIn("a plan for 2 ranks a node: 4 were started", errors)
        self.assertEqual([code for code, _ in run("--ranks-per-node", 2)], [0] * 4)


if __name__ == "__main__":
    unittest.main()
