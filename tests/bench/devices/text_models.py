"""Language models: those of transformers in the configurations of the sources, Transformer-XL and
GNMT after NVIDIA/DeepLearningExamples."""

import functools

import torch

BERT_WORDS = 30528  # NVIDIA's vocabulary of 30522 words, padded to a multiple of 8


class Logits(torch.nn.Module):
    """A model of transformers with one output."""

    def __init__(self, model, output="logits"):
        super().__init__()
        self.model, self.output = model, output

    def forward(self, input_ids):
        return getattr(self.model(input_ids=input_ids), self.output)


class Masked(Logits):
    """The same with a mask, which adds to the scores of attention."""

    def forward(self, input_ids, attention_mask):
        made = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return getattr(made, self.output)


class Answers(Masked):
    """Start and end of an answer as two classes of each token."""

    def forward(self, input_ids, attention_mask):
        made = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return torch.stack((made.start_logits, made.end_logits), dim=-1)


def ids(length, *others):
    names = ("input_ids", *others)
    return {name: torch.ones(2, length, dtype=torch.int64) for name in names}


class Translated(torch.nn.Module):
    """A model of transformers that writes one text for another."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, decoder_input_ids):
        made = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=decoder_input_ids,
        )
        return made.logits


def of_transformers(wrap, kind, config, sample, attention="eager"):
    """`attention`: eager where the source had no fused one."""
    import transformers

    config._attn_implementation = attention  # noqa: SLF001: it has no other name
    config.use_cache = False
    return wrap(getattr(transformers, kind)(config)).train(), sample


def bert(size, kind, length, wrap):
    from transformers import BertConfig

    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
    how = {**large, "intermediate_size": 4096} if size == "large" else {}
    config = BertConfig(vocab_size=BERT_WORDS, **how)
    return of_transformers(wrap, kind, config, ids(length, "attention_mask"))


def electra(length):
    from transformers import ElectraConfig

    how = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
    config = ElectraConfig(embedding_size=768, **how)
    sample = ids(length, "attention_mask")
    return of_transformers(Answers, "ElectraForQuestionAnswering", config, sample)


def bart(source, target):
    from transformers import BartConfig  # its defaults are bart-large

    sample = ids(source, "attention_mask")
    sample["decoder_input_ids"] = torch.ones(2, target, dtype=torch.int64)
    return of_transformers(Translated, "BartForConditionalGeneration", BartConfig(), sample)


def gpt2(width, layers, heads, length, words=50257):
    from transformers import GPT2Config

    config = GPT2Config(
        n_embd=width, n_layer=layers, n_head=heads, n_positions=length, vocab_size=words
    )
    return of_transformers(Logits, "GPT2LMHeadModel", config, ids(length))


def llama(length, **how):
    from transformers import LlamaConfig

    config = LlamaConfig(max_position_embeddings=length, **how)
    return of_transformers(Logits, "LlamaForCausalLM", config, ids(length), "sdpa")


LLAMA_8B = {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32}
LLAMA_8B |= {"num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256}
# TinyLlama/TinyLlama_v1.1
TINY_LLAMA = {"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22}
TINY_LLAMA |= {"num_attention_heads": 32, "num_key_value_heads": 4, "vocab_size": 32000}


def switch_transformer():
    """NeuSight's switchxl4.json and its way to compute a sparse layer (neusight/Tracing/trace.py):
    each of 4 experts takes 64 rows a sequence, filled up with zeros. Which rows these are depends
    on the text; here they are the first ones."""
    from transformers import SwitchTransformersConfig
    from transformers.models.switch_transformers import modeling_switch_transformers as switch

    def routed(self, rows):
        probabilities = torch.softmax(self.router.classifier(rows), dim=-1)
        best = probabilities.max(dim=-1, keepdim=True)[0]
        chosen = rows[:, : config.expert_capacity]
        for expert in self.experts.values():
            chosen = expert(chosen)
        return best * torch.cat((chosen, rows[:, config.expert_capacity :]), dim=1)

    config = SwitchTransformersConfig(
        **{"d_model": 1024, "d_ff": 16384, "d_kv": 128, "num_heads": 32, "num_experts": 4},
        **{"num_layers": 24, "num_decoder_layers": 24, "expert_capacity": 64},
        **{"num_sparse_encoder_layers": 12, "num_sparse_decoder_layers": 12},
    )
    switch.SwitchTransformersSparseMLP.forward = routed
    sample = ids(512, "attention_mask", "decoder_input_ids")
    kind = "SwitchTransformersForConditionalGeneration"
    return of_transformers(Translated, kind, config, sample)


MODELS = {
    "bert_base_squad": functools.partial(bert, "base", "BertForQuestionAnswering", 384, Answers),
    "bert_large_squad": functools.partial(bert, "large", "BertForQuestionAnswering", 384, Answers),
    "bert_base_pretraining_128": functools.partial(bert, "base", "BertForMaskedLM", 128, Masked),
    "bert_large_pretraining_128": functools.partial(bert, "large", "BertForMaskedLM", 128, Masked),
    "electra_base_squad": functools.partial(electra, 384),
    "bart_large_128": functools.partial(bart, 128, 128),
    "bart_large_512": functools.partial(bart, 512, 512),
    "bart_large_xsum": functools.partial(bart, 1024, 60),
    "gpt2_124m": functools.partial(gpt2, 768, 12, 12, 1024, 50304),  # nanoGPT's bench.py
    "gpt2_large": functools.partial(gpt2, 1280, 36, 20, 1024),  # and below, NeuSight's
    "gpt3_24L_d3072": functools.partial(gpt2, 3072, 24, 24, 2048),
    "gpt3_2.7b": functools.partial(gpt2, 2560, 32, 32, 2048),
    "switch_transformer_xl4": switch_transformer,
    "tinyllama_1.1b_2048": functools.partial(llama, 2048, **TINY_LLAMA),
    "llama3.1_8b_8192": functools.partial(llama, 8192, rope_theta=500000.0, **LLAMA_8B),
}
