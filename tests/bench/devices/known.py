"""GFLOP of forward and backward pass of one sample, as published or counted by hand: six for each
multiply-accumulate of the forward pass, which the backward pass repeats twice."""

TIMM = "six times the GMACs of timm's results/benchmark-infer-amp-nchw-pt113-cu117-rtx3090.csv"
# GMACs, and the side of the images where the source measured another size: they grow by its square.
GMACS = {
    **{"beit_base_patch16_224": 17.58, "cait_s24_224": 9.35, "deit_base_patch16_224": 17.58},
    **{"densenet169": 3.40, "dpn92": 6.54, "levit_256": 1.13, "mnasnet_100": 0.33},
    **{"mobilenetv2_100": 0.31, "mobilenetv3_small_100": 0.06, "regnetx_032": 3.20},
    **{"repvgg_a2": 5.70, "resnet26": 2.36, "resnet50d": 4.35, "resnext101_32x8d": 16.48},
    **{"resnext50_32x4d": 4.26, "swin_small_patch4_window7_224": 8.77, "vgg11": 7.61},
    **{"vgg16": 15.47, "vgg16_bn": 15.50, "vit_base_patch32_224": 4.41, "xception": 8.40},
    **{"vit_small_patch16_224": 4.61, "wide_resnet101_2": 22.80, "wide_resnet50_2": 11.43},
    **{"resnetv2_50x1_bitm": 16.62, "resnet50": 4.11, "resnet101": 7.83, "resnet152": 11.56},
    "vgg16_torchvision": 15.47,
    "convnext_large": 56.87 * (224 / 288) ** 2,
    "regnety_032": 5.29 * (224 / 288) ** 2,
    "regnety_040": 6.61 * (224 / 288) ** 2,
    "efficientnet_b4": 4.51 * (320 / 384) ** 2,
    "efficientnet_b4_380": 4.51 * (380 / 384) ** 2,
    "efficientnet_b5": 9.59 * (456 / 448) ** 2,
    "tf_efficientnetv2_m": 24.76 * (384 / 480) ** 2,
    "tf_efficientnetv2_s": 8.44 * (300 / 384) ** 2,
    "efficientnet_v2_s_300": 8.44 * (300 / 384) ** 2,
}


def dense(layers, width, length, other=0, inner=4):
    """GFLOP of a transformer's layers on `length` tokens, with `other` weights that all tokens pass
    (the logits), and scores of all pairs of tokens."""
    weights = layers * (4 + 2 * inner) * width**2 + other
    return 6 * length * (weights + 2 * layers * width * length) / 1e9


BY_HAND = "6 N T and 12 l d T^2 of Kaplan et al., 2020"
KNOWN = {name: (6 * macs, TIMM) for name, macs in GMACS.items()} | {
    "resnet50_v1": (6 * 3.86, "He et al., 2015: 3.8 G"),
    "resnet152_v1": (6 * 11.3, "He et al., 2015: 11.3 G"),
    "efficientdet_d0": (6 * 2.54, "Tan et al., 2020: 2.54 G"),
    "bert_base_squad": (dense(12, 768, 384), BY_HAND),
    "electra_base_squad": (dense(12, 768, 384), BY_HAND),
    "bert_large_squad": (dense(24, 1024, 384), BY_HAND),
    "bert_base_pretraining_128": (dense(12, 768, 128, 768 * 30528 + 768**2), BY_HAND),
    "bert_large_pretraining_128": (dense(24, 1024, 128, 1024 * 30528 + 1024**2), BY_HAND),
    "gpt2_124m": (dense(12, 768, 1024, 768 * 50304), BY_HAND),
    "gpt2_large": (dense(36, 1280, 1024, 1280 * 50257), BY_HAND),
    "gpt3_24L_d3072": (dense(24, 3072, 2048, 3072 * 50257), BY_HAND),
    "gpt3_2.7b": (dense(32, 2560, 2048, 2560 * 50257), BY_HAND),
    "gnmt_v2": (6 * 32 * 0.128, "6 N T, N the weights of all but the words' table"),
    "jasper_10x5": (6 * 800 * 0.3326, "6 N T: 800 places of all weights"),
    "ncf": (6e-9 * 106688, "six for each of 106688 weights of its layers"),
    "tinyllama_1.1b_2048": (6 * 2048 * (1.0345 + 2 * 22 * 2048 * 2048e-9), BY_HAND),
    "llama3.1_8b_8192": (6 * 8192 * (7.505 + 2 * 32 * 4096 * 8192e-9), BY_HAND),
    "transformer_xl_base_192": (
        6 * 192 * (0.0761 + 3 * 16 * 512 * 384e-9),
        "6 N T, keys and values of 384 tokens for 192 queries",
    ),
}
