"""The C interface through the Python package, and that its structs are the header's."""

import _ctypes
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import c_api
import harness
from waiting import PATIENCE

PACKAGE = harness.TOP / "runtime" / "python"
sys.path.insert(0, str(PACKAGE))
os.environ["SYNCLINE_LIBRARY"] = str(c_api.LIBRARY)

from syncline import _structs, capi

RANK = pathlib.Path(__file__).with_name("python_rank.py")
MODEL = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
STRUCTS = {
    "syncline_error": _structs.Error,
    "syncline_plan_info": _structs.PlanInfo,
    "syncline_message_info": _structs.MessageInfo,
    "syncline_member_info": _structs.MemberInfo,
    "syncline_store": _structs.Store,
    "syncline_group_options": _structs.GroupOptions,
    "syncline_message_time": _structs.MessageTime,
}
LAYOUT = """
#include "syncline.h"
#include <stdio.h>
int main(void) {
%s
  return 0;
}
"""


class PythonApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.path = cls.planned(2)

    @classmethod
    def planned(cls, ranks):
        """A plan for so many ranks."""
        path, cluster = cls.folder / f"digits-{ranks}.plan", cls.folder / f"cluster-{ranks}.yaml"
        cluster.write_text(harness.CLUSTER.format(ranks=ranks))
        words = ("--cluster", cluster, "--batch", 4, "-o", path, "--quiet", "--plan-only")
        harness.syncline("compile", MODEL, *words, "--scheme", "*=ring")
        return path

    def test_structs_are_the_headers(self):
        """Each struct has the header's size, and its fields lie where a C compiler puts them."""
        prints = [
            f'printf("%zu %zu\\n", sizeof({name}), offsetof({name}, {field}));'
            for name, struct in STRUCTS.items()
            for field, _ in struct._fields_
        ]
        (self.folder / "layout.c").write_text(LAYOUT % "\n".join(prints))
        words = ["cc", self.folder / "layout.c", "-I", c_api.HEADERS, "-o", self.folder / "layout"]
        subprocess.run(words, check=True, timeout=PATIENCE)
        said = subprocess.run([self.folder / "layout"], capture_output=True, text=True, check=True)
        ours = [
            f"{ctypes.sizeof(struct)} {getattr(struct, field).offset}"
            for struct in STRUCTS.values()
            for field, _ in struct._fields_
        ]
        self.assertEqual(said.stdout.split("\n")[:-1], ours)

    def test_has_all_functions_of_the_header(self):
        header = (c_api.HEADERS / "syncline.h").read_text()
        found = re.findall(r"^SYNCLINE_API [\w *]+?\bsyncline_(\w+)\(", header, re.MULTILINE)
        self.assertEqual(set(found) - {"version", "api_number", "plan_close"}, set(_structs.CALLS))

    def test_reads_a_plan(self):
        document = json.loads((self.path / "plan.json").read_text())
        plan = capi.Plan(self.path)
        self.assertEqual(plan.about.ranks, 2)
        names = {each.name for number in range(len(plan.messages)) for each in plan.members(number)}
        self.assertEqual(names, {layer["name"] for layer in document["layers"]})
        for message in plan.messages:
            self.assertEqual((message.type, message.bytes), ("float32", 4 * message.count))
        scheme, seconds = plan.choose(1 << 20)
        self.assertTrue(scheme and seconds > 0, (scheme, seconds))

    def test_errors_are_exceptions(self):
        with self.assertRaisesRegex(capi.BadInput, "no.plan"):
            capi.Plan(self.folder / "no.plan")
        plan = capi.Plan(self.path)
        with self.assertRaises(capi.BadUsage):
            plan.message(1000)
        with self.assertRaisesRegex(capi.Failed, "the plan is for 2 ranks, the group has 1"):
            capi.Group(plan, 0, 1, port=harness.free_port())

    def test_unknown_options_are_refused(self):
        plan = capi.Plan(self.path)
        for option in ("lost_second", "size", "store_"):
            with self.assertRaisesRegex(capi.BadUsage, f"^Group.*lost_seconds.*, got '{option}'$"):
                capi.Group(plan, 0, 1, **{option: 1})

    def test_values_that_do_not_fit_are_refused(self):
        """And are not cut."""
        plan, wide = capi.Plan(self.path), 1 << 32
        for call, said in (
            (lambda: plan.message(wide), r"plan_message\(\): expected a number of 32 bits, got 4"),
            (lambda: plan.choose(-wide * wide), r"choose\(\): expected a number of 64 bits, got"),
            (lambda: capi.Group(plan, wide, 2), r"rank: expected a number of 32 bits, got 4294"),
            (lambda: capi.Group(plan, 0, wide), r"ranks: expected a number of 32 bits"),
            (lambda: capi.Group(plan, 0, 2, port=wide), r"option 'port': expected a number of 32"),
            (lambda: capi.Plan(f"{self.path}\0/more"), r"plan_open\(\): expected text without NUL"),
            (lambda: capi.Group(plan, 0, 2, name="a\0b"), r"'name': .* NUL, got 'a\\x00b'"),
        ):
            with self.assertRaisesRegex(capi.BadUsage, said):
                call()
        self.assertTrue(plan.choose((1 << 31) + 4)[0])

    def test_other_libraries(self):
        """SYNCLINE_LIBRARY may name a file that is no library, or another one."""
        other = _ctypes.__file__
        for path, expected in ((__file__, "invalid ELF header"), (other, "got another library")):
            with mock.patch.dict(os.environ, {"SYNCLINE_LIBRARY": path}):
                with self.assertRaisesRegex(OSError, expected):
                    _structs.load()

    def test_forked_processes(self):
        """They cannot use the group, and leave it to the process that joined it."""
        group = capi.Group(capi.Plan(self.planned(1)), 0, 1)
        self.addCleanup(group.close)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(round(PATIENCE))
            try:
                group.check()
            except capi.BadUsage as failure:
                os.write(write, str(failure).encode())
            group.close()
            os._exit(0)
        os.close(write)
        with open(read, encoding="utf-8") as said:
            expected = rf"group_check\(\): expected a call of process {os.getpid()}, which joined "
            self.assertRegex(said.read(), expected)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        group.check()

    def test_sums_between_processes(self):
        port = str(harness.free_port())
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        ranks = [
            subprocess.Popen(
                [sys.executable, RANK, self.path, str(rank), "2", port],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
            for rank in range(2)
        ]
        count = len(capi.Plan(self.path).messages)
        for rank in ranks:
            said, errors = rank.communicate(timeout=PATIENCE)
            self.assertEqual(rank.returncode, 0, errors)
            travelled = sorted((step, message) for step, message, _ in json.loads(said))
            expected = [(step, message) for step in range(2) for message in range(-1, count)]
            self.assertEqual(travelled, expected)


if __name__ == "__main__":
    unittest.main()
