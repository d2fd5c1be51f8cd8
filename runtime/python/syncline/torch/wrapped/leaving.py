"""How a rank leaves the group of a model: with the model, or at the end of the process."""

import atexit
import sys
import threading
import weakref

from syncline import capi

GROUPS = {}  # of models that are alive, by the id of the group
THREADS = []  # that wait for the other ranks to leave, too
SECONDS = 20.0


def leave_with(model, group, installed):
    """The group ends with the model, without making whoever collects it wait."""
    GROUPS[id(group)] = group
    weakref.finalize(model, leave_soon, group, installed).atexit = False


def leave_soon(group, installed):
    installed.remove()
    del GROUPS[id(group)]
    THREADS[:] = [each for each in THREADS if each.is_alive()]
    THREADS.append(threading.Thread(target=leave, args=(group,), daemon=True))
    THREADS[-1].start()


def leave(group):
    try:
        group.close(SECONDS)
    except capi.Failed:
        pass  # told where it happened


@atexit.register
def leave_all():
    """The other ranks need not wait for a process that an exception ends."""
    failure = getattr(sys, "last_value", None)
    for group in list(GROUPS.values()):
        if failure is not None:
            try:
                group.abort(f"its process ended by {type(failure).__name__}: {failure}")
            except capi.Failed:
                pass  # it had ended before
        leave(group)
    for each in THREADS:
        each.join(SECONDS)
