"""Command lines: what was meant, clusters by name, and the lines that commands end with."""

import os
import re
import subprocess
import unittest

import harness
from refusal import RefusalTest

SAMPLES = harness.TOP / "samples"
DIGITS = SAMPLES / "models" / "digits-cnn.onnx"
TRACE = SAMPLES / "traces" / "vgg11.csv"
COMMANDS = "compile inspect verify simulate run calibrate profile cluster".split()
MOST_OPTIONS = 137  # of all commands, but for --help and --version


class MeantTest(RefusalTest):
    """A name that nobody knows is named with the nearest right one."""

    def test_commands(self):
        self.refuses(["complie", "x"], "unknown command 'complie', did you mean 'compile'?", code=2)
        self.refuses(
            ["train"], "unknown command 'train', expected one of 'help', 'compile'", code=2
        )

    def test_options(self):
        """Also where the misspelt option is required, or belongs to a program of the runtime."""
        for words, meant in (
            (["compile", "--clutser", "x"], "'--clutser', did you mean '--cluster'?"),
            (
                ["compile", DIGITS, "--cluster", "c", "--ouptut=x"],
                "'--ouptut', did you mean '--output'?",
            ),
            (["simulate", "x", "--swep", "ranks=1..4"], "'--swep', did you mean '--sweep'?"),
            (["run", "x", "--momentun", "1"], "'--momentun', did you mean '--momentum'?"),
            (["calibrate", "-n", 2, "--scheme", "ring"], "'--scheme', did you mean '--schemes'?"),
            (["inspect", "x", "--frobnicate"], "'--frobnicate'; '--help' lists the options"),
        ):
            with self.subTest(words=words):
                self.refuses(words, f"unknown option {meant}", code=2)

    def test_values(self):
        compiling = ["compile", TRACE, "--cluster", self.cluster, "-o", self.folder / "x.plan"]
        for words, meant in (
            ([*compiling, "--planner", "optmal"], "'optmal', did you mean 'optimal'?"),
            ([*compiling, "--scheme", "*=rign"], "'rign' for '*', did you mean 'ring'?"),
            ([*compiling, "--backend", "cdua"], "'cdua', did you mean 'cuda'?"),
            (["calibrate", "-n", 2, "--backend", "gpu"], "'gpu', did you mean 'cpu'?"),
            (["cluster", "--device", "v1000"], "'v1000', did you mean 'v100'?"),
            (
                ["cluster", "--network", "ethernet-10"],
                "'ethernet-10', did you mean 'ethernet-10g'?",
            ),
            (["calibrate", "-n", 2, "--schemes", "treee"], "'treee', did you mean 'tree'?"),
        ):
            with self.subTest(words=words):
                self.refuses(words, meant, code=2)

    def test_layers(self):
        compiling = [
            "compile",
            DIGITS,
            "--cluster",
            self.cluster,
            "--batch",
            2,
            "-o",
            self.folder / "x.plan",
        ]
        self.refuses(
            [*compiling, "--freeze", "con1*"],
            "'con1*' matches no parameter, expected a name such as 'conv1.bias'",
        )
        self.refuses(
            [*compiling, "--freeze", "fc.wieght"], "matches no parameter, did you mean 'fc.weight'?"
        )
        self.refuses(
            [*compiling, "--scheme", "conv3=ring"],
            "no layer matches 'conv3'",
            "did you mean 'conv2'?",
        )
        plan = harness.compile_plan(DIGITS, self.folder)
        self.refuses(["inspect", plan, "--why", "con2.wegiht"], "did you mean 'conv2.weight'?")

    def test_help(self):
        """`help` and `help COMMAND` are `--help` and `COMMAND --help`, in lines that fit."""
        wide = {"COLUMNS": "120"}
        for words, same in (
            (["help"], ["--help"]),
            (["help", "compile"], ["compile", "--help"]),
            (["help", "run"], ["run", "--help"]),
        ):
            with self.subTest(words=words):
                done, other = (self.command(*line, environment=wide) for line in (words, same))
                self.assertEqual((done.returncode, done.stdout), (0, other.stdout))
                self.assertIn("Usage: syncline", done.stdout)
        for command in COMMANDS:
            done = self.command(command, "--help", environment={"COLUMNS": "100"})
            self.assertRegex(done.stdout, rf"Examples?:\n  .*syncline {command} ", command)
            # What stands before the texts, such as the list of backends, is not broken.
            long = [
                line
                for line in done.stdout.splitlines()
                if len(line) > 100 and line.startswith(" " * 12)
            ]
            self.assertEqual(long, [])

    def test_options_are_few(self):
        """A new option has to be worth this number, or another option."""
        options = {
            (command, name)
            for command in COMMANDS
            for name in re.findall(
                r"^  (?:-\w,)?(--?[\w-]+)", self.command(command, "--help").stdout, re.MULTILINE
            )
        }
        options -= {(command, name) for command, name in options if name in ("--help", "--version")}
        self.assertLessEqual(len(options), MOST_OPTIONS)


