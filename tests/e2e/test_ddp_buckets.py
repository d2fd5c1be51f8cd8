"""`--planner ddp:SIZE` has the buckets that DistributedDataParallel makes of the same network."""

import json
import subprocess
import unittest

import harness
from plan_only import plan_json
from pytorch_case import PyTorchCase

EXPORT = harness.TOP / "samples" / "models" / "export.py"
# Weights fill buckets, so that it shows on which side of them their biases are. One of the mlp's
# buckets ends between a bias and its weight.
NETS = """\
from torch import nn

def linear(*widths):
    return nn.Sequential(*(nn.Linear(*pair) for pair in zip(widths, widths[1:])))

def mlp():
    return linear(4, 262144, 2, 600, 600, 600, 10)

def words():
    return linear(512, 600, 600, 600, 10)

def cnn():
    return nn.Sequential(
        *(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU()),
        *(nn.Conv2d(64, 512, 3), nn.ReLU(), nn.Conv2d(512, 64, 3), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(1024, 300), nn.ReLU(), nn.Linear(300, 10)),
    )
"""
SHAPES = {"mlp": (4,), "words": (3, 512), "cnn": (3, 10, 10)}
CAPS = (1, 2, 25)  # MiB, the last by default
SCRIPT = """\
import json, sys, torch, torch.distributed as dist
import nets
from torch.nn.parallel import DistributedDataParallel

def buckets(model, shape, cap):
    names = [name for name, _ in model.named_parameters()]
    parallel = DistributedDataParallel(model, **({} if cap == 25 else {"bucket_cap_mb": cap}))
    for step in range(3):  # the second one makes these buckets, the third one tells them
        parallel(torch.randn(2, *shape)).sum().backward()
    told = parallel._get_ddp_logging_data()["rebuilt_per_bucket_param_indices"].split(",")
    return [[names[int(i)] for i in group.split()] for group in told]

dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
shapes, caps = json.loads(sys.argv[2])
made = {
    name: [buckets(getattr(nets, name)(), shape, cap) for cap in caps]
    for name, shape in shapes.items()
}
dist.destroy_process_group()
print(json.dumps(made))
"""


class DdpBucketsTest(PyTorchCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "nets.py").write_text(NETS)
        (cls.folder / "train.py").write_text(SCRIPT)
        cls.cluster = cls.folder / "two.yaml"
        cls.cluster.write_text(harness.CLUSTER.format(ranks=2))

    def planned(self, name, cap):
        """The members of the plan's buckets."""
        model, plan = self.folder / f"{name}.onnx", self.folder / f"{name}-{cap}.plan"
        if not model.exists():
            shape = ",".join(map(str, SHAPES[name]))
            words = ["/usr/bin/python3", EXPORT, f"nets:{name}", "--input", shape, "-o", model]
            subprocess.run(words, cwd=self.folder, check=True, capture_output=True)
        words = ("--cluster", self.cluster, "--batch", 2, "--plan-only", "--quiet")
        words += ("--loss", "mse") if name == "words" else ()
        harness.syncline("compile", model, *words, "--planner", f"ddp:{cap}MiB", "-o", plan)
        return [bucket["members"] for bucket in plan_json(plan)["buckets"]]

    def test_buckets_are_those_of_ddp(self):
        """Those that DDP makes behind its first step."""
        words = ("train.py", self.folder / "meet", json.dumps([SHAPES, CAPS]))
        [(said, _)] = self.ends([self.start(words, self.variables(), self.folder)])
        for name, rebuilt in json.loads(said).items():
            for cap, groups in zip(CAPS, rebuilt):
                with self.subTest(network=name, cap=cap):
                    self.assertGreater(len(groups), 1)
                    self.assertEqual(self.planned(name, cap), groups)


if __name__ == "__main__":
    unittest.main()
