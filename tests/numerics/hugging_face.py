"""Models of Hugging Face's transformers as torch.onnx.export writes them, unedited: every gradient
loses no more than twice what PyTorch's own in float32 loses, both against float64.
test_hugging_face.py runs this in an environment that has both packages."""

import copy
import functools
import logging
import unittest
import warnings

import numpy
import torch
import transformers

import agreement
import gradients
from depth import long, repeat
from gradients import GradientsTest

WORDS, LENGTH, DISTANT, PLACES, CLASSES = 31, 7, 40, 16, 5
SIDE = 16  # of an image, in pixels
BY_TORCHSCRIPT, BY_DYNAMO = 17, 18  # opsets of the two exporters
NOT_BY_DYNAMO = {"T5"}  # this exporter fails where a tensor that is not contiguous is viewed
WIDTHS = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}
# Tables of tokens that are the output layer's weight too, whose name exporters prefer.
TIED = dict.fromkeys(
    ("transformer.wte.weight", "model.decoder.embed_tokens.weight"), "lm_head.weight"
)
# Embeddings keep the row of padding as it is, which a file does not say.
PADDING = 0
TEXT = {"vocab_size": WORDS, "max_position_embeddings": PLACES, "pad_token_id": PADDING}
NO_DROPOUT = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}


def network(make, config):
    """The library's model, which outside of an export takes its inputs by position, and returns
    the logits alone."""
    config.use_cache = False
    model = make(config)
    names = ("pixel_values",) if hasattr(config, "image_size") else ("input_ids", "attention_mask")
    model.register_forward_pre_hook(
        lambda module, inputs, named: ((), dict(zip(names, inputs))), with_kwargs=True
    )
    model.register_forward_hook(lambda module, inputs, output: output.logits)
    return model


def texts(batch, seed, classes=None):
    """Every other sample ends with padding, which is no label either."""
    ids, labels = gradients.tokens(WORDS - 1, LENGTH, batch, seed, classes)
    ids += 1
    ids[::2, -2:] = PADDING
    mask = ids != PADDING
    if classes is None:
        labels[~mask] = -100
    return {"input_ids": ids, "attention_mask": mask.astype("i8")}, labels


def images(batch, seed):
    values, labels = gradients.draw((3, SIDE, SIDE), CLASSES, batch, seed)
    return {"pixel_values": values}, labels


def gpt2():
    no_dropout = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_positions=PLACES, n_embd=32, n_layer=2, n_head=4, **no_dropout
    )
    return network(transformers.GPT2LMHeadModel, config), texts


def llama():
    config = transformers.LlamaConfig(
        intermediate_size=64, num_key_value_heads=2, **WIDTHS, **TEXT
    )
    return network(transformers.LlamaForCausalLM, config), texts


def opt():
    config = transformers.OPTConfig(ffn_dim=64, word_embed_proj_dim=32, dropout=0, **WIDTHS, **TEXT)
    return network(transformers.OPTForCausalLM, config), texts


def bert():
    config = transformers.BertConfig(
        intermediate_size=64, num_labels=CLASSES, **WIDTHS, **TEXT, **NO_DROPOUT
    )
    classified = functools.partial(texts, classes=CLASSES)
    return network(transformers.BertForSequenceClassification, config), classified


def distant(batch, seed, classes=None):
    """Texts whose relative positions reach the buckets that grow by a logarithm."""
    ids, labels = gradients.tokens(WORDS - 2, DISTANT, batch, seed, classes)
    ids += 2  # neither T5's padding nor MPNet's
    return {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}, labels


def t5():
    config = transformers.T5Config(
        vocab_size=WORDS,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        num_labels=WORDS,
        dropout_rate=0,
        classifier_dropout=0,
    )
    model = network(transformers.T5ForTokenClassification, config)
    scatter(model, "relative_attention_bias")
    return model, distant


def mpnet():
    config = transformers.MPNetConfig(
        intermediate_size=64,
        num_labels=CLASSES,
        **{**TEXT, "max_position_embeddings": DISTANT + 2},
        **WIDTHS,
        **NO_DROPOUT,
    )
    model = network(transformers.MPNetForSequenceClassification, config)
    scatter(model, "relative_attention_bias")
    return model, functools.partial(distant, classes=CLASSES)


def scatter(model, part):
    """Gives the parameters values so far apart that a wrong row shows in the loss."""
    for name, parameter in model.named_parameters():
        if part in name:
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(3))


def vit():
    config = transformers.ViTConfig(
        image_size=SIDE,
        patch_size=4,
        intermediate_size=64,
        num_labels=CLASSES,
        **WIDTHS,
        **NO_DROPOUT,
    )
    return network(transformers.ViTForImageClassification, config), images


class HuggingFaceTest(GradientsTest):
    models = {
        "GPT-2": gpt2,
        "LLaMA": llama,
        "OPT": opt,
        "BERT": bert,
        "ViT": vit,
        "T5": t5,
        "MPNet": mpnet,
    }

    def export(self, model, sample, path, opset):
        stock = copy.deepcopy(model)
        stock._forward_hooks.clear()
        stock._forward_pre_hooks.clear()
        batches = {name: {0: "batch"} for name in sample}
        how = {"kwargs": sample, "opset_version": opset, "input_names": list(sample)}
        how |= {"output_names": ["logits"], "dynamo": opset == BY_DYNAMO}
        if opset == BY_DYNAMO:
            how |= {"dynamic_shapes": batches, "optimize": False, "verbose": False}
        else:
            how |= {"dynamic_axes": batches, "do_constant_folding": False}
            how |= {"training": torch.onnx.TrainingMode.TRAINING}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(stock, (), str(path), **how)

    def name_in_file(self, parameter):
        return TIED.get(parameter, parameter)

    def test_by_dynamo(self):
        for name in repeat(("LLaMA",), sorted(self.models.keys() - NOT_BY_DYNAMO)):
            with self.subTest(model=name):
                self.check(name, BY_DYNAMO, 1)

    def test_by_torchscript(self):
        """This exporter refuses models of the library that generate text."""
        for name in repeat(("BERT",), ("BERT", "ViT", "T5", "MPNet")):
            with self.subTest(model=name):
                self.check(name, BY_TORCHSCRIPT, 1)

    @long("test_batches: models without these packages")
    def test_batches(self):
        """A batch has the mean of the losses and gradients that its samples have alone."""
        for name in self.models:
            with self.subTest(model=name):
                folder = self.folder / name
                folder.mkdir()
                opset = BY_TORCHSCRIPT if name in NOT_BY_DYNAMO else BY_DYNAMO
                path, *given = agreement.of_gradients(type(self), name, opset, folder)
                found = agreement.agreement(path, folder, *given)
                print(f"\n  {name}: {found}")
                self.assertTrue(not found.refusal and found.holds(), found)

    @long("a tied table on four ranks in test_tied and test_sparse")
    def test_on_four_ranks(self):
        """The rows of the tied table travel by themselves."""
        self.check("GPT-2", BY_DYNAMO, 4)


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # packages that an exporter would have liked
    unittest.main(verbosity=2)
