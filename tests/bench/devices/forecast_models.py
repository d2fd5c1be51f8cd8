"""The temporal fusion transformer of NVIDIA/DeepLearningExamples (729963d),
PyTorch/Forecasting/TFT/modeling.py, in its configurations for electricity and traffic: a week of
hours, of which it forecasts the next day."""

import functools

import torch
from torch import nn

WIDTH, HEADS, PAST, FUTURE, QUANTILES, DROP = 128, 4, 168, 24, 3, 0.1


class Gate(nn.Module):
    def __init__(self, width=WIDTH, output=WIDTH):
        super().__init__()
        self.lin = nn.Linear(width, 2 * output)

    def forward(self, x):
        return nn.functional.glu(self.lin(x))


class Residual(nn.Module):
    """GRN: a gated residual network, with a context of the series where there is one."""

    def __init__(self, inputs=WIDTH, output=None, context=False):
        super().__init__()
        self.lin_a, self.lin_i = nn.Linear(inputs, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.lin_c = nn.Linear(WIDTH, WIDTH, bias=False) if context else None
        self.glu = Gate(WIDTH, output or WIDTH)
        self.drop = nn.Dropout(DROP if output is None else 0.0)
        self.layer_norm = nn.Identity() if output == 1 else nn.LayerNorm(output or WIDTH, eps=1e-3)
        self.out_proj = nn.Linear(inputs, output) if output else None

    def forward(self, a, context=None):
        x = self.lin_a(a)
        if context is not None:
            x = x + self.lin_c(context).unsqueeze(1)
        x = self.glu(self.drop(self.lin_i(nn.functional.elu(x))))
        return self.layer_norm(x + (self.out_proj(a) if self.out_proj else a))


class Selection(nn.Module):
    """VariableSelectionNetwork: a weighted sum of the transformed variables."""

    def __init__(self, variables, context):
        super().__init__()
        self.joint_grn = Residual(WIDTH * variables, variables, context)
        self.var_grns = nn.ModuleList(Residual() for _ in range(variables))

    def forward(self, x, context=None):
        weights = torch.softmax(self.joint_grn(x.flatten(-2), context), dim=-1)
        parts = [grn(x[..., i, :]) for i, grn in enumerate(self.var_grns)]
        return (torch.stack(parts, dim=-1) @ weights.unsqueeze(-1)).squeeze(-1)


class Attention(nn.Module):
    """InterpretableMultiHeadAttention: the heads share their values."""

    def __init__(self):
        super().__init__()
        self.head = WIDTH // HEADS
        self.qkv_linears = nn.Linear(WIDTH, (2 * HEADS + 1) * self.head, bias=False)
        self.out_proj = nn.Linear(self.head, WIDTH, bias=False)
        self.drop = nn.Dropout(DROP)
        size = PAST + FUTURE
        mask = torch.full((size, size), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        sizes = (HEADS * self.head, HEADS * self.head, self.head)
        q, k, v = self.qkv_linears(x).split(sizes, dim=-1)
        q = q.unflatten(2, (HEADS, self.head)).transpose(1, 2)
        k = k.unflatten(2, (HEADS, self.head)).permute(0, 2, 3, 1)
        scores = torch.softmax((q @ k) * self.head**-0.5 + self.mask, dim=3)
        return self.drop(self.out_proj((scores @ v.unsqueeze(1)).mean(dim=1)))


class TemporalFusion(nn.Module):
    """Known of each hour: hour, day, hours from the start; observed: the target; of a series: its
    number."""

    KNOWN = 3

    def __init__(self, series):
        super().__init__()
        self.s_cat_embed = nn.Embedding(series, WIDTH)
        self.known_vectors = nn.Parameter(torch.zeros(self.KNOWN, WIDTH))
        self.known_bias = nn.Parameter(torch.zeros(self.KNOWN, WIDTH))
        self.target_vectors = nn.Parameter(torch.zeros(1, WIDTH))
        self.target_bias = nn.Parameter(torch.zeros(1, WIDTH))
        self.static = Selection(1, False)
        self.contexts = nn.ModuleList(Residual() for _ in range(4))
        self.history_vsn = Selection(self.KNOWN + 1, True)
        self.future_vsn = Selection(self.KNOWN, True)
        self.history_encoder = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.future_encoder = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.gates = nn.ModuleList(Gate() for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH, eps=1e-3) for _ in range(3))
        self.enrichment_grn = Residual(context=True)
        self.attention = Attention()
        self.positionwise_grn = Residual()
        self.quantile_proj = nn.Linear(WIDTH, QUANTILES)

    def gated(self, i, x, skipped):
        return self.norms[i](self.gates[i](x) + skipped)

    def forward(self, series, known, target):
        known = known.unsqueeze(-1) * self.known_vectors + self.known_bias
        target = target.unsqueeze(3) * self.target_vectors + self.target_bias
        static = self.static(self.s_cat_embed(series).unsqueeze(1))
        select, enrich, h, c = (context(static) for context in self.contexts)
        past = self.history_vsn(torch.cat((known[:, :PAST], target), dim=-2), select)
        future = self.future_vsn(known[:, PAST:], select)
        history, state = self.history_encoder(past, (h.unsqueeze(0), c.unsqueeze(0)))
        forecast, _ = self.future_encoder(future, state)
        embedded = torch.cat((past, future), dim=1)
        features = self.gated(0, torch.cat((history, forecast), dim=1), embedded)
        enriched = self.enrichment_grn(features, enrich)
        x = self.attention(enriched)[:, PAST:]
        x = self.positionwise_grn(self.gated(1, x, enriched[:, PAST:]))
        return self.quantile_proj(self.gated(2, x, features[:, PAST:]))


def tft(series):
    known = torch.zeros(2, PAST + FUTURE, TemporalFusion.KNOWN)
    ids = torch.ones(2, dtype=torch.int64)
    sample = {"series": ids, "known": known, "target": torch.zeros(2, PAST, 1)}
    return TemporalFusion(series).train(), sample


MODELS = {
    "tft_electricity": functools.partial(tft, 369),
    "tft_traffic": functools.partial(tft, 963),
}
