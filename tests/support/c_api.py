"""The C interface from Python, as a wheel would call it: structs and a few calls by ctypes."""

import ctypes

import harness

LIBRARY = harness.BUILD / "lib" / "libsyncline.so.1"
HEADERS = harness.TOP / "runtime" / "include"
OK, BAD_INPUT, BAD_USAGE, PEER_LOST, TIMED_OUT = range(5)
F32, SUM, MEAN = 0, 0, 1


class Error(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("message", ctypes.c_int32),
        ("unused", ctypes.c_int32),
        ("step", ctypes.c_int64),
        ("text", ctypes.c_char * 2024),
    ]


class MessageInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        *((name, ctypes.c_int32) for name in ("id", "channel", "type", "members", "is_carried")),
        *((name, ctypes.c_int64) for name in ("bytes", "count")),
        *((name, ctypes.c_double) for name in ("ready", "start", "end")),
        ("scheme", ctypes.c_char_p),
        ("why_not", ctypes.c_char_p),
        ("is_gathered", ctypes.c_int32),
        ("is_sharded", ctypes.c_int32),
    ]


class MemberInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("unused", ctypes.c_int32),
        *((name, ctypes.c_int64) for name in ("offset", "bytes", "skipped", "whole")),
        ("name", ctypes.c_char_p),
    ]


SET = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t
)
GET = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_double,
)


class Store(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("set", SET), ("get", GET)]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        *(
            (name, ctypes.c_int32)
            for name in ("rank", "ranks", "ranks_per_node", "port", "traced_steps")
        ),
        *((name, ctypes.c_char_p) for name in ("name", "address", "interface_name", "secret")),
        ("store", ctypes.POINTER(Store)),
        ("start_seconds", ctypes.c_double),
        ("lost_seconds", ctypes.c_double),
        ("done", ctypes.c_void_p),
        ("done_context", ctypes.c_void_p),
    ]


class Failed(Exception):
    """A call's error, with the fields of the struct."""

    def __init__(self, error):
        super().__init__(error.text.decode())
        self.code, self.rank = error.code, error.rank
        self.message, self.step = error.message, error.step


def load():
    library = ctypes.CDLL(str(LIBRARY))
    library.syncline_version.restype = ctypes.c_char_p
    return library


class Plan:
    """A plan. Calls raise Failed."""

    def __init__(self, plan):
        self.library, self.plan = load(), ctypes.c_void_p()
        self.call("plan_open", str(plan).encode(), ctypes.byref(self.plan))

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.library, "syncline_" + name)(*arguments, ctypes.byref(error)) != OK:
            raise Failed(error)

    def message(self, number):
        info = MessageInfo(size=ctypes.sizeof(MessageInfo))
        self.call("plan_message", self.plan, number, ctypes.byref(info))
        return info

    def messages(self):
        """All messages of the plan."""
        found = []
        try:
            while True:
                found.append(self.message(len(found)))
        except Failed:
            return found

    def members(self, number):
        """The members of a message."""
        found = [
            MemberInfo(size=ctypes.sizeof(MemberInfo)) for _ in range(self.message(number).members)
        ]
        for member, info in enumerate(found):
            self.call("plan_member", self.plan, number, member, ctypes.byref(info))
        return found


class Group(Plan):
    """A plan and a group of it."""

    def __init__(self, plan, **options):
        super().__init__(plan)
        self.group = ctypes.c_void_p()
        given = Options(size=ctypes.sizeof(Options), **options)
        self.call("group_join", self.plan, ctypes.byref(given), ctypes.byref(self.group))

    def issue(self, number, array, operation=SUM):
        """The ticket of a message of f32 that a NumPy array holds."""
        ticket = ctypes.c_uint64()
        address = ctypes.c_void_p(array.ctypes.data)
        self.call(
            *("issue", self.group, number, address, ctypes.c_int64(array.size), F32),
            *(operation, ctypes.byref(ticket)),
        )
        return ticket

    def wait(self, ticket, seconds=-1):
        self.call("wait", self.group, ticket, ctypes.c_double(seconds))

    def step(self):
        self.call("step", self.group)

    def close(self, seconds=20):
        self.call("group_close", self.group, ctypes.c_double(seconds))
        self.library.syncline_plan_close(self.plan)
