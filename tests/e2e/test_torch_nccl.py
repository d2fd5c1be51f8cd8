"""The backend 'syncline' on CUDA tensors, as far as a machine without a card allows: Gloo stands in
for NCCL."""

import pathlib
import signal
import sys
import tempfile
import unittest

import harness
from torch_ranks import TESTS, TorchRanksTest
from waiting import PATIENCE, SILENCE

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))


class TorchNcclTest(TorchRanksTest):
    script = TESTS / "torch_nccl_rank.py"

    def test_hands_all_calls_over(self):
        """With the plan's buckets; the plan's table is NCCL's where the tuner was built."""
        plan, tuner = self.plan(2), harness.BUILD / "lib" / "libnccl-tuner-syncline.so"
        table = plan / "nccl-tuner.csv"
        table.write_text("collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n")
        self.addCleanup(table.unlink)
        expected = [tuner, table] if tuner.is_file() else [None, None]
        for said, errors in self.ends(self.ranks("planned", 2, plan)):
            self.assertEqual(said.split(), [str(each) for each in expected])
            self.assertEqual(errors, "")

    def test_tells_devices_apart(self):
        """A backend for both devices has Gloo, and NCCL from the first CUDA tensor on."""
        ((said, errors),) = self.ends(self.ranks("devices", 1))
        self.assertEqual(
            said.splitlines(),
            [
                "cpu:gloo,cuda:syncline cpu",
                "cpu:gloo,cuda:syncline cuda nccl",
                "cuda:syncline cuda nccl",
                "syncline cpu gloo",
                "syncline cuda gloo",
                "cpu:syncline cpu gloo",
            ],
            errors,
        )

    def test_says_another_sequence_once(self):
        (_, errors), (_, others) = self.ends(self.ranks("wrong", 2, self.plan(2)))
        told = r"^syncline: the all-reduces are not the plan's: step \d, position \d: .*\n$"
        self.assertRegex(errors, told)
        self.assertEqual(others, "")

    def test_names_a_stopped_rank(self):
        """On standard error, since no exception reaches a script that waits for a device."""
        for plan in (self.plan(2), None):
            with self.subTest(plan=plan):
                started = self.ranks("endless", 2, plan, seconds=SILENCE)
                for process in started:
                    self.assertEqual(process.stdout.readline(), "works\n")
                started[1].send_signal(signal.SIGSTOP)
                pattern = (
                    r"(?m)^syncline: group '0': rank 0: lost rank 1 \(it does not answer\) in the"
                    r" all-reduce of \d+ bytes of float32.* in step \d+$"
                )
                told = ""
                while "lost rank 1" not in told:
                    told = started[0].stderr.readline()
                    self.assertTrue(told)
                self.assertRegex(told, pattern)
                started[0].kill()
                started[0].wait(PATIENCE)


class TunerTest(unittest.TestCase):
    """Which variables make NCCL follow a plan; needs no PyTorch."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.library = self.folder / "libsyncline.so.1"

    def variables(self, environment=None):
        from syncline.torch import tuner

        return tuner.variables(self.folder, self.library, environment or {})

    def test_needs_table_and_tuner(self):
        table, plugin = self.folder / "nccl-tuner.csv", self.folder / "libnccl-tuner-syncline.so"
        self.assertEqual(self.variables(), {})
        table.touch()
        self.assertEqual(self.variables(), {})
        plugin.touch()
        expected = {"NCCL_TUNER_PLUGIN": str(plugin), "SYNCLINE_NCCL_TABLE": str(table)}
        self.assertEqual(self.variables(), expected)
        table.unlink()
        self.assertEqual(self.variables(), {})

    def test_leaves_the_users_tuner(self):
        for name in ("nccl-tuner.csv", "libnccl-tuner-syncline.so"):
            (self.folder / name).touch()
        self.assertEqual(self.variables({"NCCL_TUNER_PLUGIN": "other.so"}), {})


if __name__ == "__main__":
    unittest.main()
