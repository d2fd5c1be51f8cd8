"""Waiting for a condition. Tests never decide by how long something takes on this machine."""

import pathlib
import time

# Seconds. Nothing takes so long on any machine, however busy: a wait that reaches this is a fault.
PATIENCE = 600
# Seconds after which a run takes a stopped rank for lost. Ranks that only wait for a processor
# answer before.
SILENCE = 20
LOOK = 0.02  # seconds between two looks at a condition


def until(condition, what, process=None):
    """Waits until condition() is true, and returns its value. `what` says in the failure what was
    waited for. A `process` that ends meanwhile is a failure, too."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if process is not None and process.poll() is not None:
            found = condition()  # it may have come true before the end
            if found:
                return found
            raise AssertionError(f"{what}: the process ended with code {process.returncode}")
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} s")
        time.sleep(LOOK)
    return found


def processor_ticks(pid):
    """What all threads of a process have computed so far, in ticks of the system's clock."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])
