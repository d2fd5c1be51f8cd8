# Configuration of the lit tests. Parameters: build (the build folder), tools (LLVM's programs).
import os
import sys

import lit.formats

config.name = "Syncline"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)

build = lit_config.params["build"]
config.test_exec_root = os.path.join(build, "tests", "lit")
folders = [os.path.join(build, "bin"), lit_config.params["tools"], os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(folders)

top = os.path.dirname(os.path.dirname(config.test_source_root))
config.substitutions.append(("%samples", os.path.join(top, "samples")))
patched = os.path.join(config.test_source_root, "patched.py")
config.substitutions.append(("%patched", f"{sys.executable} -ISE {patched}"))
