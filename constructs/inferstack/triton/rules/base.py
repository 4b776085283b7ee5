"""What a rule about Triton's models is: one small function with a code, a sentence and a source.

A rule sees the models of one archive and what is known of the endpoint that will load them, and yields a
finding for each place that breaks it. Rules never raise. They only use messages that they are given, so that
importing rules does not import protobuf.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from inferstack.catalog.triton_container import DEFAULT_MODEL, Release, set_variable
from inferstack.problems import SpecPath, codes
from inferstack.problems.codes import Code
from inferstack.triton.model import FieldPath, Place, Repository, TritonModel

SOURCE = "https://github.com/triton-inference-server/core/blob/main/src"
"""Where Triton checks what it loads."""
DOCUMENTATION = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide"
CONTAINER = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
"""The script that starts Triton in SageMaker's container."""
MODEL_CONFIGURATION = f"{DOCUMENTATION}/model_configuration.md"


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


class Finding(msgspec.Struct, frozen=True):
    """One place that breaks a rule: where, what was found and what is allowed, how to mend it."""

    place: Place
    message: str
    fix: str


Check = Callable[[Repository, Context], Iterator[Finding]]
ModelCheck = Callable[[TritonModel, Context], Iterator[Finding]]
AnyCheck = TypeVar("AnyCheck", Check, ModelCheck)


Fields = str | tuple[str, ...]
"""A field of a configuration, or several."""


class TritonRule(Code, frozen=True):
    """A rule for the models of an archive.

    The ``check`` of a ``whole`` rule is a ``Check``, that of others a ``ModelCheck``. A whole rule needs
    every model of the archive to be readable, unless it is ``partial``. ``about`` are fields of a
    configuration: a model that has none of them cannot break the rule. Without any, it is about every model.
    """

    check: Callable[[Any, Context], Iterator[Finding]]
    whole: bool
    about: frozenset[str]
    partial: bool


RULES: dict[str, TritonRule] = {}
"""All rules by code, filled as the rule modules are imported."""


def error(
    code: str, sentence: str, source: str, about: Fields = (), *, partial: bool = False
) -> Callable[[Check], Check]:
    """Registers a rule about an archive: breaking it keeps a model from loading or answering."""
    return _register(codes.error(code, sentence, source), about, whole=True, partial=partial)


def warning(
    code: str, sentence: str, source: str, about: Fields = (), *, partial: bool = False
) -> Callable[[Check], Check]:
    """Registers advice about an archive; a spec can ignore it."""
    return _register(codes.warning(code, sentence, source), about, whole=True, partial=partial)


def model_error(
    code: str, sentence: str, source: str, about: Fields = ()
) -> Callable[[ModelCheck], ModelCheck]:
    """Registers a rule about each model by itself: breaking it keeps the model from loading or answering."""
    return _register(codes.error(code, sentence, source), about, whole=False)


def model_warning(
    code: str, sentence: str, source: str, about: Fields = ()
) -> Callable[[ModelCheck], ModelCheck]:
    """Registers advice about each model by itself; a spec can ignore it."""
    return _register(codes.warning(code, sentence, source), about, whole=False)


def _register(
    entry: Code, about: Fields, *, whole: bool, partial: bool = False
) -> Callable[[AnyCheck], AnyCheck]:
    fields = frozenset((about,) if isinstance(about, str) else about)

    def register(check: AnyCheck) -> AnyCheck:
        if entry.code in RULES:
            raise ValueError(f"{entry.code} is taken: {RULES[entry.code].sentence}")
        RULES[entry.code] = TritonRule(
            entry.code, entry.severity, entry.sentence, entry.source, check, whole, fields, partial
        )
        return check

    return register


def served(repository: Repository, context: Context) -> TritonModel | None:
    """The model that answers requests; None when that is unclear."""
    return repository.served(context.value(DEFAULT_MODEL))


def at(model: TritonModel, *path: str | int) -> Place:
    """Where a field of a model's configuration is declared."""
    found: FieldPath = path
    return model.where(found)
