#!/usr/bin/python3
"""Every rule, operator, scheme, planner, form, command and pass has a test in the short run."""

import re
import sys
import unittest

import tree

sys.path.insert(0, str(tree.TOP / "tests"))

import inventory
import pieces

PYTHON = """
class Test:
    \"\"\"P1: not a test.\"\"\"

    def test_a(self):
        self.refuses(("compile", "--planner", "wfbp"), "P2: expected", code=2)  # P3: no
        for scheme in repeat(("ring",), ("ring", "tree")):
            self.run(scheme)

    @long("test_a has it")
    def test_b(self):
        self.run("P4: expected")

    def test_c(self):
        leave(self, "P5: is left")
        self.run("P6: expected")
"""
CPP = """// P1: no
EXPECT_EQ(text, /* P2: no */ "P3: yes // P4: yes");
parsePlanner("ps");
x = R"(P5: yes)" + '"' + "P6: yes";
"""
LIT = """// RUN: syncline-opt --check-plan %s
// P1: what follows shows.
error P2: expected
// expected-error @below {{P3: expected}}
// CHECK: P4: printed
plan.bucket by ring // P5
"""


def rules(found, *kinds):
    texts = [piece.text for piece in found if piece.kind in kinds]
    return [n for n in range(1, 7) if any(f"P{n}: " in text for text in texts)]


class InventoryTest(unittest.TestCase):
    def test_everything_has_a_test(self):
        for kind, places in inventory.found().items():
            with self.subTest(kind):
                self.assertTrue(places, "expected names in the sources")
                without = [name for name, place in places.items() if not place]
                self.assertFalse(without, f"{kind} without a test: {', '.join(without)}")

    def test_the_page_names_every_operator(self):
        page = inventory.source("frontend/onnx/README.md")
        listed = set(re.findall(r"\w+", page.split("## What is read")[1].split("\n## ")[0]))
        listed |= {name + "OrEqual" for name in re.findall(r"(\w+)\(OrEqual\)", page)}
        self.assertFalse(set(inventory.SOURCES["ONNX operators"][0]) - listed)

    def test_python(self):
        found = list(pieces.pieces_of_python("a.py", PYTHON))
        self.assertEqual(rules(found, "text"), [2])
        by_kind = {(piece.kind, piece.text) for piece in found}
        self.assertLessEqual(
            {("first", "compile"), ("planner", "wfbp"), ("code", "exits with 2")}, by_kind
        )
        self.assertIn(("text", "ring"), by_kind)
        self.assertNotIn(("text", "tree"), by_kind)

    def test_cpp(self):
        found = list(pieces.pieces_of_cpp("a.cpp", CPP))
        self.assertEqual(rules(found, "text"), [3, 4, 5, 6])
        self.assertEqual(rules(found, "code"), [])
        self.assertIn(pieces.Piece("a.cpp:3", "planner", "ps"), found)

    def test_lit(self):
        found = list(pieces.pieces_of_lit("a.mlir", LIT))
        self.assertEqual(rules(found, "expected"), [2, 3, 4])
        self.assertEqual([piece.place for piece in found if piece.kind == "run"], ["a.mlir:1"])


if __name__ == "__main__":
    unittest.main()
