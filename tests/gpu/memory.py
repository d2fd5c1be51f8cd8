"""The card's memory that a run takes, ours beside PyTorch's."""

import subprocess
import threading

from table import Check, Failed, Skipped

LIMIT = 1.0  # ours / theirs
STEPS = 12
POLL = 0.1  # seconds between two looks


class Memory:
    def __init__(self, machine):
        self.machine = machine

    def checks(self):
        for name, entry in self.machine.manifest["speed"].items():
            if name == "too-large" or entry["ranks"] > 1:
                continue
            for precision in ("tf32", "bf16"):
                label = f"memory {name} {precision}, PyTorch eager"
                yield Check(label, f"<= {LIMIT}", self.against_torch, (name, entry, precision))

    def against_torch(self, name, entry, precision):
        """Both sides by the same measure: what the card has taken beyond what it had before, so
        that a side's own context and libraries count too."""
        machine = self.machine
        machine.needs_gpu("the card's memory")
        machine.needs_torch()
        plan = machine.file(entry["plans"][precision])
        words = f"--steps {STEPS} --lr 0.001 --momentum 0.9".split()
        ours, _ = self.peak(
            lambda: machine.must("memory-syncline", *machine.words(plan, 1, *words))
        )
        script = machine.file(entry["script"])
        words = [*("--batch", entry["batch"], "--size", entry["size"], "--steps", STEPS), "--last"]
        theirs, said = self.peak(
            lambda: machine.python(
                *("memory-torch", "torch_step.py", entry["model"], script),
                *("--precision", precision, *words),
            )
        )
        return judge(ours, theirs, said["reserved"])

    def peak(self, run):
        """The most bytes taken while `run()` runs, and what it returns."""
        before, most, ended = self.used(), [0], threading.Event()

        def watch():
            while not ended.wait(POLL):
                most[0] = max(most[0], self.used())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            said = run()
        finally:
            ended.set()
            watcher.join()
        return most[0] - before, said

    def used(self):
        card = self.machine.environment["CUDA_VISIBLE_DEVICES"]
        query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        done = subprocess.run(["nvidia-smi", "-i", card, *query], capture_output=True)
        if done.returncode != 0:
            raise Skipped(f"nvidia-smi does not say what memory card {card} has taken")
        return int(done.stdout.split()[0]) << 20


def judge(ours, theirs, reserved):
    """The row's text; `reserved` is what PyTorch's allocator says of itself."""
    if ours <= 0 or theirs <= 0:
        raise Skipped("others on the card gave memory back meanwhile")
    text = (
        f"{ours / theirs:.2f} ({ours / 1e9:.2f} GB / {theirs / 1e9:.2f} GB, of which PyTorch's"
        f" allocator reserved {reserved / 1e9:.2f} GB)"
    )
    if ours / theirs > LIMIT:
        raise Failed(text)
    return text
