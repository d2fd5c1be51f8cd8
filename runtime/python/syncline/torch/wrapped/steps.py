"""The steps of an optimizer, whose step() may call that of its base class, with all hooks again."""

import contextlib
import sys
import weakref


class Running(dict):
    """The named arguments of a step() that runs, which its frame alone holds."""


class Steps:
    """Calls before(optimizer, arguments, named) and after() around each step(), but around none
    within it, or within paused()."""

    def __init__(self, optimizer, installed, before, after):
        self.before, self.after = before, after
        self.running, self.is_paused = lambda: None, False
        # A GradScaler then shows itself to step(), which refuses it.
        installed.put(optimizer, "_step_supports_amp_scaling", True)
        installed.add(optimizer.register_step_pre_hook(self.begin))
        installed.add(optimizer.register_step_post_hook(self.end))

    def begin(self, optimizer, arguments, named):
        if self.is_paused or self.runs():
            return None
        self.before(optimizer, arguments, named)
        running = Running(named)
        self.running = weakref.ref(running)
        return arguments, running  # which PyTorch calls end() with

    def end(self, _, __, named):
        if not self.is_paused and named is self.running():
            self.after()

    def runs(self):
        """Whether a step() is on the stack. An exception that ended one may hold its frame."""
        running, frame = self.running(), sys._getframe(1)
        while running is not None and frame is not None:
            if any(each is running for each in frame.f_locals.values()):
                return True
            frame = frame.f_back
        return False

    @contextlib.contextmanager
    def paused(self):
        before, self.is_paused = self.is_paused, True
        try:
            yield
        finally:
            self.is_paused = before


def is_scaled(optimizer):
    """Whether a GradScaler calls step()."""
    return getattr(optimizer, "found_inf", None) is not None
