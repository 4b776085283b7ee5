"""Where the archives of a spec's ``triton`` block belong: the containers that load them say so."""

from collections.abc import Iterator
from dataclasses import dataclass

from inferstack.spec.blocks.inference_component import ComponentContainer
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.document import Document
from inferstack.spec.lock.codes import NO_DESTINATION
from inferstack.spec.placeholders import is_opaque
from inferstack.spec.problem import Problem, SpecError, SpecPath
from inferstack.spec.triton_blocks import triton_blocks
from inferstack.spec.words import listed


@dataclass(frozen=True, slots=True)
class Destination:
    """The URL that archives are uploaded for, as the spec writes it, and where in the spec it stands.

    It ends in ``/`` for a multi-model endpoint, else in ``.tar.gz``.
    """

    location: str
    paths: tuple[SpecPath, ...]


def destination_of(spec: ModelSpec, document: Document) -> Destination:
    """The one place for the archives of a spec.

    Raises:
        SpecError: when no container names one, several name different ones, or only a deployment will know.
    """
    blocks = list(triton_blocks(spec))
    if len(blocks) > 1:
        message = "the spec has several model repositories, and a lock knows one place for what is uploaded"
        fix = "write a spec for each, or upload what `inferstack package` makes by yourself"
        raise _error(document, blocks[1].path, message, fix)
    named: dict[str, list[SpecPath]] = {}
    for path, url in _locations(spec):
        named.setdefault(url, []).append(path)
    match list(named.items()):
        case [(location, paths)] if not is_opaque(location):
            return Destination(location, tuple(paths))
        case [(location, [path, *_])]:
            message = f'only a deployment knows what "{location}" is'
            fix = "write the bucket's name; ${AWS::AccountId} and ${AWS::Region} may stand in it"
            raise _error(document, path, message, fix)
        case [_, (_, [path, *_]), *_]:
            message = f"the archives of the `triton` block could belong to {listed(list(named))}"
            fix = "give the containers that load them one URL, or write a spec for each"
            raise _error(document, path, message, fix)
        case _:
            message = "no container says where the archives of the `triton` block belong"
            fix = "name it in the container with Triton: `model_data_url: s3://…`, or `artifact_url`"
            raise _error(document, ("triton",), message, fix)


def _error(document: Document, path: SpecPath, message: str, fix: str) -> SpecError:
    at = document.position(path)
    return SpecError(
        [Problem(document.file, at.line, at.column, NO_DESTINATION, message, fix, path=path)]
    )


def _locations(spec: ModelSpec) -> Iterator[tuple[SpecPath, str]]:
    """The URLs of archives that containers with Triton name, and where."""
    for placed in (loader for block in triton_blocks(spec) for loader in block.loaders):
        container = placed.container
        if isinstance(container, ComponentContainer):
            if container.artifact_url is not None and container.image is not None:
                yield (*placed.path, "artifact_url"), container.artifact_url
        elif container.model_data_url is not None:
            yield (*placed.path, "model_data_url"), container.model_data_url
        elif container.model_data_source is not None:
            files = container.model_data_source.s3_data_source
            if files.compression_type == "Gzip":
                yield (*placed.path, "model_data_source", "s3_data_source", "s3_uri"), files.s3_uri
