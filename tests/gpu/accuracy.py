"""Numbers of runs on GPUs: against PyTorch, and several ranks against one."""

import json
import pathlib
import sys

import cases
from table import Failed, Skipped

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("numerics", "support")]


class Accuracy:
    def __init__(self, machine):
        self.machine = machine

    def add(self, table):
        against = (
            "PyTorch in float64 here"
            if self.machine.torch
            else "float64 PyTorch on another processor, estimated"
        )
        for entry in self.machine.manifest["numbers"]:
            name = f"numbers {entry['name']}: {entry['ranks']} rank{'s' * (entry['ranks'] > 1)}"
            table.check(name, f"<= {cases.LIMIT:.0e} against {against}", self.against_torch, entry)
        for entry in self.machine.manifest["whole"]:
            name = f"numbers {entry['name']}: {entry['ranks']} ranks"
            table.check(name, f"<= {cases.SAME:.0e} against one rank", self.against_one, entry)
        for words in (["--cuda-graph"], ["--wire", "bf16"], ["--wire", "fp16"]):
            self.add_variant(table, words)

    def add_variant(self, table, words):
        """The same plan with and without a switch: a captured step computes the same bits; a
        narrower wire rounds gradients once on each rank and in each sum."""
        entry = self.machine.manifest["whole"][0]
        limit = 0.0 if "--cuda-graph" in words else 2e-2 if "bf16" in words else 2e-3
        expected = (
            f"<= {limit:.0e} against the same without" if limit else "the same bits as without"
        )
        table.check(
            f"numbers {entry['name']} {' '.join(words)}",
            expected,
            self.against_itself,
            entry,
            words,
            limit,
        )

    def train(self, label, plan, ranks, data, seed, *extra):
        """Three steps on these samples; what was dumped."""
        import harness
        import numpy

        folder = self.machine.logs / "numbers" / label
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{name}.npy" for name in "xy"]
        for file, array in zip(files, data):
            numpy.save(file, array)
        words = [word for name, value in cases.OPTIONS.items() for word in (f"--{name}", value)]
        words += ["--data", ",".join(map(str, files)), "--steps", cases.STEPS, "--seed", seed]
        words += ["--dump", folder / "dump", "--dump-steps", f"0,{cases.STEPS - 1}", *extra]
        self.machine.must(
            f"numbers-{label}", *self.machine.words(self.machine.file(plan), ranks, *words)
        )
        return harness.Dump(folder / "dump")

    def samples(self, count, shape, classes, seed):
        try:
            import values
        except ImportError as missing:
            raise Skipped(f"python3 has no {missing.name}") from missing
        return values.samples(count, shape, classes, seed)

    def against_torch(self, entry):
        if "left_out" in entry:
            raise Skipped(f"left out by prepare.sh: {entry['left_out']}")
        shape = (3, entry["size"], entry["size"])
        data = self.samples(entry["ranks"] * entry["batch"], shape, cases.CLASSES, entry["seed"])
        dump = self.train(entry["name"], entry["plan"], entry["ranks"], data, entry["seed"])
        if self.machine.torch:
            found = self.machine.python(
                *(f"numbers-{entry['name']}", "truth.py", self.machine.file(entry["script"])),
                *(
                    self.machine.file(entry["plan"]),
                    dump.folder,
                    "--seed",
                    entry["seed"],
                    "--shards",
                    entry["ranks"],
                ),
                *(
                    "--batch",
                    entry["batch"],
                    "--size",
                    entry["size"],
                    "--device",
                    self.machine.device,
                ),
            )
            text = f"{found['text']}; PyTorch in float32 {found['other']:.1e}"
        else:
            found = self.against_sketches(entry, dump)
            text = found["text"] + ", estimated from 16 projections"
        if not found["error"] <= cases.LIMIT:
            raise Failed(text)
        return text

    def against_sketches(self, entry, dump):
        import numpy

        reference = json.loads(self.machine.file(entry["reference"]).read_text())
        last = cases.STEPS - 1
        pairs = [
            (dump.gradients(0), reference["gradients"]),
            (dump.parameters(last), reference["parameters"]),
        ]
        import compare
        import values

        worst = []
        for (tensors, expected), judge in zip(pairs, (compare.gradients, compare.parameters)):
            truth = {name: numpy.array(sketch) for name, sketch in expected.items()}
            worst.append(judge({name: values.sketch(tensors[name], name) for name in truth}, truth))
        losses = reference["losses"]
        loss = max(abs(dump.loss(step) - losses[step]) / abs(losses[step]) for step in (0, last))
        text = f"loss {loss:.1e}, gradients {worst[0]}, parameters {worst[1]}"
        return {"error": max(loss, *(each.error for each in worst)), "text": text}

    def against_one(self, entry):
        data = self.samples(entry["samples"], entry["shape"], entry["classes"], entry["seed"])
        many = self.train(entry["name"], entry["many"], entry["ranks"], data, entry["seed"])
        one = self.train(f"{entry['name']}-in-one", entry["one"], 1, data, entry["seed"])
        return self.judge(many, one, entry["gradients"], cases.SAME)

    def against_itself(self, entry, words, limit):
        data = self.samples(entry["samples"], entry["shape"], entry["classes"], entry["seed"])
        label = f"{entry['name']}{'-'.join(words)}"
        plain = self.train(f"{label}-without", entry["many"], entry["ranks"], data, entry["seed"])
        other = self.train(label, entry["many"], entry["ranks"], data, entry["seed"], *words)
        return self.judge(other, plain, True, limit)

    def judge(self, dump, truth, has_gradients, limit):
        """By plan.json's rule for several ranks: gradients after the first step, parameters after
        the last."""
        import compare

        last = cases.STEPS - 1

        def tensors(all_of):
            return {name: all_of[name] for name in sorted(all_of.names())}

        worst = [compare.parameters(dump.parameters(last), tensors(truth.parameters(last)))]
        if has_gradients:
            worst.append(compare.gradients(dump.gradients(0), tensors(truth.gradients(0))))
        loss = abs(dump.loss(0) - truth.loss(0)) / abs(truth.loss(0))
        text = f"loss {loss:.1e}, parameters {', gradients '.join(map(str, worst))}"
        if not max(loss, *(each.error for each in worst)) <= limit:
            raise Failed(text)
        return text
