"""The structs and functions of syncline.h for ctypes."""

import ctypes

from syncline import _library

API_NUMBER = 3  # of the header that this file follows
i32, i64, f64, text = ctypes.c_int32, ctypes.c_int64, ctypes.c_double, ctypes.c_char_p
Done = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
Set = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, text, ctypes.c_void_p, ctypes.c_size_t)
Get = ctypes.CFUNCTYPE(i64, ctypes.c_void_p, text, ctypes.c_void_p, ctypes.c_size_t, f64)


def fields(kind, names):
    return [(name, kind) for name in names.split()]


class Error(ctypes.Structure):
    _fields_ = [
        *fields(i32, "code rank message unused"),
        ("step", i64),
        ("text", ctypes.c_char * 2024),
    ]


class Sized(ctypes.Structure):
    """A struct that may grow: its `size` says how much of it the library may write."""

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(self), **values)


class PlanInfo(Sized):
    _fields_ = [
        ("size", ctypes.c_uint32),
        *fields(i32, "ranks servers ranks_per_node messages micro_batches overlaps_steps unused"),
        ("step", f64),
        *fields(text, "name hash model_hash wire consistency"),
    ]


class MessageInfo(Sized):
    _fields_ = [
        ("size", ctypes.c_uint32),
        *fields(i32, "id channel type members is_carried"),
        *fields(i64, "bytes count"),
        *fields(f64, "ready start end"),
        *fields(text, "scheme why_not"),
        *fields(i32, "is_gathered is_sharded"),
    ]


class MemberInfo(Sized):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("unused", i32),
        *fields(i64, "offset bytes skipped whole"),
        ("name", text),
    ]


class Store(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("set", Set), ("get", Get)]


class GroupOptions(Sized):
    _fields_ = [
        ("size", ctypes.c_uint32),
        *fields(i32, "rank ranks ranks_per_node port traced_steps"),
        *fields(text, "name address interface_name secret"),
        ("store", ctypes.POINTER(Store)),
        *fields(f64, "start_seconds lost_seconds"),
        ("done", Done),
        ("done_context", ctypes.c_void_p),
    ]


def options():
    """The types of a group's options, by name, but for those that Group() sets itself."""
    own = ("size", "rank", "ranks", "store")
    return {name: kind for name, kind in GroupOptions._fields_ if name not in own}


class MessageTime(ctypes.Structure):
    _fields_ = [
        *fields(i32, "message half"),
        ("step", i64),
        ("ticket", ctypes.c_uint64),
        ("bytes", i64),
        ("scheme", text),
        *fields(f64, "issued started finished"),
    ]


pointer, data = ctypes.POINTER, ctypes.c_void_p
# The arguments of each function that has an error, which comes behind them.
CALLS = {
    "plan_open": [text, pointer(data)],
    "plan_about": [data, pointer(PlanInfo)],
    "plan_message": [data, i32, pointer(MessageInfo)],
    "plan_member": [data, i32, i32, pointer(MemberInfo)],
    "plan_choose": [data, i64, pointer(text), pointer(f64)],
    "group_join": [data, pointer(GroupOptions), pointer(data)],
    "issue": [data, i32, data, i64, i32, i32, pointer(ctypes.c_uint64)],
    "gather": [data, i32, data, i64, i32, pointer(ctypes.c_uint64)],
    "shard": [data, i32, pointer(i64), pointer(i64)],
    "reduce_scatter": [data, i32, data, i64, i32, i32, pointer(ctypes.c_uint64)],
    "all_gather": [data, i32, data, i64, i32, pointer(ctypes.c_uint64)],
    "all_reduce": [data, data, i64, i32, i32, pointer(ctypes.c_uint64)],
    "wait": [data, ctypes.c_uint64, f64],
    "step": [data],
    "group_check": [data],
    "group_abort": [data, text],
    "group_trace": [data, pointer(MessageTime), i64, pointer(i64)],
    "group_close": [data, f64],
}


def load():
    """The library, whose calls leave the interpreter to other threads. Raises OSError."""
    path = _library.library()
    library = ctypes.CDLL(path)
    if not hasattr(library, "syncline_api_number"):
        raise OSError(f"'{path}': expected libsyncline.so, got another library")
    number = library.syncline_api_number()
    if number < API_NUMBER:
        raise OSError(f"'{path}': expected API {API_NUMBER} or later, got {number}")
    library.syncline_version.restype = text
    library.syncline_plan_close.argtypes = [data]
    library.syncline_plan_close.restype = None
    for name, arguments in CALLS.items():
        getattr(library, "syncline_" + name).argtypes = [*arguments, pointer(Error)]
    return library
