"""Calls of a program through the fork server (ForkServer.cpp)."""

import os
import pathlib
import select
import signal
import struct
import subprocess

import harness

FORK_SERVER = harness.BUILD / "lib" / "libfuzz-fork-server.so"
NUMBER = struct.Struct("=i")


class Outcome:
    """How one call ended: `code` as subprocess counts it (negative: a signal), None where it was
    ended for taking too long; peak memory in MiB; what it printed."""

    def __init__(self, words, code, memory, said, errors):
        self.words, self.code, self.memory, self.said, self.errors = (
            words,
            code,
            memory,
            said,
            errors,
        )


class Program:
    """A program, loaded once. Not to be shared between processes."""

    def __init__(self, path, environment):
        self.path = str(path)
        requests, self.requests = os.pipe()
        self.replies, replies = os.pipe()
        settings = {
            "LD_PRELOAD": str(FORK_SERVER),
            "SYNCLINE_FORK_SERVER": f"{requests},{replies}",
        }
        self.process = subprocess.Popen(
            [self.path], env={**os.environ, **environment, **settings}, pass_fds=(requests, replies)
        )
        os.close(requests)
        os.close(replies)

    def close(self):
        os.close(self.requests)
        os.close(self.replies)
        self.process.wait()

    def call(self, words, folder, seconds):
        """Runs the command with `words` in `folder`, for at most `seconds`; the Outcome."""
        files = [pathlib.Path(folder).parent / name for name in ("stdout", "stderr")]
        text = "".join(f"{word}\0" for word in (folder, *files, *words)).encode(
            "utf-8", "surrogateescape"
        )
        os.write(self.requests, struct.pack("=I", len(text)) + text)
        child, late = self.number(), False
        if not select.select([self.replies], [], [], seconds)[0]:
            late = True
            os.killpg(child, signal.SIGKILL)
        status, memory = self.number(), self.number() / 1024
        end_group(child)
        said, errors = (path.read_text(errors="replace") for path in files)
        return Outcome(
            words, None if late else os.waitstatus_to_exitcode(status), memory, said, errors
        )

    def number(self):
        data = b""
        while len(data) < NUMBER.size:
            more = os.read(self.replies, NUMBER.size - len(data))
            if not more:
                raise RuntimeError(f"the fork server of {self.path} ended")
            data += more
        return NUMBER.unpack(data)[0]


def end_group(leader):
    """Ends what a call has left running."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass
