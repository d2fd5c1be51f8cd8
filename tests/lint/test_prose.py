#!/usr/bin/python3
"""Holds the tree to the rules of prose.py, and those rules to what they are for."""

import unittest

import prose
import tree

# Words of pages (*.md), as `wc -w` counts: of all, and of one.
MOST_WORDS, MOST_OF_ONE = 45000, 3100


def numbers(rule, text, path="a.cpp"):
    """The lines of a text in which a rule finds fault."""
    return [number for number, _ in rule(path, text.splitlines())]


class ProseTest(unittest.TestCase):
    def test_tree(self):
        for rule, suffixes in prose.RULES:
            with self.subTest(rule.__name__):
                found = prose.offenders(rule, suffixes)
                if wrong := [f"{path}:{number}: {what}" for path, number, what in found]:
                    self.fail("\n" + "\n".join(wrong))

    def test_pages_are_short(self):
        """Whoever adds to a page takes something away, or raises the number and says why."""
        words = {path: len(" ".join(tree.lines(path)).split()) for path in tree.files(".md")}
        long = [f"{path}: {count} words" for path, count in words.items() if count > MOST_OF_ONE]
        self.assertFalse(long, f"at most {MOST_OF_ONE} words a page")
        self.assertLessEqual(sum(words.values()), MOST_WORDS)

    def test_clipped_comments(self):
        rule = prose.clipped_comments
        self.assertEqual(numbers(rule, "/// Of one network card.\nint card();"), [1])
        self.assertEqual(numbers(rule, "int a; ///< Also of u8"), [1])
        self.assertEqual(numbers(rule, "# The same for ranks.\n", "a.py"), [1])
        self.assertEqual(numbers(rule, "// A test.\n// RUN: syncline-opt %s\n// By ring.\n"), [3])
        self.assertEqual(numbers(rule, "// It is sent. This is\n// Of value. Offers.\n"), [])

    def test_orphan_words(self):
        rule = prose.orphan_words
        self.assertEqual(numbers(rule, "/// A cache line, an AVX-512\n/// vector.\nint a;"), [2])
        self.assertEqual(numbers(rule, "// A list:\n// * one thing and\n//   another\n"), [3])
        self.assertEqual(numbers(rule, "// One word ends a sentence.\n// Really.\n"), [])
        self.assertEqual(numbers(rule, "// An example of\n//\n//     call();\n"), [])
        self.assertEqual(numbers(rule, "// One line.\nint a;\n// Another\nint b;"), [])

    def test_wide_code(self):
        rule = prose.wide_code
        wide = "x" * 101
        self.assertEqual(numbers(rule, f"{wide}\n// {wide}\nint a; ///< {wide}"), [2, 3])
        self.assertEqual(numbers(rule, f"{wide}\n// https://{wide}\n", "a.td"), [1])
        self.assertEqual(numbers(rule, "é" * 100, "a.py"), [])

    def test_wide_prose(self):
        rule = prose.wide_prose
        wide = "word " * 21
        self.assertEqual(numbers(rule, f"Text.\n{wide}\n\n    {wide}\n\n* {wide}\n"), [2, 6])
        self.assertEqual(numbers(rule, f"```\n{wide}\n```\n| {wide} |\n"), [])
        self.assertEqual(numbers(rule, f"* Item:\n    {wide}\n"), [2])
        self.assertEqual(numbers(rule, "* " + "x" * 101), [])

    def test_wide_cells(self):
        rule = prose.wide_cells
        cell = "x" * 120
        self.assertEqual(numbers(rule, f"| {cell} | {cell} |\n| {cell}y | a |\n"), [2])
        self.assertEqual(numbers(rule, "| " + r"a \| b " * 18 + "|"), [1])


if __name__ == "__main__":
    unittest.main()
