"""Networks as libraries write them: torchvision's image transformers in small, and transformers of
text by the operators that Hugging Face's exports hold."""

import math

import torch
import torchvision
from torch import nn
from torchvision.models.convnext import CNBlockConfig

CLASSES = 10


def swin():
    """Windows that do not fill the image, shifted in the second block of either stage."""
    model = torchvision.models.SwinTransformer(
        patch_size=[4, 4],
        embed_dim=24,
        depths=[2, 2],
        num_heads=[2, 4],
        window_size=[4, 4],
        stochastic_depth_prob=0.0,
        num_classes=CLASSES,
    )
    return model, (3, 36, 36)


def convnext():
    model = torchvision.models.ConvNeXt(
        [CNBlockConfig(16, 32, 2), CNBlockConfig(32, None, 2)],
        stochastic_depth_prob=0.0,
        layer_scale=0.5,
        num_classes=CLASSES,
    )
    return model, (3, 32, 32)


class NewGelu(nn.Module):
    def forward(self, x):
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class Conv1D(nn.Module):
    """GPT-2's linear layer: the weight is transposed, and the product is one of matrices."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(0.2 * torch.randn(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        shape = x.size()[:-1] + (self.weight.size(1),)
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(shape)


def heads_of(x, heads):
    return x.view(x.size()[:-1] + (heads, x.size(-1) // heads)).permute(0, 2, 1, 3)


def joined(x):
    x = x.permute(0, 2, 1, 3).contiguous()
    return x.view(x.size()[:-2] + (x.size(-2) * x.size(-1),))


class GptBlock(nn.Module):
    def __init__(self, width, heads, places):
        super().__init__()
        self.heads = heads
        past = torch.tril(torch.ones((places, places), dtype=torch.bool))
        self.register_buffer("bias", past.view(1, 1, places, places))
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = Conv1D(width, 3 * width), Conv1D(width, width)
        self.c_fc, self.c_out = Conv1D(width, 4 * width), Conv1D(4 * width, width)
        self.act = NewGelu()
        self.dropout = nn.Dropout(0.0)

    def attend(self, x):
        q, k, v = (heads_of(part, self.heads) for part in self.c_attn(x).split(x.size(-1), dim=2))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / torch.full([], v.size(-1) ** 0.5, dtype=scores.dtype)
        queries, keys = q.size(-2), k.size(-2)
        past = self.bias[:, :, keys - queries : keys, :keys]
        least = torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype)
        weights = nn.functional.softmax(torch.where(past, scores, least), dim=-1)
        return self.c_proj(joined(torch.matmul(self.dropout(weights.type(v.dtype)), v)))

    def forward(self, x):
        x = self.attend(self.ln_1(x)) + x
        return x + self.c_out(self.act(self.c_fc(self.ln_2(x))))


class Gpt(nn.Module):
    """GPT-2 with a language head: logits [batch, length, words], whose weight embeds the tokens."""

    words, length, places = 13, 7, 16

    def __init__(self, width=32):
        super().__init__()
        self.wte = nn.Embedding(self.words, width)
        self.wpe = nn.Embedding(self.places, width)
        self.h = nn.ModuleList(GptBlock(width, 4, self.places) for _ in range(2))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, self.words, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.2)  # as small as the library's, or logits are huge

    def forward(self, ids):
        shape = ids.size()
        ids = ids.view(-1, shape[-1])
        places = torch.arange(0, shape[-1], dtype=torch.long).unsqueeze(0).view(-1, shape[-1])
        x = self.wte(ids) + self.wpe(places)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x).view(shape + (x.size(-1),)))


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.dense = nn.Linear(width, width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.first, self.second = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))

    def forward(self, x, mask):
        q, k, v = (heads_of(part(x), self.heads) for part in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)) + mask
        x = self.first(self.dense(joined(torch.matmul(scores.softmax(-1), v))) + x)
        return self.second(self.down(nn.functional.gelu(self.up(x))) + x)


class Bert(nn.Module):
    """BERT with a pooler and a classifier; all tokens are of type 0 and none is masked."""

    words, length, places = 13, 7, 16

    def __init__(self, width=32):
        super().__init__()
        self.word = nn.Embedding(self.words, width)
        self.position = nn.Embedding(self.places, width)
        self.kind = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.register_buffer("position_ids", torch.arange(self.places).expand((1, -1)))
        kinds = torch.zeros(self.position_ids.size(), dtype=torch.long)
        self.register_buffer("kinds", kinds, persistent=False)
        self.layers = nn.ModuleList(BertLayer(width, 4) for _ in range(2))
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, CLASSES)

    def forward(self, ids):
        batch, length = ids.size()
        kinds = self.kinds[:, :length].expand(batch, length)
        x = self.word(ids) + self.kind(kinds) + self.position(self.position_ids[:, :length])
        x = self.norm(x)
        mask = torch.ones((batch, length))[:, None, None, :].to(dtype=x.dtype)
        mask = (1.0 - mask) * torch.finfo(x.dtype).min
        for layer in self.layers:
            x = layer(x, mask)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def rotated(x, cos, sin):
    """x with pairs of its features turned by an angle for each place."""
    half = x.size(-1) // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


class LlamaBlock(nn.Module):
    """Four heads of queries on two of keys and values."""

    def __init__(self, width, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups = heads, groups
        narrow = width // heads * groups
        self.q, self.k, self.v, self.o = (
            nn.Linear(width, size, bias=False) for size in (width, narrow, narrow, width)
        )
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)
        self.first, self.second = RmsNorm(width), RmsNorm(width)

    def repeated(self, x):
        batch, groups, length, size = x.size()
        times = self.heads // groups
        x = x[:, :, None].expand(batch, groups, times, length, size)
        return x.reshape(batch, self.heads, length, size)

    def forward(self, x, cos, sin, mask):
        y = self.first(x)
        q = rotated(heads_of(self.q(y), self.heads), cos, sin)
        k = rotated(heads_of(self.k(y), self.groups), cos, sin)
        k, v = self.repeated(k), self.repeated(heads_of(self.v(y), self.groups))
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.size(-1)) + mask
        weights = nn.functional.softmax(scores, dim=-1)
        x = x + self.o(joined(torch.matmul(weights, v)))
        y = self.second(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """LLaMA in small: rotary places, root mean squares, gated layers, untied logits."""

    words, length = 13, 7

    def __init__(self, width=32):
        super().__init__()
        self.size = width // 4
        self.tokens = nn.Embedding(self.words, width)
        self.blocks = nn.ModuleList(LlamaBlock(width) for _ in range(2))
        self.norm = RmsNorm(width)
        self.head = nn.Linear(width, self.words, bias=False)

    def angles(self, length, dtype):
        powers = torch.arange(0, self.size, 2).to(dtype) / self.size
        places = torch.arange(length).to(dtype)
        angles = torch.einsum("i,j->ij", places, 1.0 / (10000.0**powers))
        both = torch.cat((angles, angles), dim=-1)
        return both.cos(), both.sin()

    def forward(self, ids):
        x, length = self.tokens(ids), ids.size(1)
        cos, sin = self.angles(length, x.dtype)
        mask = torch.full((length, length), torch.finfo(x.dtype).min, dtype=x.dtype).triu(1)
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        return self.head(self.norm(x))
