#!/usr/bin/env python3
"""Makes the table of published one-GPU rates that predictions are compared with.

    rows.py FIGURES.csv [-o rows.csv]

FIGURES.csv has a row for each published figure: model, variant, gpu, precision, batch,
samples_per_second, unit, framework, source, mark. The table adds what a prediction needs: the kind
of device, the exported model (make.py) and the options by which Syncline reads it, the samples a
second, and how the source computed. A row that cannot be used says why in `left_out`.
"""

import argparse
import csv
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = (
    *("row", "model", "variant", "gpu", "kind", "precision", "batch", "published", "unit"),
    *("per_sample", "samples_per_second", "framework", "class", "layout", "scope", "optimizer"),
    *("onnx", "options", "left_out", "mark", "source"),
)

KINDS = {
    "A10": "a10",
    "A100 40GB PCIe": "a100-pcie",
    "A100 40GB SXM4": "a100",
    "A100 80GB PCIe": "a100-80g-pcie",
    "A100 80GB SXM4": "a100-80g",
    "A40 48GB": "a40",
    "B200 180GB SXM": "b200",
    "GH200 96GB": "gh200",
    "GTX 1080": "gtx-1080",
    "GTX 1080 Ti": "gtx-1080-ti",
    "H100 80GB PCIe": "h100-pcie",
    "H100 80GB PCIe (Gen4 host)": "h100-pcie",
    "H100 80GB SXM5": "h100",
    "H200 141GB SXM": "h200",
    "K80 (one GK210)": "k80",
    "L4 24GB": "l4",
    "M40": "m40",
    "M60 (one GM204)": "m60",
    "MI100": "mi100",
    "MI210": "mi210",
    "MI250 (one GCD)": "mi250",
    "P100": "p100-pcie",
    "P100-SXM2-16GB": "p100",
    "Quadro RTX 6000": "quadro-rtx-6000",
    "Quadro RTX 8000": "quadro-rtx-8000",
    "RTX 2080 Ti": "rtx-2080-ti",
    "RTX 3080 10GB": "rtx-3080",
    "RTX 3090": "rtx-3090",
    "RTX 4090": "rtx-4090",
    "RTX 6000 Ada": "rtx-6000-ada",
    "RTX A6000": "rtx-a6000",
    "TITAN RTX 24GB": "titan-rtx",
    "TITAN V": "titan-v",
    "TITAN X (Maxwell)": "titan-x",
    "TITAN X (Pascal)": "titan-x-pascal",
    "V100-PCIE-32GB": "v100-pcie",
    "V100-SXM2-16GB": "v100",
    "V100-SXM2-32GB": "v100-32g",
    "V100-SXM3-32GB": "v100-32g",
}

# The exported model of a model and the start of its variant, and how many of the source's units
# (tokens) a sample has: the mean where lengths are those of real data.
MODELS = {
    ("bart_large", "pretraining seq 128"): ("bart_large_128", 1),
    ("bart_large", "pretraining seq 512"): ("bart_large_512", 1),
    ("bart_large", "XSum"): ("bart_large_xsum", 1),
    ("bert_base", "SQuAD"): ("bert_base_squad", 1),
    ("bert_base", "pretraining seq 128"): ("bert_base_pretraining_128", 1),
    ("dlrm", ""): ("dlrm_small", 1),
    ("efficientdet_d0", ""): ("efficientdet_d0", 1),
    ("efficientnet_b4", "380"): ("efficientnet_b4_380", 1),
    ("efficientnet_v2_s", ""): ("efficientnet_v2_s_300", 1),
    ("efficientnet_widese_b0", ""): ("efficientnet_widese_b0", 1),
    ("efficientnet_widese_b4", ""): ("efficientnet_widese_b4", 1),
    ("electra_base", "seq 384"): ("electra_base_squad", 1),
    ("gnmt_v2", ""): ("gnmt_v2", 50),
    ("gpt2_124m", ""): ("gpt2_124m", 1024),
    ("gpt2_large", ""): ("gpt2_large", 1),
    ("gpt3_2.7b", ""): ("gpt3_2.7b", 1),
    ("gpt3_24L_d3072", ""): ("gpt3_24L_d3072", 1),
    ("jasper_10x5", ""): ("jasper_10x5", 1),
    ("llama3.1_8b", ""): ("llama3.1_8b_8192", 8192),
    ("ncf", ""): ("ncf", 1),
    ("nnunet", "2D"): ("nnunet_2d", 1),
    ("nnunet", "3D"): ("nnunet_3d", 1),
    ("resnet101_v1", ""): ("resnet101", 1),
    ("resnet152_v1", "224x224 forward"): ("resnet152", 1),
    ("resnet152_v1", "224x224, forward"): ("resnet152", 1),
    ("resnet152_v1", "224x224 synthetic"): ("resnet152_v1", 1),
    ("resnet152_v1", "dist_device_sync"): ("resnet152_v1", 1),
    ("resnet200_v2", ""): ("resnet200_v2", 1),
    ("resnet50_v1", "224x224, forward"): ("resnet50", 1),
    ("resnet50_v1", "224x224 synthetic"): ("resnet50_v1", 1),
    ("resnet50_v1.5", ""): ("resnet50", 1),
    ("switch_transformer_xl4", ""): ("switch_transformer_xl4", 1),
    ("tft", "Electricity"): ("tft_electricity", 1),
    ("tft", "Traffic"): ("tft_traffic", 1),
    ("tinyllama_1.1b", ""): ("tinyllama_1.1b_2048", 2048),
    # Lambda's logs state 'adaptive : False', 191,948,759 and 519,963,095 parameters.
    ("transformer_xl_base", "wt103 tgt 192"): ("transformer_xl_base_192_full", 192),
    ("transformer_xl_base", ""): ("transformer_xl_base_192", 192),
    ("transformer_xl_large", "wt103 tgt 256"): ("transformer_xl_large_256_full", 256),
    ("transformer_xl_large", ""): ("transformer_xl_large_384", 384),
    ("unet_medical", ""): ("unet_medical", 1),
    ("vgg16", "224x224"): ("vgg16_torchvision", 1),
    ("vgg19_22k", ""): ("vgg19_22k", 1),
}

