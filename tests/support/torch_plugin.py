"""PyTorch 2.14, the first that finds a backend by a wheel's entry point, in a virtual environment
in the build folder."""

import current_pytorch
import depth
import harness
import virtual

# What it depends on comes behind it, as pip chose it on 29 November 2026 for Python 3.11.
COMMON = """
    filelock==4.3.1 fsspec==2026.9.0 Jinja2==3.1.6 MarkupSafe==3.0.4 mpmath==1.3.0
    networkx==3.6.1 numpy==2.4.6 setuptools==84.2.1 sympy==1.14.0 typing_extensions==4.16.0
""".split()
SOURCES = ((), ("--extra-index-url", "https://download.pytorch.org/whl/cpu"))
# Where the wheel for processors alone cannot be had: 5.5 GB.
CUDA = """
    torch==2.14.1 triton==3.8.0 cuda-bindings==13.5.0 cuda-pathfinder==1.9.1
    cuda-toolkit==13.0.3.0 nvidia-cublas==13.1.1.3 nvidia-cuda-cupti==13.0.85
    nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cudnn-cu13==9.24.0.43
    nvidia-cufft==12.0.0.61 nvidia-cufile==1.15.1.6 nvidia-curand==10.4.0.35
    nvidia-cusolver==12.0.4.66 nvidia-cusparse==12.6.3.3 nvidia-cusparselt-cu13==0.8.1
    nvidia-nccl-cu13==2.30.7 nvidia-nvjitlink==13.5.37 nvidia-nvshmem-cu13==3.4.5
    nvidia-nvtx==13.0.85
""".split()
LARGE = "torch-2.14-cuda"
VISION = "torchvision==0.29.1"


def python():
    """The environment's Python. The large one is installed by the long run alone. Raises
    virtual.Missing where neither can be had."""
    has_large = (harness.BUILD / LARGE / "complete").exists()
    try:
        if not has_large:
            return virtual.environment("torch-2.14", ("torch==2.14.1+cpu", *COMMON), SOURCES)
    except virtual.Missing:
        if not depth.LONG:
            raise
    return virtual.environment(LARGE, (*CUDA, *COMMON))


def with_networks():
    """The Python of PyTorch with torchvision, transformers, accelerate and exporters. Raises
    virtual.Missing."""
    below = python()
    vision = VISION if LARGE in str(below) else f"{VISION}+cpu"
    there = ("torch==", *COMMON)
    others = [each for each in current_pytorch.PACKAGES if not each.startswith(there)]
    packages = (vision, "pillow==13.0.0", "accelerate==1.15.0", "psutil==7.2.2", *others)
    return virtual.environment("torch-2.14-networks", packages, SOURCES, over=below)
