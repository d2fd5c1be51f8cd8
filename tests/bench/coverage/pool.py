"""Public models to try, drawn before the first is tried: the smallest of each family of timm and of
torchvision, and a small configuration of each model type of transformers."""

import importlib
import random
import warnings

import torch

SEED = 35  # of the order in which models are tried
# transformers' tasks with a loss on one output; a model type is drawn with one of them.
TASKS = (
    *("IMAGE_CLASSIFICATION", "SEQUENCE_CLASSIFICATION", "TOKEN_CLASSIFICATION"),
    *("CAUSAL_LM", "MASKED_LM"),
)


def size(make):
    """The number of parameters, or None where the model cannot be made without values."""
    try:
        with torch.device("meta"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(parameter.numel() for parameter in make().parameters())
    except Exception:  # noqa: BLE001: the libraries raise whatever they like
        return None


def smallest(families):
    """One name of each family = {name: function that makes the model}."""
    for makers in families.values():
        sizes = {name: count for name, make in makers.items() if (count := size(make))}
        if sizes:
            yield min(sizes, key=sizes.get)


def torchvision_models():
    import torchvision

    families = {}
    for name in torchvision.models.list_models():
        builder = torchvision.models.get_model_builder(name)
        how = {"weights": None}
        if "segmentation" in builder.__module__ or "detection" in builder.__module__:
            how["weights_backbone"] = None
        families.setdefault(builder.__module__, {})[name] = lambda b=builder, h=how: b(**h)
    return [f"torchvision:{name}" for name in smallest(families)]


def timm_models():
    import timm

    families = {}
    for module in timm.list_modules():
        names = timm.list_models(module=module)
        families[module] = {name: lambda n=name: timm.create_model(n) for name in names}
    return [f"timm:{name}" for name in smallest(families)]


def transformers_models(choose):
    auto = importlib.import_module("transformers.models.auto.modeling_auto")
    tasks = {}
    for task in TASKS:
        for kind, names in getattr(auto, f"MODEL_FOR_{task}_MAPPING_NAMES").items():
            name = names if isinstance(names, str) else names[0]
            tasks.setdefault(kind, []).append(name)
    return [f"transformers:{choose.choice(sorted(names))}" for _, names in sorted(tasks.items())]


def draw():
    """All names in the order in which they are tried."""
    choose = random.Random(SEED)
    names = [*torchvision_models(), *timm_models(), *transformers_models(choose)]
    choose.shuffle(names)
    return names