OPTIONS = {
    **dict.fromkeys(("bert_base_squad", "electra_base_squad"), "--classes-in -1"),
    **dict.fromkeys(("transformer_xl_base_192",), "--loss output:output"),
    **dict.fromkeys(("transformer_xl_large_384",), "--loss output:output"),
    **dict.fromkeys(("ncf", "efficientdet_d0"), "--loss bce-with-logits"),
    **dict.fromkeys(("tft_electricity", "tft_traffic"), "--loss l1"),
    **dict.fromkeys(("nnunet_2d", "nnunet_3d", "unet_medical"), "--classes-in 1"),
}

OPTIMIZERS = {
    **dict.fromkeys(("bart_large",), "lamb"),
    **dict.fromkeys(("bert_base", "gnmt_v2", "ncf", "nnunet", "tft", "electra_base"), "adam"),
    "unet_medical": "adam",
    **dict.fromkeys(("transformer_xl_base", "transformer_xl_large"), "lamb"),
    **dict.fromkeys(("gpt2_124m", "llama3.1_8b", "tinyllama_1.1b"), "adamw"),
    **dict.fromkeys(("efficientnet_b4", "efficientnet_v2_s"), "rmsprop"),
    **dict.fromkeys(("efficientnet_widese_b0", "efficientnet_widese_b4"), "rmsprop"),
    "jasper_10x5": "novograd",
    "vnet": "adam",
}
WITHOUT_LAYOUT = re.compile(
    "bart|bert|dlrm|electra|gnmt|gpt|llama|ncf|switch|tft|transformer|wav2vec|tacotron"
)
# Why figures are of no use, by the model's name.
LEFT_OUT = {
    "tacotron2": "the host sets the pace: half and single precision take the same time",
    "hifigan": "a step updates two networks, one after the other",
    "wav2vec2_base": "a batch is audio of a total length, cut by the data",
    "dlrm": "updates only the rows of 15 GB of tables that a batch reads, in one fused kernel",
}
# Containers whose CUDA has no code for the GPU's compute capability, by card: 24.10 has CUDA 12.6,
# and 10.0 (B200) came with 12.8; 17.12 has CUDA 9.0, and 7.5 (Turing) came with 10.0.
TOO_OLD = {"B200 180GB SXM": "NGC 24.10", "RTX 2080 Ti": "NGC 17.12"}
# Batches that the source's scripts state, not its tables.
BATCHES = {
    ("efficientdet_d0", "A100 80GB SXM4", "tf32"): "80",
    ("efficientdet_d0", "V100-SXM2-32GB", "amp_fp16"): "60",
    ("efficientdet_d0", "V100-SXM2-32GB", "fp32"): "30",
}


# NVIDIA's ncf.py counts all samples of an epoch (users' ratings but one each, four negative ones to
# each), and dataloading.py drops the last batch.
NCF_EPOCH = 5 * (20000263 - 138493)


