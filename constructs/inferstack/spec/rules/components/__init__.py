"""Inference components: what each needs, where it fits, whose adapter it is."""

from inferstack.spec.rules.components import (
    adapters,
    capacity,
    inference_components,
    requirements,
)
