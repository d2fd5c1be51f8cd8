"""What the tests of lost ranks of PyTorch share: test_torch_kills.py, test_torch_kills_unplanned.py
and test_torch_kills_wrap.py have a way to train each, so that each is a part of the long run.

SYNCLINE_KILLS is the number of trials of each way, and SYNCLINE_SEED repeats those of another run.
"""

import collections
import json
import os
import random
import re
import signal
import subprocess

import harness
from torch_ranks import TESTS, TorchRanksTest
from waiting import PATIENCE

SEED = int(os.environ.get("SYNCLINE_SEED", random.SystemRandom().randrange(2**32)))
KILLS = int(os.environ.get("SYNCLINE_KILLS", 34))
AT_ONCE = 4  # jobs, of about 75 MB a rank
# Seconds that a collective may take. Ranks that only wait for a processor take less: a stopped rank
# alone reaches this.
LIMIT = 120


class KillsTest(TorchRanksTest):
    script = TESTS / "torch_kills_rank.py"
    way = None  # 'plan' and 'no plan' by the backend, or 'wrap'

    def trial(self, chance):
        ranks = chance.randint(2, 4)
        return {
            "way": self.way,
            "ranks": ranks,
            "victim": chance.randrange(ranks),
            "signal": chance.choice((signal.SIGKILL, signal.SIGSTOP)),
            "is_served_by_rank_0": chance.random() < 0.5,
            "steps": chance.randint(1, 12),
            "delay": chance.uniform(0, 0.2),
            "plan": str(self.plan(ranks)),
            "port": harness.free_port(),
            "limit": LIMIT,
            "patience": PATIENCE,
        }

    def expected(self, trial):
        """What the others say."""
        victim = trial["victim"]
        if victim > 0:
            return rf"lost rank {victim} \("
        has_plan = self.way != "no plan"
        named = r"lost rank 0 \(|rank 0 (ended|does not)" if has_plan else r"lost rank 0 \("
        store = r"the job's store does not answer.*: the process that serves it, often rank 0's"
        if self.way == "wrap" or not trial["is_served_by_rank_0"]:
            return named
        if trial["signal"] == signal.SIGKILL:
            return named if has_plan else store
        # A plan's group notices a stuck rank by its messages alone, and this may be none.
        return f"{named}|{store}" if has_plan else store

    def check(self, trial):
        told = {name: trial[name] for name in ("way", "ranks", "victim", "signal", "codes")}
        told |= {"is_served_by_rank_0": trial["is_served_by_rank_0"], "seconds": trial["seconds"]}
        for rank, (code, said) in enumerate(zip(trial["codes"], trial["errors"])):
            if rank == trial["victim"]:
                continue
            with self.subTest(rank=rank, **told):
                self.assertEqual(code, 1, said)
                self.assertRegex(said, self.expected(trial))
                self.assertIn("Traceback (most recent call last)", said)
                named = set(re.findall(r"(?:lost|waited for) rank ([\d, ]*\d)", said))
                self.assertLessEqual(named, {str(trial["victim"])}, said)
        with self.subTest(**told):
            self.assertGreaterEqual(trial["seconds"], 0, "a rank ended before any was lost")
            if trial["signal"] == signal.SIGKILL:  # noticed by its connections, not by the limit
                self.assertLess(trial["seconds"], LIMIT)

    def results(self, trials):
        """What became of the trials, as they end."""
        words = [self.python, "-W", "ignore", self.script, self.folder, AT_ONCE]
        process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.variables(),
        )
        self.addCleanup(lambda: (process.kill(), process.wait()))
        process.stdin.write("".join(json.dumps(trial) + "\n" for trial in trials))
        process.stdin.close()
        yield from map(json.loads, process.stdout)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_all_others_name_the_rank(self):
        print(f"\nSYNCLINE_SEED={SEED}", flush=True)
        chance, count, longest = random.Random(SEED), collections.Counter(), {}
        for trial in self.results([self.trial(chance) for _ in range(KILLS)]):
            self.check(trial)
            key = signal.Signals(trial["signal"]).name
            count[key] += 1
            longest[key] = max(longest.get(key, 0.0), trial["seconds"])
            print(".", end="", flush=True)
        self.assertEqual(sum(count.values()), KILLS)
        for key, number in sorted(count.items()):
            told = f"{number}, told within {longest[key]:.1f} s"
            print(f"\n{self.way} by {key}: {told}", end="", flush=True)