def precision_of(row):
    """Lambda's configuration of NCF for GPUs of 80 GB lacks '--amp', and its logs say so."""
    unlike = row["model"] == "ncf" and "80GB" in row["gpu"] and "lambdal" in row["source"]
    return "tf32" if unlike else row["precision"]


def units_of(row, units):
    if row["model"] != "ncf":
        return units
    batch = int(row["batch"])
    return round(NCF_EPOCH / ((NCF_EPOCH - 1) // batch * batch), 4)


def model_of(row):
    """The exported model and the units of a sample, or Nones."""
    for (model, start), known in MODELS.items():
        if row["model"] == model and row["variant"].startswith(start):
            return known
    return (row["model"], 1) if "timm" in row["framework"] else (None, None)


def kind_of_framework(row):
    """pytorch: eager; compiled: fused by a compiler; other: another framework's own kernels."""
    words = f"{row['framework']} {row['variant']}"
    if re.search("XLA|torch.compile|torchcompile|nvfuser|max-autotune|reduce-overhead", words):
        return "compiled"
    return "pytorch" if re.search("PyTorch|Torch7", row["framework"]) else "other"


def layout_of(row):
    if WITHOUT_LAYOUT.match(row["model"]):
        return "n/a"
    half = row["precision"].startswith("amp")
    variant = row["variant"]
    if "NHWC(amp)" in variant:
        return "NHWC" if half else "NCHW"
    if row["model"] == "nnunet" and variant.startswith("3D") and "PyTorch" in row["framework"]:
        return "NHWC" if half else "NCHW"
    if "NHWC" in variant or "XLA" in variant:
        return "NHWC"
    return "NHWC" if "MXNet NGC" in row["framework"] and half else "NCHW"


def scope_of(row):
    """What a step has. A figure with accumulation has an update so seldom that it hardly counts."""
    if re.search(r"forward\+backward|accumulation", row["variant"]):
        return "forward and backward"
    return "step with recomputation" if "checkpointing" in row["variant"] else "step"


def optimizer_of(row):
    if not scope_of(row).startswith("step"):
        return "none"
    if row["model"] == "bert_base" and "pretraining" in row["variant"]:
        return "lamb"
    if row["model"] == "bart_large" and "XSum" in row["variant"]:
        return "adam"
    if row["model"] == "transformer_xl_large" and "tgt 256" in row["variant"]:
        return "adam"  # as Lambda's configurations say
    return OPTIMIZERS.get(row["model"], "sgd")


def why_not(row, onnx):
    """The reason not to use a figure, or ""."""
    if row["model"] in LEFT_OUT:
        return LEFT_OUT[row["model"]]
    if row["gpu"] in TOO_OLD and TOO_OLD[row["gpu"]] in row["framework"]:
        return "the software is older than the GPU: CUDA has no code for it"
    if row["gpu"] not in KINDS:
        return "no kind of device"
    if re.search("inconsistent|poor published scaling|do not use|not scale", row["mark"]):
        return "the source contradicts itself: " + row["mark"].lstrip("? ")
    if not row["batch"].isdigit():
        return "the source does not state the batch"
    if onnx is None:
        return "no model: only other frameworks' figures"
    return ""


def made(number, row):
    batch = BATCHES.get((row["model"], row["gpu"], row["precision"]), "")
    row["batch"] = row["batch"] or batch
    onnx, units = model_of(row)
    reason = why_not(row, onnx)
    told = {name: row[name] for name in ("model", "variant", "gpu", "precision", "batch")}
    told |= {name: row[name] for name in ("unit", "framework", "mark", "source")}
    told |= {"row": number, "published": row["samples_per_second"], "left_out": reason}
    told |= {"class": kind_of_framework(row), "layout": layout_of(row), "scope": scope_of(row)}
    told |= {"kind": KINDS.get(row["gpu"], ""), "optimizer": optimizer_of(row)}
    told["precision"] = precision_of(row)
    if not reason:
        units = units_of(row, units)
        rate = float(row["samples_per_second"]) / units
        told |= {"onnx": onnx, "per_sample": units, "samples_per_second": f"{rate:.6g}"}
        told["options"] = OPTIONS.get(onnx, "")
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures")
    parser.add_argument("-o", "--output", default=HERE / "rows.csv")
    chosen = parser.parse_args()
    with open(chosen.figures, newline="") as file:
        rows = [made(number, row) for number, row in enumerate(csv.DictReader(file), 2)]
    with open(chosen.output, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
