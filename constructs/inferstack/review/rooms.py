"""How many requests at once the KV caches of language models have room for."""

from collections.abc import Mapping

from inferstack.check.load import LoadedSpec
from inferstack.check.model_files import described_models
from inferstack.check.rules.language_models.memory import CacheRoom, least_room
from inferstack.check.rules.language_models.model_files import Described
from inferstack.problems import SpecError, SpecPath

Rooms = Mapping[SpecPath, CacheRoom]
"""By the path of the container; only of models whose files the spec names."""


def rooms_of(loaded: LoadedSpec) -> Rooms:
    """What the containers of a spec have room for, where it is known."""
    try:
        described = [Described(*it) for it in described_models(loaded.spec, loaded.document)]
    except SpecError:
        # What is wrong with a file is reported with the spec.
        return {}
    return {it.placed.path: room for it in described if (room := least_room(it)) is not None}
