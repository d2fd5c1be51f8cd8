"""One input: it is made, given to the commands, and judged."""

import atexit
import os
import pathlib
import re
import shlex
import shutil

import harness
import server
import targets

CRASHES = (
    "Assertion",
    "terminate called",
    "Stack dump",
    "PLEASE submit",
    "what():",
    "Traceback",
    "AddressSanitizer",
)
RUNS = ("run",)  # commands that `syncline` hands over to a program beside it

worker = None  # of this process: programs, folders, choices


class Worker:
    def __init__(self, good, work, chosen):
        self.seeds, self.chosen = good, chosen
        self.folder = pathlib.Path(work) / f"worker{os.getpid()}"
        self.folder.mkdir()
        environment = {"CXX": str(good.compiler)}
        self.programs = {
            name: server.Program(harness.BUILD / "bin" / name, environment)
            for name in ("syncline", "syncline-run")
        }
        atexit.register(lambda: [program.close() for program in self.programs.values()])


def begin(good, work, chosen):
    """Sets this process up for `try_input`."""
    global worker
    worker = Worker(good, work, chosen)


def try_input(which):
    """(target, findings as text, was every command content, peak memory in MiB) of one input."""
    target, number = which
    case = Case(target, number)
    try:
        targets.TARGETS[target](case)
    finally:
        findings = case.end()
    return target, findings, case.accepted, case.memory


class Case:
    """One input of a target, with a folder of its own."""

    def __init__(self, target, number):
        self.target, self.number, self.seeds = target, number, worker.seeds
        self.rng = targets.rng_of(worker.chosen.seed, target, number)
        self.folder = worker.folder / "case"
        self.folder.mkdir()
        self.findings, self.accepted, self.memory = [], True, 0

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def run(self, command, *words, made=None):
        """Calls a command; did it succeed? `made` is what it writes, which a failed one must
        not leave."""
        program, before = ("syncline-run", []) if command in RUNS else ("syncline", [command])
        call = [*before, *map(str, words)]
        outcome = worker.programs[program].call(call, self.folder, worker.chosen.seconds)
        self.memory = max(self.memory, outcome.memory)
        fault = fault_of(outcome)
        if not fault and outcome.code != 0 and made and (self.folder / made).exists():
            fault = f"'{made}' stayed behind"
        if not fault and list(self.folder.glob("*.partial*")):
            fault = "something half-written stayed behind"
        if fault:
            self.findings.append((f"{program} {shlex.join(call)}", fault, outcome.errors))
        self.accepted = self.accepted and outcome.code == 0
        return outcome.code == 0

    def must(self, *words):
        """As `run`; a refusal is a finding, too."""
        known = len(self.findings)
        if not self.run(*words) and len(self.findings) == known:
            self.findings.append(
                (shlex.join(map(str, words)), "refused what the command before has made", "")
            )

    def end(self):
        """Keeps the input of a finding and clears the folder; the findings as text."""
        lines = []
        if self.findings:
            kept = (
                pathlib.Path(worker.chosen.keep).absolute()
                / f"{self.target}-{worker.chosen.seed}-{self.number}"
            )
            shutil.copytree(self.folder, kept, dirs_exist_ok=True, symlinks=True)
            for command, fault, errors in self.findings:
                command = command.replace(str(self.folder), str(kept))
                lines.append(
                    f"{self.target} {self.number}: {fault}: {command}\n    {errors[:600].strip()}"
                )
            (kept / "finding.txt").write_text("\n".join(lines) + "\n")
        shutil.rmtree(self.folder, ignore_errors=True)
        return lines


def fault_of(outcome):
    """What is wrong with how a call ended; empty where nothing is."""
    if outcome.code is None:
        return "took too long"
    if outcome.code not in (0, 1, 2):
        return (
            f"ended by signal {-outcome.code}" if outcome.code < 0 else f"exit code {outcome.code}"
        )
    for crash in CRASHES:
        if crash in outcome.errors:
            return f"said '{crash}'"
    messages = [
        line
        for line in outcome.errors.splitlines()
        if re.match(r"syncline[a-z-]*(: rank \d+)?: error: ", line)
    ]
    if outcome.code != 0 and len(messages) != 1:
        return f"exit code {outcome.code} with {len(messages)} messages"
    return ""


class Row:
    """What came out for one target."""

    def __init__(self):
        self.inputs = self.accepted = self.findings = 0
        self.memory = 0.0

    def add(self, findings, accepted, memory):
        self.inputs += 1
        self.accepted += accepted
        self.findings += bool(findings)
        self.memory = max(self.memory, memory)


def table(rows):
    lines = [f"{'target':<15}{'inputs':>8}{'accepted':>10}{'findings':>10}{'peak MiB':>10}"]
    for name, row in rows.items():
        lines.append(
            f"{name:<15}{row.inputs:>8}{row.accepted:>10}{row.findings:>10}{row.memory:>10.0f}"
        )
    total = [
        sum(getattr(row, key) for row in rows.values())
        for key in ("inputs", "accepted", "findings")
    ]
    lines.append(f"{'together':<15}{total[0]:>8}{total[1]:>10}{total[2]:>10}")
    return "\n".join(lines)
