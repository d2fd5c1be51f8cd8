"""The collectives of a process group on one rank: a plan's messages by the plan, all else by Gloo.
NCCL carries all calls on CUDA tensors.

Environment: SYNCLINE_PLAN is the plan's folder; with SYNCLINE_STRICT=1 a sequence of all-reduces
that is not the plan's ends the run; SYNCLINE_RECORD is a file for a layer trace to plan from. The
timeout of init_process_group() is how long a collective may take until the rank at fault is named;
send() and recv() may take 30 s more.
"""

import atexit
import datetime
import os
import sys
import threading
import time

import torch
import torch.distributed as dist

from syncline import capi
from syncline.torch import carriers, versions
from syncline.torch.completion import Completion
from syncline.torch.matching import Way
from syncline.torch.pending import Passed, Pending, Watched
from syncline.torch.planned import PlannedGroup, opened
from syncline.torch.recording import Recording
from syncline.torch.watch import Watch

KINDS = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
}
# Carried by Gloo or NCCL: the name of the method, and of the collective.
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
}
CLOSING = 20.0  # seconds that a rank waits at its end for the others
GIVING_UP = 10.0  # seconds that a thread may take to give up, at most
GLOO_LOOK = datetime.timedelta(seconds=0.5)  # between two looks whether to go on waiting for Gloo
NOT_OVER = "Operation timed out"  # which PyTorch says at the end of GLOO_LOOK


def tensors_of(values):
    """All tensors in nested lists."""
    if isinstance(values, torch.Tensor):
        return [values]
    if not isinstance(values, (list, tuple)):
        return []
    return [tensor for each in values for tensor in tensors_of(each)]


def size_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def without_gaps(tensor):
    """A copy of a tensor whose values do not lie one behind the other; None where they do."""
    is_packed = tensor.is_sparse or tensor.is_contiguous()
    return None if is_packed else tensor.detach().contiguous()


def expect_operation(name, tensors, arguments):
    """Raises where values do not have the operation that the options among the arguments ask for:
    Gloo would say so on a thread of its own, and the group would end."""
    operation = next((each.reduceOp for each in arguments if hasattr(each, "reduceOp")), None)
    whole = [each for each in tensors if not (each.is_floating_point() or each.is_complex())]
    rest = [each for each in tensors if each.is_floating_point() or each.is_complex()]
    for expected, operations, wrong in (
        ("floating-point", ("AVG",), whole),
        ("whole", ("BAND", "BOR", "BXOR"), rest),
    ):
        for each in operations:
            if wrong and operation == getattr(dist.ReduceOp, each):
                kind = str(wrong[0].dtype).removeprefix("torch.")
                raise ValueError(f"{name} by {each}: expected {expected} numbers, got {kind}")


