"""The C interface of Syncline in Python: plans, and groups of ranks that sum their messages.

Threads, as syncline.h has it: any thread may use a plan at any time. Of a group, issue(), gather(),
reduce_scatter(), all_gather(), all_reduce() and step() come one behind the other, in an order that
all ranks keep; wait(), shard(), check(), trace() and abort() may be called at any time; close() is
the last call.
"""

import ctypes
import functools
import os
import threading

from syncline import _structs

TYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32")  # as syncline_type counts
WITH_MEAN = TYPES[:4]
SUM, MEAN = 0, 1


class Failed(RuntimeError):
    """A call's error. `rank`, `message` and `step` are -1 where the error has none."""

    def __init__(self, error):
        super().__init__(error.text.decode(errors="replace"))
        self.rank, self.message, self.step = error.rank, error.message, error.step


class BadInput(Failed):
    """A file, a value or the environment is wrong."""


class BadUsage(Failed):
    """A call that may not be made now, or a wrong argument."""


class PeerLost(Failed):
    """Another rank died, got stuck or disagrees: the group is at its end."""


class TimedOut(Failed):
    """The message is still under way."""


class Internal(Failed):
    """A defect of Syncline."""


CODES = {1: BadInput, 2: BadUsage, 3: PeerLost, 4: TimedOut, 5: Internal}
library = functools.cache(_structs.load)


BITS = {_structs.i32: 31, _structs.i64: 63}  # of a number, without its sign


def bad_usage(text):
    return BadUsage(_structs.Error(rank=-1, message=-1, step=-1, text=text.encode()[:2000]))


def expect_fits(where, value, kind):
    """ctypes takes a larger number's last bits, and C the text before a NUL."""
    if kind in BITS and isinstance(value, int) and not -1 <= value >> BITS[kind] <= 0:
        raise bad_usage(f"{where}: expected a number of {BITS[kind] + 1} bits, got {value}")
    if kind is _structs.text and isinstance(value, bytes) and 0 in value:
        raise bad_usage(f"{where}: expected text without NUL, got {value.decode()!r}")


def call(name, *arguments):
    """Calls syncline_NAME. Raises one of CODES."""
    for value, kind in zip(arguments, _structs.CALLS[name]):
        expect_fits(f"syncline_{name}()", value, kind)
    error = _structs.Error()
    code = getattr(library(), "syncline_" + name)(*arguments, ctypes.byref(error))
    if code != 0:
        raise CODES.get(code, Internal)(error)


def version():
    return library().syncline_version().decode()


def plain(struct):
    """The struct's fields as attributes of an object of Python's own."""
    values = {name: getattr(struct, name) for name, _ in struct._fields_}
    return Record(
        **{
            name: value.decode() if isinstance(value, bytes) else value
            for name, value in values.items()
            if name not in ("size", "unused")
        }
    )


class Record:
    """What the library says of a plan, a message, a member, or a message's time."""

    def __init__(self, **values):
        vars(self).update(values)

    def __repr__(self):
        return f"Record({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Plan:
    """An opened plan. `about` and `messages` have the fields of the header's structs; the type of a
    message is one of TYPES."""

    def __init__(self, folder):
        self.folder, self.handle = os.fsdecode(folder), ctypes.c_void_p()
        call("plan_open", os.fsencode(self.folder), ctypes.byref(self.handle))
        info = _structs.PlanInfo()
        call("plan_about", self.handle, ctypes.byref(info))
        self.about = plain(info)
        self.messages = [self.message(number) for number in range(self.about.messages)]

    def message(self, number):
        info = _structs.MessageInfo()
        call("plan_message", self.handle, number, ctypes.byref(info))
        found = plain(info)
        found.type = TYPES[found.type]
        return found

    def members(self, number):
        """The gradients in a message, or the parts of them."""
        found = []
        for member in range(self.messages[number].members):
            info = _structs.MemberInfo()
            call("plan_member", self.handle, number, member, ctypes.byref(info))
            found.append(plain(info))
        return found

    def choose(self, size):
        """The scheme by which all_reduce() sums so many bytes, and its predicted seconds."""
        scheme, seconds = ctypes.c_char_p(), ctypes.c_double()
        call("plan_choose", self.handle, size, ctypes.byref(scheme), ctypes.byref(seconds))
        return scheme.value.decode(), seconds.value

    def close(self):
        handle, self.handle = self.handle, ctypes.c_void_p()
        if handle:
            library().syncline_plan_close(handle)

    __del__ = close


