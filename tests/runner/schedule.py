"""Runs jobs, so many at a time, each as a process whose processor time is taken."""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

from outcomes import of_job

# Seconds. A job that takes longer hangs: on an idle machine none of the short run takes a tenth of
# it. Beside other load parts of the long run have taken half an hour.
LIMIT, LONG_LIMIT = 1800, 7200


class Ended:
    """A job that has ended: its outcomes, what it printed, and the seconds that it took."""

    def __init__(self, job, outcomes, printed, wall, cpu):
        self.job, self.outcomes, self.printed = job, outcomes, printed
        self.wall, self.cpu = wall, cpu

    def count(self, outcome):
        return sum(one.outcome == outcome for one in self.outcomes)

    def failed(self):
        return [one.test for one in self.outcomes if one.outcome == "failed"]


class Processes:
    """The groups of those that run, so that an interruption ends them all."""

    def __init__(self):
        self.groups, self.lock, self.stopped = set(), threading.Lock(), False

    def start(self, command, **options):
        with self.lock:
            if self.stopped:
                raise InterruptedError("the run has been stopped")
            process = subprocess.Popen(command, start_new_session=True, **options)
            self.groups.add(process.pid)
            return process

    def end(self, group):
        with self.lock:
            self.groups.discard(group)
        kill(group)

    def stop(self):
        with self.lock:
            self.stopped = True
            for group in self.groups:
                kill(group)


def kill(group):
    """Ends what a job has started and left in its process group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_job(job, names, surroundings, processes, limit):
    """Prints into a file: a pipe would stay open as long as a process that a test left behind."""
    with tempfile.TemporaryDirectory() as folder:
        results, output = pathlib.Path(folder) / "results", pathlib.Path(folder) / "output"
        command = [str(word) for word in job.command]
        environment = {**surroundings, **job.environment}
        if job.is_python:
            command += [str(results), *(word for name in names for word in ("-k", name))]
        else:
            environment["GTEST_OUTPUT"] = f"xml:{results}"
            if names and not any(name in job.name for name in names):
                environment["GTEST_FILTER"] = ":".join(f"*{name}*" for name in names)
        began = time.monotonic()
        code, cpu = wait(job, command, environment, output, processes, limit)
        wall = time.monotonic() - began
        printed = output.read_text(errors="replace")
        return Ended(job, of_job(job, results, code, wall, cpu, names), printed, wall, cpu)


def wait(job, command, environment, output, processes, limit):
    """The exit code and the processor seconds. A job at the limit is killed, and says so."""
    with output.open("ab") as to:
        try:
            process = processes.start(
                command,
                cwd=job.working_directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=to,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            to.write(f"{command[0]} cannot be started: {error}\n".encode())
            return 1, 0
        reached = threading.Event()
        late = threading.Timer(limit, lambda: (reached.set(), kill(process.pid)))
        late.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        late.cancel()
        processes.end(process.pid)
        if reached.is_set():
            to.write(f"\nkilled after {limit} s, the limit of a job\n".encode())
        elif code < 0:
            to.write(f"\nended by {signal.Signals(-code).name}\n".encode())
    return code, used.ru_utime + used.ru_stime


def run_jobs(jobs, parallel, names, surroundings, limit=LIMIT):
    """Yields each job as it ends, while the others go on."""
    processes = Processes()
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        try:
            started = [
                pool.submit(run_job, job, names, surroundings, processes, limit) for job in jobs
            ]
            for one in concurrent.futures.as_completed(started):
                yield one.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.stop()
