"""Bad models, cluster files and traces: exit code 1, one clear message, nothing left behind."""

import os
import subprocess
import unittest

import numpy
from onnx import TensorProto, helper

import harness
import models
from refusal import RefusalTest

GIB = 2**30
TRACE = harness.TOP / "samples" / "traces" / "alexnet.csv"


class BadModelTest(RefusalTest):
    def save(self, proto, name="model.onnx"):
        return models.save(proto, self.folder / name)

    def test_missing_file(self):
        self.refuses_model(self.folder / "absent.onnx")

    def test_empty_file(self):
        self.refuses_model(self.write("empty.onnx", b""))

    def test_truncated_file(self):
        whole = models.linear().SerializeToString()
        self.refuses_model(self.write("short.onnx", whole[: len(whole) // 2]))

    def test_not_onnx(self):
        self.refuses_model(self.write("text.onnx", "this is not a model\n" * 50))

    def test_random_bytes(self):
        noise = numpy.random.RandomState(0).bytes(4096)
        self.refuses_model(self.write("noise.onnx", noise))

    def test_folder_in_place_of_a_file(self):
        (self.folder / "folder.onnx").mkdir()
        self.refuses_model(self.folder / "folder.onnx")

    def test_file_beyond_two_gib(self):
        """Protobuf cannot hold it; refused by its size, without reading it (the file is sparse)."""
        path = self.write("huge.onnx", models.linear().SerializeToString())
        os.truncate(path, 2 * GIB + 1)
        self.refuses_model(path)

    def test_unknown_operator(self):
        broken = models.linear(operator="Gemmm")
        self.refuses_model(self.save(broken), "Gemmm", "first")

    def test_name_with_nul(self):
        """It would end there in the generated step."""
        broken = models.linear()
        broken.graph.initializer[0].name = broken.graph.node[0].input[1] = "we\0ght"
        self.refuses_model(self.save(broken), "'we?ght'", "UTF-8 without NUL")

    def test_open_batch(self):
        path = self.save(models.linear())
        words = ["compile", path, "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        self.refuses(words, path.name, "dimension 0 ('batch')", "--batch")

    def test_unknown_domain(self):
        broken = models.linear()
        broken.graph.node[0].domain = "com.example"
        broken.opset_import.append(helper.make_opsetid("com.example", 1))
        self.refuses_model(self.save(broken), "com.example")

    def test_unsupported_element_type(self):
        broken = models.linear(element=TensorProto.COMPLEX64)
        self.refuses_model(self.save(broken), "input")

    def test_missing_shape(self):
        self.refuses_model(self.save(models.linear(shape=None)), "input")

    def test_unknown_dimension(self):
        self.refuses_model(
            self.save(models.linear(shape=("batch", "features"))), "input", "features"
        )

    def test_cyclic_graph(self):
        self.refuses_model(self.save(models.cyclic()), "cycl")

    def test_value_that_nobody_makes(self):
        broken = models.linear()
        broken.graph.node[0].input[1] = "nowhere"
        self.refuses_model(self.save(broken), "nowhere", "first")

    def test_shapes_that_do_not_fit(self):
        self.refuses_model(self.save(models.linear(inputs=5)), "first")

    def test_wrong_amount_of_values(self):
        broken = models.linear()
        broken.graph.initializer[0].raw_data = b"\0" * 20
        self.refuses_model(self.save(broken), "weight")

    def test_negative_dimension(self):
        broken = models.linear()
        broken.graph.initializer[0].dims[0] = -4
        self.refuses_model(self.save(broken), "weight")

    def test_model_without_parameters(self):
        node = helper.make_node("Relu", ["input"], ["output"], name="only")
        self.refuses_model(self.save(models.model([node], {})), "parameter")

    def test_opset_of_the_future(self):
        broken = models.linear()
        broken.opset_import[0].version = 1000
        self.refuses_model(self.save(broken), "1000")

    def test_freezing_everything(self):
        self.refuses_model(self.save(models.linear()), extra=["--freeze", "*"])

    def test_freezing_nothing_that_exists(self):
        self.refuses_model(self.save(models.linear()), "nosuch*", extra=["--freeze", "nosuch*"])


class ExternalDataTest(RefusalTest):
    """Values in another file are read only from the model's own folder."""

    def check(self, location, *names):
        path = models.save(models.external(location), self.folder / "model.onnx")
        self.refuses_model(path, *names)

    def test_parent_folder(self):
        self.check("../secret.bin", "../secret.bin")

    def test_absolute_path(self):
        self.check("/etc/passwd", "/etc/passwd")

    def test_detour(self):
        self.check("data/../../secret.bin", "secret.bin")

    def test_link_that_leads_out(self):
        (self.folder / "weight.bin").symlink_to("/etc/passwd")
        self.check("weight.bin", "weight.bin")

    def test_missing(self):
        self.check("absent.bin", "absent.bin")

    def test_too_short(self):
        self.write("weight.bin", b"\0" * 47)
        self.check("weight.bin", "weight.bin")


class BadClusterTest(RefusalTest):
    def check(self, text, *names):
        model = models.save(models.linear(), self.folder / "model.onnx")
        path = self.write("bad.yaml", text)
        words = ["compile", model, "--cluster", path, "--batch", 2, "--loss", "cross-entropy"]
        self.refuses([*words, "-o", self.folder / "out.plan"], "bad.yaml", *names)

    def changed(self, old, new):
        text = self.cluster.read_text()
        self.assertIn(old, text)
        return text.replace(old, new)

    def test_bare_number(self):
        self.check(self.changed("10 Gb/s", "10"), "10")

    def test_unknown_unit(self):
        self.check(self.changed("10 Gb/s", "10 Gx/s"), "Gx/s")

    def test_wrong_kind_of_unit(self):
        self.check(self.changed("10 Gb/s", "10 ms"), "ms")

    def test_unknown_key(self):
        self.check(self.changed("latency", "latncy"), "latncy")

    def test_zero_ranks(self):
        self.check(self.changed("ranks: 2", "ranks: 0"), "ranks")

    def test_negative_ranks(self):
        self.check(self.changed("ranks: 2", "ranks: -3"), "-3")

    def test_negative_latency(self):
        self.check(self.changed("20 us", "-20 us"), "-20 us")

    def test_not_a_number(self):
        self.check(self.changed("10 Gb/s", "nan Gb/s"), "nan")

    def test_empty(self):
        self.check("")

    def test_not_yaml(self):
        self.check("ranks: [2\nname: }")

    def test_missing_file(self):
        model = models.save(models.linear(), self.folder / "model.onnx")
        words = ["compile", model, "--cluster", self.folder / "no.yaml", "--batch", 2]
        self.refuses([*words, "--loss", "mse", "-o", self.folder / "out.plan"], "no.yaml")


class NotAFileTest(RefusalTest):
    """Pipes and devices could be read for ever: refused at once, whatever they stand for."""

    def test_pipe(self):
        os.mkfifo(self.folder / "pipe")
        self.refuses_in_each_place(self.folder / "pipe")

    def test_device(self):
        self.refuses_in_each_place("/dev/zero")

    def refuses_in_each_place(self, path):
        model = models.save(models.linear(), self.folder / "model.onnx")
        given = {"model": model, "cluster": self.cluster}
        for place in ("model", "cluster", "profile", "parameters"):
            with self.subTest(place=place):
                now = {**given, place: path}
                words = ["compile", now.pop("model"), "--batch", 2, "-o", self.folder / "out.plan"]
                for name, value in now.items():
                    words += [f"--{name}", value]
                self.refuses(words, path, "regular file")


class BadTraceTest(RefusalTest):
    HEADER = "name,bytes,forward,backward\n"

    def check(self, text, *names):
        path = self.write("layers.csv", text)
        self.refuses(
            ["compile", path, "--cluster", self.cluster, "-o", self.folder / "out.plan"],
            "layers.csv",
            *names,
        )

    def test_not_a_number(self):
        self.check(self.HEADER + "a,4096B,1ms,2ms\nb,4096B,nan ms,2ms\n", "3")

    def test_negative_time(self):
        self.check(self.HEADER + "a,4096B,1ms,-2ms\n", "2", "-2ms")

    def test_bare_number(self):
        self.check(self.HEADER + "a,4096,1ms,2ms\n", "4096")

    def test_missing_cell(self):
        self.check(self.HEADER + "a,4096B,1ms\n", "2")

    def test_unknown_column(self):
        self.check("name,bytes,forward,sideways\na,1B,1ms,1ms\n", "sideways")

    def test_the_same_name_twice(self):
        self.check(self.HEADER + "a,4B,1ms,2ms\na,4B,1ms,2ms\n", "a")

    def test_header_only(self):
        self.check(self.HEADER)

    def test_empty(self):
        self.check("")


class BadCommandLineTest(RefusalTest):
    def test_unknown_option(self):
        done = self.command("compile", "--nosuch")
        self.assertEqual(done.returncode, 2)

    def test_no_command(self):
        self.assertEqual(self.command().returncode, 2)

    def test_unknown_command(self):
        self.refuses(["compiel"], "'compiel'", "compile", code=2)

    def test_batch_that_is_no_number_of_samples(self):
        for batch in ("0", "-1", "4x", "nan", "99999999999999999999"):
            with self.subTest(batch=batch):
                words = [
                    "compile",
                    "m.onnx",
                    "--cluster",
                    self.cluster,
                    "-o",
                    self.folder / "out.plan",
                ]
                said = self.refuses([*words, f"--batch={batch}"], "--batch", f"'{batch}'", code=2)
                self.assertLess(len(said), 200)

    def test_run_with_impossible_numbers(self):
        for option, values in {
            "--lr": ("nan", "inf", "-1", "x"),
            "--momentum": ("nan", "-1"),
            "--weight-decay": ("nan", "-1"),
            "--timeout": ("nan", "inf", "0", "1e300"),
            "--start-timeout": ("nan", "-1"),
            "--steps": ("-1", "1.5", "99999999999999999999"),
            "--seed": ("-1",),
            "-n": ("0", "-2"),
        }.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    word = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
                    said = self.refuses(["run", "any.plan", word], f"'{value}'", code=2)
                    self.assertLess(len(said), 200)

    def test_options_of_a_model_with_a_trace(self):
        trace = self.write("layers.csv", BadTraceTest.HEADER + "a,4B,1ms,2ms\n")
        words = ["compile", trace, "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        for option, value in (
            ("--batch", 4),
            ("--loss", "mse"),
            ("--classes-in", -1),
            ("--freeze", "a"),
            ("--parameters", "a.txt"),
        ):
            with self.subTest(option=option):
                self.refuses([*words, option, value], option, "layers.csv", code=2)

    def test_classes_in_without_a_cross_entropy_of_a_step(self):
        words = ["compile", "m.onnx", "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        words += ["--classes-in", -1]
        for loss in ("mse", "smooth-l1:beta=2"):
            said = f"'--classes-in' and '--loss {loss}'"
            self.refuses([*words, "--loss", loss], said, code=2)
        words[-1] = 2
        self.refuses(words, "--classes-in", "'2'", code=2)

    def test_names_that_are_empty(self):
        """Given, but not said: not the same as left out."""
        words = ["compile", "m.onnx", "--cluster", self.cluster, "-o", self.folder / "out.plan"]
        for option in ("--profile", "--loss-on", "--cluster", "--parameters"):
            with self.subTest(option=option):
                given = [
                    word
                    for word in words
                    if option != "--cluster" or word not in (option, self.cluster)
                ]
                self.refuses([*given, option, ""], option, "got nothing", code=2)

    def test_help_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [str(harness.SYNCLINE), "compile", "--help"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        self.assert_refused(done, ["standard output"])

    def test_what_the_runtime_carries_out(self):
        """Usage is that of what was typed, also where another program answers."""
        for command in ("run", "calibrate"):
            with self.subTest(command=command):
                self.assertIn(
                    f"Usage: syncline {command} [OPTIONS]", harness.syncline(command, "--help")
                )
                program = harness.BUILD / "bin" / f"syncline-{command}"
                done = subprocess.run([program, "--help"], capture_output=True, text=True)
                self.assertIn(f"Usage: {program.name} [OPTIONS]", done.stdout)
                with open("/dev/full", "w") as full:
                    done = subprocess.run(
                        [program, "--help"], stdout=full, stderr=subprocess.PIPE, text=True
                    )
                self.assert_refused(done, ["standard output"])

    def test_output_that_is_an_input(self):
        model = models.save(models.linear(), self.folder / "model.onnx")
        linked = models.save(models.external("values"), self.folder / "linked.onnx")
        values = self.write("values", bytes(48))
        hosts = self.write("hosts", "a slots=2\n")
        plan = self.folder / "a.plan"
        harness.syncline("compile", TRACE, "--cluster", self.cluster, "-o", plan)
        words = ["compile", model, "--plan-only", "--batch", 2, "--cluster", self.cluster]
        data = f"{hosts},{self.cluster}"
        for said, *typed in (
            ("read by MODEL", *words, "-o", model),
            ("read by MODEL", "profile", linked, "--batch", 2, "-o", values),
            ("read by --cluster", *words, "-o", self.cluster),
            ("read by --from-hostfile", "cluster", "--from-hostfile", hosts, "-o", hosts),
            ("read by PLAN", "simulate", plan, "--csv", plan / "plan.json"),
            ("read by PLAN", "run", plan, "--save", plan / "plan.mlir"),
            ("read by --data", "run", plan, "--data", data, "--save", self.cluster),
            ("written by --save", "run", plan, "--save", "o", "--trace", "o"),
        ):
            with self.subTest(typed=typed):
                self.refuses(typed, f"is {said}", code=2)
        harness.syncline("verify", plan)
        self.assertEqual(values.read_bytes(), bytes(48))

    def test_paths_on_one_line(self):
        """What a path holds moves no cursor and ends no line, and is cut to a length."""
        for command, *rest in (["run"], ["compile", "--cluster", self.cluster, "-o", "o"]):
            for name in ("a\nerror: b\x1b[31m", os.fsdecode(b"\x9b31m"), "x" * 100_000):
                with self.subTest(command=command):
                    said = self.refuses([command, name, *rest])
                    self.assertNotIn("\x1b", said)
                    self.assertNotIn("\x9b", said)
                    self.assertEqual(said.count("\n"), 1)
                    self.assertLess(len(said), 5000)

    def test_unknown_planner(self):
        model = models.save(models.linear(), self.folder / "model.onnx")
        words = ["compile", model, "--cluster", self.cluster, "--batch", 2, "--planner", "best"]
        done = self.command(*words, "-o", self.folder / "out.plan")
        self.assertEqual(done.returncode, 2)
        self.assertIn("best", done.stderr)


if __name__ == "__main__":
    unittest.main()
