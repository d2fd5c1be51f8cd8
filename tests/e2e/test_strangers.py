"""Processes that are no ranks of a run and connect to rank 0: the run goes on, and costs rank
0 nothing."""

import contextlib
import os
import pathlib
import resource
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import harness
from waiting import LOOK, PATIENCE, until

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
RANKS = 3
LOOKS = 50


def is_asleep(process):
    """Whether all threads of a process wait. One that spins never does, on no machine."""
    stats = [path.read_text() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "S" for stat in stats)


def resident_bytes(process):
    pages = pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def frame(*parts):
    text = b"".join(struct.pack("<I", len(part)) + part for part in parts)
    return struct.pack("<I", len(text)) + text


def listeners():
    """The addresses and ports, as hexadecimal numbers, at which processes listen."""
    tables = [pathlib.Path("/proc/net") / name for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables if table.exists() for line in table.open()]
    return [row[1] for row in rows if row[3] == "0A"]


def waits(process):
    """Whether it does a look later."""
    time.sleep(LOOK)
    return is_asleep(process)


class StrangersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.plan = harness.compile_plan(DIGITS, folder, ranks=RANKS)

    def setUp(self):
        self.port = harness.free_port()

    def start(self, rank, ranks=RANKS, files=None, limit=PATIENCE, **told):
        told |= {
            "RANK": rank,
            "WORLD_SIZE": ranks,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": self.port,
        }
        process = subprocess.Popen(
            [
                str(harness.SYNCLINE),
                "run",
                str(self.plan),
                "--steps",
                "2",
                "--start-timeout",
                str(limit),
            ],
            env={**os.environ, **{name: str(value) for name, value in told.items()}},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: files and resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        process.stderr.close()

    def stranger(self, first, text=b""):
        """A connection to rank 0, whose process `first` may still have to start."""
        while first.poll() is None:
            try:
                connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
                self.addCleanup(connection.close)
                connection.sendall(text)
                return connection
            except ConnectionRefusedError:
                time.sleep(LOOK)
            except OSError:  # closed again while the text was sent
                return None
        return self.fail(f"rank 0 ended before it listened: {first.stderr.read()}")

    def crowded(self, **more):
        """Rank 0, which waits for others, with more connections than it can take."""
        first = self.start(0, **more)
        self.stranger(first)
        until(lambda: all(waits(first) for _ in range(10)), "rank 0 waits for others", first)
        for _ in range(60):
            self.stranger(first)
        return first

    def trains(self, processes):
        for process in processes:
            errors = process.communicate(timeout=PATIENCE)[1]
            self.assertEqual(process.returncode, 0, errors)

    def test_no_file_descriptor_left(self):
        """Connections that say nothing use up rank 0's: it waits for them to end, and then meets
        the others."""
        first = self.crowded(files=40)
        self.assertGreater(sum(waits(first) for _ in range(LOOKS)), LOOKS / 2, "rank 0 spins")
        self.trains([first, self.start(1), self.start(2)])

    def test_no_file_descriptor_ever(self):
        """Where it stays so, rank 0 says why it met nobody."""
        first = self.crowded(files=40, limit=20)
        errors = first.communicate(timeout=PATIENCE)[1]
        self.assertEqual(first.returncode, 1, errors)
        self.assertIn("no sign in time of ranks 1, 2", errors)
        self.assertIn("rank 0 could not take all connections: Too many open files", errors)

    def test_long_first_words(self):
        """What claims to be 16 MiB long is not kept until it is known who speaks."""
        first = self.start(0)
        self.stranger(first)
        before = resident_bytes(first)
        most = (16 << 20) - 16
        for _ in range(10):
            self.stranger(first, struct.pack("<I", most) + bytes(most))
        self.assertLess(resident_bytes(first) - before, 16 << 20)
        self.trains([first, self.start(1), self.start(2)])

    def test_process_of_another_run(self):
        """It is turned away and told why; the run that it came to by mistake goes on."""
        first = self.start(0)
        self.stranger(first)
        stray = self.stranger(first, frame(b"syncline-2", b"watch", b"7", b"9", b""))
        self.assertIn(b"rank 7 was started as one of 9 ranks, rank 0 as one of 3", stray.recv(1000))
        self.trains([first, self.start(1), self.start(2)])

    def refused(self, process, code, said):
        errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual((process.returncode, errors), (code, f"syncline-run: error: {said}\n"))

    def test_rank_that_is_started_twice(self):
        """The second one is told so at once, and the run goes on with the first."""
        first, twins = self.start(0), [self.start(1), self.start(1)]
        ended = until(lambda: [twin for twin in twins if twin.poll() is not None], "one is refused")
        self.refused(ended[0], 1, "two processes were started as rank 1")
        twins.remove(ended[0])
        self.trains([first, *twins, self.start(2)])

    def test_second_run_at_the_port(self):
        """Its rank 0 says that the port is taken, and the first run goes on."""
        first = self.start(0)
        self.stranger(first)
        self.refused(
            self.start(0), 1, f"cannot listen on port {self.port}: Address already in use"
        )
        self.trains([first, self.start(1), self.start(2)])

    def test_wrong_number_of_ranks(self):
        """A rank that was told another one than the plan's says so, and the run goes on."""
        first = self.start(0)
        self.refused(
            self.start(2, ranks=4),
            2,
            f"the plan is for {RANKS} ranks, 'WORLD_SIZE' says 4; 'compile --nodes 4' makes one "
            "that fits",
        )
        self.trains([first, self.start(1), self.start(2)])

    def test_meeting_point_on_loopback(self):
        """It is not reachable from other hosts, neither by IPv4 nor by IPv6."""
        first = self.start(0)
        self.stranger(first)
        places = [place for place in listeners() if place.endswith(f":{self.port:04X}")]
        self.assertEqual(places, [f"0100007F:{self.port:04X}"])
        self.trains([first, self.start(1), self.start(2)])

    def test_neighbour_who_comes_before_a_rank(self):
        """Who does not know the secret of local ranks takes no rank's place and ends no run."""
        known, over = set(listeners()), threading.Event()
        self.addCleanup(over.set)

        def claim():
            while not over.is_set():
                for place in set(listeners()) - known:
                    address, port = place.split(":")
                    if address != "0100007F":
                        continue
                    with contextlib.suppress(OSError):
                        stranger = socket.create_connection(("127.0.0.1", int(port, 16)))
                        self.addCleanup(stranger.close)
                        stranger.sendall(frame(b"syncline-2", b"watch", b"1", b"%d" % RANKS, b""))
                        stranger.sendall(frame(b"failed", b"disk\n\x1b[31mmany text"))

        neighbour = threading.Thread(target=claim)
        neighbour.start()
        try:
            harness.syncline("run", self.plan, "-n", RANKS, "--steps", 2)
        finally:
            over.set()
            neighbour.join()

    def test_secret_of_ranks_that_others_start(self):
        """Who does not know what the environment tells all ranks keeps no rank's place."""
        first = self.start(0, SYNCLINE_SECRET="one")
        for role in (b"watch", b"store"):
            for word in (b"syncline-2", b"syncline-2 ", b"syncline-2 two"):
                stranger = self.stranger(first, frame(word, role, b"1", b"%d" % RANKS, b""))
                self.assertEqual(stranger.recv(1000), b"")
        for secret in ({}, {"SYNCLINE_SECRET": "two"}):
            other = self.start(1, **secret)
            said = other.communicate(timeout=PATIENCE)[1]
            self.assertIn("rank 0 of this run has ended or was given another secret", said)
            self.assertEqual(other.returncode, 1)
        self.trains([first, *(self.start(rank, SYNCLINE_SECRET="one") for rank in (1, 2))])


if __name__ == "__main__":
    unittest.main()