class Collectives:
    """The methods that PyTorch calls of a backend and of a process group, which derive from this
    class. The first one of a process has the plan: that of init_process_group()."""

    has_plan = threading.Lock()  # held by the group that has it

    def begin(self, store, rank, ranks, label, timeout, device="cpu", nccl=()):
        """Joins the group of all `ranks` that share the store. `device` is where its tensors are;
        a group on CPUs takes CUDA tensors too. `nccl` are more arguments of carriers.nccl()."""
        self.at, self.ranks, self.label, self.timeout = rank, ranks, label, timeout
        self.process, self.nccl_arguments = os.getpid(), nccl
        # A group of the same name may have used this store before, as under torchrun.
        store = dist.PrefixStore("syncline", store)
        lives = (store.add("members", 1) - 1) // ranks
        self.store = dist.PrefixStore(str(lives), store)
        self.is_over = self.said_scatter = self.is_aborted = False
        self.gloo = self.nccl = self.planned = self.recording = self.watch = None
        self.by_thread = Completion("Gloo", self.end_of_gloo)
        self.is_first = Collectives.has_plan.acquire(blocking=False)
        try:
            self.set_up(device)
        except BaseException:
            self.finish(0.0)
            raise
        atexit.register(self.at_exit)

    def set_up(self, device):
        plan = None
        if self.is_first:
            folder = os.environ.get("SYNCLINE_PLAN")
            plan = opened(folder, self.at, self.ranks, self.store)
            self.recording = Recording()
        limit = self.timeout.total_seconds()
        own = self.store.clone() if hasattr(self.store, "clone") else self.store
        self.watch = Watch(own, self.at, self.ranks, self.label, limit)
        if plan:
            carriers.follow(plan.folder)
        if device == "cpu":
            self.gloo = carriers.gloo(self.store, self.at, self.ranks, self.timeout)
        else:
            self.nccl = self.made_nccl()
        if plan:
            joined = (self.at, self.ranks, self.store, self.label, limit)
            self.planned = PlannedGroup(plan, self.say, self.watch.fail)
            if device == "cpu":
                self.planned.join(*joined)
            self.watch.lost = self.planned.lost

    def made_nccl(self):
        given = (self.label, self.timeout, *self.nccl_arguments)
        return carriers.nccl(self.store, self.at, self.ranks, *given)

    def say(self, text):
        """Rank 0 says it for all."""
        if self.at == 0:
            print(f"syncline: {text}", file=sys.stderr, flush=True)

    def expect_ready(self):
        """Raises where no collective can be carried any more."""
        if self.process != os.getpid():
            raise RuntimeError(
                f"syncline: group '{self.label}': expected collectives of process {self.process},"
                f" which made the group, got one of process {os.getpid()}"
            )
        if self.is_over:
            raise RuntimeError(self.shut_down())

    def shut_down(self):
        return f"syncline: group '{self.label}' has been shut down"

    def goes_by_nccl(self, tensors):
        """Whether NCCL carries a call on these tensors."""
        if self.gloo and not any(tensor.is_cuda for tensor in tensors):
            return False
        self.nccl = self.nccl or self.made_nccl()
        return True

    def allreduce(self, tensors, options=None):
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        options = options or dist.AllreduceOptions()
        tensor, size = tensors[0], size_of(tensors)
        kind = KINDS.get(tensor.dtype)
        is_mean = options.reduceOp == dist.ReduceOp.AVG
        is_sum = is_mean or options.reduceOp == dist.ReduceOp.SUM
        if len(tensors) > 1 or not size or not kind or not is_sum or tensor.is_sparse:
            return self.carry("allreduce", "all-reduce", tensors, options)
        self.expect_ready()
        now, within = time.monotonic(), versions.backward_pass()
        call = self.recording and self.recording.add(size, kind, now, within)
        decision = self.planned and self.planned.decide(size, kind)
        by_plan = decision and (decision.way is not Way.OTHER or is_mean)
        if not by_plan or self.goes_by_nccl(tensors):
            work = self.carry("allreduce", "all-reduce", tensors, options, decision=decision)
        else:
            work = self.by_plan(decision, tensor, size, kind, is_mean)
        if call and isinstance(work, Pending):
            work.future.add_done_callback(lambda _: setattr(call, "end", time.monotonic()))
        return work

    def by_plan(self, decision, tensor, size, kind, is_mean):
        """Hands an all-reduce over to the plan's group, and watches it."""
        name = f"the all-reduce of {size} bytes of {kind}{self.planned.name(decision)}"
        flat = without_gaps(tensor)
        work = Pending(lambda: name, [tensor], flat)
        self.watch.add(work)
        try:
            self.planned.start(decision, work, tensor if flat is None else flat, kind, is_mean)
        except capi.PeerLost as failure:
            self.watch.settle(str(failure))
            raise
        except Exception as failure:
            work.finish(failure)
            raise
        return work

    def carry(self, method, name, tensors, *arguments, decision=None):
        """Hands a collective over to Gloo or NCCL, and watches it."""
        self.expect_ready()
        found = tensors_of([tensors, *arguments])
        kinds = sorted({str(tensor.dtype).removeprefix("torch.") for tensor in found})
        given = tensors_of([tensors])
        sized = f" of {size_of(given)} bytes of {', '.join(kinds)}" if found else ""
        place = self.place(decision)
        if self.planned and name == "reduce-scatter" and not self.said_scatter:
            self.said_scatter = True
            who = "NCCL" if self.goes_by_nccl(found) else "Gloo"
            self.say(f"a {name}{sized} is no message of the plan: {who} carries all of them")
        if method != "barrier":
            arguments = (tensors, *arguments)
        if self.goes_by_nccl(found):
            return self.by_nccl(lambda: f"the {name}{sized}{place()}", method, arguments)
        expect_operation(name, found, arguments)
        # Gloo would sum what lies in the gaps.
        flat = without_gaps(given[0]) if method == "allreduce" and len(given) == 1 else None
        if flat is not None:
            arguments = ([flat], *arguments[1:])
        work = Pending(lambda: f"the {name}{sized}{place()}", given, flat)
        self.watch.add(work)
        try:
            carried = getattr(self.gloo, method)(*arguments)
        except Exception as failure:
            work.finish(failure)
            raise
        self.by_thread.put(carried, work)
        return work

    def by_nccl(self, describe, method, arguments):
        """NCCL's own work, which PyTorch's streams wait for."""
        self.watch.expect_whole()
        carried = getattr(self.nccl, method)(*arguments)
        if carried is not None:
            self.watch.add(Watched(describe, carried, self.abort_nccl))
        return carried

    def abort_nccl(self, error):
        """A rank is lost: ends NCCL's works, which would wait for ever."""
        if not self.is_aborted:
            self.is_aborted = True
            print(f"syncline: {error}", file=sys.stderr, flush=True)
            self.nccl.abort()

    def end_of_gloo(self, carried, work):
        """Ends a work of Gloo's. Gloo's own threads call no Python, which they could do while the
        interpreter ends."""
        # A call of C++ that goes on while the interpreter ends would abort the process.
        while not self.by_thread.gives_up.is_set():
            try:
                carried.wait(GLOO_LOOK)
            except Exception as failure:
                if NOT_OVER in str(failure):
                    continue
                if not work.is_completed():
                    self.watch.fail(str(failure))  # which ends the work when it knows the rank
                return None
            return work.finish()
        return work.finish(RuntimeError(f"{work.what}: {self.shut_down()}"))

    def place(self, decision=None):
        """A function that says where in the run a call is that is made now."""
        if self.planned:
            if decision and decision.way is Way.PLANNED:
                name = self.planned.name(decision)
                return lambda: name
            step, message = max(self.planned.matcher.step, 0), self.planned.matcher.position
            return lambda: f" (before message {message} of the plan) in step {step}"
        call, recording = self.watch.calls, self.recording
        made = recording.made - 1 if recording else 0

        def said():
            step, message = recording.where(max(made, 0)) if recording else (-1, -1)
            found = f", message {message} of its step) in step {step}" if step >= 0 else ")"
            return f" (call {call}{found}"

        return said

    def barrier(self, opts=None):
        return self.carry("barrier", "barrier", [], opts or dist.BarrierOptions())

    def monitored_barrier(self, options, all_ranks=False):
        self.expect_ready()
        timeout = getattr(options, "timeout", options)
        return self.gloo.monitored_barrier(timeout, all_ranks)

    def send(self, tensors, rank, tag):
        return self.peer_to_peer("send", tensors, rank, tag)

    def recv(self, tensors, rank, tag):
        return self.peer_to_peer("recv", tensors, rank, tag)

    def recv_anysource(self, tensors, tag):
        return self.peer_to_peer("recv_anysource", tensors, tag)

    def peer_to_peer(self, method, tensors, *arguments):
        self.expect_ready()
        if self.goes_by_nccl(tensors):
            return getattr(self.nccl, method)(tensors, *arguments)
        self.watch.expect_whole()
        return Passed(getattr(self.gloo, method)(tensors, *arguments), self.watch.settle)

    def set_timeout(self, timeout):
        self.timeout, self.watch.limit = timeout, timeout.total_seconds()
        for carrier in (self.gloo, self.nccl):
            if carrier:
                carrier._set_default_timeout(timeout + carriers.GLOO_GRACE)

    def shutdown(self):
        self.finish()

    def abort(self):
        self.finish(0.0)

    def at_exit(self):
        """The program ends without destroy_process_group(). The others learn at once of an error,
        behind which nothing is waited for."""
        failure = getattr(sys, "last_value", None)
        if failure and self.process == os.getpid():
            told = f"{type(failure).__name__}: {failure}".splitlines()[0][:200]
            self.watch.leave(f"its process ended by {told}")
        self.finish(0.0 if failure else CLOSING)

    def finish(self, seconds=CLOSING):
        """Leaves the group and writes the recording. A forked process leaves its parent's alone."""
        if self.is_over or self.process != os.getpid():
            return
        self.is_over = True
        atexit.unregister(self.at_exit)
        end = time.monotonic() + seconds
        if self.planned:
            self.planned.close(seconds)
        is_lost = self.watch and self.watch.error
        self.by_thread.close(0.0 if is_lost else max(end - time.monotonic(), 0.0))
        self.by_thread.join(GIVING_UP)
        if self.watch:
            self.watch.stop()
        if self.nccl and not is_lost:
            self.nccl.shutdown()
        if self.is_first:
            Collectives.has_plan.release()
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
    """The method of a collective that Gloo or NCCL carries."""

    def call(self, tensors, *arguments):
        return self.carry(method, name, tensors, *arguments)

    return call


for method, name in OTHERS.items():
    setattr(Collectives, method, carried(method, name))
