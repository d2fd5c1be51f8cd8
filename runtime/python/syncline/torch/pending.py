"""Work of a collective: what Gloo or Syncline carries and a thread ends, and what NCCL ends."""

import threading
import time

import torch
import torch.distributed as dist


class Pending(dist.Work):
    """A collective under way. `describe()` says which, in errors; `began` is when it was called.
    `flat` has its values where the caller's tensor has gaps."""

    def __init__(self, describe, tensors, flat=None):
        super().__init__()
        self.describe, self.tensors, self.began = describe, tensors, time.monotonic()
        self.flat, self.left = flat, None
        self.ended, self.error = threading.Event(), None
        self.lock = threading.Lock()
        self.source = torch.futures.Future()
        self.future = self.source.then(self.outcome)

    def finish(self, error=None):
        """Ends the work, with success or with an exception. Only the first end counts."""
        with self.lock:
            if self.ended.is_set():
                return
            if error is None and self.flat is not None:
                try:
                    self.tensors[0].detach().copy_(self.flat)
                    self.flat = None  # after an error its carrier may still write into it
                except RuntimeError as failure:  # an expanded tensor cannot be written to
                    error = failure
            self.error = error
            self.ended.set()
        if self.left:
            self.left(self)
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


class Passed(dist.Work):
    """What one rank sends to another, by Gloo. The caller's thread waits: Gloo says of such a work
    that it is over, and can end it, in no other way. `settle(why)` raises whose fault it is."""

    def __init__(self, carried, settle):
        super().__init__()
        self.carried, self.settle = carried, settle

    def wait(self, *timeout, **named):
        try:
            return self.carried.wait(*timeout, **named)
        except RuntimeError as failure:
            self.settle(str(failure))
            raise

    def is_completed(self):
        return self.carried.is_completed()

    def is_success(self):
        return self.carried.is_success()


class Watched:
    """A collective of NCCL's, as far as the watch asks for it. NCCL alone ends it; `abort(error)`
    makes it do so."""

    def __init__(self, describe, carried, abort):
        self.describe, self.carried, self.abort = describe, carried, abort
        self.began, self.left = time.monotonic(), None

    @property
    def what(self):
        return self.describe()

    def is_completed(self):
        return self.carried.is_completed()

    def finish(self, error):
        self.abort(error)
