"""A torchrun that works on Debian 12, in a virtual environment in the build folder: Debian's own,
of PyTorch 1.13, ends with an error under Python 3.11."""

import virtual

RELEASE = "2.13.0+cpu"
# What pip is configured for comes first: a machine may have the wheel at hand.
SOURCES = ((), ("--extra-index-url", "https://download.pytorch.org/whl/cpu"))
TorchrunMissing = virtual.Missing


def torchrun():
    """The words that start it. It is installed once, which takes a minute and 800 MB."""
    # torchrun needs only this one of torch's dependencies.
    packages = (f"torch=={RELEASE}", "typing_extensions")
    python = virtual.environment(f"torchrun-{RELEASE}", packages, SOURCES)
    return [str(python), "-m", "torch.distributed.run"]
