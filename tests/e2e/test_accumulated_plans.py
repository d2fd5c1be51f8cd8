"""`compile --accumulate`: what a plan of several batches chooses, predicts, proves and trains."""

import csv
import json

import numpy
from onnx import helper

import harness
import models
import stepcache
from checkpointed import PAIR
from refusal import RefusalTest
from test_token_ids import language

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
RANKS, BATCH = 2, 16
SIZE = 256  # of the wide model's layers, whose factors are an eighth of their gradients


def wide(path):
    """Three fully connected layers: 16 samples' factors are far smaller than the gradients."""
    random = numpy.random.default_rng(5)
    sizes = (64, SIZE, SIZE, 10)
    values, nodes, last = {}, [], "flat"
    for k, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        values[f"fc{k}.weight"] = random.normal(0, 0.1, (rows, columns)).astype(numpy.float32)
        values[f"fc{k}.bias"] = numpy.zeros(columns, numpy.float32)
        out = "output" if k == 2 else f"y{k}"
        inputs = [last, f"fc{k}.weight", f"fc{k}.bias"]
        nodes.append(helper.make_node("Gemm", inputs, [out], name=f"fc{k}"))
        if k < 2:
            nodes.append(helper.make_node("Relu", [out], [f"r{k}"], name=f"relu{k}"))
            last = f"r{k}"
    nodes.insert(0, helper.make_node("Flatten", ["input"], ["flat"], name="flatten"))
    return models.save(models.model(nodes, values, ("batch", 1, 8, 8)), path)


