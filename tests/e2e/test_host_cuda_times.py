"""What runs of the CUDA backend tell of their times, without a GPU: tests/host-cuda plays its
device, and times are of its streams' events."""

import json
import unittest
import unittest.mock

import harness
from host_cuda import TwoDevicesCase

EAGER_AND_CAPTURED = ((), ("--cuda-graph",))


class HostCudaTimesTest(TwoDevicesCase):
    def test_trace(self):
        """Every operation and message of the last steps of both ranks, in order, within
        the step."""
        operations = {"conv", "convBackwardWeights", "wait", "update"}
        for extra in EAGER_AND_CAPTURED:
            with self.subTest(extra=extra):
                file = self.folder / "t.json"
                words = (
                    "run",
                    self.plan,
                    "-n",
                    2,
                    "--steps",
                    5,
                    "--trace",
                    file,
                    "--trace-steps",
                    2,
                )
                harness.syncline(*words, *extra)
                trace = json.loads(file.read_text())
                events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
                for rank in (0, 1):
                    for step in (3, 4):
                        own = [e for e in events if (e["pid"], e["args"]["step"]) == (rank, step)]
                        self.check_step(own, operations)
                measured = harness.syncline("inspect", self.plan, "--measured", file)
                self.assertIn("2 steps of 2 ranks, measured", measured)

    def check_step(self, events, operations):
        computed = [event for event in events if event["tid"] == 0]
        messages = [event for event in events if event["cat"] == "message"]
        self.assertLessEqual(operations, {event["name"] for event in computed})
        self.assertGreaterEqual(len(messages), 1)
        ends = [event["ts"] + event["dur"] for event in computed]
        for event, end in zip(computed[1:], ends):
            self.assertGreaterEqual(event["ts"] + 0.01, end)
        self.assertGreater(ends[-1], computed[0]["ts"])
        for message in messages:
            self.assertGreaterEqual(message["args"]["ready"], computed[0]["ts"])
            self.assertGreaterEqual(message["ts"] + 0.01, message["args"]["ready"])
            self.assertLessEqual(message["ts"] + message["dur"], ends[-1] + 0.01)

    def test_operation_times(self):
        """Each computation has a time for each step, and their sum is the step's."""
        for extra in EAGER_AND_CAPTURED:
            with self.subTest(extra=extra):
                file = self.folder / "o.json"
                run = ("run", self.plan, "--alone", "--steps", 8, "--op-times", file)
                harness.syncline(*run, *extra)
                times = json.loads(file.read_text())
                self.assertEqual(len(times["steps"]), 5)
                for index, step in enumerate(times["steps"]):
                    parts = [operation["seconds"][index] for operation in times["operations"]]
                    self.assertTrue(all(part >= 0 for part in parts))
                    self.assertLessEqual(sum(parts), step * 1.001)
                    self.assertGreater(sum(parts), step * 0.5)

    def test_nobody_counts_bytes(self):
        """What nobody measured is not told; the predicted bytes are."""
        told = harness.syncline("run", self.plan, "-n", 2, "--steps", 3, "--log", "json")
        lines = [json.loads(line) for line in told.splitlines()]
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertFalse(
                [key for key in line if key.endswith(("bytes_sent", "bytes_received"))]
            )
        self.assertGreater(lines[-1]["predicted_traffic_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
