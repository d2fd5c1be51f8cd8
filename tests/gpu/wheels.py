"""CUDA's libraries as Python packages bring them (nvidia-cudnn-cu13 and its like), as one folder
that CMake can search.

Machines with PyTorch often have cuDNN, NCCL and cuBLAS in no other form.
"""

import importlib.util
import pathlib


def folders():
    """The `nvidia` folders of this Python's packages."""
    found = importlib.util.find_spec("nvidia")
    return [pathlib.Path(path) for path in found.submodule_search_locations or []] if found else []


def gather(packages, prefix):
    """Links to all headers and libraries of `packages` in prefix/include and prefix/lib; how
    many libraries."""
    for name in ("include", "lib"):
        (prefix / name).mkdir(parents=True, exist_ok=True)
    count = 0
    for package in packages:
        for header in sorted(package.glob("*/include/*")):
            link(prefix / "include" / header.name, header)
        for library in sorted(package.glob("*/lib/lib*.so*")):
            count += link(prefix / "lib" / library.name, library)
            # The name that linkers look for, which packages leave out.
            link(prefix / "lib" / (library.name.split(".so")[0] + ".so"), library)
    return count


def link(path, target):
    """Whether `path` is new: of two that have one name the first counts."""
    if path.is_symlink() or path.exists():
        return False
    path.symlink_to(target.resolve())
    return True
