"""Makes a drawn model small enough to train here, with the data of one step."""

import functools
import inspect

import numpy
import torch

BATCH = 4  # samples a rank
LENGTH = 12  # tokens of a text
CLASSES = 10
# What a configuration's numbers are set to, where it has them.
SMALL = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embed_dim", "emb_dim", "dim"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_blocks"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_key_value_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "n_inner", "d_ff", "hidden_dim"), 64),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "moe_intermediate_size"), 64),
    **dict.fromkeys(("head_dim", "d_kv", "swa_head_dim", "global_head_dim"), 8),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"), 8),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank"), 16),
    **dict.fromkeys(("swa_num_attention_heads", "swa_num_key_value_heads"), 4),
    **dict.fromkeys(("attention_hidden_size",), 64),
    **dict.fromkeys(("attention_head_dim",), 16),
    **dict.fromkeys(("coordinate_size",), 6),  # four of them and two shapes are the hidden size
    **dict.fromkeys(("shape_size",), 4),
    **dict.fromkeys(("vocab_size",), 97),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 64),
    **dict.fromkeys(("num_local_experts", "num_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok",), 2),
    **dict.fromkeys(("num_latents",), 16),
    **dict.fromkeys(("d_latents",), 32),
    **dict.fromkeys(("num_self_attends_per_block",), 2),
    **dict.fromkeys(("image_size",), 64),
    **dict.fromkeys(("num_labels",), CLASSES),
}


class Logits(torch.nn.Module):
    """The model with its inputs by position and one output."""

    def __init__(self, model, names=()):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        output = self.model(**dict(zip(self.names, inputs))) if self.names else self.model(*inputs)
        if hasattr(output, "logits"):
            output = output.logits
        if isinstance(output, dict):
            output = next(iter(output.values()))
        return output[0] if isinstance(output, (tuple, list)) else output


def without_noise(model):
    """Dropout and drop path at rate zero: both sides would draw other numbers."""
    for module in model.modules():
        for name in ("p", "drop_prob"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return model


def images(side, batch, seed):
    return {"image": numpy.random.RandomState(seed).randn(batch, 3, side, side).astype("f4")}


def videos(side, batch, seed):
    random = numpy.random.RandomState(seed)
    return {"video": random.randn(batch, 3, 8, side, side).astype("f4")}


def texts(words, end, batch, seed):
    """Some models take the state at the token that ends a text, which `end` is."""
    ids = numpy.random.RandomState(seed).randint(5, words, (batch, LENGTH))
    if end is not None:
        ids[:, -1] = end
    return {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}


def of_timm(name):
    import timm

    # The exporter has no fused attention of five dimensions.
    timm.layers.set_fused_attn(not name.startswith("nest"))
    model = timm.create_model(name, num_classes=CLASSES)
    side = model.default_cfg.get("input_size", (3, 224, 224))[1]
    if not model.default_cfg.get("fixed_input_size"):
        side = min(side, 64)
    return Logits(without_noise(model)), functools.partial(images, side)


def of_torchvision(name):
    import torchvision

    builder = torchvision.models.get_model_builder(name)
    how = {"weights": None}
    if "segmentation" in builder.__module__ or "detection" in builder.__module__:
        how["weights_backbone"] = None
    side = 224 if "vit" in name or "maxvit" in name else 299 if "inception" in name else 64
    draw = videos if "video" in builder.__module__ else images
    return Logits(without_noise(builder(**how))), functools.partial(draw, side)


def set_where_given(config, name, value):
    """Sets a number that the configuration has; some refuse to say or to take one."""
    # None where it follows from others, or where the class's default is of no use
    optional = name in ("pad_token_id", "head_dim", "num_experts_per_tok")
    try:
        given = getattr(config, name, ...)
        if isinstance(given, int) or (given is None and optional):
            setattr(config, name, value)
    except Exception:  # noqa: BLE001: configurations raise whatever they like
        pass


def small(config):
    """Sets what the configuration has, also in its parts, and leaves out what cannot be set."""
    for name, value in {**SMALL, "use_cache": False, "pad_token_id": 0}.items():
        set_where_given(config, name, value)
    if getattr(config, "embedding_dim", None) == getattr(type(config)(), "hidden_size", 0):
        config.embedding_dim = SMALL["hidden_size"]
    heads = getattr(config, "num_heads", None)
    if isinstance(heads, (list, tuple)) and isinstance(getattr(config, "embed_dim", None), int):
        config.embed_dim = SMALL["head_dim"] * heads[0]
    if hasattr(config, "default_language"):
        config.default_language = config.languages[0]
    for name, value in list(vars(config).items()):
        if "drop" in name and isinstance(value, float):
            setattr(config, name, 0.0)
        if hasattr(value, "to_dict"):
            small(value)
    return config


def of_transformers(name):
    import transformers

    make = getattr(transformers, name)
    config = small(make.config_class())
    model = without_noise(make(config))
    if hasattr(model, "set_experts_implementation"):  # the default one cannot be exported
        model.set_experts_implementation("batched_mm")
    taken = inspect.signature(model.forward).parameters
    if "pixel_values" in taken and "input_ids" not in taken:
        side = getattr(config, "image_size", 64)
        side = side[0] if isinstance(side, (tuple, list)) else side
        return Logits(model, ("pixel_values",)), functools.partial(images, side)
    words = getattr(config, "vocab_size", 97)
    needs_end = config.is_encoder_decoder and name.endswith("SequenceClassification")
    draw = functools.partial(texts, words, config.eos_token_id if needs_end else None)
    return Logits(model, ("input_ids", "attention_mask")), draw


def make(name):
    """The model of a drawn name, and a function (batch, seed) that draws its inputs by name."""
    library, _, own = name.partition(":")
    torch.manual_seed(0)
    model, inputs = {
        "timm": of_timm,
        "torchvision": of_torchvision,
        "transformers": of_transformers,
    }[library](own)
    with torch.no_grad():  # biases and scales that matter
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn(parameter.shape))
    return model, inputs
