"""Containers: images, model files, environment, and how several share a model."""

from inferstack.spec.rules.model import (
    artifacts,
    environment,
    images,
    jumpstart,
    marketplace,
    multi_model,
    pipelines,
    s3_urls,
    wildcards,
)
