"""What scripts of PyTorch's side train: a network of networks.py on noise."""

import torch

import networks


class Case:
    def __init__(self, name, batch, rank=0):
        """Ranks have one network and batches of their own."""
        torch.set_num_threads(1)
        self.model, sample = networks.make(name)
        noise = networks.noise(self.model, sample, batch, seed=rank)
        self.inputs, self.labels = map(torch.from_numpy, noise)

    def loss(self, logits):
        """Over every sample, token or pixel. Images have their classes second."""
        labels = self.labels
        if logits.dim() < 4:
            logits, labels = logits.flatten(0, -2), labels.flatten()
        return torch.nn.functional.cross_entropy(logits, labels)
