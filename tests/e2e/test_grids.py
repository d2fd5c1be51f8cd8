"""Sweeps over planners and over two axes: every point is that of a sweep over one axis or of a plan
that is made there, and efficiency passes the threshold where the sentence says."""

import csv
import re
import unittest
import xml.dom.minidom

import harness
from refusal import RefusalTest

TRACE = harness.TOP / "samples/traces/vgg11.csv"
CLUSTER = harness.TOP / "samples/clusters/ethernet-10g.yaml"


class GridTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.plan = self.compiled("optimal")

    def compiled(self, planner):
        plan = self.folder / f"{planner.replace(':', '-')}.plan"
        words = ("--planner", planner, "-o", plan)
        harness.syncline("compile", TRACE, "--cluster", CLUSTER, *words)
        return plan

    def sweep(self, *words):
        """What is printed, and the rows of the CSV."""
        file = self.folder / "sweep.csv"
        axes = [word for axis in words for word in (("--sweep", axis) if "=" in axis else (axis,))]
        text = harness.syncline("simulate", self.plan, *axes, "--csv", file)
        with open(file) as rows:
            return text, list(csv.DictReader(rows))

    def test_planners(self):
        """Each has the step of the plan that it makes."""
        planners = ("wfbp", "ddp:25MiB", "optimal")
        text, points = self.sweep("planner=" + ",".join(planners))
        self.assertEqual([point["planner"] for point in points], list(planners))
        for point in points:
            predicted = harness.plan_json(self.compiled(point["planner"]))["predicted"]["step"]
            self.assertAlmostEqual(float(point["step_s"]) / predicted, 1, delta=1e-4)
        self.assertIn("most samples/s: ", text)
        self.assertNotIn("efficiency is", text)  # nothing lies between names

    def test_grid(self):
        """Every column is the sweep over the first axis at that value."""
        text, points = self.sweep("bandwidth=1Gb/s,10Gb/s,40Gb/s", "ranks=2,8")
        self.assertEqual(len(points), 6)
        for ranks in ("2", "8"):
            words = ("--cluster", CLUSTER, "--nodes", ranks, "-o", self.folder / "n.plan")
            harness.syncline("compile", TRACE, *words)
            file = self.folder / "column.csv"
            words = ("--sweep", "bandwidth=1Gb/s,10Gb/s,40Gb/s", "--csv", file)
            one = harness.syncline("simulate", self.folder / "n.plan", *words)
            with open(file) as rows:
                for point, other in zip(
                    [point for point in points if point.get("ranks") == ranks],
                    csv.DictReader(rows),
                    strict=True,
                ):
                    self.assertEqual(point.pop("ranks"), ranks)
                    self.assertEqual(point, other)
            sentence = re.search(r"(?m)^.*efficiency (?:is|passes).*$", one)[0]
            self.assertIn(f"at ranks {ranks}: {sentence}\n", text)
        self.assertRegex(text, r"(?m)^ *step by bandwidth +ranks 2 +ranks 8$")
        self.assertRegex(text, r"(?m)^ *efficiency by bandwidth +ranks 2 +ranks 8$")

    def test_picture(self):
        picture = self.folder / "grid.svg"
        words = ("--sweep", "planner=optimal,wfbp", "--plot", picture)
        harness.syncline("simulate", self.plan, "--sweep", "ranks=2..8", *words)
        document = xml.dom.minidom.parse(str(picture))
        self.assertEqual(len(document.getElementsByTagName("polyline")), 2)
        self.assertEqual(len(document.getElementsByTagName("circle")), 6)

    def test_break_even(self):
        """Just below the value the threshold is not passed, at it it is."""
        text, _ = self.sweep("bandwidth=1Gb/s..400Gb/s", "--threshold", "80%")
        said = r"from bandwidth ([\d.]+) Gb/s on efficiency is above 80 %\n"
        limit = float(re.search(said, text)[1])
        values = ",".join(f"{limit * share}Gb/s" for share in (0.99, 1.001))
        _, (below, above) = self.sweep(f"bandwidth={values}")
        self.assertLess(float(below["efficiency"]), 0.8)
        self.assertGreater(float(above["efficiency"]), 0.8)
        text, _ = self.sweep("ranks=1..8")
        self.assertIn("up to ranks 1 efficiency is above 90 %\n", text)
        text, points = self.sweep("bandwidth=1Gb/s,2Gb/s", "--threshold", "99.5%")
        most = max(float(point["efficiency"]) for point in points)
        self.assertIn(f"nowhere above 99.5 %; the most is {100 * most:.2f} %, at", text)
        text, _ = self.sweep("bandwidth=1Gb/s,2Gb/s", "--threshold", "0%")
        self.assertIn("efficiency is above 0 % everywhere; ", text)

    def test_refusals(self):
        simulate = ("simulate", self.plan)
        for words, said in (
            (("--sweep", "ranks=2", "--sweep", "ranks=4"), "--sweep: 'ranks' is given twice"),
            (("--sweep", "ranks=2", "--sweep", "nodes=4"), "'ranks' and 'nodes' set the same"),
            (("--sweep", "planner=fast"), "'fast'"),
            (("--sweep", "planner=wfbp,wfbp"), "'wfbp' is named twice"),
            (("--sweep", "planner=z3:messages=2"), "plans only in 'syncline compile'"),
            (("--sweep", "planner=wfbp", "--replan", "no"), "planned anew, got '--replan no'"),
            (
                ("--sweep", "planner=wfbp", "--sweep", "ranks=2", "--plot", "x.svg"),
                "an axis of numbers first, got 'planner'",
            ),
            (("--sweep", "ranks=2", "--threshold", "90"), "--threshold: expected a percentage"),
            (("--sweep", "ranks=2", "--threshold", "100%"), "--threshold: expected a percentage"),
            (("--threshold", "90%"), "--threshold"),
            (("--sweep", "planner=wfbp", "--threshold", "90%"), "expected an axis of numbers"),
            (("--sweep", "consistency=asp", "--threshold", "90%"), "expected an axis of numbers"),
            (
                ("--sweep", "planner=wfbp", "--sweep", "ranks=2", "--threshold", "9%"),
                "expected an axis of numbers, for a grid as the first",
            ),
        ):
            with self.subTest(words=words):
                self.refuses((*simulate, *words), said, code=2)
        self.refuses(
            (*simulate, "--sweep", "planner=tictac", "--sweep", "ranks=2"), "tictac", code=1
        )


if __name__ == "__main__":
    unittest.main()
