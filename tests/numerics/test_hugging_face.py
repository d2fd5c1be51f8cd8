"""Current PyTorch's exports of current transformers' models: hugging_face.py and
hugging_face_losses.py in an environment of their own, since Debian has neither."""

import os
import subprocess
import unittest

import current_pytorch
import harness
import virtual
from waiting import PATIENCE

TESTS = harness.TOP / "tests"
PATHS = (TESTS / "numerics", TESTS / "support", harness.TOP / "samples" / "models")


class HuggingFaceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):  # making the environment is no test's work
        try:
            cls.python = current_pytorch.python()
        except virtual.Missing as missing:
            raise unittest.SkipTest(str(missing)) from missing

    def test_unedited_exports(self):
        self.check("hugging_face.py")

    def test_losses_of_models(self):
        self.check("hugging_face_losses.py")

    def check(self, file):
        path = os.pathsep.join(map(str, PATHS))
        done = subprocess.run(
            [self.python, TESTS / "numerics" / file],
            env={**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
        )
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
