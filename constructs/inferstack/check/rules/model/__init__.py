"""Containers: images, model files, environment, and how several share a model."""

from inferstack.check.rules.model import (
    artifacts,
    environment,
    images,
    marketplace,
    multi_model,
    pipelines,
    s3_urls,
)
