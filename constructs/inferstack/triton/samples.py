"""Sample requests for load tests: bodies in a `tar.gz`, as Inference Recommender takes them.

https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-prerequisites.html
"""

import gzip
import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inferstack.triton.invocation import Body, BodyError, request_body
from inferstack.triton.protocol import Parameter


def sample_bodies(
    config: Any,
    inputs: Mapping[str, Any],
    *,
    rows: int | None = None,
    binary: bool = True,
    parameters: Mapping[str, Parameter] | None = None,
) -> list[Body]:
    """Bodies of requests to a model, as :func:`~inferstack.triton.invocation.request_body` makes them: one
    with all arrays, or one for each ``rows`` of them.

    Raises:
        BodyError: with everything that the model would refuse, or when the bodies have different content
            types: a load test has one for all.
    """
    made = [
        request_body(config, it, binary=binary, parameters=parameters) for it in _parts(config, inputs, rows)
    ]
    types = sorted({it.content_type for it in made})
    if len(types) > 1:
        fix = "use --json, or as many rows in each body and texts of the same length"
        raise BodyError(
            [f"the bodies have different content types, such as {types[0]} and {types[1]}; {fix}"]
        )
    return made


def _parts(config: Any, inputs: Mapping[str, Any], rows: int | None) -> Iterator[Mapping[str, Any]]:
    if rows is None:
        yield inputs
        return
    if config.max_batch_size == 0:
        raise BodyError(["the model takes no batches, so its inputs have no rows: remove --rows"])
    lengths = {len(it) if it.ndim else 0 for it in inputs.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise BodyError(["all inputs must have the same number of rows, at least one"])
    for start in range(0, lengths.pop(), rows):
        yield {name: it[start : start + rows] for name, it in inputs.items()}


def sample_archive(bodies: Sequence[Body], suffix: str) -> bytes:
    """A `tar.gz` with a file for each body. The same bodies always give the same bytes."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for number, body in enumerate(bodies, 1):
            member = tarfile.TarInfo(f"sample-{number:04d}{suffix}")
            member.size = len(body.content)
            archive.addfile(member, io.BytesIO(body.content))
    return packed.getvalue()
