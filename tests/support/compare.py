"""Compares tensors by name, one relative error each: |a - b| / |b|.

A gradient that is zero in truth (a bias before BatchNormalization, a scale that the next
normalisation takes out again) consists of rounding only. It is compared with its layer's scale in
place of its own: the norm of the gradient of the nearest weight matrix or kernel before it.
"""

import dataclasses

import numpy

LIMIT = 1e-4
ZERO = 1e-5  # of the layer's scale: below it a gradient counts as zero in truth


@dataclasses.dataclass
class Worst:
    error: float = 0.0
    name: str = ""
    zeros: int = 0  # tensors compared absolutely

    def __str__(self):
        zeros = f", {self.zeros} zero in truth" if self.zeros else ""
        return f"{self.error:.1e} ({self.name}{zeros})"


def norm(array):
    return float(numpy.linalg.norm(array.astype(numpy.float64).ravel()))


def gradients(actual, truth):
    """The worst error over all of `truth`'s tensors, which are in the model's order."""
    worst = Worst()
    scale = max((norm(value) for value in truth.values() if value.ndim > 1), default=1.0)
    for name, value in truth.items():
        own = norm(value)
        if value.ndim > 1:
            scale = own or scale
        zero = own <= ZERO * scale
        worst.zeros += zero
        _note(worst, name, norm(actual[name] - value) / (scale if zero else own))
    return worst


def parameters(actual, truth):
    worst = Worst()
    for name, value in truth.items():
        _note(worst, name, norm(actual[name] - value) / (norm(value) or 1.0))
    return worst


def _note(worst, name, error):
    if worst.error == worst.error and not error <= worst.error:  # the first NaN stays the worst
        worst.error, worst.name = error, name
