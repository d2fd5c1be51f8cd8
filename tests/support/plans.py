"""Plan folders that somebody changed: what plan.mlir gives is made again, and every hash put right.

So only the rules of `syncline verify` stand between the change and a run.
"""

import hashlib
import json
import subprocess

import harness
from waiting import PATIENCE

TRANSLATE = harness.BUILD / "bin" / "syncline-translate"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def rehash(plan, document=None):
    """Writes plan.json, `document` or as it is, with the hashes of the files as they are now."""
    if document is None:
        document = json.loads((plan / "plan.json").read_text())
    hashes = document["hashes"]
    for name in hashes["files"]:
        hashes["files"][name] = digest((plan / name).read_bytes())
    hashes["plan"] = ""
    compact = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    hashes["plan"] = digest(compact.encode())
    (plan / "plan.json").write_text(json.dumps(document, indent=1, ensure_ascii=False))


def translate(plan, what):
    """What `syncline-translate --plan-to-WHAT` prints, None where it refuses plan.mlir."""
    command = [str(TRANSLATE), f"--plan-to-{what}", str(plan / "plan.mlir")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return done.stdout if done.returncode == 0 else None


def reseal(plan, text):
    """Makes `text` the plan's plan.mlir, and step.cpp and plan.json what it gives. Where the text
    gives nothing, the files stay as they were, under hashes that fit."""
    (plan / "plan.mlir").write_text(text)
    before = json.loads((plan / "plan.json").read_text())
    printed, step = translate(plan, "json"), translate(plan, "cpp")
    if printed is None or step is None:
        return rehash(plan)
    document = json.loads(printed)
    for kept in ("name", "version", "options", "hashes"):
        document[kept] = before[kept]
    # The first line names version and planner, which the text of a plan does not know.
    first = (plan / "step.cpp").read_text().split("\n", 1)[0]
    first = first.replace(f"planner '{before['planner']}'", f"planner '{document['planner']}'")
    (plan / "step.cpp").write_text(first + "\n" + step.split("\n", 1)[1])
    return rehash(plan, document)


def build_step(plan):
    """step.so of the step.cpp that is there now, without optimisation; the hashes fit again."""
    include = harness.TOP / "runtime" / "include"
    words = ["c++", "-std=c++20", "-shared", "-fPIC", "-fopenmp", "-w", f"-I{include}"]
    words += ["-o", plan / "step.so", plan / "step.cpp"]
    subprocess.run(words, check=True, timeout=PATIENCE)
    rehash(plan)
