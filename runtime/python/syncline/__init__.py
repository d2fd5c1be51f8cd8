"""Syncline from Python: plans for data-parallel training, by the commands of `syncline`."""

from .commands import (
    Cluster,
    Compiled,
    Inspected,
    Simulation,
    Verified,
    cluster,
    compile,
    inspect,
    simulate,
    sweep,
    verify,
)
from .errors import Error, InternalError, UsageError
from .plans import Message, Plan

__version__ = "0.1.0"
__all__ = [
    "Cluster",
    "Compiled",
    "Error",
    "Inspected",
    "InternalError",
    "Message",
    "Plan",
    "Simulation",
    "UsageError",
    "Verified",
    "cluster",
    "compile",
    "inspect",
    "simulate",
    "sweep",
    "verify",
]
