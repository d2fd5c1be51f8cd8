"""Builds the wheel, for pip (PEP 517) and for CMake's target `wheel`. Where a build folder is
found, the wheel holds what `cmake --install` installs from it and the libraries of its programs;
otherwise it holds the package alone, which finds the commands on PATH."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import licences

HERE = pathlib.Path(__file__).resolve().parent
# These are the system's: another libc or C++ library than the process's own cannot be mixed in.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|ld-linux.*|libstdc\+\+|libgcc_s)\.so\.\d+")
ELF = b"\x7fELF"
NO_TIME = (1980, 1, 1, 0, 0, 0)  # the time of every file: the same files give the same wheel


def version():
    text = (HERE / "syncline" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE).group(1)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == ELF


def output(*command):
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def libraries(path):
    """The files of all libraries that the program loads but the system's, by name."""
    found = {}
    line = re.compile(r"^\s*(\S+) => (.*?)(?: \(0x|$)", re.MULTILINE)
    for name, file in line.findall(output("ldd", path)):
        if SYSTEM.fullmatch(name):
            continue
        if not file.startswith("/"):
            raise SystemExit(f"'{path}': expected library '{name}' on this machine, got none")
        found[name] = pathlib.Path(file)
    return found


def needed_glibc(paths):
    """The newest version of glibc that a symbol of these files needs, such as (2, 36)."""
    text = output("objdump", "-T", *paths)
    return max((int(a), int(b)) for a, b in re.findall(r"\(?GLIBC_(\d+)\.(\d+)", text))


def stage(build, prefix):
    """Installs the build into the prefix, with libraries beside; the wheel's platform, and where
    the libraries are from."""
    output("cmake", "--install", build, "--prefix", prefix)
    programs = [path for path in sorted((prefix / "bin").iterdir()) if is_elf(path)]
    beside = {}
    for program in programs:
        beside.update(libraries(program))
    for name, file in beside.items():
        (prefix / "lib" / name).write_bytes(file.read_bytes())
    files = [path for path in prefix.rglob("*") if path.is_file()]
    major, minor = needed_glibc([path for path in files if is_elf(path)])
    return f"manylinux_{major}_{minor}_{os.uname().machine}", sorted(beside.values())


def metadata(tag, texts):
    """The files of `syncline-VERSION.dist-info` but RECORD, by name. `texts` are the licences'."""
    about = (
        f"Metadata-Version: 2.4\nName: syncline\nVersion: {version()}\n"
        "Summary: Plans for data-parallel training\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\n"
    ) + "".join(f"License-File: {name}\n" for name in texts)
    pure = "true" if tag.endswith("-any") else "false"
    wheel = f"Wheel-Version: 1.0\nGenerator: syncline\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    points = (
        "[console_scripts]\nsyncline = syncline.commands:main\n\n"
        "[torch.distributed.backends]\nsyncline = syncline.torch:register\n"
    )
    files = {"METADATA": about, "WHEEL": wheel, "entry_points.txt": points}
    return {
        **{name: text.encode() for name, text in files.items()},
        **{f"licenses/{name}": text for name, text in texts.items()},
    }


class Writer:
    """A wheel that grows file by file."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, executable=False):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")
        self.write(name, data, executable)

    def write(self, name, data, executable=False):
        about = zipfile.ZipInfo(name, NO_TIME)
        about.compress_type = zipfile.ZIP_DEFLATED
        about.external_attr = (0o100755 if executable else 0o100644) << 16
        self.zip.writestr(about, data)

    def close(self, folder):
        name = f"{folder}/RECORD"
        self.write(name, "".join([*self.record, f"{name},,\n"]).encode())
        self.zip.close()


def found_build():
    """The build folder that SYNCLINE_BUILD names, or that of these sources where it is built."""
    build = os.environ.get("SYNCLINE_BUILD")
    folder = pathlib.Path(build) if build else HERE.parents[1] / "build"
    if not (folder / "cmake_install.cmake").is_file():
        if build:
            raise SystemExit(f"'SYNCLINE_BUILD': expected a build folder, got '{build}'")
        return None
    return folder if build or (folder / "bin" / "syncline").is_file() else None


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = found_build()
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        platform, beside = stage(build, prefix) if build else ("any", [])
        tag = f"py3-none-{platform}"
        texts = licences.texts([*beside, *licences.compiled_in(build)] if build else [])
        name = f"syncline-{version()}-{tag}.whl"
        wheel = Writer(pathlib.Path(wheel_directory) / name)
        package = HERE / "syncline"
        for path in sorted(package.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.add(f"syncline/{path.relative_to(package)}", path.read_bytes())
        for path in sorted(prefix.rglob("*")) if build else ():
            # A wheel has no links; libsyncline.so is for compilers.
            if path.is_file() and not path.is_symlink():
                where = f"syncline/prefix/{path.relative_to(prefix)}"
                wheel.add(where, path.read_bytes(), os.access(path, os.X_OK))
        about = f"syncline-{version()}.dist-info"
        for file, data in metadata(tag, texts).items():
            wheel.add(f"{about}/{file}", data)
        wheel.close(about)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("'syncline': there is no source archive: install the folder runtime/python")


if __name__ == "__main__":
    print(f"wrote {sys.argv[1]}/{build_wheel(sys.argv[1])}")
