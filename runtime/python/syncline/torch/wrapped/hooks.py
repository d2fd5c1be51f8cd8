"""What a model holds of ours: functions that neither its copies nor its files keep."""

import torch


class Hook:
    """Calls a function, outside of what torch.compile compiles. Its copies, by copy or pickle, do
    nothing."""

    def __init__(self, function):
        self.function = function

    @torch.compiler.disable
    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)

    def __reduce__(self):
        return no_hook, ()


def nothing(*_, **__):
    return None


def no_hook():
    return nothing


class Override:
    """Stands in an object for one of its methods, which it calls in a context. Copies of the object
    have the method again."""

    def __init__(self, owner, name, context):
        self.owner, self.name, self.context = owner, name, context
        self.method = getattr(owner, name)

    def __call__(self, *arguments, **named):
        with self.context():
            return self.method(*arguments, **named)

    def __reduce__(self):
        return getattr, (self.owner, self.name)
