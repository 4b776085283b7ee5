"""The table of rules about Triton's models, the context of a rule, and walks that many rules share.

A rule sees the models of one archive and what is known of the endpoint that will load them. Rules only use
messages that they are given, so that importing rules does not import protobuf.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from inferstack.catalog.triton_container import DEFAULT_MODEL, Release, set_variable
from inferstack.problems import Place, SpecPath
from inferstack.problems.rules import RuleTable
from inferstack.triton.model import FieldPath, Repository, TritonModel

T = TypeVar("T")

SOURCE = "https://github.com/triton-inference-server/core/blob/main/src"
"""Where Triton checks what it loads."""
DOCUMENTATION = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide"
CONFIG_UTILS = f"{SOURCE}/model_config_utils.cc"
MANAGER = f"{SOURCE}/model_repository_manager/model_repository_manager.cc"
CONTAINER = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
"""The script that starts Triton in SageMaker's container."""
MODEL_CONFIGURATION = f"{DOCUMENTATION}/model_configuration.md"


RULES = RuleTable()
"""All rules by code, filled as the rule modules are imported. Each is about a model by itself, or about the
whole repository; then it needs every model to be readable, unless it is ``partial``."""
error, warning = RULES.error, RULES.warning


class Context(msgspec.Struct, frozen=True):
    """What is known of the endpoint. By default that is nothing, so that a bare archive can be checked.

    ``release`` is the Triton of the image. ``gpus`` says how many GPUs the container may see, one count for
    each instance type; empty if that is unknown. ``environment`` is what the user sets, at
    ``environment_path`` of the spec.
    """

    release: Release | None = None
    gpus: tuple[int, ...] = ()
    environment: Mapping[str, str] = msgspec.field(default_factory=dict)
    environment_path: SpecPath = ()

    @property
    def on_gpu(self) -> bool:
        """Whether the container has a GPU wherever it runs."""
        return bool(self.gpus) and min(self.gpus) > 0

    def value(self, name: str) -> str | None:
        """What an environment variable is set to; None if it is not set, or set to nothing."""
        return set_variable(self.environment, name)

    def variable(self, name: str) -> SpecPath:
        """Where the spec sets an environment variable."""
        return (*self.environment_path, name)

    def before(self, release: Release) -> bool:
        """Whether the image is known to be older than a release."""
        return self.release is not None and self.release < release


def served(repository: Repository, context: Context) -> TritonModel | None:
    """The model that answers requests; None when that is unclear."""
    return repository.served(context.value(DEFAULT_MODEL))


def at(model: TritonModel, *path: str | int) -> Place:
    """Where a field of a model's configuration is declared."""
    found: FieldPath = path
    return model.where(found)


def each(model: TritonModel, *path: str) -> Iterator[tuple[FieldPath, Any]]:
    """The messages of a repeated field, each with its path: ``each(model, "sequence_batching", "state")``."""
    found = model.config
    for step in path:
        found = getattr(found, step)
    for index, message in enumerate(found):
        yield (*path, index), message


def again(named: Iterable[tuple[T, str]]) -> Iterator[tuple[T, str]]:
    """Items with the name of an earlier one; items without a name do not count."""
    seen = set[str]()
    for it, name in named:
        if name and name in seen:
            yield it, name
        seen.add(name)


def lacking(message: Any, *fields: str) -> list[str]:
    """The fields that are not set; an unset type is ``TYPE_INVALID``, which is 0."""
    return [name for name in fields if not getattr(message, name)]
