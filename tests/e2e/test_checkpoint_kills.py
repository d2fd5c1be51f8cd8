"""Runs that are killed at random moments and resumed train the same bits as one that was never
stopped. SYNCLINE_KILLS sets the number of kills of each test."""

import json
import os
import random
import signal
import time

from checkpointed import RANKS, CheckpointedTest
from depth import repeat
from processes import ranks_of
from waiting import PATIENCE

KILLS = int(os.environ.get("SYNCLINE_KILLS", repeat(1, 25)))
STEPS = 400
SEED = random.SystemRandom().randrange(2**32)


class CheckpointKillsTest(CheckpointedTest):
    def kill(self, process, delay, victim):
        """Ends all processes of the run at once, or one rank by its number. Whether the run was
        still under way."""
        time.sleep(delay)
        if process.poll() is not None:
            return False
        try:
            if victim is None:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                os.kill(ranks_of(process.pid)[victim], signal.SIGKILL)
        except (ProcessLookupError, IndexError):
            return False  # it has just ended, or not begun
        return True

    def survives(self, way, one_rank=False):
        chance = random.Random(SEED)
        plan = self.plan_of(way)
        begun = time.monotonic()
        undisturbed = self.saving(self.folder / f"{way}-w", 8)
        wanted, _, _, _ = self.train(plan, STEPS, "whole", extra=undisturbed)
        longest = time.monotonic() - begun
        out, kills, runs, resumed = self.folder / "out.onnx", 0, 0, 0
        while kills < KILLS or runs == 0 or (self.folder / f"{way}-c{runs}").exists():
            saved = self.folder / f"{way}-c{runs}"
            words = self.words(plan, STEPS, out, extra=self.saving(saved, 8, "--resume"))
            process = self.begin([*words, "--timeout", PATIENCE])
            if kills < KILLS:
                victim = chance.randrange(RANKS) if one_rank else None
                kills += self.kill(process, chance.uniform(0, longest), victim)
            output, said = process.communicate(timeout=PATIENCE)
            resumed += "resumes from checkpoint" in said
            if process.returncode == 0:
                self.assertEqual(out.read_bytes(), wanted, f"seed {SEED}, run {runs}\n{said}")
                self.assertTrue(json.loads(output.splitlines()[-1])["summary"])
                out.unlink()
                runs += 1
            self.assertNotIn("is refused", said)  # a kill leaves whole checkpoints, or none
        print(f"{way}: {kills} kills, {resumed} runs resumed, {runs} ended", flush=True)

    def test_all_ranks_at_once(self):
        for way in repeat(("diloco",), ("ring", "carried-sharded", "diloco")):
            with self.subTest(way=way):
                self.survives(way)

    def test_one_rank(self):
        self.survives("sharded", one_rank=True)
