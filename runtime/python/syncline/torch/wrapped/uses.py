"""Which module's forward pass uses each parameter first, observed in one forward pass."""

import torch
from torch.overrides import TorchFunctionMode


class Observer(TorchFunctionMode):
    """Sees each function of PyTorch that is called with a parameter as an argument. `path` has the
    modules that run, from the outermost on."""

    def __init__(self, names):
        """`names` of parameters, by id."""
        super().__init__()
        self.names, self.path, self.first = names, [], {}

    def __torch_function__(self, function, types, arguments=(), named=None):
        self.look(arguments)
        if named:
            self.look(named.values())
        return function(*arguments, **(named or {}))

    def look(self, values):
        for value in values:
            if id(value) in self.names:
                self.first.setdefault(self.names[id(value)], tuple(self.path))
            elif isinstance(value, (list, tuple)):
                self.look(value)


def contains(module, name):
    """Whether a module, by its name, has what has the name."""
    return not module or name == module or name.startswith(module + ".")


def is_compiled(name):
    """Whether a module lies in one that torch.compile made, where hooks would cut its graph."""
    return "_orig_mod" in name.split(".")


def due(owner, path):
    """The innermost module that runs at a parameter's first use and contains the module that owns
    the parameter: to be updated before it runs."""
    return next((module for module in reversed(path) if contains(module, owner)), "")


class Uses:
    """`needed`: by module, the parameters that must be up to date before its forward pass. Not
    known until a forward pass was observed."""

    def __init__(self, model, parameters):
        """`parameters`: {name: tensor}."""
        self.names = {id(each): name for name, each in parameters.items()}
        self.is_known, self.observer, self.handles = False, None, []
        self.owners, self.needed = {}, {}
        for module_name, module in model.named_modules():
            for each in module.parameters(recurse=False):
                if id(each) in self.names:
                    name = self.names[id(each)]
                    self.owners.setdefault(name, module_name)
                    self.needed.setdefault(module_name, []).append(name)

    def observe(self, model):
        """Before a forward pass, whose end calls stop()."""
        self.stop()
        self.observer = Observer(self.names)
        for name, module in model.named_modules():
            if name and not is_compiled(name):
                self.follow(name, module, self.observer.path)
        stop = torch.compiler.disable(lambda *_: self.stop())
        self.handles.append(model.register_forward_hook(stop, always_call=True))
        self.observer.__enter__()

    def follow(self, name, module, path):
        """Keeps the module in the path while it runs."""

        def enter(*_):
            path.append(name)

        def leave(*_):
            path.pop()

        for register, hook, options in (
            (module.register_forward_pre_hook, enter, {"prepend": True}),
            (module.register_forward_hook, leave, {"always_call": True}),
        ):
            self.handles.append(register(torch.compiler.disable(hook), **options))

    def stop(self, is_whole=False):
        """Ends the observation, and keeps what it found of a whole forward pass."""
        if not self.observer:
            return
        self.observer.__exit__(None, None, None)
        for handle in self.handles:
            handle.remove()
        first, self.observer, self.handles = self.observer.first, None, []
        if is_whole:
            for name, owner in self.owners.items():
                self.needed.setdefault(due(owner, first.get(name, ())), []).append(name)
            self.is_known = True
