"""Triton's model repositories, as a spec names them."""

from inferstack.spec.rules.triton import (
    environment,
    repository,
)
