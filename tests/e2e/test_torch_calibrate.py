"""Cluster files from the process group of a PyTorch script."""

import json
import pathlib
import re
import unittest

import current_pytorch
import harness
from pytorch_case import PyTorchCase

GROUP = pathlib.Path(__file__).with_name("torch_group.py")
TRACE = "name,bytes,forward,backward\na,1MiB,1ms,2ms\nb,4KiB,1ms,2ms\n"
POINT = re.compile(r"^ +- \[(\d+)([KM])iB, ([\d.]+)(us|ms|s)\] # ", re.MULTILINE)
NEEDED = [1 << 10, 1 << 20, 1 << 22]  # bytes that are measured whatever time it takes
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class TorchCalibrateTest(PyTorchCase):
    environment = staticmethod(current_pytorch.python)

    def ask(self, kind, ranks, output, **variables):
        """What each rank says."""
        variables = self.variables(**variables)
        words = [(GROUP, kind, rank, ranks, output) for rank in range(ranks)]
        found = self.ends([self.start(each, variables) for each in words])
        return [json.loads(said) for said, _ in found]

    def assert_is_cluster(self, file, ranks, scheme="ring", words=()):
        """`compile` takes it, and it has a table of one scheme."""
        trace = self.folder / "two.csv"
        trace.write_text(TRACE)
        plan = self.folder / f"{file.stem}.plan"
        harness.syncline("compile", trace, "--cluster", file, "--quiet", "-o", plan, *words)
        read = harness.plan_json(plan)
        self.assertEqual(read["ranks"], ranks)
        costs = {each["scheme"]: each["cost"] for each in read["cluster"]["collectives"]}
        self.assertEqual(list(costs), [scheme])
        return read["cluster"]

    def test_measures_a_group(self):
        """All ranks have the file's text, which says how it was measured."""
        file = self.folder / "two.yaml"
        first, second = self.ask("measure", 2, file, SECONDS="3")
        self.assertEqual(first, second)
        text = file.read_text()
        self.assertEqual(text, first["text"])
        self.assertEqual((first["ranks"], first["nodes"], first["backend"]), (2, 1, "gloo"))
        for said in ("on 2 ranks (2 on ", "all-reduces by the backend gloo of PyTorch 2."):
            self.assertIn(said, text)
        cluster = self.assert_is_cluster(file, 2)
        self.assertEqual(cluster["devices_per_node"], 1)
        for key in ("compute", "memory", "launch_overhead"):
            self.assertGreater(cluster["device"][key], 0)
        self.assertGreaterEqual(cluster["interference"], 1)
        points = POINT.findall(text)
        sizes = [int(size) << {"K": 10, "M": 20}[unit] for size, unit, *_ in points]
        self.assertEqual([1 << 10, 1 << 20, 1 << 22], [size for size in sizes if size in NEEDED])
        self.assertLessEqual(set(sizes), {1 << power for power in range(10, 27, 2)})
        times = [float(time) * SECONDS[unit] for _, _, time, unit in points]
        self.assertLess(times[-2], times[-1])
        self.assertLess(times[-1], 60)
        self.assertEqual([each.name for each in self.folder.glob("two.yaml*")], ["two.yaml"])

    def test_measures_a_part(self):
        """Only the ranks of a group call it."""
        file = self.folder / "part.yaml"
        *found, last = self.ask("measure", 3, file, SECONDS="1", RANKS="2")
        self.assertEqual([each["ranks"] for each in found], [2, 2])
        self.assertEqual(last, {})
        self.assert_is_cluster(file, 2)

    def test_measures_nodes(self):
        """LOCAL_WORLD_SIZE says how many ranks a node has."""
        file = self.folder / "four.yaml"
        found = self.ask("measure", 4, file, SECONDS="2", LOCAL_WORLD_SIZE="2")
        self.assertEqual([each["nodes"] for each in found], [2] * 4)
        cluster = self.assert_is_cluster(file, 4)
        self.assertEqual(cluster["devices_per_node"], 2)
        for link in ("link", "inside"):
            self.assertGreater(cluster[link]["beta"], 0)

    def test_measures_nodes_again(self):
        """A second calibration makes groups of its own, by the backend of the group."""
        found = self.ask("twice", 4, self.folder / "again.yaml", LOCAL_WORLD_SIZE="2")
        for rank, said in enumerate(found):
            # The group itself, and for each calibration the node's, and that of the first ranks.
            self.assertEqual(said["sizes"], [4, *([2, 2] if rank % 2 == 0 else [2]) * 2])
            for made in said["found"]:
                self.assertEqual((made["backend"], made["nodes"]), ("other", 2))
        self.assert_is_cluster(self.folder / "again.yaml", 4)

    def test_measures_long_messages(self):
        """Two sizes whose rate counts are always measured, and longer ones until times grow."""
        (found,) = self.ask("table", 1, self.folder / "none.yaml")
        every = [1 << power for power in range(10, 27, 2)]
        self.assertEqual(found["hurried"], NEEDED)
        self.assertEqual(found["unmeasured"], [size for size in every if size not in NEEDED])
        self.assertEqual(sorted(found["patient"]), every)
        self.assertEqual(found["uneven"], [*NEEDED, 1 << 24])
        self.assertEqual(
            found["flat"],
            "'seconds': expected 30 or more, got 5: messages of 64 MiB took no longer than those of"
            " 16 MiB",
        )
        self.assertTrue(found["rises"])

    def test_says_what_is_wrong(self):
        """On all ranks alike, before anything is measured. NCCL's times are its own scheme's."""
        found = self.ask("refusals", 2, self.folder / "none.yaml")
        none = self.folder / "none" / "a.yaml"
        for said in found:
            failed = "cannot be written"
            self.assertEqual(said["file"], f"'{none}': {failed}: No such file or directory")
            self.assertEqual(said["folder"], f"'{self.folder}': {failed}: Is a directory")
            self.assertEqual(
                said["seconds"], "'seconds': expected more than 0, up to 86400, got 0"
            )
            self.assertIn("got '1'", said["text"])
            self.assertEqual(said["output"], "'output': expected a path, got NoneType")
            self.assertEqual(said["alone"], "'group': expected two ranks or more, got 1")
            self.assertEqual(
                said["nodes"],
                [
                    [[[0, 1], [2, 3]], True],
                    [[[0, 1], [2, 3]], True],
                    [[[0], [1], [2]], False],
                    [[[0], [1], [2], [3]], False],
                ],
            )
            self.assertEqual(said["factors"][0], 1)
            self.assertAlmostEqual(said["factors"][1], 1.5)
            self.assertEqual(said["factors"][2], 10)
        self.assertFalse((self.folder / "none.yaml").exists())
        gpus = self.folder / "gpus.yaml"
        gpus.write_text(found[0]["nccl"])
        cluster = self.assert_is_cluster(gpus, 8, "library", ("--backend", "cuda"))
        self.assertEqual(cluster["devices_per_node"], 2)
        self.assertIn("  computation: 1.22\n", found[0]["nccl"])
        told = "  computation: 10 # at least: factors above 10 are not told apart\n"
        self.assertIn(told, found[0]["most"])
        (said,) = self.ask("without_group", 1, self.folder / "none.yaml")
        expected = "expected a process group, got none: call init_process_group() before"
        self.assertEqual(said["none"], expected)


if __name__ == "__main__":
    unittest.main()
