"""A model whose gradients a plan's messages bring together, by hooks in the model itself."""

import time
import weakref

import torch

from syncline.torch.changes import Known
from syncline.torch.hooks import tensors
from syncline.torch.wrapped.agreement import broadcast
from syncline.torch.wrapped.hooks import Hook, Override
from syncline.torch.wrapped.leaving import leave_with
from syncline.torch.wrapped.uses import Uses, is_compiled

WRAPPED = weakref.WeakKeyDictionary()  # what belongs to each wrapped model
INSIDES = ("_orig_mod", "module")  # where torch.compile, and other wrappers, keep a model


def of(model):
    """What belongs to a wrapped model, or to one that another wrapper holds."""
    while isinstance(model, torch.nn.Module):
        if model in WRAPPED:
            return WRAPPED[model]
        inside = [getattr(model, name, None) for name in INSIDES]
        model = next((each for each in inside if each is not None), None)
    raise ValueError("expected a model that syncline.torch.wrap() returned")


class Wrapped:
    """Holds no reference to the model, with which its group ends."""

    def __init__(self, model, reducer, updates, process_group, broadcasts_buffers):
        self.reducer, self.updates, self.group = reducer, updates, reducer.group
        self.process_group, self.broadcasts_buffers = process_group, broadcasts_buffers
        self.syncs_buffers = True  # of the next forward pass
        overlaps = updates and reducer.leaves_under_way
        self.uses = Uses(model, reducer.gradients.parameters) if overlaps else None
        self.known, self.parameters = Known(model), reducer.gradients.parameters
        self.install(model, reducer.installed)
        WRAPPED[model] = self
        leave_with(model, self.group, reducer.installed)

    def install(self, model, installed):
        model.register_forward_pre_hook(Hook(self.before_forward), prepend=True)
        model.register_forward_hook(Hook(self.after_forward))
        reducer = self.reducer
        for name, parameter in self.parameters.items():
            ready = Hook(lambda _, name=name: reducer.ready(name))
            installed.add(parameter.register_post_accumulate_grad_hook(ready))
        if self.updates:
            self.install_updates(model, installed)

    def install_updates(self, model, installed):
        updates, optimizer = self.updates, self.updates.optimizer
        for name, module in model.named_modules() if self.uses else ():
            finish = Hook(lambda *_: updates.finish())
            installed.add(module.register_state_dict_pre_hook(finish))
            # An outer module loads its parts by these hooks alone. PyTorch 2.1 has no public name.
            installed.add(module._register_load_state_dict_pre_hook(finish))
            if name and not is_compiled(name):
                before = Hook(lambda *_, name=name: self.before_module(name))
                installed.add(module.register_forward_pre_hook(before, prepend=True))
        for owner, name, context in (
            (model, "train", updates.finished),
            (optimizer, "state_dict", updates.shown),
            (optimizer, "load_state_dict", updates.loaded),
        ):
            installed.put(owner, name, Override(owner, name, context))

    def before_forward(self, model, _):
        is_repeated = self.reducer.is_queued  # by checkpointing, within a backward pass
        trains = model.training and torch.is_grad_enabled() and not is_repeated
        if self.uses:
            if not model.training:
                self.updates.finish()
            self.before_module("")
        if torch.is_grad_enabled():
            self.reducer.check()
            self.check_unchanged(model)
        if self.broadcasts_buffers and trains:
            if self.syncs_buffers:
                self.share_buffers(model)
            self.syncs_buffers = self.reducer.syncs  # as DistributedDataParallel does
        if self.uses and trains and not self.uses.is_known:
            self.uses.observe(model)  # what the model does, not what is done here

    def share_buffers(self, model):
        """Buffers become those of rank 0. Of a process group's failure the plan's group often knows
        which rank is lost, at once or a little later."""
        try:
            broadcast(list(model.buffers()), self.process_group)
        except RuntimeError as failure:
            for _ in range(30):
                self.group.check()
                time.sleep(0.1)
            raise RuntimeError(f"waited for the buffers of rank 0: {failure}") from None

    def before_module(self, module):
        """Applies the updates that must be there before a module's forward pass."""
        if self.updates.late and self.uses.is_known:
            self.updates.apply_to(self.uses.needed.get(module, ()))
        elif self.updates.late:
            self.updates.finish()

    def after_forward(self, _, __, outputs):
        if self.uses:
            self.uses.stop(is_whole=True)
        if torch.is_grad_enabled() and self.reducer.syncs:
            for tensor in tensors(outputs):
                if tensor.requires_grad and not tensor.is_leaf:
                    tensor.register_hook(self.begin_backward)

    def begin_backward(self, _):
        self.reducer.begin_backward()

    def check_unchanged(self, model):
        """Raises where a parameter is not what it was when the model was wrapped."""
        change = self.known.change(model)
        if change:
            self.reducer.fail(f"the model was changed after wrap(): {change}")


class LocallyTrained:
    """A model whose weights travel in place of its gradients."""

    reducer = None

    def __init__(self, model, exchanges):
        self.updates, self.group = exchanges, exchanges.group
        self.parameters = exchanges.parameters
        WRAPPED[model] = self
        leave_with(model, self.group, exchanges.installed)
