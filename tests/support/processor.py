#!/usr/bin/env python3
"""What this machine's processor computes with, under the caps of the environment. As a program:
the caps that the machine has, one a line, or the settings of one cap for env(1).

    tests/support/processor.py
    env $(tests/support/processor.py avx2) tests/run.py numerics
"""

import os
import pathlib
import sys

CPUINFO = pathlib.Path("/proc/cpuinfo")
VARIABLE = "SYNCLINE_MAX_CPU_ISA"
ONEDNN = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
# For each cap: the flags of a processor that reaches it, and the settings that cap all sides of a
# comparison. PyTorch's process has ATen's loops, oneDNN and OpenBLAS's products.
FLAGS = {
    "avx2": {"avx2", "bmi2", "fma"},
    "avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "amx": {"amx_tile", "amx_bf16"},
}
SETTINGS = {
    "avx2": {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    "avx512": {
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16",
        "ATEN_CPU_CAPABILITY": "avx512",
        "OPENBLAS_CORETYPE": "SkylakeX",
    },
    "amx": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_AMX", "ATEN_CPU_CAPABILITY": "avx512"},
}


def flags():
    """The first processor's flags; none where the system does not tell them."""
    if not CPUINFO.exists():
        return set()
    for line in CPUINFO.read_text().splitlines():
        name, _, words = line.partition(":")
        if name.strip() == "flags":
            return set(words.split())
    return set()


def caps():
    """The caps that this processor reaches, whatever the environment says."""
    have = flags()
    return [name for name, needed in FLAGS.items() if needed <= have]


def settings(cap):
    return {VARIABLE: cap, **SETTINGS[cap]}


def uncapped(environment=os.environ):
    """The environment without any cap."""
    of_caps = {VARIABLE, *ONEDNN, *(name for each in SETTINGS.values() for name in each)}
    return {name: value for name, value in environment.items() if name not in of_caps}


def has_bf16():
    """Whether runs compute in bf16 where they are asked to."""
    own = next((os.environ[name] for name in ONEDNN if os.environ.get(name)), "")
    if own:
        is_allowed = own.upper() in ("AVX512_CORE_BF16", "AVX512_CORE_AMX", "ALL", "DEFAULT")
    else:
        is_allowed = os.environ.get(VARIABLE) != "avx2"
    return is_allowed and bool(flags() & {"avx512_bf16", "amx_bf16"})


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print("\n".join(caps()))
    else:
        print(" ".join(f"{name}={value}" for name, value in settings(sys.argv[1]).items()))
