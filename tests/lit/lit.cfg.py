# Configuration of the lit tests. Parameters: build (the build folder), tools (LLVM's programs).
import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
import cases  # noqa: E402

config.name = "Syncline"
config.test_format = cases.CasesTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = folder

build = lit_config.params["build"]
config.test_exec_root = os.path.join(build, "tests", "lit")
folders = [os.path.join(build, "bin"), lit_config.params["tools"], os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(folders)

top = os.path.dirname(os.path.dirname(folder))
config.substitutions.append(("%samples", os.path.join(top, "samples")))
config.substitutions.append(("%patched", cases.WRITTEN))
