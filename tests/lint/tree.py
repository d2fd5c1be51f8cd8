"""The tree that the lint tests look at: the files git knows, or would know."""

import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
CODE = (".cpp", ".h", ".cu", ".cuh", ".td", ".mlir", ".py", ".sh", ".cmake")
CXX = (".cpp", ".h", ".cu", ".cuh")


def files(*suffixes):
    """Paths relative to TOP with one of the suffixes (all where none is given), sorted. Without a
    git folder (an unpacked archive) every file outside of build folders counts."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        found = (path.relative_to(TOP) for path in TOP.rglob("*") if path.is_file())
        names = [str(path) for path in found if path.parts[0] != "build"]
    paths = sorted(pathlib.PurePosixPath(name) for name in set(names))
    return [
        path
        for path in paths
        if (not suffixes or path.name.endswith(suffixes)) and (TOP / path).is_file()
    ]


def lines(path):
    return (TOP / path).read_text(encoding="utf-8").splitlines()