class AccumulatedPlansTest(RefusalTest):
    def setUp(self):
        super().setUp()
        self.model = wide(self.folder / "wide.onnx")

    def plan(self, *extra, label="", model=None, **how):
        slow = harness.CLUSTER.replace("10 Gb/s", "200 Mb/s")
        how = {"ranks": RANKS, "batch": BATCH, "cluster": slow, **how}
        return harness.compile_plan(
            model or self.model, self.folder, extra=extra, label=label, **how
        )

    def schemes(self, plan):
        return {bucket["scheme"] for bucket in harness.plan_json(plan)["buckets"]}

    def test_choice_flips_with_the_micro_batches(self):
        """Factors are best for one batch. In each of many micro-batches they cost more than a sum.
        The best of three plans is chosen, by the times of a step of one batch and of a micro-batch.
        What decides layer by layer is chosen where it is as good as all factors and as none."""
        self.enterContext(stepcache.none())
        one = self.plan(label="-one")
        self.assertIn("factors", self.schemes(one))
        # With the most micro-batches nothing is gathered, which gives the step of such a plan.
        most = self.plan("--accumulate", 64, label="-most")
        self.assertNotIn("factors", self.schemes(most))
        whole, sums = (harness.plan_json(plan)["predicted"] for plan in (one, most))
        sums = {"micro_batch": sums["micro_batch"], "step": sums["step"] - 63 * sums["micro_batch"]}
        self.assertLess(whole["step"], sums["step"])
        chosen = []
        for micro_batches in (2, 4, 16, 64):
            with self.subTest(micro_batches=micro_batches):
                steps = {
                    name: step["step"] + (micro_batches - 1) * step["micro_batch"]
                    for name, step in (("optimal", whole), ("sums", sums))
                }
                plan = self.plan("--accumulate", micro_batches, label=f"-{micro_batches}")
                document = harness.plan_json(plan)
                self.assertEqual(document["accumulate"], micro_batches)
                planner, predicted = document["planner"], document["predicted"]
                best = min(steps.values())
                self.assertLessEqual(predicted["step"], best * (1 + 1e-9))
                if planner != f"micro-batches:{micro_batches}":
                    self.assertAlmostEqual(predicted["step"], best, delta=1e-9 * best)
                    self.assertAlmostEqual(steps[planner], best, delta=1e-9 * best)
                if planner == "optimal":
                    self.assertIsNone(predicted["gathering"])
                else:
                    self.assertAlmostEqual(
                        predicted["gathering"], steps["optimal"], delta=1e-9 * steps["optimal"]
                    )
                    harness.syncline("verify", plan, "--model", self.model)
                chosen.append("factors" in self.schemes(plan))
        self.assertEqual(chosen, sorted(chosen, reverse=True), "it flips once")
        self.assertIs(chosen[-1], False)

    def test_says_how_a_step_is_made_up(self):
        self.enterContext(stepcache.none())
        one = harness.plan_json(self.plan("--scheme", "*=ring", label="-one"))
        plan = self.plan("--scheme", "*=ring", "--accumulate", 4, label="-four")
        document = harness.plan_json(plan)
        predicted, single = document["predicted"], one["predicted"]
        self.assertEqual(predicted["micro_batch"], single["micro_batch"])
        self.assertAlmostEqual(
            predicted["step"], single["step"] + 3 * single["micro_batch"], places=12
        )
        self.assertEqual(predicted["traffic"], single["traffic"])
        self.assertEqual(document["buckets"], one["buckets"])
        self.assertEqual(document["certificate"], one["certificate"])
        # Micro-batches that only compute and add up are as short as any, so that the proof holds.
        self.assertTrue(document["optimal"])
        self.assertAlmostEqual(
            predicted["planner"]["earlier"], 3 * predicted["micro_batch"], places=12
        )
        self.assertEqual(document["memory"]["sums"], document["memory"]["gradients"])
        self.assertEqual(one["memory"]["sums"], 0)
        said = harness.syncline("inspect", plan)
        for text in (
            "4 micro-batches a step of 16 a rank",
            ": 3 micro-batches of ",
            "a step adds up the gradients of 4 micro-batches: sums travel with the last one",
            "of the last micro-batch, and no plan with the schemes requested finishes before",
            ", behind 3 micro-batches that take ",
            "optimal, proved by the certificate",
            "sums ",
        ):
            self.assertIn(text, said)
        other = self.plan("--scheme", "*=ring", label="-other")
        self.assertIn("accumulate", harness.syncline("inspect", plan, "--diff", other))
        why = harness.syncline("inspect", plan, "--why", "fc1.weight")
        self.assertIn("a step has 4 micro-batches", why)

    def test_factors_travel_in_each_micro_batch(self):
        words = ("--scheme", "fc1*=factors")
        one = harness.plan_json(self.plan(*words, label="-one"))
        plan = self.plan(*words, "--accumulate", 3, label="-three")
        document = harness.plan_json(plan)
        factors = sum(b["traffic"] for b in document["buckets"] if b["scheme"] == "factors")
        self.assertGreater(factors, 0)
        self.assertEqual(
            document["predicted"]["traffic"], one["predicted"]["traffic"] + 2 * factors
        )
        # Each micro-batch waits for its own factors, so that it is longer than it must be.
        planner = document["predicted"]["planner"]
        self.assertLess(planner["earlier"], 2 * document["predicted"]["micro_batch"])
        self.assertFalse(document["optimal"])
        self.assertGreater(planner["gap"], 0)
        why = harness.syncline("inspect", plan, "--why", "fc1.weight")
        self.assertIn("travels in each, which is 3 times the traffic above a step", why)
        self.assertIn("messages by factors with each", harness.syncline("inspect", plan))
        # A run moves what was predicted.
        done = self.command("run", plan, "-n", RANKS, "--steps", 2, "--log", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout.splitlines()[-1])
        moved = summary["median_bytes_sent"] + summary["median_bytes_received"]
        traffic = document["predicted"]["traffic"]
        self.assertEqual(summary["predicted_traffic_bytes"], traffic)
        self.assertAlmostEqual(moved, traffic, delta=0.01 * traffic + 1024)

    def trained(self, plan, *extra):
        saved = self.folder / "trained.onnx"
        words = ("run", plan, "-n", RANKS, "--data", PAIR, "--steps", 3, "--lr", 0.05)
        done = self.command(*words, "--log", "json", "--save", saved, *extra)
        self.assertEqual(done.returncode, 0, done.stderr)
        *steps, summary = [json.loads(line) for line in done.stdout.splitlines()]
        return saved.read_bytes(), [line["loss"] for line in steps], summary, done.stderr

    def test_trains_as_with_the_flag_of_run(self):
        """A plan of four batches trains the bits of one that `run --accumulate 4` runs."""
        for words in (
            ("--scheme", "*=ring"),
            ("--scheme", "*=ring", "--scheme", "fc1*=factors"),
            ("--scheme", "*=reduce-scatter"),
            ("--scheme", "*=ring", "--overlap", "step"),
        ):
            with self.subTest(words=words):
                four = self.plan(*words, "--accumulate", 4, label="-four")
                one = self.plan(*words, label="-one")
                buckets = [harness.plan_json(plan)["buckets"] for plan in (four, one)]
                self.assertEqual(*([(b["members"], b["scheme"]) for b in all] for all in buckets))
                values, losses, summary, said = self.trained(four)
                wanted, flagged, other, told = self.trained(one, "--accumulate", 4)
                self.assertEqual(values, wanted)
                self.assertEqual(losses, flagged)
                self.assertNotIn("do not hold", said)
                self.assertIn(
                    "'--accumulate 4': the plan was made for 1, its predictions do not hold; "
                    "'syncline compile --accumulate 4' makes one",
                    told,
                )
                predicted = harness.plan_json(four)["predicted"]["step"]
                self.assertEqual(summary["predicted_step_seconds"], predicted)
                # Four micro-batches hide a loss behind which one batch's messages waited.
                late = 0.003 if "step" in words else 1e-9
                self.assertAlmostEqual(
                    other["predicted_step_seconds"], predicted, delta=late * predicted
                )
                # One batch of the plan of four is a step of the other.
                self.assertEqual(
                    self.trained(four, "--accumulate", 1)[:2], self.trained(one)[:2]
                )

    def test_overlap_of_steps(self):
        """Messages hide behind the next step's first micro-batch as behind a step of one batch."""
        self.enterContext(stepcache.none())
        words = ("--overlap", "step")
        plan = self.plan(*words, "--accumulate", 3, "--scheme", "*=ring", label="-order")
        one = harness.plan_json(self.plan(*words, "--scheme", "*=ring", label="-one"))
        document = harness.plan_json(plan)
        self.assertEqual(document["overlap"], "step")
        predicted = document["predicted"]
        expected = one["predicted"]["step"] + 2 * one["predicted"]["micro_batch"]
        # The loss, for which messages of one batch wait, has all micro-batches to arrive.
        self.assertLess(predicted["step"], expected)
        self.assertAlmostEqual(predicted["step"], expected, delta=0.003 * expected)
        planner = predicted["planner"]
        self.assertAlmostEqual(planner["earlier"], 2 * predicted["micro_batch"], places=12)
        said = harness.syncline("inspect", plan)
        self.assertIn("the last micro-batch takes", said)
        self.assertIn("has one below", said)
        free = self.plan(*words, "--accumulate", 64, label="-free")
        self.assertEqual(harness.plan_json(free)["planner"], "sums")
        self.assertNotIn("factors", self.schemes(free))
        said = self.command(
            *("compile", self.model, "--cluster", self.folder / f"cluster{RANKS}-free.yaml"),
            *("--batch", BATCH, *words, "--accumulate", 64, "-o", self.folder / "said.plan"),
        ).stderr
        self.assertIn("planned with '--overlap step' by sums alone: step", said)

    def simulated(self, plan, *words):
        return json.loads(harness.syncline("simulate", plan, "--json", *words))

    def test_simulates_all_micro_batches(self):
        """Micro-batches one behind the other take what was predicted micro-batch by micro-batch."""
        self.enterContext(stepcache.none())
        factors = ("--scheme", "*=ring", "--scheme", "fc1*=factors")
        for micro_batches, words in (
            (3, factors),
            (3, ("--scheme", "*=reduce-scatter", "--clip-norm", "1")),
            (2, (*factors, "--overlap", "step")),
            (3, (*factors, "--overlap", "step")),
            (2, ("--scheme", "*=ring", "--overlap", "step")),
            (10, (*factors, "--overlap", "step")),
        ):
            with self.subTest(words=words, micro_batches=micro_batches):
                plan = self.plan(*words, "--accumulate", micro_batches, label="-several")
                document = harness.plan_json(plan)
                predicted = document["predicted"]["step"]
                simulated = self.simulated(plan)
                self.assertAlmostEqual(simulated["step"], predicted, delta=1e-9 * predicted)
                self.assertEqual(simulated["micro_batches"], micro_batches)
                self.assertEqual(simulated["alone"], document["predicted"]["alone"])
                rate = RANKS * BATCH * micro_batches / predicted
                self.assertAlmostEqual(simulated["samples_per_second"], rate, delta=1e-6 * rate)
                gathered = [b for b in document["buckets"] if b["scheme"] == "factors"]
                sent = [m for m in simulated["messages"] if m["scheme"] == "factors"]
                self.assertEqual(len(sent), micro_batches * len(gathered))
                for message in sent[len(gathered) :]:
                    last = simulated["messages"][message["in_last_micro_batch"]]
                    self.assertEqual(last["name"], message["name"])
                    self.assertIsNone(last["in_last_micro_batch"])
                # A rank that computes twice as long does so in each micro-batch.
                late = self.simulated(plan, "--slow", "1:2")
                computed = document["predicted"]["alone"]
                self.assertGreater(late["step"], predicted + 0.5 * computed)
                self.assertEqual(late["late_ranks"] is None, "step" not in words)
                if late["late_ranks"]:
                    longer = [wait["name"] for wait in late["late_ranks"]["longer_waits"]]
                    self.assertEqual(len(longer), len({*longer}))
                said = harness.syncline("simulate", plan, "--slow", "1:2")
                self.assertIn(f"2 ranks, steps of {micro_batches} micro-batches", said)
                self.assertIn("a batch of 8 on rank 1 in place of 16 evens it out", said)

    def test_traces_the_messages_of_each_micro_batch(self):
        words = ("--scheme", "*=ring", "--scheme", "fc1*=factors", "--accumulate", 3)
        plan, trace = self.plan(*words, label="-three"), self.folder / "simulated.json"
        harness.syncline("simulate", plan, "--trace", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        sent = [e["name"] for e in events if e.get("cat") == "message" and e["pid"] == 0]
        for bucket in harness.plan_json(plan)["buckets"]:
            count = 3 if bucket["scheme"] == "factors" else 1
            self.assertEqual(sent.count(f"bucket {bucket['id']}"), count)
        flows = [e["ph"] for e in events if e["ph"] in "sf" and e["pid"] == 0]
        self.assertEqual(flows.count("s"), flows.count("f"))

    def test_sweeps_all_micro_batches(self):
        self.enterContext(stepcache.none())
        words = ("--scheme", "*=ring", "--accumulate", 3)
        plan = self.plan(*words, label="-three")
        predicted = harness.plan_json(plan)["predicted"]
        file = self.folder / "sweep.csv"
        harness.syncline("simulate", plan, "--sweep", "ranks=1,2,4", "--csv", file)
        alone, here, more = csv.DictReader(file.read_text().splitlines())
        self.assertAlmostEqual(float(alone["step_s"]), predicted["alone"], delta=1e-6)
        self.assertAlmostEqual(float(here["step_s"]), predicted["step"], delta=1e-6)
        self.assertGreater(float(more["step_s"]), predicted["step"])
        # Twice the samples take less than twice the time: the sums and messages stay.
        harness.syncline("simulate", plan, "--sweep", "batch=16,32", "--csv", file)
        small, large = (float(r["step_s"]) for r in csv.DictReader(file.read_text().splitlines()))
        self.assertLess(small, large)
        self.assertLess(large, 2 * small)

    def test_auto_overlap_and_clipping(self):
        self.enterContext(stepcache.none())
        plan = self.plan("--overlap", "auto", "--accumulate", 4, "--clip-norm", 1, label="-auto")
        document = harness.plan_json(plan)
        self.assertEqual((document["overlap"], document["accumulate"]), ("backward", 4))
        predicted = document["predicted"]
        self.assertGreater(predicted["step"], predicted["unclipped"])
        self.assertGreater(predicted["unclipped"], 3 * predicted["micro_batch"])

    def test_memory_of_the_sums(self):
        self.enterContext(stepcache.none())
        one = harness.plan_json(self.plan("--scheme", "*=ring", label="-one"))
        memory = one["memory"]
        samples = BATCH * (64 * 4 + 8)
        least = sum(memory.values()) + samples
        sized = harness.CLUSTER.replace("10 GB/s}", f"10 GB/s, memory-size: {least + 4096} B}}")
        cluster = self.write("sized.yaml", sized.format(ranks=RANKS))
        words = ("compile", self.model, "--cluster", cluster, "--batch", BATCH, "--scheme")
        words += ("*=ring", "--overlap", "backward", "-o", self.folder / "sized.plan")
        self.assertEqual(self.command(*words).returncode, 0)
        done = self.command(*words, "--accumulate", 2)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the plan needs", done.stderr)

    def test_what_is_refused(self):
        self.enterContext(stepcache.none())
        words = ("compile", self.model, "--cluster", self.cluster, "--batch", 4)
        words += ("-o", self.folder / "x.plan")
        several = ("--accumulate", 4)
        for extra, said in (
            (("--consistency", "local:4"), ("'--consistency local:4' and '--accumulate'",)),
            (("--split-tied", "always"), ("'--accumulate'", "rows would be added")),
            (("--plan-only",), ("'--plan-only' and '--accumulate' exclude each other",)),
        ):
            with self.subTest(extra=extra):
                self.refuses((*words, *several, *extra), *said, code=2)
        for number in ("0", "-1", "1.5", "x", "1000001"):
            said = "--accumulate: expected "
            with self.subTest(number=number):
                self.refuses((*words, f"--accumulate={number}"), said, code=2)
        plan = self.plan(*several, label="-four")
        said = "'--sweep consistency' knows steps of one batch, the plan's have 4"
        self.refuses(("simulate", plan, "--sweep", "consistency=bsp"), said, code=1)

    def test_runs_that_measure(self):
        """They want steps of one batch, which `--accumulate 1` gives."""
        plan = self.plan("--scheme", "*=ring", "--accumulate", 4, label="-four")
        trace = self.folder / "t.json"
        words = ("run", plan, "-n", RANKS, "--steps", 4, "--trace", trace)
        done = self.command(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("'--trace' is for steps of one batch", done.stderr)
        done = self.command(*words, "--accumulate", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.command("inspect", plan, "--measured", trace)
        self.assertIn("steps of 2 ranks", done.stdout, done.stderr)
        done = self.command("run", plan, "--alone", "--steps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tied_weights_stay_whole(self):
        """Where both parts could travel apart, several batches keep the gradient whole."""
        model = models.save(language(tied=True), self.folder / "language.onnx")
        parts = []
        for words in (("--split-tied", "always"), ("--accumulate", 2)):
            plan = self.plan(*words, label=words[0], model=model)
            buckets = harness.plan_json(plan)["buckets"]
            parts.append(any(m.endswith(":rows") for b in buckets for m in b["members"]))
        self.assertEqual(parts, [True, False])
        done = self.command("run", plan, "-n", RANKS, "--steps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
