"""samples/renting: the page's commands work, and a table of offers says what plans say."""

import os
import re
import shutil
import subprocess
import unittest

import harness
import stepcache
from pages import commands, section
from refusal import RefusalTest
from waiting import PATIENCE

MODELS = harness.TOP / "samples" / "models"
PAGE = harness.TOP / "samples" / "renting"


class PageTest(RefusalTest):
    def test_page(self):
        """Every command works, in a folder of a newcomer's; the first writes the shipped file."""
        lines = commands(section("samples/renting/README.md"))
        self.assertEqual(len(lines), 3)
        (self.folder / "samples").mkdir()
        (self.folder / "samples" / "models").symlink_to(MODELS)
        shutil.copytree(PAGE, self.folder / "samples" / "renting")
        cluster = self.folder / "samples" / "renting" / "v100.yaml"
        cluster.unlink()
        path = f"{harness.SYNCLINE.parent}:{os.environ['PATH']}"
        printed = []
        for line in lines:
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.folder,
                env={**harness.environment(), "PATH": path},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
            printed.append(done.stdout)
        self.assertEqual(cluster.read_text(), (PAGE / "v100.yaml").read_text())
        offers = re.findall(r"(?m)^(eight A100|eight H100|sixteen V100)  ", printed[1])
        self.assertEqual(len(offers), 3, printed[1])
        self.assertIn(f"cheapest: {offers[0]}", printed[1])
        self.assertTrue((self.folder / "best.plan" / "plan.json").is_file())


class OffersTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.enterContext(stepcache.none())
        shutil.copy(PAGE / "v100.yaml", self.folder)
        self.model = MODELS / "resnet-50.onnx"

    def offers(self, text):
        return self.write("offers.yaml", text)

    def table(self, text, *words):
        """Cells by column, of each offer; and all that is printed."""
        said = harness.syncline("compile", self.model, "--offers", self.offers(text), *words)
        names, *rows = (re.split(r"\s{2,}", line) for line in said.splitlines())
        return {row[0]: dict(zip(names, row)) for row in rows if len(row) == len(names)}, said

    def test_says_what_plans_say(self):
        text = (
            "samples: 3600000\ndoubt: 0.5\noffers:\n"
            "  - {name: near, cluster: v100.yaml, price: 10}\n"
            "  - {name: far, cluster: dgx-a100, nodes: 2, price: 1000}\n"
        )
        table, said = self.table(text, "--batch", 32)
        self.assertEqual(list(table), ["near", "far"])
        for name, words in (
            ("near", ("--cluster", self.folder / "v100.yaml")),
            ("far", ("--cluster", "dgx-a100", "--nodes", 2)),
        ):
            row = table[name]
            words = ("compile", self.model, *words, "--batch", 32, "-o", self.folder / "x.plan")
            harness.syncline(*words)
            plan = harness.plan_json(self.folder / "x.plan")
            predicted = plan["predicted"]
            self.assertEqual(row["in"], plan["precision"])
            self.assertEqual(int(row["ranks"]), 16)
            rate = 16 * 32 / predicted["step"]
            self.assertAlmostEqual(float(row["samples/s"]) / rate, 1, delta=1e-3)
            efficiency = float(row["efficiency"].split()[0]) / 100
            self.assertAlmostEqual(efficiency, predicted["alone"] / predicted["step"], delta=1e-4)
            needed, size = re.findall(r"[\d.]+", row["memory of a rank"])
            memory = plan["device_memory"]
            for shown, exact in ((needed, memory["needed"]), (size, memory["size"])):
                self.assertAlmostEqual(float(shown) / (exact / 2**30), 1, delta=5e-3)
            price = {"near": 10, "far": 1000}[name]
            for column, value in (("hours", 1000 / rate), ("money", price * 1000 / rate)):
                for shown, share in zip(re.findall(r"[\d.]+\d", row[column]), (1, 0.5, 1.5)):
                    self.assertAlmostEqual(float(shown) / (value * share), 1, delta=6e-3)
            harness.syncline(*words, "--planner", "ddp:25MiB", "--overlap", "backward")
            ddp = harness.plan_json(self.folder / "x.plan")["predicted"]["step"]
            gain = float(row["DDP's buckets"].split()[0]) / 100
            self.assertAlmostEqual(gain, ddp / predicted["step"] - 1, delta=2e-4)
        self.assertIn("  near: a step within 50 %, as the file states\n", said)

    def test_default_doubt_is_the_kinds(self):
        """It is what `inspect` says of published runs on the device."""
        text = "samples: 1000\noffers: [{name: near, cluster: v100.yaml, price: 10}]\n"
        _, said = self.table(text, "--batch", 8)
        words = ("--cluster", self.folder / "v100.yaml", "--batch", 8, "-o", self.folder / "x.plan")
        harness.syncline("compile", self.model, *words)
        inspected = harness.syncline("inspect", self.folder / "x.plan")
        runs = re.search(r"half of (\d+) published runs, by (\d+) % in nine of ten", inspected)
        line = f"  near: a step within {runs[2]} %, as nine of ten of {runs[1]} published runs on "
        self.assertIn(line + "v100 were\n", said)
        _, said = self.table(text, "--batch", 8, "--like", "best")
        self.assertIn("  near: no range, since too few published runs judge", said)

    def test_plan_only_counts_samples(self):
        """By shapes alone an offer has as many samples as with a plan that runs."""
        text = "samples: 1000\noffers: [{name: near, cluster: v100.yaml, price: 10}]\n"
        self.model = harness.TOP / "samples/models/gpt-2.onnx"
        table, _ = self.table(text, "--batch", 2, "--plan-only")
        row = table["near"]
        step = float(row["step"].split()[0]) * {"ms": 1e-3, "s": 1}[row["step"].split()[1]]
        self.assertAlmostEqual(float(row["samples/s"]) * step / (16 * 2), 1, delta=6e-3)

    def test_left_out(self):
        text = (
            "samples: 1000\noffers:\n"
            "  - {name: small, cluster: v100.yaml, price: 10}\n"
            "  - {name: large, cluster: dgx-h100, price: 10}\n"
        )
        table, said = self.table(text, "--batch", 512)
        self.assertEqual(list(table), ["large"])
        self.assertRegex(said, r"(?m)^left out: small: the plan needs .* '--batch \d+' is the larg")

    def test_refusals(self):
        good = "samples: 10\noffers: [{name: a, cluster: v100.yaml, price: 1}]\n"
        compile = ("compile", self.model, "--offers", self.offers(good))
        for words in (
            ("-o", self.folder / "x.plan"),
            ("--cluster", "dgx-a100"),
            ("--nodes", 2),
            ("--profile", "p.json"),
            ("--balance",),
            ("--consistency", "local:2"),
        ):
            with self.subTest(words=words):
                self.refuses((*compile, *words), "exclude each other", code=2)
        trace = harness.TOP / "samples/traces/vgg11.csv"
        self.refuses(("compile", trace, *compile[2:]), "times are those of one device", code=2)
        self.refuses(("compile", self.model, "-o", "x"), "--cluster is required", code=2)
        self.refuses((*compile[:-1], self.folder / "none.yaml"), "none.yaml")
        self.refuses((*compile[:-1], self.folder), "directory")
        for text, said in (
            (good.replace("price: 1", "price: no"), "got 'no'"),
            (good.replace("v100.yaml", "dgx-a10"), "offer 'a': "),
            (good.replace("v100.yaml", "none.yaml"), "none.yaml"),
        ):
            self.offers(text)
            with self.subTest(text=text):
                self.refuses(compile, said)
        self.offers(good)
        self.refuses((*compile, "--batch", 4096), "offer 'a': the plan needs")


if __name__ == "__main__":
    unittest.main()
