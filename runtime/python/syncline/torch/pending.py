"""Work of a collective that Gloo or Syncline carries, and ends by a thread."""

import threading
import time

import torch
from torch._C._distributed_c10d import Work


class Pending(Work):
    """A collective under way. `describe()` says which, in errors; `began` is when it was called."""

    def __init__(self, describe, tensors):
        super().__init__()
        self.describe, self.tensors, self.began = describe, tensors, time.monotonic()
        self.ended, self.error = threading.Event(), None
        self.lock = threading.Lock()
        self.source = torch.futures.Future()
        self.future = self.source.then(self.outcome)

    def finish(self, error=None):
        """Ends the work, with success or with an exception. Only the first end counts."""
        with self.lock:
            if self.ended.is_set():
                return
            self.error = error
            self.ended.set()
        self.source.set_result(None)

    def outcome(self, _):
        """What the future has. An exception raised here becomes one of C++ for DDP, which one of
        set_exception() does not."""
        if self.error is not None:
            raise self.error
        return self.tensors

    @property
    def what(self):
        return self.describe()

    def wait(self, timeout=None):
        seconds = timeout.total_seconds() if timeout else 0
        if not self.ended.wait(seconds if seconds > 0 else None):
            raise RuntimeError(f"{self.what}: not over within {seconds:g} s")
        if self.error is not None:
            raise self.error
        return True

    def is_completed(self):
        return self.ended.is_set()

    def is_success(self):
        return self.ended.is_set() and self.error is None

    def result(self):
        return self.tensors

    def get_future(self):
        return self.future
