"""Recommendation and speech after NVIDIA/DeepLearningExamples (729963d), of which
the comments name the files."""

import torch
from torch import nn


class NeuMf(nn.Module):
    """PyTorch/Recommendation/NCF/neumf.py with its defaults on ml-20m."""

    def __init__(self, users=138493, items=26744, factors=64, layers=(256, 256, 128, 64)):
        super().__init__()
        self.mf_user_embed = nn.Embedding(users, factors)
        self.mf_item_embed = nn.Embedding(items, factors)
        self.mlp_user_embed = nn.Embedding(users, layers[0] // 2)
        self.mlp_item_embed = nn.Embedding(items, layers[0] // 2)
        self.mlp = nn.ModuleList(nn.Linear(a, b) for a, b in zip(layers, layers[1:]))
        self.final = nn.Linear(layers[-1] + factors, 1)
        self.drop = nn.Dropout(0.5)

    def forward(self, user, item):
        factors = self.mf_user_embed(user) * self.mf_item_embed(item)
        x = torch.cat((self.mlp_user_embed(user), self.mlp_item_embed(item)), dim=1)
        for layer in self.mlp:
            x = self.drop(torch.relu(layer(x)))
        return self.final(torch.cat((factors, x), dim=1))


def ncf():
    ids = torch.ones(2, dtype=torch.int64)
    return NeuMf().train(), {"user": ids, "item": ids.clone()}


class JasperBlock(nn.Module):
    """A block of convolutions, to which 1x1 convolutions of all earlier blocks' inputs add."""

    def __init__(self, inputs, width, kernel, repeat, drop, stride=1, dilation=1):
        super().__init__()
        self.drop = nn.Dropout(drop)
        same = dilation * (kernel // 2)
        widths = [inputs[-1]] + [width] * (repeat - 1)
        self.convs = nn.ModuleList(
            nn.Conv1d(w, width, kernel, stride, same, dilation, bias=False) for w in widths
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width, eps=1e-3) for _ in widths)
        others = inputs if repeat > 1 else []
        self.residuals = nn.ModuleList(nn.Conv1d(w, width, 1, bias=False) for w in others)
        self.residual_norms = nn.ModuleList(nn.BatchNorm1d(width, eps=1e-3) for _ in others)

    def forward(self, earlier, mask):
        x = earlier[-1]
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            x = norm(conv(x if mask is None else x.masked_fill(mask, 0)))
            if i < len(self.convs) - 1:
                x = self.drop(torch.relu(x))
        for y, conv, norm in zip(earlier, self.residuals, self.residual_norms):
            x = x + norm(conv(y.masked_fill(mask, 0)))
        return self.drop(torch.relu(x))


class Jasper(nn.Module):
    """PyTorch/SpeechRecognition/Jasper/configs/jasper10x5dr_speedp-online_speca.yaml: log
    probabilities of 29 characters for every second frame."""

    BLOCKS = [(256, 11)] * 2 + [(384, 13)] * 2 + [(512, 17)] * 2 + [(640, 21)] * 2 + [(768, 25)] * 2

    def __init__(self):
        super().__init__()
        self.first = JasperBlock([64], 256, 11, 1, 0.2, stride=2)
        inputs, blocks = [256], []
        for width, kernel in self.BLOCKS:
            blocks.append(JasperBlock(list(inputs), width, kernel, 5, 0.2 if width < 640 else 0.3))
            inputs.append(width)
        self.blocks = nn.ModuleList(blocks)
        self.wide = JasperBlock([768], 896, 29, 1, 0.4, dilation=2)
        self.last = JasperBlock([896], 1024, 1, 1, 0.4)
        self.decoder = nn.Conv1d(1024, 29, 1)

    def forward(self, sound, padding):
        earlier = [self.first([sound], None)]
        for block in self.blocks:
            earlier.append(block(earlier, padding))
        x = self.wide([earlier[-1]], padding)
        x = self.last([x], padding)
        return torch.log_softmax(self.decoder(x).transpose(1, 2), dim=2)


def jasper():
    """Batches of LibriSpeech are padded to their longest utterance, which is about as long as
    training allows, 16.7 s: 1600 frames of 10 ms."""
    padding = torch.zeros(2, 1, 800, dtype=torch.bool)
    return Jasper().train(), {"sound": torch.zeros(2, 64, 1600), "padding": padding}


MODELS = {"ncf": ncf, "jasper_10x5": jasper}
