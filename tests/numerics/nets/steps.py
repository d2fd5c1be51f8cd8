"""The steps by which random nets grow: functions of a net that return the tensor they made."""

STEPS = []


def step(times=1):
    """A step that is drawn so many times as often as others."""

    def register(function):
        STEPS.extend([function] * times)
        return function

    return register
