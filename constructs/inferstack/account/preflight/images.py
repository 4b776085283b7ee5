"""Whether images are in Amazon ECR under the tag or digest that the spec names.

https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_BatchGetImage.html
"""

from collections.abc import Iterator, Sequence

from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import BATCH_GET_IMAGE
from inferstack.account.preflight.verdict import (
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    open_arn,
    problem,
)
from inferstack.catalog.images import ecr_image, repositories_of
from inferstack.facts.walk import containers
from inferstack.resolve.images import image_uri
from inferstack.texts.placeholders import is_settled

_OF_AWS = "it would be AWS's own: choose another version of it, or correct the URI"
_MISSING = frozenset({"ImageNotFound", "ImageTagDoesNotMatchDigest"})


def images(targets: Sequence[Target]) -> Iterator[Subject]:
    """The image of each container. In an open region, that of a framework is not known."""
    for target in targets:
        for placed in containers(target.spec):
            uri = image_uri(placed, target.connection.region)
            if uri is not None:
                filled = target.filled(uri) if isinstance(uri, str) else None
                yield Subject(target, (*placed.path, "image"), filled)


def is_there(subject: Subject, asking: Asking) -> Checked:
    """Whether an image is there."""
    uri: str = subject.what
    if not is_settled(uri):
        return only_deployment_knows(uri)
    image = ecr_image(uri)
    if image is None:
        return cannot_tell(f"{uri} was not checked: it is not in Amazon ECR")
    found = asking.ask(
        BATCH_GET_IMAGE,
        region=image.region,
        registryId=image.account,
        repositoryName=image.repository,
        imageIds=[_image_id(uri)],
    )
    is_of_aws = bool(repositories_of(image.account))
    if found is None:
        said = f"the account {image.account} has no repository {image.repository} in {image.region}"
        return problem(said, _OF_AWS if is_of_aws else "create it and push the image, or correct the URI")
    if found.get("images"):
        return ok(uri)
    failed = [it.get("failureCode") for it in found["failures"]]
    if any(it in _MISSING for it in failed):
        fix = _OF_AWS if is_of_aws else "push it, or name a tag that the repository has"
        return problem(f"{uri} is not there", fix)
    return cannot_tell(f"{uri} was not checked: ECR says {next(iter(failed), None) or 'nothing of it'}")


def _image_id(uri: str) -> dict[str, str]:
    """The digest, which counts before a tag; `latest` without either, as for Docker."""
    name = uri.partition("/")[2]
    name, _, digest = name.partition("@")
    _, _, tag = name.partition(":")
    return {"imageDigest": digest} if digest else {"imageTag": tag or "latest"}


def image_rights(subject: Subject) -> Iterator[Right]:
    """Looking into the repository."""
    image = None if subject.what is None else ecr_image(subject.what)
    if subject.what is None:
        yield BATCH_GET_IMAGE, subject.target.arn("ecr", "repository/*", account="*")
    elif image is not None:
        name = f"repository/{image.repository}"
        arn = subject.target.arn("ecr", name, region=image.region, account=image.account)
        yield BATCH_GET_IMAGE, open_arn(arn)
