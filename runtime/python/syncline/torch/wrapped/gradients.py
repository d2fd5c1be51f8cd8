"""Gradients in the buffers of a plan's messages."""

import torch


def format_of(parameter):
    """The format by which a parameter is one piece of memory; None where it is not."""
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(parameter.dim())
    formats = [torch.contiguous_format, *([last] if last else [])]
    return next((each for each in formats if parameter.is_contiguous(memory_format=each)), None)


def like(piece, parameter):
    """A piece of a buffer, as a tensor that lies in memory as the parameter does."""
    if format_of(parameter) in (None, torch.contiguous_format):
        return piece.view(parameter.shape)
    return piece.as_strided(parameter.shape, parameter.stride(), piece.storage_offset())


class Gradients:
    """`views`: by parameter, its gradient's place, and the parameter's `grad` from its readiness
    on."""

    def __init__(self, layout, parameters):
        """`parameters`: {name: tensor}."""
        self.parameters, self.views = parameters, {}
        self.flats = [
            torch.zeros(size // torch.empty((), dtype=kind).element_size(), dtype=kind)
            for size, kind in ((size, getattr(torch, kind)) for size, kind in layout.buffers)
        ]
        for name, (buffer, before) in layout.places.items():
            flat, parameter = self.flats[buffer], parameters[name]
            first = before // flat.element_size()
            self.views[name] = like(flat[first : first + parameter.numel()], parameter)

    def values(self, message):
        """The elements of a message."""
        flat = self.flats[message.buffer]
        first = message.offset // flat.element_size()
        return flat[first : first + message.bytes // flat.element_size()]

    def take(self, name):
        """Brings a parameter's gradient into its place; zeros where it has none."""
        parameter, view = self.parameters[name], self.views[name]
        gradient = parameter.grad
        if gradient is None:
            view.zero_()
        elif gradient.is_sparse:
            raise RuntimeError(
                f"parameter '{name}': expected a dense gradient, got a sparse one: leave out"
                " 'sparse=True' of its embedding"
            )
        elif gradient.data_ptr() != view.data_ptr() or gradient.stride() != view.stride():
            view.copy_(gradient)
        else:
            return
        parameter.grad = view

    def versions(self):
        """Numbers that change where a script writes into gradients."""
        return [flat._version for flat in self.flats]
