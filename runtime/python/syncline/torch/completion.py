"""Ends works in the order of their calls, by threads. Knows nothing of PyTorch."""

import queue
import threading
import time


class Waiter(threading.Thread):
    """Waits for works one behind the other."""

    def __init__(self, name, wait, level):
        super().__init__(daemon=True, name=f"syncline {name} {level}")
        self.wait, self.level, self.entries = wait, level, queue.SimpleQueue()
        self.start()

    def run(self):
        while (entry := self.entries.get()) is not None:
            try:
                self.wait(*entry)
            except Exception as failure:  # it is this work's alone
                entry[1].finish(failure)
            del entry  # it has tensors, which would live on until the next one


class Completion:
    """`wait(handle, work)` waits for a handle and ends its work, which ends with what it raises. It
    returns soon when `gives_up` is set.

    A thread that ends a work runs the callbacks of its future. These may call collectives and wait
    for them, as PowerSGD's hook does: another thread, of the next level, waits for what they call.
    """

    def __init__(self, name, wait):
        self.name, self.wait = name, wait
        self.threads, self.lock, self.gives_up = [], threading.Lock(), threading.Event()

    def put(self, handle, work):
        current = threading.current_thread()
        level = current.level + 1 if isinstance(current, Waiter) else 0
        with self.lock:
            while len(self.threads) <= level:
                self.threads.append(Waiter(self.name, self.wait, len(self.threads)))
            self.threads[level].entries.put((handle, work))

    def close(self, seconds):
        """Lets the threads end behind the works that were put, and waits so long for them. Then it
        tells them to give up."""
        for each in self.threads:
            each.entries.put(None)
        self.join(seconds)
        self.gives_up.set()

    def join(self, seconds):
        end = time.monotonic() + seconds
        for each in self.threads:
            if each is not threading.current_thread():
                each.join(max(end - time.monotonic(), 0.0))
