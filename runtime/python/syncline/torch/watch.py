"""Finds the rank that a group waits for, and tells all ranks.

Each rank writes into the group's store once a second how many collectives it has called. When a
collective of a rank is under way for longer than the limit, or fails, the rank reads the others'
lines twice: one whose line has not changed does not answer; or else the one with the fewest calls
is waited for. The first verdict in the store is that of all ranks. Each ends its work by it.
"""

import contextlib
import threading
import time

BEAT = 1.0  # seconds between two lines of a rank
SILENT = 6.0  # seconds without a new line, behind which a rank does not answer
STORE_GRACE = 20.0  # seconds without any answer of the store
VERDICT = "verdict"
LEFT = "left"  # in place of a rank's count of lines, when it has left the group


class Lost(RuntimeError):
    """A rank is lost; the group is at its end."""


class Watch:
    def __init__(self, store, rank, ranks, name, limit):
        """`store` is this watch's own connection."""
        self.store, self.rank, self.ranks, self.name, self.limit = store, rank, ranks, name, limit
        self.pending = {}  # works under way, in the order of their calls
        self.calls, self.beats, self.last = 0, 0, None
        self.failed = None  # why a collective of this rank failed
        self.error = None  # the verdict, as an exception
        self.lock, self.wake, self.over = threading.Lock(), threading.Event(), False
        self.answered = time.monotonic()
        self.beat()
        self.threads = [
            threading.Thread(target=target, daemon=True, name=f"syncline {target.__name__}")
            for target in (self.run, self.guard)
        ]
        for thread in self.threads:
            thread.start()

    def expect_whole(self):
        """Raises the verdict where there is one."""
        if self.error:
            raise self.error

    def add(self, work):
        """A collective begins. It is held until it has ended, and its tensors no longer."""
        with self.lock:
            self.expect_whole()
            self.forget_ended()
            work.left = self.remove
            self.pending[id(work)] = work
            self.calls, self.last = self.calls + 1, work.describe

    def remove(self, work):
        with self.lock:
            self.pending.pop(id(work), None)

    def forget_ended(self):
        """The caller holds the lock. Forgets works at the front that do not say when they end."""
        while self.pending:
            first = next(iter(self.pending))
            if not self.pending[first].is_completed():
                break
            del self.pending[first]

    def fail(self, why):
        """A collective failed: finds out whose fault it is."""
        self.failed = self.failed or why
        self.wake.set()

    def stop(self):
        self.over = True
        self.wake.set()
        self.threads[0].join(BEAT)
        if not self.error and not self.threads[0].is_alive():
            with contextlib.suppress(RuntimeError):  # the store may have gone
                self.store.set(f"alive/{self.rank}", f"{LEFT}|{self.calls}|none")

    def oldest(self):
        with self.lock:
            self.forget_ended()
            return next(iter(self.pending.values()), None)

    def overdue(self, grace=0.0):
        work = self.oldest()
        return work if work and time.monotonic() - work.began > self.limit + grace else None

    def beat(self):
        self.beats += 1
        last = self.last() if self.last else "none"
        self.store.set(f"alive/{self.rank}", f"{self.beats}|{self.calls}|{last}")
        self.answered = time.monotonic()

    def run(self):
        try:
            while not self.over and not self.error:
                self.wake.wait(BEAT)
                if not self.over:
                    self.beat()
                    self.look()
        except Exception as failure:  # the store has gone, with the rank that serves it
            if not self.over:
                self.adopt(f"the job's store does not answer ({failure})", self.oldest())

    def look(self):
        if self.store.check([VERDICT]):
            return self.adopt(self.store.get(VERDICT).decode(), self.oldest())
        if self.failed or self.overdue():
            self.declare(self.judge())

    def declare(self, verdict):
        """Gives a verdict. Another rank's may have come first."""
        found = self.store.compare_set(VERDICT, "", verdict).decode()
        self.adopt(found or verdict, self.oldest())

    def judge(self):
        """Whose fault it is."""
        before = self.lines()
        time.sleep(SILENT)
        self.beat()
        after = self.lines()
        silent = [rank for rank in range(self.ranks) if before[rank] == after[rank]]
        if silent:
            has_left = all(after[rank].startswith(LEFT) for rank in silent)
            why = "it has left the group" if has_left else "it does not answer"
            return f"lost rank {self.names(silent)} ({why})"
        calls = [int(line.split("|")[1]) for line in after]
        least = [rank for rank in range(self.ranks) if calls[rank] == min(calls)]
        if len(least) < self.ranks:
            last = after[least[0]].split("|", 2)[2]
            return (
                f"waited for rank {self.names(least)} (it made {min(calls)} calls, others"
                f" {max(calls)}; its last: {last})"
            )
        why = self.failed or f"no end within {self.limit:g} s"
        return f"no rank is behind the others ({why})"

    @staticmethod
    def names(ranks):
        return ", ".join(map(str, ranks))

    def lines(self):
        keys = [f"alive/{rank}" for rank in range(self.ranks)]
        found = [self.store.get(key).decode() for key in keys]
        self.answered = time.monotonic()
        return found

    def adopt(self, verdict, work):
        """Ends this rank's work by the verdict."""
        what = f" in {work.what}" if work else ""
        self.end(Lost(f"group '{self.name}': rank {self.rank}: {verdict}{what}"))

    def end(self, error):
        with self.lock:
            if self.error:
                return
            self.error, left = error, list(self.pending.values())
        for work in left:
            work.finish(error)

    def guard(self):
        """Ends the work where the thread that asks the store gets no answer."""
        while not self.over and not self.error:
            time.sleep(BEAT)
            if self.overdue(STORE_GRACE) and time.monotonic() - self.answered > STORE_GRACE:
                verdict = "the job's store does not answer; expected the process that serves it"
                self.adopt(f"{verdict}, often rank 0's, to run", self.oldest())
