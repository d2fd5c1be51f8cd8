"""Numbers of runs on GPUs: against PyTorch, and several ranks against one."""

import json
import pathlib
import sys

import cases
from table import Check, Failed, Skipped

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("numerics", "support")]

TIMES = 2  # how much worse than PyTorch in the same precision
SCHEDULE = ("--schedule", "cosine", "--warmup", 3)
SCHEDULED = 8  # steps with it


class Accuracy:
    def __init__(self, machine):
        self.machine = machine

    def checks(self):
        against = (
            "PyTorch in float64 here"
            if self.machine.torch
            else "float64 PyTorch on another processor, estimated"
        )
        numbers, whole = (self.machine.manifest[name] for name in ("numbers", "whole"))
        for entry in numbers:
            name = f"numbers {entry['name']}: {entry['ranks']} rank{'s' * (entry['ranks'] > 1)}"
            yield Check(
                *(name, f"<= {cases.LIMIT:.0e} against {against}", self.against_torch, (entry,))
            )
        for entry in numbers:
            for precision in entry.get("modes", {}):
                name = f"numbers {entry['name']} {precision}: 1 rank"
                expected = f"<= {TIMES} x PyTorch's own error in {precision}"
                yield Check(name, expected, self.against_mode, (entry, precision))
        for entry in whole:
            name = f"numbers {entry['name']}: {entry['ranks']} ranks"
            yield Check(
                name, f"<= {cases.SAME:.0e} against one rank", self.against_one, (entry,)
            )
        for entry in whole[:1]:
            yield self.variant(entry, "--cuda-graph", 0.0, entry["many"], "--cuda-graph")
            for wire, limit in (("bf16", 2e-2), ("fp16", 2e-3)):
                yield self.variant(entry, f"--wire {wire}", limit, entry["wires"][wire])
            name = f"numbers {entry['name']} {' '.join(map(str, SCHEDULE))} --cuda-graph"
            yield Check(name, "the same bits as without --cuda-graph", self.scheduled, (entry,))

    def variant(self, entry, what, limit, plan, *words):
        """With and without a switch of `run`, or of `compile`: a captured step computes the same
        bits; a narrower wire rounds gradients once on each rank and in each sum."""
        expected = (
            f"<= {limit:.0e} against the same without" if limit else "the same bits as without"
        )
        name = f"numbers {entry['name']} {what}"
        return Check(name, expected, self.against_itself, (entry, what, limit, plan, *words))

    def train(self, label, plan, ranks, data, seed, *extra, steps=cases.STEPS):
        """These steps on these samples; what was dumped of the first and the last one."""
        import harness
        import numpy

        folder = self.machine.logs / "numbers" / label
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{name}.npy" for name in "xy"]
        for file, array in zip(files, data):
            numpy.save(file, array)
        words = [word for name, value in cases.OPTIONS.items() for word in (f"--{name}", value)]
        words += ["--data", ",".join(map(str, files)), "--steps", steps, "--seed", seed]
        words += ["--dump", folder / "dump", "--dump-steps", f"0,{steps - 1}", *extra]
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

    def prepared_samples(self, entry):
        if "left_out" in entry:
            raise Skipped(f"left out by prepare.sh: {entry['left_out']}")
        shape = (3, entry["size"], entry["size"])
        return self.samples(entry["ranks"] * entry["batch"], shape, cases.CLASSES, entry["seed"])

    def truth(self, entry, dump, precision):
        """What truth.py says of a dump: our error, and PyTorch's own in this precision."""
        files = [self.machine.file(entry[name]) for name in ("script", "plan")]
        words = ["--seed", entry["seed"], "--shards", entry["ranks"], "--batch", entry["batch"]]
        words += ["--size", entry["size"], "--device", self.machine.device]
        return self.machine.python(
            *(f"numbers-{entry['name']}", "truth.py", *files, dump.folder, *words),
            *("--precision", precision),
        )

    def against_torch(self, entry):
        data = self.prepared_samples(entry)
        dump = self.train(entry["name"], entry["plan"], entry["ranks"], data, entry["seed"])
        if self.machine.torch:
            found = self.truth(entry, dump, "fp32")
            text = f"{found['text']}; PyTorch in float32 {found['other']:.1e}"
        else:
            found = self.against_sketches(entry, dump)
            text = found["text"] + ", estimated from 16 projections"
        if not found["error"] <= cases.LIMIT:
            raise Failed(text)
        return text

    def against_mode(self, entry, precision):
        """In the precisions that are timed, whose kernels are others: channels last, mixed types.
        Twice, and both runs have the same bits."""
        self.machine.needs_torch()
        data = self.prepared_samples(entry)
        label, plan = f"{entry['name']}-{precision}", entry["modes"][precision]
        dumps = [
            self.train(f"{label}-{turn}", plan, 1, data, entry["seed"])
            for turn in (1, 2)
        ]
        self.judge(*dumps, True, 0.0)
        found = self.truth(entry, dumps[0], precision)
        text = f"{found['text']}; PyTorch in {precision} {found['other']:.1e}"
        if not found["error"] <= TIMES * found["other"]:
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

    def against_itself(self, entry, what, limit, plan, *words):
        data = self.samples(entry["samples"], entry["shape"], entry["classes"], entry["seed"])
        label = f"{entry['name']}{what.replace(' ', '-')}"
        plain = self.train(f"{label}-without", entry["many"], entry["ranks"], data, entry["seed"])
        other = self.train(label, plan, entry["ranks"], data, entry["seed"], *words)
        return self.judge(other, plain, True, limit)

    def scheduled(self, entry):
        """Every captured step has a rate of its own. Steps that are dumped are not replayed, so
        there are more of them."""
        data = self.samples(entry["samples"], entry["shape"], entry["classes"], entry["seed"])
        dumps = [
            self.train(
                f"{entry['name']}-scheduled{'-'.join(words)}",
                *(entry["many"], entry["ranks"], data, entry["seed"], *SCHEDULE, *words),
                steps=SCHEDULED,
            )
            for words in (["--cuda-graph"], [])
        ]
        return self.judge(*dumps, True, 0.0, last=SCHEDULED - 1)

    def judge(self, dump, truth, has_gradients, limit, last=cases.STEPS - 1):
        """By plan.json's rule for several ranks: gradients after the first step, parameters after
        the last."""
        import compare


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
