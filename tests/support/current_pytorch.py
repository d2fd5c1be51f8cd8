"""Current PyTorch and Hugging Face's transformers, in a virtual environment in the build folder:
Debian 12 has PyTorch 1.13, whose torchrun ends with an error under Python 3.11."""

import virtual

# What they depend on comes behind them, as pip chose it on 26 November 2026 for Python 3.11.
PACKAGES = tuple(
    """
    torch==2.13.0+cpu transformers==5.23.0 onnxscript==0.7.2 onnx==1.23.2
    annotated-doc==0.0.7 annotated-types==0.8.0 anyio==4.16.0 click==8.5.1 filelock==4.3.1
    fsspec==2026.9.0 h11==0.16.0 hf-xet==1.8.0 httpcore2==2.16.2 httpx2==2.16.2
    huggingface_hub==2.4.0 idna==3.20 Jinja2==3.1.6 markdown-it-py==4.3.0 MarkupSafe==3.0.4
    mdurl==0.1.2 ml_dtypes==0.6.0 mpmath==1.3.0 networkx==3.6.1 numpy==2.4.6 onnx-ir==1.1.0
    packaging==26.4 protobuf==7.36.2 pydantic==2.14.4 pydantic_core==2.50.5 Pygments==2.21.0
    PyYAML==6.0.4 regex==2026.11.19 rich==15.0.0 safetensors==0.8.0 setuptools==84.2.1
    shellingham==1.5.4 sympy==1.14.0 tokenizers==0.23.3 tqdm==4.70.1 truststore==0.10.5
    typer==0.29.2 typing-inspection==0.4.5 typing_extensions==4.16.0
    """.split()
)
# What pip is configured for comes first: a machine may have the wheels at hand.
SOURCES = ((), ("--extra-index-url", "https://download.pytorch.org/whl/cpu"))


def python():
    """The environment's Python. It is installed once, which takes a minute and 1.3 GB. Raises
    virtual.Missing where it cannot be had."""
    return virtual.environment("transformers-5.23", PACKAGES, SOURCES)


def torchrun():
    """The words that start it."""
    return [str(python()), "-m", "torch.distributed.run"]
