"""A rank of PyTorch that is killed or stopped at a random moment within a step: all others name it
by an exception, by the backend 'syncline' with a plan and without, and by wrap().

SYNCLINE_KILLS is the number of trials, and SYNCLINE_SEED repeats those of another run.
"""

import collections
import json
import os
import random
import re
import signal
import subprocess

import harness
from depth import long
from torch_ranks import TESTS, TorchRanksTest
from waiting import PATIENCE, SILENCE

SEED = int(os.environ.get("SYNCLINE_SEED", random.SystemRandom().randrange(2**32)))
KILLS = int(os.environ.get("SYNCLINE_KILLS", 100))
AT_ONCE = 4
WAYS = ("plan", "no plan", "wrap")


@long("some moments in test_torch_backend, test_torch_watch and test_torch_wrap")
class TorchKillsTest(TorchRanksTest):
    script = TESTS / "torch_kills_rank.py"

    def trial(self, chance):
        ranks = chance.randint(2, 4)
        return {
            "way": chance.choice(WAYS),
            "ranks": ranks,
            "victim": chance.randrange(ranks),
            "signal": chance.choice((signal.SIGKILL, signal.SIGSTOP)),
            "is_served_by_rank_0": chance.random() < 0.5,
            "steps": chance.randint(1, 12),
            "delay": chance.uniform(0, 0.2),
            "plan": str(self.plan(ranks)),
            "port": harness.free_port(),
            "limit": SILENCE,
            "patience": PATIENCE,
            "at_once": AT_ONCE,
        }

    def expected(self, trial):
        """What the others say."""
        victim, way = trial["victim"], trial["way"]
        if victim > 0:
            return rf"lost rank {victim} \("
        named = r"lost rank 0 \(" if way == "no plan" else r"lost rank 0 \(|rank 0 (ended|does not)"
        store = r"the job's store does not answer.*: the process that serves it, often rank 0's"
        if way == "wrap" or not trial["is_served_by_rank_0"]:
            return named
        if trial["signal"] == signal.SIGKILL:
            return store if way == "no plan" else named
        # A plan's group notices a stuck rank by its messages alone, and this may be none.
        return store if way == "no plan" else f"{named}|{store}"

    def check(self, trial):
        told = {name: trial[name] for name in ("way", "ranks", "victim", "signal", "codes")}
        told["is_served_by_rank_0"] = trial["is_served_by_rank_0"]
        for rank, (code, said) in enumerate(zip(trial["codes"], trial["errors"])):
            if rank == trial["victim"]:
                continue
            with self.subTest(rank=rank, **told):
                self.assertEqual(code, 1, said)
                self.assertRegex(said, self.expected(trial))
                self.assertIn("Traceback (most recent call last)", said)
                named = set(re.findall(r"(?:lost|waited for) rank ([\d, ]*\d)", said))
                self.assertLessEqual(named, {str(trial["victim"])}, said)

    def test_all_others_name_the_rank(self):
        print(f"\nSYNCLINE_SEED={SEED}", flush=True)
        chance, count, longest = random.Random(SEED), collections.Counter(), {}
        trials = [self.trial(chance) for _ in range(KILLS)]
        words = [self.python, "-W", "ignore", self.script, self.folder]
        environment = self.variables()
        process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.addCleanup(lambda: (process.kill(), process.wait()))
        process.stdin.write("".join(json.dumps(trial) + "\n" for trial in trials))
        process.stdin.close()
        for line in process.stdout:
            trial = json.loads(line)
            self.check(trial)
            key = trial["way"], signal.Signals(trial["signal"]).name
            count[key] += 1
            longest[key] = max(longest.get(key, 0.0), trial["seconds"])
            print(".", end="", flush=True)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(sum(count.values()), KILLS)
        for key, number in sorted(count.items()):
            told = f"{number}, told within {longest[key]:.1f} s"
            print(f"\n{' by '.join(key)}: {told}", end="", flush=True)


if __name__ == "__main__":
    import unittest

    unittest.main()
