"""Where files and images are, as ARNs that a policy can name."""

import re

import msgspec

from inferstack.catalog.registries import ecr_image
from inferstack.spec.placeholders import arn_fields, is_opaque

_VIRTUAL_HOST = r"https://(?P<bucket>[^/]+?)\.s3[.-][^/]+/(?P<key>.*)"
_PATH_STYLE = r"https://s3[.-][^/]+/(?P<bucket>[^/]+)/?(?P<key>.*)"
_S3 = r"s3://(?P<bucket>[^/]+)/?(?P<key>.*)"


class S3Location(msgspec.Struct, frozen=True):
    """A bucket and a key or prefix in it."""

    bucket: str
    key: str

    @property
    def bucket_arn(self) -> str:
        """ARN of the bucket."""
        return f"arn:${{AWS::Partition}}:s3:::{self.bucket}"

    def objects_arn(self, *, prefix: bool) -> str:
        """ARN of the one object, or of everything under the prefix."""
        return f"{self.bucket_arn}/{self.key}{'*' if prefix else ''}"


def s3_location(url: str) -> S3Location:
    """Splits an S3 URL, in the `s3://` form or either of the `https://` ones.

    Raises:
        ValueError: when it is none of them; the rules refuse such a spec before.
    """
    for form in (_S3, _VIRTUAL_HOST, _PATH_STYLE):
        if (found := re.fullmatch(form, url)) is not None:
            return S3Location(found["bucket"], found["key"])
    raise ValueError(f"not an S3 URL: {url}")


def ecr_repository_arn(image: str) -> str | None:
    """ARN of the repository that an image URI names, or None for an image outside Amazon ECR."""
    found = ecr_image(image)
    if found is None:
        return None
    return f"arn:${{AWS::Partition}}:ecr:{found.region}:{found.account}:repository/{found.repository}"


def key_arn(key: str) -> tuple[str, str | None]:
    """ARN of a KMS key as a policy must name it, and the alias when it is known by alias only.

    IAM does not follow aliases: a statement names keys, and a condition the alias. See
    https://docs.aws.amazon.com/kms/latest/developerguide/alias-authorization.html
    """
    here = "arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}"
    *fields, name = arn_fields(key)
    prefix = ":".join(fields)
    if name.startswith("alias/"):
        return f"{prefix if prefix else here}:key/*", name
    if prefix or is_opaque(key):
        return key, None
    return f"{here}:key/{name.removeprefix('key/')}", None


def model_package_arn(name: str) -> str:
    """ARN of a model package that a spec knows by its ARN or, in its own account, by name and version."""
    if name.startswith("arn:") or is_opaque(name):
        return name
    return f"arn:${{AWS::Partition}}:sagemaker:${{AWS::Region}}:${{AWS::AccountId}}:model-package/{name}"
