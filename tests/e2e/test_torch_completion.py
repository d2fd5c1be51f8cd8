"""Threads that end the works of the backend 'syncline', without PyTorch."""

import queue
import sys
import threading
import unittest

import harness
from waiting import PATIENCE

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))

from syncline.torch.completion import Completion


class CompletionTest(unittest.TestCase):
    def test_ends_works_in_order(self):
        ended = queue.SimpleQueue()
        completion = Completion("test", lambda handle, work: ended.put((handle, work)))
        for number in range(100):
            completion.put(number, str(number))
        found = [ended.get(timeout=PATIENCE) for _ in range(100)]
        self.assertEqual(found, [(number, str(number)) for number in range(100)])
        completion.close(PATIENCE)
        self.assertFalse(any(thread.is_alive() for thread in completion.threads))

    def test_a_callback_may_wait_for_a_work(self):
        """And that work's callback for the next one: each level has a thread. Works of the program
        wait until the callback is over, so that callbacks keep their order."""
        order = []
        events = {name: threading.Event() for name in ("outer", "next", "inner", "innermost")}

        def wait(handle, work):
            calls = {"outer": "inner", "inner": "innermost"}.get(work)
            if calls:
                completion.put(0, calls)
                self.assertTrue(events[calls].wait(PATIENCE))
            order.append(work)
            events[work].set()

        completion = Completion("test", wait)
        completion.put(0, "outer")
        completion.put(0, "next")
        self.assertTrue(events["next"].wait(PATIENCE))
        self.assertEqual(order, ["innermost", "inner", "outer", "next"])
        self.assertEqual([each.level for each in completion.threads], [0, 1, 2])
        completion.close(PATIENCE)

    def test_closing_does_not_wait_for_ever(self):
        never = threading.Event()
        completion = Completion("test", lambda handle, work: never.wait())
        completion.put(0, "stuck")
        completion.close(0.0)
        self.assertTrue(completion.threads[0].is_alive())
        never.set()

    def test_an_error_ends_one_work_alone(self):
        """And the thread goes on."""
        ended = queue.SimpleQueue()

        class Work:
            def finish(self, error=None):
                ended.put(error)

        def wait(handle, work):
            if handle == "wrong":
                raise ValueError("cannot be written to")
            work.finish()

        completion = Completion("test", wait)
        for handle in ("right", "wrong", "right"):
            completion.put(handle, Work())
        found = [str(ended.get(timeout=PATIENCE)) for _ in range(3)]
        self.assertEqual(found, ["None", "cannot be written to", "None"])
        completion.close(PATIENCE)

    def test_threads_give_up(self):
        completion = Completion("test", lambda handle, work: completion.gives_up.wait())
        completion.put(0, "stuck")
        completion.close(0.0)
        completion.join(PATIENCE)
        self.assertFalse(completion.threads[0].is_alive())


if __name__ == "__main__":
    unittest.main()
