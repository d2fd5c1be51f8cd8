"""Finds the rank that a group waits for, and tells all ranks.

Each rank writes into the group's store once a second how many collectives it has called. When a
collective of a rank is under way for longer than the limit, or fails, the rank reads the others'
lines for some seconds: one whose line does not change does not answer; or else the one with the
fewest calls is waited for. The group of a plan may know of a lost rank before. The first verdict in
the store is that of all ranks. Each ends its work by it when the others know it, too: the process
of a rank that ends at once may be the one that serves the store.
"""

import collections
import contextlib
import re
import threading
import time

BEAT = 1.0  # seconds between two lines of a rank
SILENT = 6.0  # seconds without a new line, behind which a rank does not answer
LOOK = 0.05  # seconds between two looks whether the others know the verdict
STORE_GRACE = 20.0  # seconds without any answer of the store
VERDICT = "verdict"  # has the ranks that are lost, and what is said of them
LEFT = "left"  # in place of a rank's count of lines, when it has left the group
NO_STORE = (
    "the job's store does not answer{}: the process that serves it, often rank 0's, has ended or is"
    " stuck"
)


class Lost(RuntimeError):
    """A rank is lost; the group is at its end."""


def names(ranks):
    return ", ".join(map(str, ranks))


class Watch:
    """`store` is this watch's own connection. `lost()`, where it is set, returns the error by which
    the group of a plan has ended, whose `rank` is lost, or None."""

    def __init__(self, store, rank, ranks, name, limit):
        self.store, self.rank, self.ranks, self.name, self.limit = store, rank, ranks, name, limit
        self.lost = None
        self.pending = {}  # works under way, in the order of their calls
        self.calls, self.beats, self.last = 0, 0, None
        self.failed = None  # why a collective of this rank failed
        self.leaves = None  # why this rank ends on its own
        self.readings = collections.deque(maxlen=round(SILENT / BEAT) + 1)  # of all ranks' lines
        self.verdict = None  # as an exception, while other ranks may not know it
        self.waits_for, self.waits_until = [], 0.0  # who they are
        self.error = None  # the verdict, when this rank's work has ended
        self.lock, self.wake, self.over = threading.Lock(), threading.Event(), False
        self.ended = threading.Event()  # with `error`
        self.answered = time.monotonic()
        self.beat()
        self.threads = [
            threading.Thread(target=target, daemon=True, name=f"syncline {target.__name__}")
            for target in (self.run, self.guard)
        ]
        self.start()

    def start(self):
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
        if not self.failed:
            self.failed = why
            self.wake.set()

    def settle(self, why):
        """A call failed, so that there will be a verdict. Raises it."""
        self.fail(why)
        if not self.over:
            self.ended.wait(3 * SILENT + STORE_GRACE)
        self.expect_whole()

    def leave(self, why):
        """This rank ends on its own, which all others learn before its process is gone."""
        self.leaves = f"rank {self.rank} has left: {why}"
        self.wake.set()
        self.ended.wait(2 * SILENT)

    def stop(self):
        self.over = True
        self.wake.set()
        # A verdict is told until the others know it.
        self.threads[0].join(BEAT if self.error else BEAT + SILENT)
        if not self.error and not self.threads[0].is_alive():
            with contextlib.suppress(RuntimeError):  # the store may have gone
                self.store.set(f"told/{self.rank}", "")
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
            while not self.error and (self.verdict or not self.over):
                self.wake.wait(LOOK if self.verdict else BEAT)
                self.wake.clear()
                self.turn()
        except Exception as failure:  # the store has gone, with the process that serves it
            self.end_without_store(failure)

    def turn(self):
        """What a rank does once a beat. Never waits for another rank."""
        if self.verdict:
            self.part()
        elif not self.over:
            lost = self.lost_by_plan() if self.failed or self.oldest() else None
            self.beat()
            if self.store.check([VERDICT]):
                self.adopt(self.store.get(VERDICT).decode(), lost)
            elif self.leaves:
                self.declare([self.rank], self.leaves)
            elif lost:
                self.declare([lost.rank], self.told_by(lost), lost)
            elif self.failed or self.overdue():
                self.suspect()
            else:
                self.readings.clear()

    def lost_by_plan(self):
        return self.lost() if self.lost else None

    def suspect(self):
        """Judges when the others' lines have been read for long enough. A collective that ends
        meanwhile ends the suspicion, too."""
        self.readings.append(self.lines())
        if len(self.readings) == self.readings.maxlen:
            self.declare(*self.judge(self.readings[0], self.readings[-1]))

    def judge(self, before, after):
        """Who does not answer, and whose fault it is."""
        same = [rank for rank in range(self.ranks) if before[rank] == after[rank]]
        left = [rank for rank in same if after[rank].startswith(LEFT)]
        silent = [rank for rank in same if rank not in left]
        if silent:
            return same, f"lost rank {names(silent)} (it does not answer)"
        if left:
            return same, f"lost rank {names(left)} (it has left the group)"
        calls = [int(line.split("|")[1]) for line in after]
        least = [rank for rank in range(self.ranks) if calls[rank] == min(calls)]
        if len(least) < self.ranks:
            last = after[least[0]].split("|", 2)[2]
            return [], (
                f"waited for rank {names(least)} (it made {min(calls)} calls, others"
                f" {max(calls)}; its last: {last})"
            )
        why = self.failed or f"no end within {self.limit:g} s"
        return [], f"no rank is behind the others ({why})"

    def lines(self):
        keys = [f"alive/{rank}" for rank in range(self.ranks)]
        found = [self.store.get(key).decode() for key in keys]
        self.answered = time.monotonic()
        return found

    @staticmethod
    def told_by(lost):
        """What the error of a plan's group says for all ranks."""
        return re.sub(r"^group '.*?': (rank \d+: )?", "", str(lost))

    def declare(self, gone, text, own=None):
        """Gives a verdict. Another rank's may have come first."""
        verdict = f"{names(gone)}|{text}"
        self.adopt(self.store.compare_set(VERDICT, "", verdict).decode() or verdict, own)

    def adopt(self, verdict, own=None):
        """Takes a verdict over: in the words of `own` where that error of a message is of the same
        rank."""
        gone, text = verdict.split("|", 1)
        gone = [int(rank) for rank in gone.split(", ") if rank]
        is_same = own is not None and own.rank in gone and own.step >= 0
        self.verdict = own if is_same else self.error_of(text)
        self.waits_for = [rank for rank in range(self.ranks) if rank not in gone]
        self.waits_until = time.monotonic() + SILENT
        self.store.set(f"told/{self.rank}", "")
        self.part()

    def part(self):
        """Ends this rank's work when the ranks that answer know the verdict."""
        told = [f"told/{rank}" for rank in self.waits_for]
        if self.store.check(told) or time.monotonic() > self.waits_until:
            self.end(self.verdict)

    def error_of(self, text):
        work = self.oldest()
        has_place = re.search(r" in step \d+$| is stuck$", text)
        joint = "; this rank was in" if has_place else " in"
        where = f"{joint} {work.what}" if work else ""
        return Lost(f"group '{self.name}': rank {self.rank}: {text}{where}")

    def end(self, error):
        """Ends this rank's work."""
        with self.lock:
            if self.error:
                return
            self.error, left = error, list(self.pending.values())
        self.ended.set()
        for work in left:
            work.finish(error)

    def end_without_store(self, failure):
        """The group of a plan may yet name a rank whose end took the store along."""
        until = time.monotonic() + SILENT
        lost = self.verdict
        while self.lost and not lost and not self.over and time.monotonic() < until:
            lost = self.lost()
            time.sleep(0.0 if lost else LOOK)
        if lost or not self.over:
            self.end(lost or self.error_of(NO_STORE.format(f" ({failure})")))

    def guard(self):
        """Ends the work where the thread that asks the store gets no answer."""
        while not self.over and not self.error:
            time.sleep(BEAT)
            silence = time.monotonic() - self.answered
            lost = self.verdict or self.lost_by_plan()
            if lost and silence > 2 * SILENT:
                self.end(lost)
            elif silence > STORE_GRACE and self.overdue(STORE_GRACE):
                self.end(self.error_of(NO_STORE.format("")))
