"""What serves language models: the variables of engines."""

from inferstack.check.rules.language_models import values, variables

__all__ = ["values", "variables"]
