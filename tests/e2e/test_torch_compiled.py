"""What torch.compile compiles, by DistributedDataParallel: by a plan of a recording messages are
exactly the plan's, and by any plan gradients are those over Gloo."""

import unittest

import torch_networks_case
import torch_plugin
from depth import long


@long("test_torch_backend records a network that is not compiled")
class TorchCompiledTest(torch_networks_case.NetworksTest):
    environment = staticmethod(torch_plugin.with_networks)

    def by_recording(self, kind):
        trace = self.folder / f"{kind}.csv"
        seconds, recording = torch_networks_case.SECONDS, {"SYNCLINE_RECORD": str(trace)}
        self.ends(self.ranks(f"record:{kind}", 2, seconds=seconds, **recording), seconds=seconds)
        self.compare(kind, self.plan(2, trace))

    def test_gpt_by_a_recording(self):
        self.by_recording("compiled")

    def test_resnet18_by_a_recording(self):
        self.by_recording("compiled resnet18")

    def test_gpt_by_a_plan_of_its_file(self):
        """Gradients are ready in an order that such a plan does not know."""
        self.compare("compiled", self.model_plan(2, self.characters()), is_planned=False)


if __name__ == "__main__":
    unittest.main()
