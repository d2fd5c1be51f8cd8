"""Whether a model's parameters are what they were."""


class Known:
    """What parameters are, with the tensors themselves. A parameter that is trained no more has
    changed, but for `may_freeze`."""

    def __init__(self, model, may_freeze=False):
        self.may_freeze = may_freeze
        self.parameters = self.of(model)

    def of(self, model):
        return {name: (each, self.described(each)) for name, each in model.named_parameters()}

    def described(self, parameter):
        kind = str(parameter.dtype).replace("torch.", "")
        trained = "" if parameter.requires_grad or self.may_freeze else ", not trained"
        return f"{kind} of {tuple(parameter.shape)} on {parameter.device}{trained}"

    def change(self, model):
        """The first change since, in words; empty where there is none."""
        now = self.of(model)
        for name in {**self.parameters, **now}:
            before, after = self.parameters.get(name), now.get(name)
            if before is None or after is None or before[0] is not after[0]:
                change = "added" if before is None else "removed" if after is None else "replaced"
                return f"parameter '{name}' was {change}"
            if before[1] != after[1]:
                return f"parameter '{name}': expected {before[1]}, got {after[1]}"
        return ""
