"""What a device computes by itself, and beside all-reduces."""

import concurrent.futures
import math
import statistics

import torch
import torch.distributed as dist

# Rows of the square matrices, and numbers of a tensor that no cache holds.
PRODUCT = {"cpu": 512, "cuda": 4096}
STREAM = {"cpu": 16 << 20, "cuda": 64 << 20}
SMALL_RUNS = 100  # of the smallest operation in a round
OVERLAP_BYTES = 16 << 20
OVERLAP_SECONDS = 0.4  # of messages in a row, at most
FEWEST, MOST = 3, 20  # rounds
ALONE, WARM_UP = 5, 2  # products and messages in a round, and before all
MOST_FACTOR = 10.0


class Product:
    """A product of two square matrices."""

    def __init__(self, device):
        rows = PRODUCT[device.type]
        self.rows, self.operations = rows, 2.0 * rows**3
        self.left, self.right, self.out = (torch.rand(rows, rows, device=device) for _ in range(3))

    def __call__(self):
        torch.mm(self.left, self.right, out=self.out)


def measure_device(team, until):
    """Summaries of a product, a copy and the smallest operation, on all ranks at once."""
    product = Product(team.device)
    long, copied = (torch.zeros(STREAM[team.device.type], device=team.device) for _ in range(2))
    few, sums = (torch.zeros(16, device=team.device) for _ in range(2))

    def smallest():
        for _ in range(SMALL_RUNS):
            torch.add(few, few, out=sums)

    works = {"product": product, "copy": lambda: copied.copy_(long), "smallest": smallest}
    found = {}
    for place, (name, work) in enumerate(works.items()):
        now = team.now()
        found[name] = team.measure(work, now + (until - now) / (len(works) - place))
    return {
        "rows": product.rows,
        "compute": product.operations / found["product"].median,
        "memory": 2.0 * long.numel() * long.element_size() / found["copy"].median,
        "overhead": found["smallest"].median / SMALL_RUNS,
        **found,
    }


def measure_interference(team, until):
    """How many times as long products and messages take beside each other, and the factor that a
    cluster file has for that."""
    values = torch.zeros(OVERLAP_BYTES // 4, device=team.device)
    product = Product(team.device)

    def message():
        dist.all_reduce(values, group=team.group)

    team.rounds(product, WARM_UP)
    (*_, message_alone), now = team.rounds(message, WARM_UP)
    window = min(OVERLAP_SECONDS, max(until - now, 0.0) / 10)
    beside = beside_on_gpu if team.device.type == "cuda" else beside_on_cpu
    rounds = []
    while len(rounds) < FEWEST or (len(rounds) < MOST and now < until):
        # Alone and beside in turn, so that what else the machine does disturbs both alike.
        times, _ = team.rounds(product, ALONE)
        product_alone = statistics.median(times)
        times, _ = team.rounds(message, ALONE)
        message_alone = statistics.median(times)
        count = max(math.ceil(window / message_alone), 2)
        team.align()
        both = beside(team, product, message, count, product_alone, message_alone)
        *slowest, now = team.slowest([*both, team.elapsed()])
        rounds.append((slowest[0] / product_alone, slowest[1] / message_alone))
    computing, messages = (statistics.median(each) for each in zip(*rounds))
    return {
        "bytes": OVERLAP_BYTES,
        "computing": computing,
        "messages": messages,
        "rounds": len(rounds),
        "factor": factor(computing, messages),
    }


def factor(computing, messages):
    """What computation loses while a message is under way, put to the time that the message takes
    alone, as the file's readers take it."""
    left = 1.0 - messages * (1.0 - 1.0 / max(computing, 1.0))
    return min(max(1.0 / left, 1.0), MOST_FACTOR) if left > 0 else MOST_FACTOR


def beside_on_cpu(team, product, message, count, *_):
    """Seconds of a product and of a message, while a thread carries messages."""
    clock = team.clock

    def carry():
        for _ in range(count):
            message()
        return clock.mark()

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        begin, times = clock.mark(), []
        carried = thread.submit(carry)
        while not carried.done():
            started = clock.mark()
            product()
            times.append(clock.mark() - started)
        # The last product may have ended without messages beside it.
        return statistics.median(times[:-1] or times or [0.0]), (carried.result() - begin) / count


def beside_on_gpu(team, product, message, count, product_alone, message_alone):
    """The same where the device carries messages on a stream of its own."""
    clock, side = team.clock, torch.cuda.Stream(team.device)
    begin = clock.mark()
    side.wait_stream(torch.cuda.current_stream(team.device))
    with torch.cuda.stream(side):
        for _ in range(count):
            message()
        end = clock.mark()
    marks = [clock.mark()]
    for _ in range(math.ceil(count * message_alone / product_alone) + 1):
        product()
        marks.append(clock.mark())
    clock.wait()
    total = clock.seconds(begin, end)
    spans = [(clock.seconds(begin, b), clock.seconds(a, b)) for a, b in zip(marks, marks[1:])]
    inside = [span for until, span in spans if until <= total] or [spans[0][1]]
    return statistics.median(inside), total / count
