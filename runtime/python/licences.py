"""Licence texts of what travels in a wheel: Syncline's, and those of the Debian packages whose
files are beside its programs or compiled into them."""

import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = pathlib.Path("/usr/share/doc")
COMMON = pathlib.Path("/usr/share/common-licenses")
# Found by CMake as NAME_DIR, and linked as archives or headers.
COMPILED_IN = ("MLIR", "LLVM", "CLI11", "nlohmann_json")


def compiled_in(build):
    """Where the build found what it compiled in."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.findall(rf"^({'|'.join(COMPILED_IN)})_DIR:PATH=(/.*)$", cache, re.MULTILINE)
    return [pathlib.Path(folder) for _, folder in found]


def package_of(path):
    """The Debian package that has a file or folder; None for none."""
    path = path.resolve()
    # Packages of before /usr was merged say /lib.
    for name in (str(path), str(path).removeprefix("/usr")):
        try:
            done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        except OSError:  # not on Debian
            return None
        if done.returncode == 0:
            return re.split("[:,]", done.stdout)[0]
    return None


def texts(paths):
    """The texts by their names in `licenses`: of Syncline, of the packages that have these files,
    and of the common licences that those refer to. Says which files belong to no package."""
    found = {}
    own = SOURCES / "LICENSE"
    if own.is_file():
        found["LICENSE"] = own.read_bytes()
    for path in paths:
        package = package_of(path)
        file = DOCUMENTS / str(package) / "copyright"
        if not package or not file.is_file():
            print(f"'{path}': no licence text is found for the wheel", file=sys.stderr)
            continue
        found[f"{package}/copyright"] = text = file.read_bytes()
        for name in re.findall(rb"/usr/share/common-licenses/([\w.+-]*\w)", text):
            common = COMMON / name.decode()
            if common.is_file():
                found[f"common-licenses/{common.name}"] = common.read_bytes()
    return dict(sorted(found.items()))
