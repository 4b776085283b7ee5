"""What a new project depends on."""

import os
import re
from collections.abc import Mapping

import msgspec

from inferstack.catalog import regions
from inferstack.facts.kinds import KINDS

KIND_NAMES = tuple(kind.name for kind in KINDS)
CHAT = "chat"
NO_CI = "none"
CI_SYSTEMS: Mapping[str, str] = {
    "github": "GitHub Actions",
    "gitlab": "GitLab CI",
    "codepipeline": "AWS CodePipeline and CodeBuild",
    NO_CI: "no pipeline",
}
"""What may deploy the project, and how it is called."""


def sentence(kind: str) -> str:
    """What a kind is for."""
    spec = next(it.spec for it in KINDS if it.name == kind)
    return " ".join(str(spec.__doc__).partition("\n\n")[0].replace("`", "").split())


STARTS: Mapping[str, str] = {
    **{name: sentence(name) for name in KIND_NAMES},
    CHAT: "A chat model that vLLM serves on a GPU, as a component that scales by requests at once.",
}
"""What the first spec of a project can be, a kind or what has a start of its own, and what that is for."""

FORMS: Mapping[str, tuple[str, str]] = {
    # With `-test` or `-prod`, an endpoint's name has at most 63 characters.
    "name": (
        r"(?=.{1,58}$)[A-Za-z0-9](-*[A-Za-z0-9])*",
        "at most 58 letters, digits and inner hyphens, as in churn",
    ),
    "account": (r"[0-9]{12}", "12 digits, as in 111122223333"),
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
    "bucket": (
        r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
        "3 to 63 lower-case letters, digits, hyphens and dots, without `s3://`, as in acme-models",
    ),
    "repository": (
        r"[\w.-]+(@[0-9]+)?(/[\w.-]+(@[0-9]+)?)+",
        "OWNER/NAME, or what precedes `:environment:` in GitHub's tokens, without `repo:`",
    ),
}
"""What stands in the files for what only the user knows: the form of each answer, and that in words."""


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answers to the questions of `inferstack init`, and to what its options ask besides. What is not
    answered has the value of the documentation, for the user to replace.
    """

    kind: str
    region: str
    ci: str
    name: str = ""
    """Name of the first spec and its endpoint; empty for that of the kind's example."""
    account: str = "111122223333"
    bucket: str = "acme-models"
    repository: str = "acme@1234567/models@123456789"

    def __post_init__(self) -> None:
        """Refuses what nobody answers: answers are also read from a file, and become parts of paths."""
        if self.kind not in STARTS or self.ci not in CI_SYSTEMS or not regions.has_form(self.region):
            raise ValueError(f"no such answers: {self.kind}, {self.region}, {self.ci}")
        for key in FORMS:
            if (value := getattr(self, key)) and not has_form(key, value):
                raise ValueError(f"no such {key}: {value}")


def has_form(key: str, value: str) -> bool:
    """Whether an answer has the form of :data:`FORMS`."""
    return re.fullmatch(FORMS[key][0], value, re.ASCII) is not None


def usual() -> Answers:
    """The answers of someone who has no preference; the region is that of the AWS CLI's variables, if set."""
    named = (os.environ.get(name, "") for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    region = next(filter(regions.is_region, named), "us-east-1")
    return Answers(KIND_NAMES[0], region, NO_CI)
