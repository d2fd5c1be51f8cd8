"""Layer traces from the all-reduces of a script, without PyTorch."""

import itertools
import sys
import unittest

import harness

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))

from syncline.torch.recording import MOST_CALLS, Recording, period, stretch

F32 = "float32"


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

    def test_finds_the_step_as_a_definition_would(self):
        """The least length whose last three repetitions are equal, for all lists of few calls."""
        for length in range(11):
            for kinds in itertools.product((1, 2), repeat=length):
                kinds = list(kinds)
                expected = next(
                    (n for n in range(1, length // 3 + 1) if kinds[-3 * n :] == kinds[-n:] * 3), 0
                )
                self.assertEqual(period(kinds), expected, kinds)

    def test_long_runs_without_steps_are_cheap(self):
        """The watch asks once a second. A definition's quadratic time would be minutes here."""
        kinds = [0] * 100000 + list(range(100000)) + [0] * 100000 + [1]
        self.assertEqual(period(kinds), 0)
        self.assertEqual(stretch([(size, F32) for size in range(MOST_CALLS)]), (0, 0, 0))

    def test_finds_the_training_among_other_calls(self):
        """Ends of epochs and an evaluation at the end, of many calls but few bytes."""
        epoch = [(100, F32), (200, F32)] * 10 + [(4, F32)]
        calls = [(9, F32)] * 5 + epoch * 3 + [(4, F32)] * 100 + [(8, F32), (16, F32)]
        self.assertEqual(stretch(calls), (47, 67, 2))
        self.assertEqual(stretch([(9, F32)] * 2), (0, 0, 0))
        recording = self.record(6)
        for _ in range(50):
            recording.add(4, F32, 100.0)
        self.assertEqual(recording.trace(), self.record(6).trace())

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

    def test_begins_the_step_with_the_backward_pass(self):
        """Also where the machine paused longer within it. Calls outside are no gradients."""
        recording, time = Recording(), 0.0
        for step in range(6):
            for size, pause in ((100, 0.1), (200, 0.9), (300, 0.1)):
                time += pause
                recording.add(size, F32, time, backward=step).end = time
            recording.add(4, F32, time).end = time
        rows = recording.trace().splitlines()
        self.assertEqual([row.split(",")[1] for row in rows[1:]], ["300B", "200B", "100B"])

    def test_begins_a_step_of_two_backward_passes_at_the_longer_pause(self):
        recording, time = Recording(), 0.0
        for step in range(6):
            for place, (size, pause) in enumerate(((100, 0.2), (200, 0.9), (300, 0.3), (400, 0.1))):
                time += pause
                recording.add(size, F32, time, backward=2 * step + place // 2).end = time
        rows = recording.trace().splitlines()
        self.assertEqual([row.split(",")[1] for row in rows[1:]], ["200B", "100B", "400B", "300B"])

    def test_writes_nothing_without_equal_steps(self):
        self.assertEqual(self.record(2).trace(), "")
        self.assertEqual(Recording().trace(), "")


if __name__ == "__main__":
    unittest.main()
