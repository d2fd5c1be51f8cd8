"""Transformers of text in full size: GPT-2, BERT-base and a LLaMA-style network of 100 million
parameters, by the operators that Hugging Face's exports hold, and PyTorch's encoder; see export.py.
Every function returns the network, with its library's initial weights and without dropout, and an
example of its input."""

import math

import torch
from torch import nn

LENGTH = 128  # tokens of an example


class NewGelu(nn.Module):
    def forward(self, x):
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class Conv1D(nn.Module):
    """GPT-2's linear layer: the weight is transposed, and the product is one of matrices."""

    def __init__(self, inputs, outputs, std):
        super().__init__()
        self.weight = nn.Parameter(std * torch.randn(inputs, outputs))
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
    def __init__(self, width, heads, std, residual):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn = Conv1D(width, 3 * width, std)
        self.c_proj = Conv1D(width, width, residual)
        self.c_fc, self.c_out = Conv1D(width, 4 * width, std), Conv1D(4 * width, width, residual)
        self.act = NewGelu()
        self.dropout = nn.Dropout(0.0)

    def attend(self, x, past):
        q, k, v = (heads_of(part, self.heads) for part in self.c_attn(x).split(x.size(-1), dim=2))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / torch.full([], v.size(-1) ** 0.5, dtype=scores.dtype)
        least = torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype)
        weights = nn.functional.softmax(torch.where(past, scores, least), dim=-1)
        return self.c_proj(joined(torch.matmul(self.dropout(weights.type(v.dtype)), v)))

    def forward(self, x, past):
        x = self.attend(self.ln_1(x), past) + x
        return x + self.c_out(self.act(self.c_fc(self.ln_2(x))))


class Gpt(nn.Module):
    """GPT-2 with a language head: logits [batch, length, words], whose weight embeds the tokens.
    Weights have the standard deviation `std`, and those that end in a sum `residual`."""

    def __init__(self, words, places, width, heads, blocks, std, residual):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(places, width)
        block = (GptBlock(width, heads, std, residual) for _ in range(blocks))
        self.h = nn.ModuleList(block)
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.wte.weight
        for table in (self.wte, self.wpe):  # PyTorch's own draw would make logits huge
            nn.init.normal_(table.weight, std=std)

    def past(self, length):
        """Which tokens [queries, keys] a token may attend to: itself and those before it."""
        return torch.ones((length, length), dtype=torch.bool).tril()

    def forward(self, ids):
        shape = ids.size()
        ids = ids.view(-1, shape[-1])
        places = torch.arange(0, shape[-1], dtype=torch.long).unsqueeze(0).view(-1, shape[-1])
        x = self.wte(ids) + self.wpe(places)
        past = self.past(shape[-1])
        for block in self.h:
            x = block(x, past)
        return self.lm_head(self.ln_f(x).view(shape + (x.size(-1),)))


class BertLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.dense = nn.Linear(width, width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.first, self.second = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))

    def forward(self, x, mask):
        q, k, v = (heads_of(part(x), self.heads) for part in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)) + mask
        x = self.first(self.dense(joined(torch.matmul(scores.softmax(-1), v))) + x)
        return self.second(self.down(nn.functional.gelu(self.up(x))) + x)


class Bert(nn.Module):
    """BERT with a pooler and a classifier. With ids alone all tokens are of type 0, and none is
    masked."""

    def __init__(self, words, places, width, heads, inner, layers, classes):
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.position = nn.Embedding(places, width)
        self.kind = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.register_buffer("position_ids", torch.arange(places).expand((1, -1)))
        kinds = torch.zeros(self.position_ids.size(), dtype=torch.long)
        self.register_buffer("kinds", kinds, persistent=False)
        self.layers = nn.ModuleList(BertLayer(width, heads, inner) for _ in range(layers))
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, classes)

    def places(self, ids):
        return self.position_ids[:, : ids.size(1)]

    def forward(self, ids, mask=None, kinds=None):
        batch, length = ids.size()
        if kinds is None:
            kinds = self.kinds[:, :length].expand(batch, length)
        x = self.word(ids) + self.kind(kinds) + self.position(self.places(ids))
        x = self.norm(x)
        if mask is None:
            mask = torch.ones((batch, length))
        mask = mask[:, None, None, :].to(dtype=x.dtype)
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
    """Groups of heads of queries share a head of keys and values."""

    def __init__(self, width, heads, groups, inner):
        super().__init__()
        self.heads, self.groups = heads, groups
        narrow = width // heads * groups
        self.q, self.k, self.v, self.o = (
            nn.Linear(width, size, bias=False) for size in (width, narrow, narrow, width)
        )
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
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
    """LLaMA: rotary places, root mean squares, gated layers, untied logits."""

    def __init__(self, words, width, heads, groups, inner, blocks):
        super().__init__()
        self.size = width // heads
        self.tokens = nn.Embedding(words, width)
        block = (LlamaBlock(width, heads, groups, inner) for _ in range(blocks))
        self.blocks = nn.ModuleList(block)
        self.norm = RmsNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def angles(self, length, dtype):
        powers = torch.arange(0, self.size, 2).to(dtype) / self.size
        places = torch.arange(length).to(dtype)
        angles = torch.einsum("i,j->ij", places, 1.0 / (10000.0**powers))
        both = torch.cat((angles, angles), dim=-1)
        return both.cos(), both.sin()

    def mask(self, length, dtype):
        return torch.full((length, length), torch.finfo(dtype).min, dtype=dtype).triu(1)

    def forward(self, ids):
        x, length = self.tokens(ids), ids.size(1)
        cos, sin = self.angles(length, x.dtype)
        mask = self.mask(length, x.dtype)
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        return self.head(self.norm(x))


class Encoder(nn.Module):
    """PyTorch's own layers between a table of words and a classifier of the tokens' mean."""

    def __init__(self, words, width, heads, inner, layers, classes):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, inner, dropout=0.0, batch_first=True)
        self.words = nn.Embedding(words, width)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.words(ids)).mean(1))


def ids():
    return torch.zeros(2, LENGTH, dtype=torch.int64)


def drawn(model, std=0.02):
    """Draws matrices with this standard deviation and sets biases to zero."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=std)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return model


def gpt2():
    """GPT-2 of 124 million parameters."""
    std = 0.02
    residual = std / math.sqrt(2 * 12)  # two sums a block
    return Gpt(50257, 1024, 768, 12, 12, std, residual), ids()


def bert_base():
    """BERT-base of 109 million parameters, uncased, with a classifier of two classes."""
    return drawn(Bert(30522, 512, 768, 12, 3072, 12, classes=2)), ids()


def llama():
    """Eight blocks as LLaMA has them, twelve heads of queries on four of keys and values."""
    return drawn(Llama(32000, 768, 12, 4, 2048, blocks=8)), ids()


def encoder():
    """nn.TransformerEncoder of six layers, 34 million parameters."""
    return Encoder(30000, 512, 8, 2048, 6, classes=10), ids()
