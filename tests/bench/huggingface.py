"""Networks of Hugging Face's transformers with random weights, and examples of their input."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

LENGTH = 64  # tokens


class Logits(torch.nn.Module):
    """What a model returns, without caches and losses."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids, use_cache=False).logits


def gpt2():
    """GPT-2 of 124 million parameters, without dropout."""
    config = GPT2Config(attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)
    return Logits(GPT2LMHeadModel(config)), torch.zeros(2, LENGTH, dtype=torch.int64)