class ExclusionTest(RefusalTest):
    """`compile --help` ends with what excludes what."""

    # Words for each request of the table, where the option alone does not do.
    WORDS = {
        "a layer trace": (),
        "--consistency other than bsp": ("--consistency", "local:2"),
        "--consistency easgd:momentum": ("--consistency", "easgd:momentum,0.1"),
        "--overlap step, or a planner of orders": ("--overlap", "step"),
        "--planner other than optimal": ("--planner", "wfbp"),
        "--channels other than 1": ("--channels", 2),
        "--wire other than fp32": ("--wire", "bf16"),
        "--optimizer other than sgd": ("--optimizer", "adam"),
        "--loss other than cross-entropy": ("--loss", "mse"),
        "--dim with several sizes": ("--dim", "seq=8,9"),
    }
    VALUES = {
        "--backend": "cpu",
        "--batch": 2,
        "--nodes": 2,
        "--loss": "mse",
        "--classes-in": 1,
        "--dropout": "off",
        "--optimizer": "adam",
        "--clip-norm": 1,
        "--precision": "bf16",
        "--like": "best",
        "--overlap": "step",
        "--consistency": "local:2",
        "--dim": "n=2",
        "--split-tied": "always",
        "--batch-dimension": "x=0",
        "--accumulate": 2,
    }

    def words(self, request):
        if request in self.WORDS:
            return self.WORDS[request]
        option, *value = request.split(" ")
        if option in ("--plan-only", "--balance"):
            return (option,)
        return (option, *(value or (self.VALUES.get(option, "x"),)))

    def rows(self):
        """The table's pairs, as the help prints them."""
        text = harness.syncline("compile", "--help")
        table = text.split("Exclude each other:\n")[1].split("\n\n")[0]
        for row in table.replace("\n   ", "").strip().split("\n"):
            one, others = row.strip().split(": ")
            for other in others.replace("step, or", "step or").split(", "):
                yield one, other.replace("step or", "step, or")

    def test_each_pair_is_refused(self):
        trace = self.write("t.csv", "name,bytes,forward,backward\na,4KiB,1ms,2ms\n")
        pairs = list(self.rows())
        self.assertGreater(len(pairs), 35)
        for one, other in pairs:
            with self.subTest(one=one, other=other):
                model = trace if one == "a layer trace" else "m.onnx"
                places = ("--cluster", self.cluster, "-o", self.folder / "p")
                words = ("compile", model, *(places if "--offers" not in (one, other) else ()))
                words += (*self.words(one), *self.words(other))
                self.refuses(words, "exclude each other: ", code=2)


