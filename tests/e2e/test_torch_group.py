"""PyTorch before 2.14: what the backend says there, and the process group in its place."""

import signal
import subprocess
import unittest

import current_pytorch
from torch_ranks import TESTS, TorchRanksTest
from waiting import SILENCE


class TorchGroupTest(TorchRanksTest):
    script = TESTS / "torch_group_rank.py"
    environment = staticmethod(current_pytorch.python)

    def test_gradients_are_those_of_gloo(self):
        for said, errors in self.ends(self.ranks("planned", 2, self.plan(2))):
            self.assertRegex(said, r"^steps by the plan: 4 of ([2-9]|\d\d) messages\n$")
            self.assertEqual(errors, "")

    def test_carries_what_is_not_in_the_plan(self):
        for said, _ in self.ends(self.ranks("others", 2, self.plan(2))):
            self.assertEqual(said, "done\n")

    def test_names_a_stopped_rank(self):
        started = self.ranks("endless", 2, seconds=SILENCE)
        for process in started:
            self.assertEqual(process.stdout.readline(), "works\n")
        started[1].send_signal(signal.SIGSTOP)
        _, errors = started[0].communicate()
        self.assertRegex(errors, r"group 'syncline': rank 0: lost rank 1 \(it does not answer\)")

    def test_names_what_the_backend_needs(self):
        program = "import syncline.torch\nsyncline.torch.register()\n"
        words = [self.python, "-W", "ignore", "-c", program]
        done = subprocess.run(words, env=self.variables(), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        last = done.stderr.splitlines()[-1]
        self.assertRegex(
            last,
            r"^RuntimeError: PyTorch 2\.13\.\S+: the backend 'syncline' needs PyTorch 2\.14 or"
            r" later; with this one, call init_process_group\('gloo'\) and"
            r" DistributedDataParallel\(model, process_group=syncline\.torch\.process_group\(\)\)$",
        )


if __name__ == "__main__":
    unittest.main()
