"""Inference components: what each needs, where it fits, and whose adapter it is."""

from inferstack.check.rules.components import adapters, capacity, inference_components, requirements
