"""Networks for the Fashion-MNIST images, 28x28 pixels of one channel; see export.py."""

from torch import nn


def cnn():
    """Two convolutions and two linear layers. 99 % of the 813,000 parameters are linear."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 7 * 7, 512), nn.ReLU(), nn.Linear(512, 10)),
    )


def convolutions():
    """Four convolutions and no linear layer, 24,000 parameters."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(64, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
    )
