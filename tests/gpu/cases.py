"""What is compiled on the machine with the tool chain and run on the one with a GPU."""

import dataclasses

# Every run whose numbers are compared: three steps of SGD with momentum.
STEPS = 3
OPTIONS = {"lr": 0.001, "momentum": 0.9, "weight-decay": 1e-4}
CLASSES = 1000
LIMIT = 1e-4  # against PyTorch, relative to a tensor's norm
SAME = 1e-5  # several ranks against one: the same sums in another order

# Links between ranks that share a GPU: sockets of the loopback interface.
CLUSTER = """\
name: check
ranks: {ranks}
device: {{compute: 40 TFLOP/s, memory: 2 TB/s, launch-overhead: 5us}}
network: {{bandwidth: {bandwidth}, latency: 50 us}}
"""
FAST, SLOW = "20 Gb/s", "1 Gb/s"


@dataclasses.dataclass
class Case:
    """A torchvision model whose numbers are compared. Why images are small and scales
    drawn: tests/numerics/README.md."""

    model: str
    batch: int  # samples a rank
    size: int
    shift: (
        tuple
    ) = ()  # range of normalisations' shifts and of convolutions' biases; empty: PyTorch's
    scale: tuple = (0.5, 1.0)  # range of normalisations' scales
    margin: int = 3  # how far below the limit float32 PyTorch has to stay on the processor
    ranks: tuple = (1, 2, 4)
    seeds: tuple = (0, 0, 0)  # the first to be tried with so many ranks
    small: bool = False  # also for libraries on the host, which are slow
    modes: bool = False  # on one rank in tf32 and bf16, too


NUMBERS = [
    Case("resnet18", 4, 64, (0.5, 2.0), small=True, modes=True),
    # Shifts so large that no ReLU cuts: of a bias before the next normalisation hardly a gradient
    # is left otherwise, and float32 PyTorch misses the limit on it.
    Case("resnet50", 4, 64, (3.0, 4.0), (0.5, 0.7), margin=2, modes=True),
    # On 16 samples some choice of a maximum turns over on every seed.
    Case("googlenet", 4, 48, (0.5, 2.0), margin=2, ranks=(1, 2), seeds=(11, 2), modes=True),
    Case("vgg11", 1, 224, (0.05, 0.2), ranks=(1,), seeds=(2,)),
    Case("densenet121", 4, 64, (0.5, 2.0), ranks=(1, 2), seeds=(0, 5)),
    Case("mobilenet_v2", 4, 64, (1.0, 3.0), modes=True),
]


@dataclasses.dataclass
class Whole:
    """A model without normalisation over samples: ranks together equal one rank with all
    their samples."""

    name: str
    model: str  # "digits", or torchvision's
    batch: int
    shape: tuple
    classes: int
    extra: tuple = ()  # words for `syncline compile`, where there are several ranks
    ranks: tuple = (2, 4)


WHOLE = [
    Whole("digits", "digits", 4, (1, 8, 8), 10),
    Whole("digits-factors", "digits", 4, (1, 8, 8), 10, ("--scheme", "fc*.weight=sfb")),
    Whole("digits-shards", "digits", 4, (1, 8, 8), 10, ("--scheme", "*=reduce-scatter")),
    Whole("digits-order", "digits", 4, (1, 8, 8), 10, ("--overlap", "step")),
    Whole("squeezenet", "squeezenet1_1", 2, (3, 64, 64), 1000),
]


@dataclasses.dataclass
class Speed:
    """A model that is timed, on samples that the runtime invents."""

    name: str
    model: str
    batch: int
    ranks: int = 1
    size: int = 224
    bandwidth: str = FAST
    extra: tuple = ()
    wants: str = ""  # a scheme that the plan must have chosen


SPEED = [
    Speed("resnet50-64", "resnet50", 64),
    Speed("vgg16-32", "vgg16", 32),
    Speed("resnet50-32-two", "resnet50", 32, 2),
    Speed("alexnet-16-two", "alexnet", 16, 2, wants="factors"),
]
SMALL_SPEED = [
    Speed("resnet18-2", "resnet18", 2, size=32),
    Speed("resnet18-2-two", "resnet18", 2, 2, size=32),
]
# More than any GPU holds, while every tensor has fewer than 2^31 elements.
TOO_LARGE = Speed("too-large", "resnet50", 2600)
