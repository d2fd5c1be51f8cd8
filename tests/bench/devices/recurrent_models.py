"""GNMT v2 and Transformer-XL as NVIDIA/DeepLearningExamples (729963d) trains them."""

import functools

import torch
from torch import nn

# A sentence of WMT16 English-German after filtering by at most 50 has 25 tokens in the mean, with
# end marks, of source as of target: tokens/s times the minutes of an epoch over its 3.5 M sentences
# (PyTorch/Translation/GNMT/README.md). A batch's sentences are of one of five ranges of ten by the
# longer of both (seq2seq/data/sampler.py: BucketingSampler), and padded to the longest in it, which
# is the range's end in large batches: 32 in the mean. Rates count tokens without padding.
GNMT_LENGTH = 32
GNMT_WORDS = 32320


class Attention(nn.Module):
    """seq2seq/models/attention.py: BahdanauAttention with a normalized vector."""

    def __init__(self, width):
        super().__init__()
        self.linear_q = nn.Linear(width, width, bias=False)
        self.linear_k = nn.Linear(width, width, bias=False)
        self.linear_att = nn.Parameter(torch.zeros(width))
        self.normalize_scalar = nn.Parameter(torch.ones(1))
        self.normalize_bias = nn.Parameter(torch.zeros(width))

    def forward(self, query, keys, mask):
        sums = self.linear_q(query).unsqueeze(2) + self.linear_k(keys).unsqueeze(1)
        vector = self.linear_att / self.linear_att.norm() * self.normalize_scalar
        scores = torch.tanh(sums + self.normalize_bias).matmul(vector)
        scores = scores.masked_fill(mask.unsqueeze(1), -65504.0)
        return torch.bmm(torch.softmax(scores, dim=-1), keys)


class Gnmt(nn.Module):
    """seq2seq/models/gnmt.py: four layers each, width 1024, one table of words for both."""

    def __init__(self, words=GNMT_WORDS, width=1024, layers=4):
        super().__init__()
        lstm = functools.partial(nn.LSTM, batch_first=True)
        self.embedder = nn.Embedding(words, width)
        self.encoder = nn.ModuleList([lstm(width, width, bidirectional=True)])
        self.encoder.append(lstm(2 * width, width))
        self.encoder.extend(lstm(width, width) for _ in range(layers - 2))
        self.attention_rnn = lstm(width, width)
        self.attention = Attention(width)
        self.decoder = nn.ModuleList(lstm(2 * width, width) for _ in range(layers - 1))
        self.classifier = nn.Linear(width, words)
        self.drop = nn.Dropout(0.2)

    def forward(self, source, padding, target):
        x = self.encoder[0](self.drop(self.embedder(source)))[0]
        x = self.encoder[1](self.drop(x))[0]
        for rnn in self.encoder[2:]:
            x = rnn(self.drop(x))[0] + x
        context = x
        x = self.attention_rnn(self.drop(self.embedder(target)))[0]
        attended = self.attention(x, context, padding)
        x = self.decoder[0](self.drop(torch.cat((x, attended), dim=2)))[0]
        for rnn in self.decoder[1:]:
            x = rnn(self.drop(torch.cat((x, attended), dim=2)))[0] + x
        return self.classifier(x)


def gnmt():
    ids = torch.ones(2, GNMT_LENGTH, dtype=torch.int64)
    padding = torch.zeros(2, GNMT_LENGTH, dtype=torch.bool)
    return Gnmt().train(), {"source": ids, "padding": padding, "target": ids.clone()}


class RelativeAttention(nn.Module):
    """mem_transformer.py: RelPartialLearnableMultiHeadAttn with memory, norm last."""

    def __init__(self, width, heads, head, drop, drop_scores):
        super().__init__()
        self.heads, self.head = heads, head
        self.drop, self.drop_scores = nn.Dropout(drop), nn.Dropout(drop_scores)
        self.qkv_net = nn.Linear(width, 3 * heads * head, bias=False)
        self.r_net = nn.Linear(width, heads * head, bias=False)
        self.o_net = nn.Linear(heads * head, width, bias=False)
        self.layer_norm = nn.LayerNorm(width)

    def forward(self, w, r, word_bias, position_bias, mask, memory):
        length = w.shape[1]
        heads = self.qkv_net(torch.cat((memory, w), dim=1))
        heads = heads.unflatten(2, (3 * self.heads, self.head)).transpose(1, 2)
        q, k, v = heads.chunk(3, dim=1)
        q = q[:, :, -length:]
        r = self.r_net(r).unflatten(1, (self.heads, self.head)).transpose(0, 1)
        content = (q + word_bias[:, None]) @ k.transpose(2, 3)
        position = self.shifted((q + position_bias[:, None]) @ r.transpose(1, 2))
        scores = (content + position) * self.head**-0.5
        scores = torch.softmax(scores.masked_fill(mask, -65504.0), dim=3)
        attended = (self.drop_scores(scores) @ v).transpose(1, 2).flatten(2)
        return self.layer_norm(w + self.drop(self.o_net(attended)))

    def shifted(self, x):
        rows, columns = x.shape[2:]
        padded = torch.nn.functional.pad(x, (1, 0))
        return padded.reshape(-1, self.heads, columns + 1, rows)[:, :, 1:].reshape(x.shape)


class Block(nn.Module):
    def __init__(self, width, heads, head, inner, *drops):
        super().__init__()
        self.attention = RelativeAttention(width, heads, head, *drops)
        self.drop = nn.Dropout(drops[0])
        self.into, self.out = nn.Linear(width, inner), nn.Linear(inner, width)
        self.layer_norm = nn.LayerNorm(width)

    def forward(self, w, *others):
        w = self.attention(w, *others)
        inner = self.drop(torch.relu(self.into(w)))
        return self.layer_norm(w + self.drop(self.out(inner)))


