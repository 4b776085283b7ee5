"""The CDK bootstrap of an account and region, for projects that the CDK CLI deploys.

https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import GET_PARAMETER
from inferstack.account.preflight.verdict import (
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    problem,
)

_CDK_FILE = Path("cdk.json")
_QUALIFIER = "@aws-cdk/core:bootstrapQualifier"
_USUAL = "hnb659fds"
# Since then, stacks are deployed with roles and files of the bootstrap.
_OLDEST = 6


class _CdkFile(msgspec.Struct, frozen=True):
    context: dict[str, object] = {}


def bootstraps(targets: Sequence[Target]) -> Iterator[Subject]:
    """The bootstrap, if the CDK CLI would be run here: by name of its parameter, or None if cdk.json cannot
    be read.
    """
    if not _CDK_FILE.is_file():
        return
    try:
        context = msgspec.json.decode(_CDK_FILE.read_bytes(), type=_CdkFile).context
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        yield Subject(targets[0], ("env",))
        return
    qualifier = context.get(_QUALIFIER, _USUAL)
    yield Subject(targets[0], ("env",), f"/cdk-bootstrap/{qualifier}/version")


def is_bootstrapped(subject: Subject, asking: Asking) -> Checked:
    """Whether the bootstrap is there, and new enough."""
    name = subject.what
    if name is None:
        return cannot_tell(f"{_CDK_FILE} cannot be read, so that the bootstrap's name is not known")
    place = f"{asking.connection.account}/{asking.region}"
    fix = f"run `npx cdk bootstrap aws://{place}`"
    found = asking.ask(GET_PARAMETER, Name=name)
    if found is None:
        return problem(f"{place} has no CDK bootstrap: there is no parameter {name}", fix)
    version = str(found["Parameter"]["Value"])
    if not (version.isascii() and version.isdecimal()):
        return cannot_tell(f"the parameter {name} holds {version!r}, which is no version")
    if int(version) < _OLDEST:
        return problem(f"the CDK bootstrap has version {version}; {_OLDEST} or newer is needed", fix)
    return ok(f"version {version}")


def bootstrap_rights(subject: Subject) -> Iterator[Right]:
    """Reading the parameter."""
    if subject.what is not None:
        yield GET_PARAMETER, subject.target.arn("ssm", f"parameter{subject.what}")
