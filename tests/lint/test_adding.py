#!/usr/bin/python3
"""Holds the lists of passes/ADDING.md against the tree, and the number of files that each names."""

import re
import unittest

import tree

PAGE = "passes/ADDING.md"
PRODUCT = ("frontend", "ir", "passes", "codegen", "runtime")
# Heading of the page: what a file that handles the example has; what a page has that tells of it,
# where that differs; the most files of the list.
EXAMPLES = {
    "An elementwise operator: hard_swish": (r"(?i)hard_?swish", None, 4),
    "An operator with kernels on both backends: lrn": (r"\b[lL]rn|LRN|lrn\b", None, 10),
    "An all-reduce scheme: halving-doubling": (r"(?i)halving-?_?doubling", None, 12),
    "A scheme by which ranks gather: sparse": (
        r'Scheme::sparse|"sparse"|SCHEME\(sparse',
        r"`sparse`|\*\*sparse|\| sparse",
        12,
    ),
    "A planner: mg-wfbp": (r"mg-wfbp|mgWfbp", None, 2),
    "A form of consistency: dssp": (r'::dssp\b|\bdssp\(|"dssp"|, dssp,', r"\bdssp\b", 17),
}


def code(path):
    """The file's text without comments."""
    text = "\n".join(tree.lines(path))
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


class AddingTest(unittest.TestCase):
    def test_lists(self):
        page = "\n".join(tree.lines(PAGE))
        lists = {
            section.split("\n", 1)[0]: re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
            for section in page.split("\n## ")[1:]
        }
        self.assertEqual({name for name, files in lists.items() if files}, set(EXAMPLES))
        suffixes = (*tree.CXX, ".td", ".inc", ".json", ".txt")
        texts = {str(p): code(p) for p in tree.files(*suffixes) if p.parts[0] in PRODUCT}
        pages = {str(p): "\n".join(tree.lines(p)) for p in tree.files(".md") if str(p) != PAGE}
        for heading, (in_code, on_page, most) in EXAMPLES.items():
            with self.subTest(heading):
                named = {path for path, text in texts.items() if re.search(in_code, text)}
                named |= {
                    path
                    for path, text in pages.items()
                    if path.split("/")[0] in (*PRODUCT, "README.md")
                    and re.search(on_page or in_code, text)
                }
                listed = lists[heading]
                self.assertEqual(sorted(named - set(listed)), [], f"{PAGE} lacks them")
                self.assertEqual(sorted(set(listed) - named), [], f"{PAGE} lists them in vain")
                self.assertEqual(len(set(listed)), len(listed))
                self.assertLessEqual(len(listed), most)


if __name__ == "__main__":
    unittest.main()
