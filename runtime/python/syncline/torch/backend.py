"""The backend 'syncline' of torch.distributed: a plan's messages by the plan, all else by Gloo.

Environment: SYNCLINE_PLAN is the plan's folder; with SYNCLINE_STRICT=1 a sequence of all-reduces
that is not the plan's ends the run; SYNCLINE_RECORD is a file for a layer trace to plan from. The
timeout of init_process_group() is how long a collective may take until the rank at fault is named.
"""

import atexit
import os
import queue
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d

from syncline.torch.matching import Way
from syncline.torch.pending import Pending
from syncline.torch.planned import PlannedGroup, opened
from syncline.torch.recording import Recording
from syncline.torch.watch import BEAT, Watch

KINDS = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
}
GLOO_GRACE = 30.0  # seconds behind the limit, so that the watch finds a lost rank before Gloo does
# Carried by Gloo: the name of the method, and of the collective.
OTHERS = {
    "allreduce_coalesced": "all-reduce",
    "broadcast": "broadcast",
    "allgather": "all-gather",
    "allgather_coalesced": "all-gather",
    "all_gather_single": "all-gather",
    "all_gather_single_coalesced": "all-gather",
    "reduce": "reduce",
    "reduce_scatter": "reduce-scatter",
    "reduce_scatter_single": "reduce-scatter",
    "reduce_scatter_single_coalesced": "reduce-scatter",
    "scatter": "scatter",
    "gather": "gather",
    "alltoall": "all-to-all",
    "all_to_all_single": "all-to-all",
    "barrier": "barrier",
}


def tensors_of(values):
    """All tensors in nested lists."""
    if isinstance(values, torch.Tensor):
        return [values]
    if not isinstance(values, (list, tuple)):
        return []
    return [tensor for each in values for tensor in tensors_of(each)]


