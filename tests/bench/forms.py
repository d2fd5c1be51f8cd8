"""Forms of consistency on emulated hosts of a stated speed: what EASGD's variants cost (`bench.py
elastic`), and whether simulation foretells every form's throughput (`bench.py throughput`)."""

import json
import statistics
import subprocess

import measure
import training

EASGD = ("original", "async", "momentum", "hogwild", "sync1", "sync2", "sync3")
ELASTIC_HOSTS = 4
ELASTIC_SPEED = 40  # per cent of a processor: two hosts and the network share one
ELASTIC = training.Training(
    "", "fashion-cnn", "fashion", 120, 192, None, training.Form("", 0.02, 0.5)
)

FORMS = ("ssp:3", "asp", "dssp:3,15", "easgd:async,0.1", "easgd:sync3,0.1", "local:8")
SPEED, SLOW = 100, 50  # per cent of a processor
BATCH = 192
STEPS = 120
RATE = "1gbit"
WARM_UP = 20  # steps until workers have settled


def bench_elastic(folder, hosts):
    """Accuracy after equal samples, one seed; a rank computes for the rest of its step's time."""
    data = training.fashion_data(folder)
    if not data:
        return
    samples = ELASTIC.steps * ELASTIC.batch * ELASTIC_HOSTS
    heading = f"{ELASTIC_HOSTS} hosts, {RATE}, {samples} samples"
    print(f"{heading:40}{'samples/s':>12}{'communication':>16}{'accuracy':>12}")
    words = hosts(ELASTIC_HOSTS, RATE, ("-q", str(ELASTIC_SPEED)))
    for variant in EASGD:
        form = training.Form(f"easgd:{variant},0.1", 0.02, 0.5)
        plan = training.compiled(folder, ELASTIC, form, ELASTIC_HOSTS, "950 Mb/s")
        run = training.train_words(plan, ELASTIC, form, data, 1, "--timeout", 120)
        output, _ = measure.run([*words, *run])
        told = json.loads(output.splitlines()[-1])
        share = told["mean_exposed_seconds"] / told["mean_step_seconds"]
        print(
            f"{form.name:40}{told['samples_per_second']:12.0f}{share:16.1%}"
            f"{told['test_accuracy']:12.2%}",
            flush=True,
        )


def step_rate(plan, words, until=STEPS):
    """Steps a second of rank 0, from the warm-up to step `until`."""
    run = [measure.SYNCLINE, "run", str(plan), "--steps", str(STEPS), "--lr", "0.01"]
    output, _ = measure.run([*words, *run, "--log", "json", "--timeout", "120"])
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    seconds = [line["seconds"] for line in lines if "step" in line]
    return (until - WARM_UP) / sum(seconds[WARM_UP:until])


def simulated(plan, slow):
    words = [measure.SYNCLINE, "simulate", str(plan), "--json", *slow]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return json.loads(told)["steps_per_second"]


def throughput(plan, hosts, speeds):
    """Steps a second of both ranks while both compute. Only rank 0 tells its times, so each rank is
    rank 0 once. Behind a faster rank's last step the slower one is alone."""
    share = min(speeds) / max(speeds)
    rates = []
    for mine, other in (speeds, speeds[::-1]):
        words = hosts(2, RATE, ("-q", f"0:{mine}", "-q", f"1:{other}"))
        rates.append(step_rate(plan, words, STEPS if mine >= other else int(STEPS * share)))
    return rates


def bench_throughput(folder, hosts, seconds, rounds):
    """Two workers, servers in their processes, a profile and a calibration at their speed; medians
    of `rounds`."""
    words = hosts(2, RATE, ("-q", str(SPEED)))
    cluster = measure.calibrate(folder, 2, f"{RATE}-{SPEED}", words, seconds)
    model = training.SAMPLES / "models" / "fashion-cnn.onnx"
    profile = folder / f"fashion-cnn-{SPEED}.json"
    if not profile.exists():
        words = [measure.SYNCLINE, "profile", str(model), "--batch", str(BATCH), "-n", "1"]
        measure.run([*hosts(1, "", ("-q", str(SPEED))), *words, "-o", str(profile)])
    columns = ("simulated", "measured", "least", "most", "error")
    heading = f"samples/s of two workers, {RATE}"
    print(f"{heading:40}" + "".join(f"{column:>11}" for column in columns))
    errors = []
    for form in FORMS:
        plan = folder / f"{form.replace(':', '-').replace(',', '-')}.plan"
        words = ["--cluster", cluster, "--profile", profile, "--batch", BATCH]
        words = ["compile", "--quiet", model, *words, "--consistency", form, "-o", plan]
        measure.run([measure.SYNCLINE, *map(str, words)])
        for speeds in ((SPEED, SPEED), (SPEED, SLOW)):
            slow = ("--slow", f"1:{SPEED / SLOW}") if len(set(speeds)) > 1 else ()
            foretold = BATCH * sum(simulated(plan, slow))
            runs = [BATCH * sum(throughput(plan, hosts, speeds)) for _ in range(rounds)]
            found = statistics.median(runs)
            errors.append(foretold / found - 1)
            label = f"{form}, speeds {speeds[0]} to {speeds[1]}"
            print(
                f"{label:40}{foretold:11.0f}{found:11.0f}{min(runs):11.0f}{max(runs):11.0f}"
                f"{errors[-1]:11.1%}",
                flush=True,
            )
    close = sum(abs(error) <= 0.1 for error in errors)
    print(
        f"{close} of {len(errors)} within 10 %, the worst {max(errors, key=abs):+.1%}, "
        f"median {statistics.median(map(abs, errors)):.1%}"
    )
