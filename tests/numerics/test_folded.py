"""What is computed at import against a current onnx.reference: folded.py in an environment of its
own, since Debian's onnx has no reference."""

import subprocess
import unittest

import harness
import virtual
from depth import long

FOLDED = harness.TOP / "tests" / "numerics" / "folded.py"
IMPORT = harness.BUILD / "bin" / "syncline-import"
PACKAGES = (
    "onnx==1.23.2",
    "numpy==2.4.6",
    "ml_dtypes==0.6.0",
    "mpmath==1.3.0",
    "protobuf==7.36.2",
    "typing_extensions==4.16.0",
)
SEEDS, CHAINS = range(10), 10000


@long("unit-onnx, a row for each kind of rounding")
class FoldedTest(unittest.TestCase):
    def test_random_chains(self):
        try:
            python = virtual.environment("onnx-1.23", PACKAGES)
        except virtual.Missing as missing:
            self.skipTest(str(missing))
        for seed in SEEDS:
            with self.subTest(seed=seed):
                words = [python, FOLDED, IMPORT, CHAINS, seed]
                done = subprocess.run([*map(str, words)], capture_output=True, text=True)
                print(done.stdout)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