class Store:
    """A key-value store for ranks to meet by: an object with set(key, bytes), and with
    get(key, seconds), which raises where the key is not set in time."""

    def __init__(self, store):
        self.store = store
        self.struct = _structs.Store(None, _structs.Set(self.set), _structs.Get(self.get))

    def set(self, _, key, value, size):
        try:
            self.store.set(key.decode(), ctypes.string_at(value, size))
            return 0
        except Exception:  # the library says which key could not be set
            return 1

    def get(self, _, key, value, capacity, seconds):
        try:
            found = self.store.get(key.decode(), seconds)
        except Exception:
            return -1
        ctypes.memmove(value, found, min(capacity, len(found)))
        return len(found)


class Group:
    """This rank's place in a group that has joined. Data are addresses; they belong to the library
    from a call that returns a ticket until wait() returns for the ticket or raises other than
    TimedOut. A forked process has none of the group's threads: its calls raise BadUsage, but for
    close(), which does nothing.
    """

    def __init__(self, plan, rank, ranks, store=None, **options):
        """`options` are those of syncline_group_options; text and numbers."""
        self.plan, self.rank, self.ranks = plan, rank, ranks
        self.handle, self.lock = ctypes.c_void_p(), threading.Lock()
        self.process = os.getpid()
        self.store = Store(store) if store else None  # must live while ranks meet
        given = {
            name: value.encode() if isinstance(value, str) else value
            for name, value in options.items()
        }
        kinds = _structs.options()
        for name, value in given.items():
            if name not in kinds:
                raise bad_usage(f"Group(): expected an option of {', '.join(kinds)}, got '{name}'")
            expect_fits(f"Group(): option '{name}'", value, kinds[name])
        for name, value in (("rank", rank), ("ranks", ranks)):
            expect_fits(f"Group(): {name}", value, _structs.i32)
        if self.store:
            given["store"] = ctypes.pointer(self.store.struct)
        struct = _structs.GroupOptions(rank=rank, ranks=ranks, **given)
        call("group_join", plan.handle, ctypes.byref(struct), ctypes.byref(self.handle))

    def call(self, name, *arguments):
        if self.process != os.getpid():
            raise bad_usage(
                f"syncline_{name}(): expected a call of process {self.process}, which joined the"
                f" group, got one of process {os.getpid()}"
            )
        call(name, self.handle, *arguments)

    def issue(self, message, address, count, kind, operation=SUM):
        """The ticket of a message of the plan: `count` values of the kind, one of TYPES."""
        return self.ticket("issue", message, address, count, TYPES.index(kind), operation)

    def gather(self, message, address, count, kind):
        """The ticket of a message that is_gathered: `count` values of each rank, by rank."""
        return self.ticket("gather", message, address, count, TYPES.index(kind))

    def shard(self, message):
        """Which elements of a message that is_sharded this rank owns: the first, and how many."""
        offset, count = ctypes.c_int64(), ctypes.c_int64()
        self.call("shard", message, ctypes.byref(offset), ctypes.byref(count))
        return offset.value, count.value

    def reduce_scatter(self, message, address, count, kind, operation=SUM):
        """The ticket of a message that is_sharded: this rank's shard becomes the sum, the rest
        anything."""
        return self.ticket("reduce_scatter", message, address, count, TYPES.index(kind), operation)

    def all_gather(self, message, address, count, kind):
        """The ticket of values in the shards of a message, which all ranks then have."""
        return self.ticket("all_gather", message, address, count, TYPES.index(kind))

    def all_reduce(self, address, count, kind, operation=SUM):
        """The ticket of values that are no message of the plan."""
        return self.ticket("all_reduce", address, count, TYPES.index(kind), operation)

    def ticket(self, name, *arguments):
        ticket = ctypes.c_uint64()
        with self.lock:
            self.call(name, *arguments, ctypes.byref(ticket))
        return ticket.value

    def wait(self, ticket, seconds=-1.0):
        """Waits until the ticket has ended. Raises TimedOut behind so many seconds, where they are
        not negative."""
        self.call("wait", ticket, seconds)

    def step(self):
        """Begins the next step."""
        with self.lock:
            self.call("step")

    def check(self):
        """Raises PeerLost where a rank is known to be lost."""
        self.call("group_check")

    def abort(self, why):
        """Ends the group on all ranks."""
        self.call("group_abort", why.encode())

    def trace(self, capacity=65536):
        """When the last steps' messages travelled, in seconds since the group was joined."""
        times, count = (_structs.MessageTime * capacity)(), ctypes.c_int64()
        self.call("group_trace", times, capacity, ctypes.byref(count))
        return [plain(times[i]) for i in range(min(capacity, count.value))]

    def close(self, seconds=20.0):
        """Leaves the group, whose memory is freed whatever it raises."""
        handle, self.handle = self.handle, ctypes.c_void_p()
        if handle and self.process == os.getpid():
            call("group_close", handle, seconds)