class TransformerXl(nn.Module):
    """Word-level WikiText-103 with an adaptive softmax, whose tails see only the tokens of rarer
    words. Which these are depends on the text; the model takes the first tokens, as many as
    expected (SHARES). Without `adaptive` one softmax goes over all words."""

    WORDS, CUTOFFS = 267735, (0, 19997, 39997, 199997, 267735)
    SHARES = (0.031, 0.031, 0.004)  # of the tokens of WikiText-103 by frequency of words

    def __init__(self, layers, width, heads, inner, divide, drops, length, adaptive):
        super().__init__()
        head = 64
        self.width, self.length, self.drop = width, length, nn.Dropout(drops[0])
        self.blocks = nn.ModuleList(
            Block(width, heads, head, inner, *drops) for _ in range(layers)
        )
        self.word_bias = nn.Parameter(torch.zeros(heads, head))
        self.position_bias = nn.Parameter(torch.zeros(heads, head))
        sizes = [last - first for first, last in zip(self.CUTOFFS, self.CUTOFFS[1:])]
        widths = [width // divide**i for i in range(len(sizes))]
        if divide == 1:  # one table
            sizes, widths = [self.WORDS], [width]
        self.tables = nn.ParameterList(torch.zeros(s, w) for s, w in zip(sizes, widths))
        self.biases = nn.ParameterList(torch.zeros(size) for size in sizes)
        projected = widths if divide > 1 else []
        self.projections = nn.ParameterList(torch.zeros(w, width) for w in projected)
        # The head's projection is not tied to that of the embedding, unlike those of the tails.
        self.head_projection = nn.Parameter(torch.zeros(width, width)) if projected else None
        self.adaptive = adaptive
        if adaptive:
            self.cluster_weight = nn.Parameter(torch.zeros(3, width))
            self.cluster_bias = nn.Parameter(torch.zeros(3))
        places = torch.arange(2 * length - 1, -1, -1.0)
        angles = torch.outer(places, 1 / 10000 ** (torch.arange(0, width, 2.0) / width))
        self.register_buffer("places", torch.cat((angles.sin(), angles.cos()), dim=1), False)
        later = torch.ones(length, 2 * length, dtype=torch.bool).triu(1 + length)
        self.register_buffer("later", later, False)

    def part(self, i):
        """Table, bias and projection of words of a cluster."""
        if len(self.tables) > 1:
            return self.tables[i], self.biases[i], self.projections[i]
        first, last = self.CUTOFFS[i], self.CUTOFFS[i + 1]
        return self.tables[0][first:last], self.biases[0][first:last], None

    def embedded(self, words):
        if len(self.tables) == 1:
            return nn.functional.embedding(words, self.tables[0]) * self.width**0.5
        table, _, projection = self.part(0)
        rows = nn.functional.embedding(words, table) @ projection
        for i in range(1, len(self.tables)):
            table, _, projection = self.part(i)
            rare = nn.functional.embedding(words[:, : self.count(i)], table) @ projection
            rows = rows + nn.functional.pad(rare, (0, 0, 0, self.length - self.count(i)))
        return rows * self.width**0.5

    def count(self, i):
        """The expected number of a sequence's tokens in cluster i."""
        return max(1, round(self.SHARES[i - 1] * self.length))

    def loss_of(self, rows, labels, i):
        table, bias, projection = self.part(i)
        if i == 0:
            table = torch.cat((table, self.cluster_weight))
            bias = torch.cat((bias, self.cluster_bias))
            projection = self.head_projection
        if projection is not None:
            rows = rows @ projection.t()
        shares = torch.log_softmax(nn.functional.linear(rows, table, bias), dim=-1)
        return -shares.gather(2, labels.unsqueeze(2)).squeeze(2)

    def forward(self, words, memories, labels=None):
        w, places = self.drop(self.embedded(words)), self.drop(self.places)
        for i, block in enumerate(self.blocks):
            biases = self.word_bias, self.position_bias
            w = block(w, places, *biases, self.later, memories[:, i])
        w = self.drop(w)
        if not self.adaptive:
            return nn.functional.linear(w, self.tables[0], self.biases[0])
        loss = self.loss_of(w, labels, 0).mean()
        for i in range(1, 4):
            count = self.count(i)
            rare = self.loss_of(w[:, :count], labels[:, :count], i).mean()
            loss = loss + rare * (count / self.length)
        return loss


def transformer_xl(size, length, adaptive=True):
    base = (16, 512, 8, 2048, 1, (0.1, 0.0))
    large = (18, 1024, 16, 4096, 4 if adaptive else 1, (0.2, 0.2))
    layers, width, *_ = chosen = base if size == "base" else large
    ids = torch.ones(2, length, dtype=torch.int64)
    memories = torch.zeros(2, layers, length, width)
    sample = {"words": ids, "memories": memories}
    if adaptive:
        sample["labels"] = ids.clone()
    return TransformerXl(*chosen, length, adaptive).train(), sample


MODELS = {
    "gnmt_v2": gnmt,
    "transformer_xl_base_192": functools.partial(transformer_xl, "base", 192),
    "transformer_xl_base_192_full": functools.partial(transformer_xl, "base", 192, False),
    "transformer_xl_large_256_full": functools.partial(transformer_xl, "large", 256, False),
    "transformer_xl_large_384": functools.partial(transformer_xl, "large", 384),
}
