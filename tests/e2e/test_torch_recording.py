"""Layer traces from the all-reduces of a script, without PyTorch."""

import sys
import unittest

import harness

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))

from syncline.torch.recording import Recording, period


class RecordingTest(unittest.TestCase):
    def record(self, steps, sizes=(100, 200, 300), gap=0.2, idle=0.5):
        """Steps whose messages are `gap` apart, and begin `idle` behind the last step's end."""
        recording, time = Recording(), 0.0
        for _ in range(steps):
            time += idle
            for place, size in enumerate(sizes):
                time += gap * (place > 0)
                recording.add(size, "float32", time).end = time
        return recording

    def test_finds_the_step(self):
        self.assertEqual(period([7, 1, 2, 3, 1, 2, 3, 1, 2, 3]), 3)
        self.assertEqual(period([1, 1, 1]), 1)
        self.assertEqual(period([1, 2, 1, 2]), 0)
        self.assertEqual(period([]), 0)

    def test_counts_steps_and_messages(self):
        self.assertEqual(self.record(5).where(13), (4, 1))
        self.assertEqual(self.record(2).where(5), (-1, -1))

    def test_writes_a_trace(self):
        """0.5 s before the first message and 0.4 s between them are 0.3 s of forward pass and 0.6 s
        of backward pass; the last message is the first layer."""
        self.assertEqual(
            self.record(6).trace(),
            "name,bytes,forward,backward\n"
            "message-2,300B,100000000ns,200000000ns\n"
            "message-1,200B,100000000ns,200000000ns\n"
            "message-0,100B,100000000ns,200000000ns\n",
        )

    def test_begins_the_step_at_the_longest_pause(self):
        """Also where calls before the first step belong to none."""
        recording = self.record(6)
        for size in (100, 200):
            recording.add(size, "float32", 6.0 + size / 1000).end = 6.0 + size / 1000
        rows = recording.trace().splitlines()
        self.assertEqual([row.split(",")[1] for row in rows[1:]], ["300B", "200B", "100B"])

    def test_writes_nothing_without_equal_steps(self):
        self.assertEqual(self.record(2).trace(), "")
        self.assertEqual(Recording().trace(), "")


if __name__ == "__main__":
    unittest.main()