class SynclineBackend(c10d.Backend):
    """A process group's backend on CPUs. The first one of a process has the plan: that of
    init_process_group()."""

    has_plan = threading.Lock()  # held by the group that has it

    def __init__(self, options, _):
        rank, ranks = options.group_rank, options.group_size
        super().__init__(rank, ranks)
        self.ranks, self.at = ranks, rank
        self.label = str(options.group_id) or "default"
        limit = options.timeout.total_seconds()
        store = dist.PrefixStore("syncline", options.store)
        self.is_first = SynclineBackend.has_plan.acquire(blocking=False)
        self.said_scatter = self.is_over = False
        self.planned = self.recording = None
        self.watch = self.waits = None
        try:
            self.set_up(store, options, limit)
        except BaseException:
            self.finish()
            raise
        atexit.register(self.finish)

    def set_up(self, store, options, limit):
        plan = None
        if self.is_first:
            plan = opened(os.environ.get("SYNCLINE_PLAN"), self.at, self.ranks, store)
            self.recording = Recording()
        self.watch = Watch(store.clone(), self.at, self.ranks, self.label, limit)
        self.gloo = dist.ProcessGroupGloo(
            options.store,
            self.at,
            self.ranks,
            timeout=options.timeout + type(options.timeout)(seconds=GLOO_GRACE),
        )
        self.waits = queue.SimpleQueue()
        self.waiter = threading.Thread(target=self.wait_for_gloo, daemon=True)
        self.waiter.start()
        if plan:
            joined = (plan, self.at, self.ranks, store, self.label, limit)
            self.planned = PlannedGroup(*joined, self.say, self.watch.end)

    def say(self, text):
        """Rank 0 says it for all."""
        if self.at == 0:
            print(f"syncline: {text}", file=sys.stderr, flush=True)

    def getBackendName(self):
        return "syncline"

    def allreduce(self, tensors, options):
        tensor = tensors[0]
        kind = KINDS.get(tensor.dtype)
        is_mean = options.reduceOp == dist.ReduceOp.AVG
        is_sum = options.reduceOp == dist.ReduceOp.SUM or is_mean
        if len(tensors) > 1 or not kind or not is_sum or tensor.is_sparse:
            return self.by_gloo("allreduce", "all-reduce", tensors, options)
        if not tensor.is_contiguous() or tensor.device.type != "cpu":
            return self.by_gloo("allreduce", "all-reduce", tensors, options)
        size = tensor.numel() * tensor.element_size()
        call = self.recording and self.recording.add(size, kind, time.monotonic())
        decision = self.planned and self.planned.decide(size, kind)
        if not decision or decision.way is Way.OTHER:
            work = self.by_gloo("allreduce", "all-reduce", tensors, options)
        else:
            name = f"the all-reduce of {size} bytes of {kind}{self.planned.name(decision)}"
            work = Pending(lambda: name, tensors)
            self.watch.add(work)
            self.planned.start(decision, work, tensor, kind, is_mean)
        if call:
            work.future.add_done_callback(lambda _: setattr(call, "end", time.monotonic()))
        return work

    def by_gloo(self, method, name, tensors, *arguments):
        """Hands a collective over to Gloo, and watches it."""
        found = tensors_of([tensors, *arguments])
        size = sum(tensor.numel() * tensor.element_size() for tensor in tensors_of([tensors]))
        kinds = sorted({str(tensor.dtype).removeprefix("torch.") for tensor in found})
        sized = f" of {size} bytes of {', '.join(kinds)}" if found else ""
        place = self.place()
        work = Pending(lambda: f"the {name}{sized}{place()}", tensors_of([tensors]))
        self.watch.add(work)
        if self.planned and name == "reduce-scatter" and not self.said_scatter:
            self.said_scatter = True
            self.say(f"a {name}{sized} is no message of the plan: Gloo carries all of them")
        if method != "barrier":
            arguments = (tensors, *arguments)
        try:
            carried = getattr(self.gloo, method)(*arguments)
        except Exception as failure:
            work.finish(failure)
            raise
        self.waits.put((work, carried))
        return work

    def wait_for_gloo(self):
        """Ends Gloo's works in the order of their calls. Gloo's own threads call no Python, which
        they could do while the interpreter ends."""
        while entry := self.waits.get():
            work, carried = entry
            try:
                carried.wait()
            except Exception as failure:
                self.watch.fail(str(failure))  # which ends the work when it knows the rank
            else:
                work.finish()
            del entry, work, carried

    def place(self):
        """A function that says where in the run a call is that is made now."""
        if self.planned:
            step, message = max(self.planned.matcher.step, 0), self.planned.matcher.position
            return lambda: f" (before message {message} of the plan) in step {step}"
        call, recording = self.watch.calls, self.recording
        made = recording.made - 1 if recording else 0

        def said():
            step, message = recording.where(max(made, 0)) if recording else (-1, -1)
            found = f", message {message} of its step) in step {step}" if step >= 0 else ")"
            return f" (call {call}{found}"

        return said

    def send(self, tensors, rank, tag):
        return self.gloo.send(tensors, rank, tag)

    def recv(self, tensors, rank, tag):
        return self.gloo.recv(tensors, rank, tag)

    def recv_anysource(self, tensors, tag):
        return self.gloo.recv_anysource(tensors, tag)

    def shutdown(self):
        self.finish()

    def abort(self):
        self.finish(0.0)

    def finish(self, seconds=20.0):
        """Leaves the group and writes the recording."""
        if self.is_over:
            return
        self.is_over = True
        if self.planned:
            self.planned.close(seconds)
        if self.waits:
            self.waits.put(None)
            self.waiter.join(seconds if not self.watch.error else 0.0)
        if self.watch:
            if self.watch.error and self.at == 0:
                time.sleep(3 * BEAT)  # the others read why in a store that rank 0 may serve
            self.watch.stop()
        if self.is_first:
            SynclineBackend.has_plan.release()
            self.write()

    def write(self):
        file = os.environ.get("SYNCLINE_RECORD")
        if not file or self.at != 0 or not self.recording:
            return
        trace = self.recording.trace()
        if not trace:
            made = self.recording.made
            self.say(f"'{file}' is not written: expected equal steps, got {made} all-reduces")
            return
        try:
            with open(file, "w", encoding="utf-8") as out:
                out.write(trace)
        except OSError as failure:
            self.say(f"'{file}' cannot be written: {failure.strerror}")


def carried(method, name):
    """The method of a collective that Gloo carries."""

    def call(self, *arguments):
        return self.by_gloo(method, name, *arguments)

    def barrier(self, options):
        return self.by_gloo(method, name, [], options)

    return barrier if method == "barrier" else call


for method, name in OTHERS.items():
    setattr(SynclineBackend, method, carried(method, name))
