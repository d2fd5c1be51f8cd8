"""Networks for images: torchvision's and timm's, and variants that older sources trained."""

import functools

import torch
import torchvision

# The side of the images that the source trained with (timm's benchmark of the RTX 3090).
OF_TIMM = {
    **dict.fromkeys(("beit_base_patch16_224", "cait_s24_224", "convnext_large"), 224),
    **dict.fromkeys(("deit_base_patch16_224", "densenet169", "dpn92", "levit_256"), 224),
    **dict.fromkeys(("mnasnet_100", "mobilenetv2_100", "mobilenetv3_small_100"), 224),
    **dict.fromkeys(("regnetx_032", "regnety_032", "regnety_040", "repvgg_a2"), 224),
    **dict.fromkeys(("resnet26", "resnet50d", "resnext101_32x8d", "resnext50_32x4d"), 224),
    **dict.fromkeys(("swin_small_patch4_window7_224", "vgg11", "vgg16", "vgg16_bn"), 224),
    **dict.fromkeys(("vit_base_patch32_224", "vit_small_patch16_224"), 224),
    **dict.fromkeys(("wide_resnet101_2", "wide_resnet50_2"), 224),
    **{"efficientnet_b4": 320, "efficientnet_b5": 456, "resnetv2_50x1_bitm": 448},
    **{"tf_efficientnetv2_m": 384, "tf_efficientnetv2_s": 300, "xception": 299},
}
# The names that timm has today for what it called so then.
RENAMED = {"resnetv2_50x1_bitm": "resnetv2_50x1_bit"}


def images(side, channels=3):
    return {"image": torch.zeros(2, channels, side, side)}


class Images(torch.nn.Module):
    """Names the input."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return self.model(image)


def of_timm(name, side, **how):
    import timm

    timm.layers.set_fused_attn(False)  # the releases before PyTorch 2 had none
    model = timm.create_model(RENAMED.get(name, name), **how)
    return Images(model).train(), images(side)


def of_torchvision(name, side=224, classes=1000):
    model = torchvision.models.get_model(name, weights=None, num_classes=classes)
    return Images(model).train(), images(side)


def first_version(name):
    """A residual network of 2015, whose 1x1 convolution has the stride, not the 3x3: MXNet's and
    TensorFlow's. Torch7's (fb.resnet.torch) has it in the 3x3, as torchvision's."""
    model = torchvision.models.get_model(name, weights=None)
    for block in model.modules():
        if isinstance(block, torchvision.models.resnet.Bottleneck):
            block.conv1.stride, block.conv2.stride = block.conv2.stride, block.conv1.stride
    return Images(model).train(), images(224)


def resnet_200():
    """fb.resnet.torch's pre-activation network: blocks 3, 24, 36, 3, batch normalization."""
    from timm.layers import BatchNormAct2d, create_conv2d
    from timm.models.resnetv2 import ResNetV2

    model = ResNetV2(
        layers=(3, 24, 36, 3), conv_layer=create_conv2d, norm_layer=BatchNormAct2d, stem_type=""
    )
    return Images(model).train(), images(224)


def wide_squeeze(name, side):
    """EfficientNet-wideSE of NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets,
    image_classification/models/efficientnet.py: the squeeze has a quarter of the expanded channels,
    not of the block's input."""
    import timm
    from timm.models._efficientnet_blocks import InvertedResidual, SqueezeExcite

    model = timm.create_model(name)
    for block in model.modules():
        if isinstance(block, InvertedResidual):
            wide = block.conv_pw.out_channels
            block.se = SqueezeExcite(wide, rd_channels=wide // 4, act_layer=torch.nn.SiLU)
    return Images(model).train(), images(side)


MODELS = {
    "resnet50": functools.partial(of_torchvision, "resnet50"),
    "resnet101": functools.partial(of_torchvision, "resnet101"),
    "resnet152": functools.partial(of_torchvision, "resnet152"),
    "vgg16_torchvision": functools.partial(of_torchvision, "vgg16"),
    "vgg19_22k": functools.partial(of_torchvision, "vgg19", classes=21841),  # Poseidon's
    "resnet50_v1": functools.partial(first_version, "resnet50"),
    "resnet152_v1": functools.partial(first_version, "resnet152"),
    "resnet200_v2": resnet_200,
    "efficientnet_b4_380": functools.partial(of_timm, "efficientnet_b4", 380),
    "efficientnet_v2_s_300": functools.partial(of_timm, "efficientnetv2_s", 300),
    "efficientnet_widese_b0": functools.partial(wide_squeeze, "efficientnet_b0", 224),
    "efficientnet_widese_b4": functools.partial(wide_squeeze, "efficientnet_b4", 380),
    **{name: functools.partial(of_timm, name, side) for name, side in OF_TIMM.items()},
}
