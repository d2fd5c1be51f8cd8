"""A plan between the ranks of a PyTorch process group: who has which, and its messages."""

import contextlib
import datetime
import os
import queue
import threading

from syncline import capi
from syncline.torch.matching import Matcher, Way


class KeyValues:
    """PyTorch's store as capi.Store wants it."""

    def __init__(self, store):
        self.store = store

    def set(self, key, value):
        self.store.set(key, value)

    def get(self, key, seconds):
        self.store.wait([key], datetime.timedelta(seconds=seconds))
        return self.store.get(key)


def opened(folder, rank, ranks, store):
    """The plan in the folder, where all ranks have the same one; None where none has one. Else all
    ranks raise the same error. Rank 0 compares, so that each rank asks the store once."""
    plan, said = None, "no plan"
    try:
        plan = capi.Plan(folder) if folder else None
        said = f"plan '{plan.about.hash}'" if plan else said
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
    """A plan's messages between all ranks. A thread ends their works."""

    def __init__(self, plan, rank, ranks, store, name, limit, say, lost):
        self.plan, self.say, self.lost = plan, say, lost
        strict = os.environ.get("SYNCLINE_STRICT") or "0"
        if strict not in ("0", "1"):
            raise ValueError(f"SYNCLINE_STRICT: expected 0 or 1, got '{strict}'")
        self.strict = strict == "1"
        self.matcher = Matcher(plan.messages)
        options = {"name": name, "lost_seconds": limit, "start_seconds": limit}
        for option, variable in (
            ("address", "MASTER_ADDR"),
            ("interface_name", "GLOO_SOCKET_IFNAME"),
        ):
            if os.environ.get(variable):
                options[option] = os.environ[variable]
        self.group = capi.Group(plan, rank, ranks, KeyValues(store), **options)
        self.tickets = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.end, daemon=True, name="syncline tickets")
        self.thread.start()

    def decide(self, size, kind):
        """What the call is. Says what is wrong, or raises it where the user asked for that."""
        decision = self.matcher.all_reduce(size, kind)
        if decision.complaint:
            told = f"the all-reduces are not the plan's: {decision.complaint}"
            if self.strict:
                self.group.abort(told)
                raise RuntimeError(f"syncline: {told}")
            self.say(f"{told}; what does not fit travels by the scheme that costs least")
        if decision.begins:
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
        if decision.way is Way.PLANNED and self.plan.messages[message].is_carried:
            ticket = self.group.issue(message, *values)
        else:
            ticket = self.group.all_reduce(*values)
        self.tickets.put((ticket, work))

    def end(self):
        """Ends works in the order of their tickets."""
        while (entry := self.tickets.get()) is not None:
            ticket, work = entry
            try:
                self.group.wait(ticket)
                work.finish()
            except capi.PeerLost as failure:
                self.lost(failure)
                work.finish(failure)
            except Exception as failure:
                work.finish(failure)

    def close(self, seconds=20.0):
        self.tickets.put(None)
        self.thread.join(seconds)
        try:
            self.group.close(seconds)
        except capi.Failed:
            pass  # told where it happened
