"""What a model holds of ours: functions that neither its copies nor its files keep."""

import weakref

import torch

NOTHING = object()  # in place of an attribute that an object did not have


class Installed:
    """What a model and its optimizer hold of ours, until remove(): layers and parameters may live
    on in another model. Holds no module."""

    def __init__(self):
        self.handles = []

    def add(self, handle):
        """Takes what a hook's registration returned."""
        self.handles.append(handle)

    def put(self, owner, name, value):
        """Sets an attribute."""
        self.handles.append(Attribute(owner, name))
        setattr(owner, name, value)

    def remove(self):
        for each in self.handles:
            each.remove()
        self.handles = []


class Attribute:
    """An object's attribute as it was."""

    def __init__(self, owner, name):
        self.owner, self.name = weakref.ref(owner), name
        self.value = vars(owner).get(name, NOTHING)

    def remove(self):
        owner = self.owner()
        if owner is not None and self.value is NOTHING:
            vars(owner).pop(self.name, None)
        elif owner is not None:
            setattr(owner, self.name, self.value)


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
