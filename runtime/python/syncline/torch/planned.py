"""A plan between the ranks of a PyTorch process group: who has which, and its messages."""

import contextlib
import datetime
import os
import threading
import time

from syncline import capi
from syncline.torch.completion import Completion
from syncline.torch.matching import Matcher, Way


OVERLAPS = (
    "overlaps steps, which DistributedDataParallel does not: expected one by '--planner ddp-list'"
    " or '--overlap backward', or wrap() over the backend 'gloo'"
)


class KeyValues:
    """PyTorch's store as capi.Store wants it."""

    def __init__(self, store):
        self.store = store

    def set(self, key, value):
        self.store.set(key, value)

    def get(self, key, seconds):
        self.store.wait([key], datetime.timedelta(seconds=seconds))
        return self.store.get(key)


def host_of(store):
    """The host that serves a store, which is rank 0's; None for a store without one."""
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    return getattr(store, "host", None)


def opened(folder, rank, ranks, store):
    """The plan in the folder, where all ranks have the same one; None where none has one. Else all
    ranks raise the same error. Rank 0 compares, so that each rank asks the store once."""
    plan, said = None, "no plan"
    try:
        plan = capi.Plan(folder) if folder else None
        said = f"plan '{plan.about.hash}'" if plan else said
        unfit = plan and unfit_for_calls(plan.about)
        if unfit:
            plan, said = None, f"'{folder}': {unfit}"
    except (capi.Failed, OSError) as failure:
        said = str(failure)
    store.set(f"plan/{rank}", said)
    if rank == 0:
        by_plan = {}
        for each in range(ranks):
            by_plan.setdefault(store.get(f"plan/{each}").decode(), []).append(str(each))
        store.set("plans", verdict(by_plan, plan, ranks))
    wrong = store.get("plans").decode()
    if wrong != "same":
        store.set(f"told/{rank}", "")
        if rank == 0:  # whose process may serve the store
            with contextlib.suppress(RuntimeError):
                told = [f"told/{each}" for each in range(ranks)]
                store.wait(told, datetime.timedelta(seconds=10))
        raise RuntimeError(f"SYNCLINE_PLAN: rank {rank}: {wrong}")
    return plan


def unfit_for_calls(about):
    """Why a plan is not for all-reduces that a framework calls and waits for in its own order; ''
    where it is."""
    if about.consistency != "bsp":
        told = f"by consistency '{about.consistency}' weights travel, not gradients"
        return f"{told}: expected a plan of 'bsp'"
    return f"the plan {OVERLAPS}" if about.overlaps_steps else ""


def verdict(by_plan, plan, ranks):
    """'same', or what is wrong with the ranks' plans."""
    if len(by_plan) > 1:
        parts = [
            f"rank{'s' * (len(who) > 1)} {', '.join(who)}: {what}" for what, who in by_plan.items()
        ]
        return f"expected the same plan on all ranks, got {'; '.join(parts)}"
    said = next(iter(by_plan))
    if plan is None:
        return "same" if said == "no plan" else said
    if plan.about.ranks != ranks:
        return f"'{plan.folder}': the plan is for {plan.about.ranks} ranks, the job has {ranks}"
    return "same" if plan.messages else f"'{plan.folder}': the plan has no messages"


class PlannedGroup:
    """A plan's messages between all ranks. Without join(), NCCL carries them, and their sequence
    alone is compared with the plan's."""

    def __init__(self, plan, say, fail):
        """`fail(why)` is called when the group has ended, and then ends all works."""
        self.plan, self.say, self.fail = plan, say, fail
        strict = os.environ.get("SYNCLINE_STRICT") or "0"
        if strict not in ("0", "1"):
            raise ValueError(f"SYNCLINE_STRICT: expected 0 or 1, got '{strict}'")
        self.strict = strict == "1"
        self.matcher = Matcher(plan.messages)
        self.group = self.failure = None
        self.lock, self.is_closed = threading.Lock(), False
        self.by_thread = Completion("tickets", self.end)
        self.last = {}  # the last ticket of each message

    def join(self, rank, ranks, store, name, limit):
        """Joins the group that carries the messages."""
        options = {"name": name, "lost_seconds": limit, "start_seconds": limit}
        for option, value in (
            ("address", os.environ.get("MASTER_ADDR") or host_of(store)),
            ("interface_name", os.environ.get("GLOO_SOCKET_IFNAME")),
        ):
            if value:
                options[option] = value
        self.group = capi.Group(self.plan, rank, ranks, KeyValues(store), **options)

    def decide(self, size, kind):
        """What the call is. Says what is wrong, or raises it where the user asked for that."""
        decision = self.matcher.all_reduce(size, kind)
        if decision.complaint:
            told = f"the all-reduces are not the plan's: {decision.complaint}"
            if self.strict:
                if self.group:
                    self.group.abort(told)
                raise RuntimeError(f"syncline: {told}")
            self.say(f"{told}; what does not fit travels by the scheme that costs least")
        if decision.begins and self.group:
            with contextlib.suppress(capi.PeerLost):  # the message behind it fails, too
                self.group.step()
        return decision

    def name(self, decision):
        """Which message it is, for errors."""
        if decision.way is not Way.PLANNED:
            return ""
        return f" (message {decision.message} of the plan) in step {self.matcher.step}"

    def start(self, decision, work, tensor, kind, mean):
        """Hands a message over."""
        operation = capi.MEAN if mean else capi.SUM
        values = (tensor.data_ptr(), tensor.numel(), kind, operation)
        message = decision.message
        is_planned = decision.way is Way.PLANNED and not decision.is_halved
        if is_planned and self.plan.messages[message].is_carried:
            # The script may call the next step's before it waits for this one's.
            if message in self.last:
                self.group.wait(self.last[message])
            ticket = self.last[message] = self.group.issue(message, *values)
        else:
            ticket = self.group.all_reduce(*values)
        self.by_thread.put(ticket, work)

    def end(self, ticket, work):
        """Ends the work of a ticket."""
        try:
            self.group.wait(ticket)
            work.finish()
        except capi.PeerLost as failure:
            self.failure = self.failure or failure
            self.fail(str(failure))
        except Exception as failure:
            work.finish(failure)

    def lost(self):
        """The error by which the group has ended as a rank is lost, or None."""
        try:
            with self.lock:
                if self.group and not self.is_closed:
                    self.group.check()
        except capi.PeerLost as failure:
            self.failure = self.failure or failure
        except capi.Failed:  # this rank has ended it, and knows why
            pass
        return self.failure

    def close(self, seconds=20.0):
        end = time.monotonic() + seconds
        self.by_thread.close(seconds)
        with self.lock:
            self.is_closed = True
        if self.group:
            with contextlib.suppress(capi.Failed):  # told where it happened
                self.group.close(max(end - time.monotonic(), 0.0))
