"""Container images and files: the URI for the stack's region, and the ARNs that a policy can name."""

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from inferstack.catalog import images
from inferstack.catalog.images import ecr_image
from inferstack.facts.walk import PlacedContainer
from inferstack.format.model import FrameworkImage
from inferstack.resolve.resource import Value, is_arn, pascal, substituted
from inferstack.texts.arns import arn_fields
from inferstack.texts.placeholders import DYNAMIC_REFERENCE, TOKEN, is_opaque
from inferstack.texts.s3_urls import S3Url, s3_url

# ---------------------------------------------------------------- ARNs that a policy can name

# Where only the deployment knows a URL or a name as a whole, CloudFormation's functions take it apart then.


# For an image that not even a function can take apart: any repository of the account's own.
_OWN_REPOSITORIES = "arn:${AWS::Partition}:ecr:${AWS::Region}:${AWS::AccountId}:repository/*"
_ENDS_OPEN = re.compile(rf"(?:{TOKEN}|\$\{{Path\}})\Z")
_PARTITION, _REGION, _ACCOUNT = ({"Ref": f"AWS::{name}"} for name in ("Partition", "Region", "AccountId"))


class S3Location(msgspec.Struct, frozen=True):
    """A bucket and a key or prefix in it. ``variables`` are functions, held as ``${Name}`` in all three."""

    bucket: str
    key: str | None
    """None where functions cannot separate it from the bucket: then only ``path`` has it, with the bucket."""
    path: str
    variables: Mapping[str, Value] = MappingProxyType({})

    @property
    def bucket_arn(self) -> Value:
        """ARN of the bucket."""
        return _s3_arn(self.bucket, self.variables)

    def objects_arn(self, *, prefix: bool) -> Value:
        """ARN of the one object, or of everything under the prefix."""
        return _s3_arn(f"{self.path}{'*' if prefix else ''}", self.variables)

    def folder_arn(self) -> Value:
        """ARN of everything in the folder, whether or not its name ends with a slash."""
        if _ENDS_OPEN.search(self.path) is None:
            return _s3_arn(f"{self.path.rstrip('/')}/*", self.variables)
        # A slash is added, and two in a row become one.
        slashes = {"Fn::Split": ["//", substituted(f"{self.path}/", _used(self.variables, self.path))]}
        return _s3_arn("${Folder}*", {"Folder": {"Fn::Join": ["/", slashes]}})


def _s3_arn(path: str, variables: Mapping[str, Value]) -> Value:
    used, arn = _used(variables, path), f"arn:${{AWS::Partition}}:s3:::{path}"
    return substituted(arn, used) if used else arn


def _used(variables: Mapping[str, Value], text: str) -> dict[str, Value]:
    return {name: it for name, it in variables.items() if f"${{{name}}}" in text}


def s3_location(url: str) -> S3Location:
    """Splits an S3 URL, in the `s3://` form or either of the `https://` ones.

    Raises:
        ValueError: when it has none of these forms; the rules refuse such a spec before this is called.
    """
    match s3_url(url):
        case S3Url(bucket=str() as bucket, key=key):
            return S3Location(bucket, key, f"{bucket}/{key}")
        case S3Url(path=str() as path):
            return S3Location("${Bucket}", None, path, {"Bucket": _piece(0, "/", _whole(path))})
        case S3Url(host=str() as host, key=key):
            # bucket.s3.region.amazonaws.com
            bucket = _piece(0, ".s3.", host)
            return S3Location("${Bucket}", key, f"${{Bucket}}/{key}", {"Bucket": bucket})
        case S3Url(url=str() as token, key=rest):
            held = {"Bucket": _piece(2, "/", token), "Path": _piece(1, "s3://", token)}
            return S3Location("${Bucket}", None, f"${{Path}}{rest}", held)
        case _:
            raise ValueError(f"not an S3 URL: {url}")


def ecr_repository_arn(image: str) -> Value | None:
    """ARN of the repository that an image URI names, or None for an image outside Amazon ECR."""
    parts = ecr_image(image)
    if parts is not None:
        place = f"arn:${{AWS::Partition}}:ecr:{parts.region}:{parts.account}:repository/"
        if re.search(rf"{TOKEN}\Z", parts.repository) is None or not image.endswith(parts.repository):
            return f"{place}{parts.repository}"
        # What the token stands for may include a tag.
        return substituted(f"{place}${{Repository}}", {"Repository": _untagged(_whole(parts.repository))})
    if not is_opaque(image):
        return None
    return _OWN_REPOSITORIES if _is_out_of_reach(image) else _repository_at_deployment(_whole(image))


def _repository_at_deployment(image: Value) -> Value:
    """Account and region from ECR's address; the repository from between that and a tag or digest."""
    # What follows is `/repository`, in China `.cn/repository`: with `.cn` put before, each has `.cn/` once.
    behind = _piece(1, "amazonaws.com", _untagged(image))
    held = {
        "Registry": _piece(0, ".", image),
        "In": _piece(3, ".", image),
        "Repository": _piece(1, ".cn/", {"Fn::Join": ["", [".cn", behind]]}),
    }
    return substituted("arn:${AWS::Partition}:ecr:${In}:${Registry}:repository/${Repository}", held)


def _untagged(image: Value) -> Value:
    return _piece(0, "@", _piece(0, ":", image))


