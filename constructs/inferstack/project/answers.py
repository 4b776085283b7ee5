"""What a new project depends on."""

import os
from collections.abc import Mapping

import msgspec

from inferstack.catalog import regions
from inferstack.facts.kinds import KINDS

KIND_NAMES = tuple(kind.name for kind in KINDS)
NO_CI = "none"
CI_SYSTEMS: Mapping[str, str] = {
    "github": "GitHub Actions",
    "gitlab": "GitLab CI",
    "codepipeline": "AWS CodePipeline and CodeBuild",
    NO_CI: "no pipeline",
}
"""What may deploy the project, and how it is called."""


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answers to the questions of `inferstack init`."""

    kind: str
    region: str
    ci: str

    def __post_init__(self) -> None:
        """Refuses what nobody answers: answers are also read from a file, and become parts of paths."""
        if self.kind not in KIND_NAMES or self.ci not in CI_SYSTEMS or not regions.has_form(self.region):
            raise ValueError(f"no such answers: {self.kind}, {self.region}, {self.ci}")


def usual() -> Answers:
    """The answers of someone who has no preference; the region is that of the AWS CLI's variables, if set."""
    named = (os.environ.get(name, "") for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    region = next(filter(regions.is_region, named), "us-east-1")
    return Answers(KIND_NAMES[0], region, NO_CI)


def sentence(kind: str) -> str:
    """What a kind is for."""
    spec = next(it.spec for it in KINDS if it.name == kind)
    return " ".join(str(spec.__doc__).partition("\n\n")[0].replace("`", "").split())
