"""Plan folders that nobody compiled: however deep or broken, every command says one line and ends
with exit code 1."""

import json
import os
import unittest

import harness
import plans
from refusal import ChangedPlanTest, RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
READERS = (["inspect"], ["verify"], ["simulate"], ["run", "-n", 2, "--steps", 1])


class HostilePlanTest(ChangedPlanTest):
    def refused_by_all(self, *names, readers=READERS):
        for command, *words in readers:
            with self.subTest(command=command):
                said = self.refuses([command, self.plan, *words], *names)
                self.assertEqual(len(said.splitlines()), 1, said)

    def test_nested_json(self):
        """Parsing it takes no stack, but copying and hashing do."""
        text = (self.original / "plan.json").read_text().rstrip()
        for depth in (100, 10_000, 100_000, 1_000_000):
            for opening, closing in (("[", "]"), ('{"a":', "}")):
                with self.subTest(depth=depth, opening=opening):
                    inner = opening * depth + "1" + closing * depth
                    (self.plan / "plan.json").write_text(f'{text[:-1]},"z":{inner}}}')
                    self.refused_by_all("plan.json", "levels")

    def test_large_json(self):
        """It is refused before it is read: 3 GiB, which take no room on the disk."""
        os.truncate(self.plan / "plan.json", 3 << 30)
        self.refused_by_all("plan.json", "expected at most 268435456 bytes, got 3221225472")

    def test_nested_brackets_in_strings(self):
        """A name may hold as many as it likes."""
        document = json.loads((self.plan / "plan.json").read_text())
        document["name"] = '"[{' * 1000
        plans.rehash(self.plan, document)
        harness.syncline("inspect", self.plan)

    def reseal(self, text):
        (self.plan / "plan.mlir").write_text(text)
        plans.rehash(self.plan)

    PARSERS = (["inspect", "--why", "fc.weight"], ["verify"], ["simulate"])

    def test_nested_mlir(self):
        """MLIR's parser takes a call per bracket."""
        text = (self.original / "plan.mlir").read_text()
        for opening, closing in (
            ("[", "]"),
            ("{a = ", "}"),
            ("tuple<", ">"),
            ("loc(fused<", ">[])"),
        ):
            with self.subTest(opening=opening):
                inner = opening * 100_000 + "1" + closing * 100_000
                self.reseal(text.replace("groups = 1 : i64", f"groups = 1 : i64, z = {inner}", 1))
                self.refused_by_all("plan.mlir", readers=self.PARSERS)

    def test_nested_regions(self):
        text = (self.original / "plan.mlir").read_text()
        depth = 20_000
        self.reseal(text + "module {\n" * depth + "}\n" * depth)
        self.refused_by_all("plan.mlir", readers=self.PARSERS)

    def test_value_before_its_region(self):
        """A call before the program takes its tensors, and a later type is wrong: MLIR 19.1 forgets
        that it has freed the call."""
        lines = (self.original / "plan.mlir").read_text().splitlines(keepends=True)
        gradient = 'plan.call matmul "/fc/Gemm" ["a", "b", "y"]'
        call = [line for line in lines if gradient in line][-1]
        program = next(i for i, line in enumerate(lines) if "plan.program" in line)
        lines.insert(program, call)
        wrong = next(i for i, line in enumerate(lines) if 'plan.tensor "/Relu.grad"' in line)
        for place in range(program + 1, wrong + 1):
            changed = list(lines)
            changed[place] = changed[place].replace(
                changed[place].rsplit(": ", 1)[1], "memref<8memref>\n"
            )
            self.reseal("".join(changed))
            self.refuses(["verify", self.plan], "plan.mlir")
            if place == wrong:
                self.refused_by_all("plan.mlir", readers=self.PARSERS)

    def test_place_of_an_error(self):
        """What is wrong with a text is said with line and column."""
        text = (self.original / "plan.mlir").read_text()
        self.reseal(text.replace("plan.phase backward", "plan.phase sideways"))
        line = 1 + text[: text.index("plan.phase backward")].count("\n")
        self.refused_by_all(f"plan.mlir:{line}:", "sideways", readers=self.PARSERS)


class NestedInputTest(RefusalTest):
    """What users write otherwise may nest as little."""

    LEVELS = 1_000_000

    def check(self, path, words):
        said = self.refuses(words, path.name)
        self.assertEqual(len(said.splitlines()), 1, said)

    def nested(self, name, opening, closing, inside=""):
        return self.write(name, opening * self.LEVELS + inside + closing * self.LEVELS)

    def test_cluster_file(self):
        trace = harness.TOP / "samples" / "traces" / "alexnet.csv"
        for opening, closing in (("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")):
            with self.subTest(opening=opening):
                path = self.nested("nested.yaml", opening, closing)
                self.check(
                    path, ["compile", trace, "--cluster", path, "-o", self.folder / "x.plan"]
                )

    def test_profile(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            with self.subTest(opening=opening):
                path = self.nested("nested.json", opening, closing, "1")
                words = [
                    "compile",
                    DIGITS,
                    "--cluster",
                    self.cluster,
                    "--batch",
                    2,
                    "--profile",
                    path,
                ]
                self.check(path, [*words, "-o", self.folder / "x.plan"])

    def test_topology(self):
        path = self.nested("nested.xml", "<a>", "</a>")
        self.check(path, ["cluster", "--from-nccl-topology", path, "-o", self.folder / "x.yaml"])


if __name__ == "__main__":
    unittest.main()
