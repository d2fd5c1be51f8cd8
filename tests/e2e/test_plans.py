"""Plans: the same input gives the same bytes; changed, foreign and differing plans are refused."""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import harness
import plans
from refusal import ChangedPlanTest
from waiting import PATIENCE, SILENCE

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
IMAGES = f"{DATA / 'digits-train-x.npy'},{DATA / 'digits-train-y.npy'}"
FILES = ("plan.mlir", "plan.json", "step.cpp", "step.so", "weights.bin", "model.onnx")


class PlanTest(ChangedPlanTest):
    batch = 4

    def test_same_input_same_bytes(self):
        """Compiled twice, in different folders, every file of the plan is the same."""
        again = harness.compile_plan(DIGITS, self.folder, ranks=2, batch=4)
        for name in FILES:
            with self.subTest(file=name):
                self.assertEqual((again / name).read_bytes(), (self.original / name).read_bytes())

    def test_changed_byte(self):
        """One byte changed anywhere is noticed by `verify` and by `run`."""
        for name in FILES:
            with self.subTest(file=name):
                path = self.plan / name
                data = bytearray(path.read_bytes())
                data[len(data) // 2] ^= 1
                path.write_bytes(data)
                self.refuses(["verify", self.plan], "copy.plan")
                self.refuses(
                    ["run", self.plan, "-n", 2, "--data", IMAGES, "--steps", 1], "copy.plan"
                )
                shutil.copy(self.original / name, path)

    def test_missing_file(self):
        for name in FILES:
            with self.subTest(file=name):
                (self.plan / name).unlink()
                self.refuses(["verify", self.plan], name)
                shutil.copy(self.original / name, self.plan / name)

    def test_changed_certificate(self):
        """A plan whose hash was made to fit again still has to prove that it is optimal."""
        self.rewrite(lambda plan: plan["predicted"].update(step=plan["predicted"]["step"] / 2))
        self.refuses(["verify", self.plan], "copy.plan")

    def test_another_version(self):
        self.rewrite(lambda plan: plan.update(schema=2))
        anew = f"syncline compile MODEL --cluster FILE -o {self.plan}"
        self.refuses(["verify", self.plan], "schema", anew)
        self.refuses(["run", self.plan, "-n", 2, "--data", IMAGES, "--steps", 1], "schema", anew)

    def rewrite(self, change):
        """Changes plan.json and puts the hashes right."""
        document = harness.plan_json(self.plan)
        change(document)
        plans.rehash(self.plan, document)

    def test_wrong_number_of_ranks(self):
        self.refuses(["run", self.plan, "-n", 3, "--data", IMAGES, "--steps", 1], "3", "2", code=2)

    def test_missing_data(self):
        data = f"{self.folder}/no-x.npy,{self.folder}/no-y.npy"
        self.refuses(["run", self.plan, "-n", 2, "--data", data, "--steps", 1], "no-x.npy")

    def test_data_of_another_shape(self):
        data = f"{DATA / 'digits-train-y.npy'},{DATA / 'digits-train-y.npy'}"
        self.refuses(
            ["run", self.plan, "-n", 2, "--data", data, "--steps", 1], "digits-train-y.npy"
        )

    def test_inspect_of_a_plan_edited_by_hand(self):
        """Whatever is missing though the hash fits is bad input, not our fault."""
        for change in (
            lambda plan: plan.pop("buckets"),
            lambda plan: plan.update(ranks="two"),
            lambda plan: plan["buckets"][0].update(members=[]),
        ):
            self.rewrite(change)
            self.refuses(["inspect", self.plan], "plan.json", "schema")
            shutil.copy(self.original / "plan.json", self.plan)

    def test_unlisted_file(self):
        """A file without a hash could be anything."""
        for name in ("plan.mlir", "step.cpp", "step.so", "weights.bin", "model.onnx"):
            with self.subTest(file=name):
                self.rewrite(lambda plan: plan["hashes"]["files"].pop(name))
                self.refuses(["verify", self.plan], f"no hash of '{name}'")
                shutil.copy(self.original / "plan.json", self.plan)

    def claim(self, text, certificate):
        """Puts another text and certificate into the plan, all hashes right."""
        (self.plan / "plan.mlir").write_text(text)
        self.rewrite(lambda plan: plan.update(certificate=certificate))

    def refuses_proof(self, *names):
        said = self.refuses(["verify", self.plan], "plan.mlir", *names)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertNotIn("see current operation", said)

    def test_finish_times_that_do_not_hold(self):
        """plan.mlir and plan.json agree and every hash fits: only the proof refutes them."""
        shutil.rmtree(self.plan)
        measured = (
            harness.CLUSTER.split("network")[0]
            + "collectives: {{all-reduce: {{a: 1ms, b: 1ns/B}}}}\n"
        )
        harness.compile_plan(DIGITS, self.folder, ranks=2, cluster=measured).rename(self.plan)
        text = (self.plan / "plan.mlir").read_text()
        found = re.search(r"certificate #sync.times<\[(.*?)\]>", text)
        times = [float(time) for time in found[1].split(",")]
        for scale, reason in ((1.1, "M23"), (0.9, "certificate proves")):
            with self.subTest(scale=scale):
                scaled = [time * scale for time in times]
                claim = f"certificate #sync.times<[{', '.join(map(repr, scaled))}]>"
                self.claim(text.replace(found[0], claim), {"finish_times": scaled})
                self.refuses_proof(reason)

    def test_relaxation_that_is_none(self):
        """The bound rests on lines under the costs of messages; these lie above."""
        text = (self.plan / "plan.mlir").read_text()
        found = re.search(r"#sync.relaxations<(\[\[.*?\]\])>", text)
        raised = [
            [weight, held, 2 * latency, slope]
            for weight, held, latency, slope in json.loads(found[1])
        ]
        certificate = harness.plan_json(self.plan)["certificate"]
        rows = ", ".join(
            "[" + ", ".join(f"{number:.17e}" for number in row) + "]" for row in raised
        )
        self.claim(text.replace(found[1], f"[{rows}]"), {**certificate, "relaxations": raised})
        self.refuses_proof("J31")

    def test_results_that_cannot_be_written(self):
        """Said before the training, not after it."""
        (self.folder / "folder").mkdir()
        self.write("file", "")
        for words in (
            ["--save", self.folder / "folder"],
            ["--save", self.folder / "absent" / "trained.onnx"],
            ["--dump", self.folder / "file"],
            ["--dump", self.folder / "file" / "inside"],
        ):
            with self.subTest(words=words):
                said = self.refuses(
                    ["run", self.plan, "--steps", 1, *words], words[1], "cannot write"
                )
                self.assertNotIn("step 1", said)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount")
    def test_full_disk(self):
        """The trained model does not fit: said as such, and nothing of it stays."""
        small = self.folder / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("may not mount here")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        trained = small / "trained.onnx"
        self.refuses(["run", self.plan, "--steps", 1, "--save", trained], trained, "cannot write")
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 2, "-o", small / "a.plan"]
        self.refuses(words, small)

    def test_dump_of_a_step_that_never_comes(self):
        words = ["--steps", 1, "--dump", self.folder / "dump", "--dump-steps", 99]
        self.refuses(["run", self.plan, *words], "--dump-steps 99", code=2)

    def test_data_from_a_pipe(self):
        os.mkfifo(self.folder / "x.npy")
        data = f"{self.folder / 'x.npy'},{DATA / 'digits-train-y.npy'}"
        self.refuses(["run", self.plan, "--data", data, "--steps", 1], "x.npy", "regular file")

    def test_plan_of_a_trace(self):
        """It is inspected and verified; `run` says why it does not run."""
        trace = self.write(
            "layers.CSV", "name,bytes,forward,backward\na,4KiB,1ms,2ms\nb,8KiB,1ms,2ms\n"
        )
        plan = self.folder / "trace.plan"
        harness.syncline("compile", trace, "--cluster", self.cluster, "-o", plan)
        self.assertIn("no program for 'run'", harness.syncline("inspect", plan))
        harness.syncline("verify", plan)
        self.refuses(["run", plan], "trace.plan", "layer trace")

    def test_stopped_rank(self):
        """A rank that hangs ends the other's run within its time limit."""
        port = harness.free_port()
        ranks = [self.start(self.plan, r, port, 10_000_000, ["--timeout", SILENCE]) for r in (0, 1)]
        self.addCleanup(ranks[1].kill)
        self.assertTrue(ranks[0].stdout.readline(), "rank 0 ended before its first step")
        ranks[1].send_signal(signal.SIGSTOP)
        code, _, errors = self.finish(ranks[:1])[0]
        self.assertEqual(code, 1, errors)
        self.assertIn("rank 1", errors)

    def start(self, plan, rank, port, steps=1, extra=()):
        """One rank of two, found from the environment as torchrun sets it."""
        environment = {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": rank, "MASTER_PORT": port}
        words = [
            "run",
            plan,
            "--data",
            IMAGES,
            "--steps",
            steps,
            "--lr",
            0.01,
            "--log",
            "json",
            *extra,
        ]
        return subprocess.Popen(
            ["env", "MASTER_ADDR=127.0.0.1", *[f"{k}={v}" for k, v in environment.items()]]
            + [str(harness.SYNCLINE), *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, ranks, limit=PATIENCE):
        done = []
        for process in ranks:
            try:
                output, errors = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                for other in ranks:
                    other.kill()
                self.fail("a rank was still waiting after %d s" % limit)
            done.append((process.returncode, output, errors))
        return done

    def test_ranks_from_the_environment(self):
        port = harness.free_port()
        done = self.finish([self.start(self.plan, rank, port) for rank in (0, 1)])
        self.assertEqual([code for code, _, _ in done], [0, 0], done)

    def test_ranks_with_different_plans(self):
        """Both ranks refuse, each says that the plans differ."""
        other = harness.compile_plan(DIGITS, self.folder, ranks=2, batch=8)
        port = harness.free_port()
        done = self.finish([self.start(plan, r, port) for r, plan in enumerate((self.plan, other))])
        for code, _, errors in done:
            self.assertEqual(code, 1, errors)
            self.assertIn("plan", errors)

    def test_dead_rank(self):
        """A killed rank ends the other's run with a message, not with a wait for ever."""
        port = harness.free_port()
        ranks = [self.start(self.plan, rank, port, steps=10_000_000) for rank in (0, 1)]
        self.assertTrue(ranks[0].stdout.readline(), "rank 0 ended before its first step")
        ranks[1].send_signal(signal.SIGKILL)
        code, _, errors = self.finish(ranks)[0]
        self.assertEqual(code, 1, errors)
        self.assertIn("rank", errors)


if __name__ == "__main__":
    unittest.main()
