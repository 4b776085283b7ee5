"""What runs on instances: models, inference components, their images and files."""

from inferstack.check.rules.containers import (
    adapters,
    artifacts,
    capacity,
    drivers,
    entry_points,
    environment,
    images,
    inference_components,
    marketplace,
    multi_model,
    registries,
)