def key_arns(key: str) -> list[tuple[Value, Value | None]]:
    """ARNs of a KMS key as a policy must name it, each with the alias where that is all that is known; see
    :func:`key_arn`.

    Whether a token stands for a key or for an alias, only the deployment knows. Both are named; the wrong one
    simply matches no key. A list that only the deployment knows stays whole.
    """
    if re.match(TOKEN, key) is None:
        return [key_arn(key)]
    named = _arn_at_deployment(key, "kms", "key")
    if named == key:
        return [(key, None)]
    fields = _fields(key, "kms")
    held = {"In": _piece(1, ":", fields), "Where": _piece(3, ":", fields), "Whose": _piece(4, ":", fields)}
    any_key = substituted("arn:${In}:kms:${Where}:${Whose}:key/*", held)
    return [(named, None), (any_key, _piece(5, ":", fields))]


def key_arn(key: str) -> tuple[str, str | None]:
    """ARN of a KMS key as a policy must name it, and the alias if the key is known by alias only.

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


def model_package_arn(name: str) -> Value:
    """ARN of a model package that a spec names by ARN or, in its own account, by name and version."""
    if re.match(TOKEN, name):
        return _arn_at_deployment(name, "sagemaker", "model-package")
    if name.startswith("arn:") or re.match(DYNAMIC_REFERENCE, name):
        return name
    return f"arn:${{AWS::Partition}}:sagemaker:${{AWS::Region}}:${{AWS::AccountId}}:model-package/{name}"


def _arn_at_deployment(text: str, service: str, kind: str) -> Value:
    """The ARN of what a text that begins with a token names by ARN or, in its own account, by name."""
    if is_arn(text):
        return text
    fields, whole = _fields(text, service), _whole(text)
    # The text is there twice, so that what follows the first `:kind/` is the name, be it in an ARN or alone.
    names = {"Fn::Join": [f":{kind}/", [whole, whole]]}
    held = {
        "In": _piece(1, ":", fields),
        "Where": _piece(3, ":", fields),
        "Whose": _piece(4, ":", fields),
        "Name": _piece(1, f":{kind}/", names),
    }
    return substituted(f"arn:${{In}}:{service}:${{Where}}:${{Whose}}:{kind}/${{Name}}", held)


def _fields(text: str, service: str) -> Value:
    """A text that begins with the fields of an ARN: the given one's, or those that fit a name."""
    whole = _whole(text)
    return {"Fn::Join": [":", [whole, _PARTITION, service, _REGION, _ACCOUNT, whole]]}


def _whole(text: str) -> Value:
    """A text with tokens, in the form that a function takes."""
    return text if re.fullmatch(TOKEN, text) is not None else substituted(text)


def _is_out_of_reach(text: str) -> bool:
    """Whether no function can take a text apart: dynamic references are filled in after functions ran."""
    return re.search(DYNAMIC_REFERENCE, text) is not None or re.search(TOKEN, text) is None


def _piece(index: int, separator: str, whole: Value) -> Value:
    return {"Fn::Select": [index, {"Fn::Split": [separator, whole]}]}


# ---------------------------------------------------------------- the container image

# A framework's images are in an AWS account that differs between regions. Where the stack's region is
# known, the URI is plain text; where it is not, a Mapping of the template finds the account at deployment.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/mappings-section-structure.html


_STACK_ACCOUNT = "Account"


class ImageReference(msgspec.Struct, frozen=True):
    """An image as the template names it."""

    uri: Value
    repository_arn: Value | None
    """None where the image is not in Amazon ECR."""
    mapping: tuple[str, dict[str, dict[str, str]]] | None = None
    """Name and content of the Mapping that ``uri`` and ``repository_arn`` look the account up in."""


def image_uri(placed: PlacedContainer, region: str | None) -> Value | None:
    """URI of the container's image, or None where a model package brings it."""
    image = placed_image(placed, region)
    return None if image is None else image.uri


def placed_image(placed: PlacedContainer, region: str | None) -> ImageReference | None:
    """The container's image in a region (None: in any), for the processor of the first instance type that it
    runs on.
    """
    return None if placed.image is None else _image(placed.image, region, next(iter(placed.hosts), None))


# The role, the model and the mappings ask for the image of each container, and specs have images in common.
@lru_cache(maxsize=64)
def _image(image: str | FrameworkImage, region: str | None, instance_type: str | None) -> ImageReference:
    if isinstance(image, str):
        return ImageReference(image, ecr_repository_arn(image))
    found = images.find(
        image.framework,
        image.version,
        instance_type,
        py_version=image.py_version,
        base_framework_version=image.base_framework_version,
    )
    if region is None:
        return _in_any_region(image, found, instance_type)
    uri = found.uri(region)
    return ImageReference(uri, ecr_repository_arn(uri))


def _in_any_region(
    image: FrameworkImage, found: images.PublishedImage, instance_type: str | None
) -> ImageReference:
    name = "ImageAccounts" + re.sub(r"[^A-Za-z0-9]", "", pascal(f"{image.framework}-{image.version}"))
    # An endpoint may have one version's images for both processors, which are not in the same regions.
    if instance_type is not None and images.architecture(instance_type) == "arm64":
        name += "Arm64"
    account = {_STACK_ACCOUNT: {"Fn::FindInMap": [name, {"Ref": "AWS::Region"}, _STACK_ACCOUNT]}}
    uri = f"${{{_STACK_ACCOUNT}}}.dkr.ecr.${{AWS::Region}}.${{AWS::URLSuffix}}/{found.repository}:{found.tag}"
    arn = f"arn:${{AWS::Partition}}:ecr:${{AWS::Region}}:${{{_STACK_ACCOUNT}}}:repository/{found.repository}"
    return ImageReference(
        {"Fn::Sub": [uri, account]},
        {"Fn::Sub": [arn, account]},
        (name, {where: {_STACK_ACCOUNT: number} for where, number in sorted(found.registries.items())}),
    )
