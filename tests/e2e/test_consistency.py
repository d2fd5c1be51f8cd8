"""Who waits for whom: what compile takes and refuses, what reports say, what sync EASGD hides."""

import json
import re

import harness
import stepcache
from refusal import RefusalTest

DIGITS = harness.TOP / "samples" / "models" / "digits-cnn.onnx"
DATA = harness.TOP / "samples" / "data"
PAIR = f"{DATA}/digits-train-x.npy,{DATA}/digits-train-y.npy"
SERVERS = harness.CLUSTER + "servers: {{count: 2, dedicated: yes}}\n"


class ConsistencyTest(RefusalTest):
    def plan(self, form, extra=(), **how):
        return harness.compile_plan(
            DIGITS,
            self.folder,
            ranks=4,
            label=re.sub(r"\W", "-", form),
            extra=("--consistency", form, *extra),
            **how,
        )

    def refuse(self, form, *said, cluster=None, extra=(), code=1):
        words = ("compile", DIGITS, "--cluster", cluster or self.cluster, "--batch", 4)
        words += ("-o", self.folder / "new.plan", "--consistency", form, *extra)
        self.refuses(words, *said, code=code)

    def test_refuses_numbers(self):
        for form, said in (
            ("gossip", "expected bsp, ssp:S, asp, dssp:L,U, easgd:VARIANT,RHO[,TAU], local:H or"),
            ("ssp", "expected ssp:S, got 'ssp'"),
            ("ssp:x", "expected ssp:S, got 'ssp:x'"),
            ("ssp:-1", "S19: expected a staleness of at least 0 steps, got -1"),
            ("asp:1", "expected asp, got 'asp:1'"),
            ("dssp:3", "expected dssp:L,U, got 'dssp:3'"),
            ("dssp:5,3", "S19: expected 0 <= L <= U steps, got 5 and 3"),
            ("dssp:7,10008", "S19: expected bounds at most 10000 steps apart, got 7 and 10008"),
            ("easgd:sync1", "expected easgd:VARIANT,RHO[,TAU], got 'easgd:sync1'"),
            ("easgd:sync4,0.1", "as variant, got 'sync4'"),
            ("easgd:sync1,0", "S19: expected a rho above 0, got 0"),
            ("easgd:sync1,nan", "S19: expected a rho above 0, got nan"),
            ("easgd:sync1,0.1,0", "S19: expected a period of at least 1 step, got 0"),
        ):
            self.refuse(form, "--consistency", said, code=2)

    def test_refuses_what_a_scheme_cannot_carry(self):
        self.enterContext(stepcache.none())
        for form in ("ssp:3", "asp", "dssp:3,15", "easgd:hogwild,0.1"):
            said = ("P31: 'ring' cannot carry", "expected 'parameter-server'")
            self.refuse(form, *said, extra=("--scheme", "*=ring"))
            self.plan(form, extra=("--scheme", "*=parameter-server"))
        self.refuse("easgd:sync1,0.1", "expected 'tree'", extra=("--scheme", "*=ring"))
        self.plan("easgd:sync2,0.1", extra=("--scheme", "*=ring"))
        said = ("P31: 'parameter-server' cannot carry", "expected an all-reduce")
        for form in ("local:4", "easgd:sync3,0.1"):
            self.refuse(form, *said, extra=("--scheme", "*=parameter-server"))
        for form in ("ssp:3", "easgd:async,0.1,1"):
            said = (f"P31: the weights of '{form}' travel by servers", "--backend cpu")
            self.refuse(form, *said, extra=("--backend", "cuda"))

    def test_servers_of_the_cluster(self):
        """They have the weights, or stay without work where weights travel by all-reduces."""
        self.enterContext(stepcache.none())
        file = self.write("servers.yaml", SERVERS.format(ranks=4))
        for form, servers in (("ssp:3", 2), ("easgd:original,0.1", 2), ("easgd:sync2,0.1", 0)):
            out = self.folder / "served.plan"
            words = ("--cluster", file, "--batch", 4, "--consistency", form, "-o", out)
            harness.syncline("compile", DIGITS, *words)
            self.assertEqual(harness.plan_json(out)["servers"], servers, form)
            harness.syncline("verify", out)
        small = SERVERS.replace("dedicated: yes", "dedicated: yes, memory: 1 KiB")
        file = self.write("small.yaml", small.format(ranks=4))
        self.refuse("asp", "P31: the weights have", "that all servers can hold", cluster=file)

    def test_reports(self):
        self.enterContext(stepcache.none())
        bsp = self.plan("bsp")
        for form, *words in (
            ("ssp:3", "4 servers beside ranks", "more than 3 steps ahead"),
            ("asp", "no bound", "no rank waits for another"),
            ("dssp:3,15", "3 steps ahead of the slowest", "up to 15 steps"),
            ("easgd:original,0.1", "take turns"),
            ("easgd:momentum,0.1", "with the run's momentum"),
            ("easgd:hogwild,0.1", "without a lock"),
            ("easgd:sync1,0.1", "up a tree and the centre comes down"),
            ("easgd:sync2,0.1,4", "every 4 steps", "before the step", "4 times as much"),
            ("easgd:sync3,0.1", "while the step computes"),
        ):
            with self.subTest(form=form):
                plan = self.plan(form)
                shown = harness.syncline("inspect", plan)
                why = harness.syncline("inspect", plan, "--why", "fc.weight")
                for word in (f"consistency {form}", *words):
                    self.assertIn(word, shown)
                self.assertIn(words[-1] if form != "easgd:sync2,0.1,4" else words[0], why)
                self.assertIn(form, harness.syncline("inspect", plan, "--diff", bsp))

    def test_prediction(self):
        """What cannot hide adds to the step: ssp:0 and sync2 wait for their message, ssp:3 and
        sync3 do not; in turns a step takes as long as those of all ranks."""
        self.enterContext(stepcache.none())
        step, seconds = {}, {}
        for form in ("bsp", "ssp:0", "ssp:3", "easgd:original,0.1", "easgd:sync2,0.1"):
            plan = harness.plan_json(self.plan(form))
            step[form] = plan["predicted"]["step"]
            if form != "bsp":
                seconds[form] = plan["consistency"]["exchanges"][0]["seconds"]
        alone = harness.plan_json(self.plan("easgd:sync3,0.1"))["predicted"]["alone"]
        self.assertAlmostEqual(step["ssp:0"], alone + seconds["ssp:0"], delta=1e-9)
        self.assertAlmostEqual(step["ssp:3"], max(alone, seconds["ssp:3"]), delta=1e-9)
        blocked = alone + seconds["easgd:sync2,0.1"]
        self.assertAlmostEqual(step["easgd:sync2,0.1"], blocked, delta=1e-9)
        turns = 4 * (alone + seconds["easgd:original,0.1"])
        self.assertAlmostEqual(step["easgd:original,0.1"], turns, delta=1e-9)

    def trace(self, variant):
        """Each step of rank 0: when its messages of weights are under way, and its operations."""
        plan, file = self.plan(f"easgd:{variant},0.1"), self.folder / f"{variant}.json"
        harness.syncline(
            *("run", plan, "-n", 4, "--data", PAIR, "--steps", 12, "--lr", 0.05),
            *("--trace", file, "--trace-steps", 6),
        )
        events = [e for e in json.loads(file.read_text())["traceEvents"] if e.get("ph") == "X"]
        for number in range(6, 12):
            own = [e for e in events if e["pid"] == 0 and e["args"].get("step") == number]
            messages = [e for e in own if e["cat"] == "message"]
            yield messages, [e for e in own if e["cat"] in ("compute", "pointwise", "update")]

    def test_trace_shows_what_hides(self):
        """The messages of sync1 and sync2 end before the step computes; that of sync3 starts no
        later, and the step waits for it only behind its last operation."""
        for variant, names in (
            ("sync1", ["fragment 0 reduce", "fragment 0 broadcast"]),
            ("sync2", ["fragment 0"]),
            ("sync3", ["fragment 0"]),
        ):
            for messages, operations in self.trace(variant):
                self.assertEqual([e["name"] for e in messages], names)
                begin = min(e["ts"] for e in operations)
                if variant == "sync3":
                    self.assertLessEqual(messages[0]["args"]["ready"], begin)
                    continue
                for message in messages:
                    self.assertLessEqual(message["ts"] + message["dur"], begin + 1)

    def test_losses_travel_once_a_period(self):
        """All steps between two exchanges report their mean; without periods each has its own."""

        def losses(form):
            words = ("--data", PAIR, "--steps", 10, "--lr", 0.05, "--log", "json")
            said = harness.syncline("run", self.plan(form), "-n", 4, *words)
            return [json.loads(line)["loss"] for line in said.splitlines()[:-1]]

        for variant in ("sync1", "sync3"):
            found = losses(f"easgd:{variant},0.1,4")
            # The first step's loss leaves with its exchange, as do those of steps 1 to 4, 5 to 8.
            windows = [found[:1], found[1:5], found[5:9], found[9:]]
            self.assertEqual([len(set(window)) for window in windows], [1, 1, 1, 1], found)
            self.assertEqual(len(set(found)), 4, found)
        self.assertEqual(len(set(losses("easgd:sync3,0.1"))), 10)

    def test_warns_where_the_centre_is_unstable(self):
        plan = self.plan("easgd:sync3,5")
        words = ("run", plan, "-n", 4, "--data", PAIR, "--steps", 2, "--lr")
        said = self.command(*words, 0.05).stderr
        self.assertIn("beta = ranks * learning rate * rho = 4 * 0.05 * 5 = 1", said)
        self.assertNotIn("beta", self.command(*words, 0.01).stderr)