class CompletionTest(RefusalTest):
    def complete(self, *words):
        """What bash offers for the last word."""
        line = f"""source {harness.TOP}/frontend/driver/completion.bash
            COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
            _syncline {harness.SYNCLINE} '{words[-1]}' '{words[-2]}'
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def test_words(self):
        self.assertEqual(self.complete("syncline", "c"), {"compile", "calibrate", "cluster"})
        self.assertEqual(self.complete("syncline", "help", "si"), {"simulate"})
        self.assertEqual(
            self.complete("syncline", "compile", "m.onnx", "--o"),
            {"--output", "--optimizer", "--overlap", "--offers"},
        )
        self.assertEqual(self.complete("syncline", "run", "--mo"), {"--momentum"})
        self.assertLessEqual(
            {"--network", "-o", "--output"}, self.complete("syncline", "cluster", "-")
        )
        offered = self.complete("syncline", "compile", "--cluster", "ethernet-1")
        self.assertEqual(offered, {"ethernet-100g", "ethernet-10g", "ethernet-1g"})
        self.assertEqual(self.complete("syncline", "inspect", "no"), set())
        self.assertEqual(self.complete("syncline", "inspect", "--p"), {"--plot"})


class ClusterTest(RefusalTest):
    def test_from_options_alone(self):
        """Neither file is needed where options say all; compile takes what is written."""
        lab = self.folder / "lab.yaml"
        words = (
            "cluster",
            "--nodes",
            8,
            "--devices-per-node",
            4,
            "--device",
            "v100",
            "--network",
            "ethernet-10g",
        )
        done = self.command(*words, "-o", lab)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertRegex(
            done.stderr,
            r"\Awrote \S+lab.yaml: 32 ranks on 8 nodes; nothing is said .*\nnext: syncline compile"
            r" MODEL --cluster \S+lab.yaml",
        )
        harness.syncline("compile", TRACE, "--cluster", lab, "-o", self.folder / "x.plan")
        described = harness.plan_json(self.folder / "x.plan")["cluster"]
        self.assertEqual((described["ranks"], described["devices_per_node"]), (32, 4))
        self.assertEqual(described["name"], "8 x 4 v100, ethernet-10g")
        whole = self.command(*words, "--inside", "nvlink-v100", "-o", lab)
        self.assertNotIn("nothing is said", whole.stderr)
        self.refuses(
            ["cluster", "--nodes", 8],
            "nothing says what a rank computes with (--device",
            "--network",
            code=2,
        )
        hosts = self.write("hosts", "a slots=2\n")
        self.refuses(
            ["cluster", "--from-hostfile", hosts, "--devices-per-node", 2],
            "--devices-per-node: the file says",
            code=2,
        )

    def test_samples_by_name(self):
        """A file of the name wins; a sample's name stands for its file."""
        plans = [self.folder / name for name in ("a.plan", "b.plan", "c.plan")]
        harness.syncline("compile", TRACE, "--cluster", "ethernet-10g", "-o", plans[0])
        harness.syncline(
            "compile",
            TRACE,
            "--cluster",
            SAMPLES / "clusters" / "ethernet-10g.yaml",
            "-o",
            plans[1],
        )
        for file in sorted(path.name for path in plans[0].iterdir()):
            self.assertEqual((plans[0] / file).read_bytes(), (plans[1] / file).read_bytes(), file)
        self.write("ethernet-10g", self.cluster.read_text())
        command = [
            str(harness.SYNCLINE),
            "compile",
            str(TRACE),
            "--cluster",
            "ethernet-10g",
            "-o",
            str(plans[2]),
        ]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(harness.plan_json(plans[2])["cluster"]["name"], "test")
        harness.syncline("simulate", plans[0], "--cluster", "ethernet-25g")
        self.refuses(
            ["compile", TRACE, "--cluster", "ethernet-10", "-o", self.folder / "x.plan"],
            "no cluster file and no sample is called 'ethernet-10', did you mean 'ethernet-10g'?",
        )
        self.refuses(
            ["simulate", plans[0], "--cluster", "frobnicate"],
            "'syncline cluster --list' lists the samples",
        )
        self.refuses(
            ["compile", TRACE, "--cluster", "./ethernet-1g", "-o", self.folder / "x.plan"],
            "cannot open",
        )

    def test_list(self):
        """Every sample is listed with its size and name, and can be planned for by its name."""
        listed = harness.syncline("cluster", "--list").splitlines()[1:]
        files = sorted(path.stem for path in (SAMPLES / "clusters").glob("*.yaml"))
        self.assertEqual([line.split()[0] for line in listed], files)
        rows = [re.split("  +", line)[:4] for line in listed]
        for row in (
            ["dgx-a100", "4", "8", "a100-80g"],
            ["ethernet-10g", "4", "1", "cpu"],
            ["laptop", "2", "1", "cpu, 150 GFLOP/s, 20.0 GB/s"],
            ["nodes-with-4-devices", "4", "4", "15.7 TFLOP/s, 900 GB/s"],
        ):
            self.assertIn(row, rows)


class ClosingTest(RefusalTest):
    """Commands that write a file say so on standard error, and what comes next."""

    def test_compile(self):
        plan = self.folder / "it's.plan"
        words = ["compile", DIGITS, "--cluster", self.cluster, "--batch", 2, "-o", plan]
        done = self.command(*words, "--overlap", "backward")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        planned, wrote, following = done.stderr.splitlines()[-3:]
        self.assertRegex(planned, r"^syncline: \d+ parameters, 23\.8 KiB")
        self.assertRegex(
            wrote,
            r"^wrote .*it's\.plan: \d+ messages?, 23\.8 KiB; predicted step \S+ \ws, exposed \S+"
            r" \w?s \(\S+ %\), gap 0\.00 % \(optimal\)$",
        )
        environment = {**os.environ, "PATH": f"{harness.SYNCLINE.parent}:{os.environ['PATH']}"}
        shown = subprocess.run(
            following.removeprefix("next: "),
            shell=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        self.assertEqual(shown.returncode, 0, following + shown.stderr)
        self.assertIn("plan digits-cnn, planner optimal", shown.stdout)
        quiet = self.command(*words, "--quiet")
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (0, "", ""))

    def test_other_planners_tell_their_gap(self):
        done = self.command(
            "compile",
            TRACE,
            "--cluster",
            "ethernet-10g",
            "--planner",
            "single",
            "-o",
            self.folder / "x.plan",
        )
        gap = harness.plan_json(self.folder / "x.plan")["predicted"]["planner"]["gap"]
        self.assertGreater(gap, 0)
        self.assertIn(f"gap {100 * gap:.2f} %\n", done.stderr)

    def test_profile(self):
        out = self.folder / "p.json"
        done = self.command("profile", DIGITS, "--batch", 4, "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(
            done.stderr.startswith(f"profiling: compiling {DIGITS}, 0 s\n"), done.stderr
        )
        self.assertEqual(
            done.stderr.splitlines()[-2:],
            [
                f"wrote {out}",
                (
                    f"next: syncline compile {DIGITS} --batch 4 --cluster CLUSTER --profile {out}"
                    " -o OUT.plan"
                ),
            ],
        )


if __name__ == "__main__":
    unittest.main()
