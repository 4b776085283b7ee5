"""The stack as a whole: its description, its tags, and how much one template can hold."""

import re
from collections.abc import Iterator, Mapping

from inferstack.catalog import cloudformation
from inferstack.catalog.metrics import COMPONENT_NAME
from inferstack.check.rules.base import API, AWS, error
from inferstack.facts.alarms import most_own_alarms, own_alarms
from inferstack.facts.async_inference import created
from inferstack.facts.composite_alarms import composite_alarms
from inferstack.facts.kinds import hosts_components
from inferstack.facts.role import makes_role
from inferstack.facts.scaling import policies_of, scaled_parts, steps_of, woken_for
from inferstack.facts.walk import bases_of_adapters, components, endpoint_config, models
from inferstack.format.alarms import Alarms
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import CodeTable
from inferstack.texts.placeholders import is_opaque, is_settled, sample

_LIMITS = f"{AWS}/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"
_DESCRIPTION = f"{AWS}/AWSCloudFormation/latest/UserGuide/template-description-structure.html"
_TAGS = f"{API}/API_Tag.html"
_ROLE_TAGS = f"{AWS}/IAM/latest/UserGuide/id_tags.html"
_CLOUDFORMATION_TAGS = f"{AWS}/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html"
_MOST_RESOURCES, _MOST_OUTPUTS = 500, 200
_LONGEST_DESCRIPTION = 1024
LARGEST_TEMPLATE = 1_000_000
"""Bytes. The page says 1 MB; CloudFormation itself, `Template may not exceed 1000000 bytes in size`.
https://github.com/aws-samples/aws-vpc-cidr-mgmt/issues/10
"""
TEMPLATE_CODES = CodeTable()
TEMPLATE_TOO_LARGE = TEMPLATE_CODES.error("IS218", "A template can have at most 1,000,000 bytes.", _LIMITS)
"""Problems that show only once a template was made."""


def resource_count(spec: ModelSpec) -> dict[str, int]:
    """How many resources a spec becomes, by what needs them; its packed policies count as at least one."""
    return {**_besides_alarms(spec), "alarms": len(own_alarms(spec)) + len(composite_alarms(spec))}


def _besides_alarms(spec: ModelSpec) -> dict[str, int]:
    scaled = scaled_parts(spec)
    policies = [policy for it in scaled for policy in policies_of(it)]
    steps = [(it, step) for it in scaled for _, step in steps_of(it)]
    also_woken = sum(1 for it, step in steps for _ in woken_for(spec, it, step))
    return {
        "role, configuration, endpoint": 4 if makes_role(spec) else 2,
        "models": len(models(spec)),
        "inference components": len(components(spec)),
        # A step comes with the alarms that set it off.
        "scaling": len(scaled) + len(policies) + 2 * len(steps) + also_woken,
        # Each comes with its policy.
        "bucket and topics": 2 * len(_made_for_async(spec)),
        "dashboard": int(spec.dashboard is not False),
        # One for the endpoint, and one for each container of a component.
        "log groups": 0
        if spec.log_groups is None
        else 1 + sum(it.base_name is None for _, _, it in components(spec)),
        "invokers": 0 if spec.invokers is None else 1 + int(spec.invokers.role is not None),
    }


def _made_for_async(spec: ModelSpec) -> list[str]:
    keys = created(spec).__struct_fields__
    return [key for key in keys if getattr(created(spec), key) is not None]


def output_count(spec: ModelSpec) -> int:
    """Counts outputs: name and ARN of the endpoint, the name of each component, what is made for asynchronous
    requests, the dashboard's URL, and the ARNs of policy and role for invokers.
    """
    made = len(_made_for_async(spec)) + int(created(spec).bucket is not None)
    made += _besides_alarms(spec)["invokers"]
    return 2 + len(components(spec)) + made + int(spec.dashboard is not False)


@error("IS225", _DESCRIPTION)
def description_is_plain(spec: ModelSpec) -> Iterator[Problem]:
    """The description of a stack must be plain text of at most 1,024 bytes.

    CloudFormation fills in nothing there and counts bytes; CDK takes 512 characters.
    """
    if spec.description is None:
        return
    if not is_settled(spec.description):
        message = "the description has a part known only at deployment, which would be shown literally"
        yield Problem(("description",), message, "remove that part; only `${stage}` is allowed")
    size = len(spec.description.encode("utf-8", "replace"))
    if size > _LONGEST_DESCRIPTION:
        message = f"the description has {size:,} bytes in UTF-8"
        yield Problem(("description",), message, f"write at most {_LONGEST_DESCRIPTION:,}")


@error("IS208", _LIMITS)
def not_too_many_resources(spec: ModelSpec) -> Iterator[Problem]:
    """A template can have at most 500 resources.

    A spec is one stack.
    """
    # Finding the alarms takes ten times as long as seeing that there cannot be so many.
    if sum(_besides_alarms(spec).values()) + most_own_alarms(spec) <= _MOST_RESOURCES:
        return
    parts = resource_count(spec)
    if sum(parts.values()) > _MOST_RESOURCES:
        most = max(parts, key=lambda it: parts[it])
        message = f"the spec makes {sum(parts.values())} resources, {parts[most]} of them {most}"
        fix = f"at most {_MOST_RESOURCES} are allowed: {_fewer_alarms(spec)}, or split the endpoint in two"
        yield Problem(_place(spec), message, fix)


def _fewer_alarms(spec: ModelSpec) -> str:
    """Which alarms to leave out: only those of adapters, if they have most; their bases' are worth more."""
    bases, alarms = bases_of_adapters(spec), own_alarms(spec)
    of_adapters = [it for it in alarms if it.part.values.get(COMPONENT_NAME) in bases]
    if 2 * len(of_adapters) <= len(alarms):
        return "write `alarms: false`"
    named = f"`inference_component: {next(iter(bases.values()))}`"
    return f"write `alarms: {{defaults: false}}` and `rules` that leave the adapters out ({named})"


@error("IS209", _LIMITS)
def not_too_many_outputs(spec: ModelSpec) -> Iterator[Problem]:
    """A template can have at most 200 outputs.

    Every inference component has one.
    """
    count = output_count(spec)
    if count > _MOST_OUTPUTS:
        message = f"the spec makes {count} outputs, one for each inference component"
        fix = f"at most {_MOST_OUTPUTS} are allowed: split the endpoint in two"
        yield Problem(_place(spec), message, fix)


def _place(spec: ModelSpec) -> SpecPath:
    return ("inference_components",) if components(spec) else ("endpoint_name",)


@error("IS220", _TAGS)
def not_too_many_tags(spec: ModelSpec) -> Iterator[Problem]:
    """A resource cannot have more tags than AWS allows.

    The bound is CloudFormation's.
    """
    most = cloudformation.shape("AWS::SageMaker::Model")["tags"].schema["maxItems"]
    for path, _, tags in _tagged(spec):
        count = len({*(spec.tags or ()), *tags})
        if count > most:
            yes = "the spec has" if path == _TAGS_OF_ALL else "with those of the spec it has"
            yield Problem(path, f"{yes} {count} tags", f"at most {most} are allowed")


_TAGS_OF_ALL: SpecPath = ("tags",)


def _tagged(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, Mapping[str, str]]]:
    """Every block with tags: its path, the type of its resource (empty for the spec itself), the tags."""
    found: list[tuple[SpecPath, str, Mapping[str, str] | None]] = [(_TAGS_OF_ALL, "", spec.tags)]
    found += [((*path, "tags"), "AWS::SageMaker::Model", it.tags) for path, _, it in models(spec)]
    components_ = [(path, it.tags) for path, _, it in components(spec)]
    found += [((*path, "tags"), "AWS::SageMaker::InferenceComponent", it) for path, it in components_]
    config = endpoint_config(spec)
    found.append((("endpoint_config", "tags"), "AWS::SageMaker::EndpointConfig", config.tags))
    if spec.endpoint is not None:
        found.append((("endpoint", "tags"), "AWS::SageMaker::Endpoint", spec.endpoint.tags))
    return ((path, type_name, tags) for path, type_name, tags in found if tags)


@error("IS221", _TAGS)
def no_reserved_tags(spec: ModelSpec) -> Iterator[Problem]:
    """The key of a tag cannot begin with `aws:`, which is reserved for AWS.

    In any case, since AWS ignores it there.
    """
    for path, _, tags in _tagged(spec):
        for key in tags:
            if key.lower().startswith("aws:"):
                fix = "choose a key that does not begin with `aws:`"
                yield Problem((*path, key), f"the key `{key}` is reserved for AWS", fix, of_key=True)


@error("IS222", _TAGS)
def tag_characters(spec: ModelSpec) -> Iterator[Problem]:
    """Keys and values of tags can have only characters that AWS allows.

    The pattern is CloudFormation's.
    """
    tag = cloudformation.shape("AWS::SageMaker::Model", "Tag")
    for at, name, text in _texts_of_tags(spec):
        # Most tags hold words, and compiling the pattern takes as long as checking two specs.
        if text.replace("-", "").isalnum() or is_opaque(text):
            continue
        if not _is_tag_text(str(sample(text)), tag[name].schema["pattern"]):
            message = f'the {name} "{text[:60]}" has characters that are not allowed in a tag'
            fix = "use letters, digits, spaces and _ . : / = + - @"
            yield Problem(at, message, fix, of_key=name == "key")


def _texts_of_tags(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, str]]:
    for path, _, tags in _tagged(spec):
        for key, value in tags.items():
            yield (*path, key), "key", key
            yield (*path, key), "value", value


def _is_tag_text(text: str, pattern: str) -> bool:
    """Whether AWS's pattern allows it, which has Unicode's categories of letters, numbers and separators.

    Python's patterns have no categories, so ours is more lenient: beyond ASCII, and with line breaks.
    """
    import unicodedata  # noqa: PLC0415 - most tags are words

    plain = "".join("a" if unicodedata.category(char)[0] in "LNZ" else char for char in text)
    return plain.isascii() and plain.isprintable() and re.fullmatch(pattern, plain) is not None


@error("IS223", _ROLE_TAGS)
def tag_keys_differ(spec: ModelSpec) -> Iterator[Problem]:
    """Keys of tags must differ in more than case where inferstack creates the role.

    IAM ignores case when it compares keys; the other services do not.
    """
    if not makes_role(spec):
        return
    first: dict[str, str] = {}
    for key in spec.tags or {}:
        if key.casefold() in first:
            message = f"`{key}` and `{first[key.casefold()]}` are the same key to IAM, which tags the role"
            fix = "keep one of them, or name a role in `execution_role`"
            yield Problem(("tags", key), message, fix, of_key=True)
        first.setdefault(key.casefold(), key)


@error("IS224", _CLOUDFORMATION_TAGS)
def tags_have_values(spec: ModelSpec) -> Iterator[Problem]:
    """A tag cannot be empty where a resource type requires a value.

    The bound is CloudFormation's.
    """
    for path, own, tags in _tagged(spec):
        types = filter(_is_strict, (own,) if own else _types_strict_about_tags(spec))
        strict = next(types, None)
        for key, value in tags.items():
            if strict is not None and not value:
                message = f"the tag `{key}` is empty, but {strict} accepts no empty value"
                yield Problem((*path, key), message, 'write a value such as "-", or remove the tag')


def _is_strict(type_name: str) -> bool:
    return bool(cloudformation.shape(type_name, "Tag")["value"].schema.get("minLength", 0))


def _types_strict_about_tags(spec: ModelSpec) -> Iterator[str]:
    """The optional resource types that this spec needs and that are strict about tags."""
    if hosts_components(spec):
        yield "AWS::SageMaker::InferenceComponent"
    has_alarms = spec.alarms is not False
    if has_alarms and isinstance(spec.alarms, Alarms):
        has_alarms = spec.alarms.defaults or bool(spec.alarms.rules)
    if has_alarms or any(True for scaled in scaled_parts(spec) for _ in steps_of(scaled)):
        yield "AWS::CloudWatch::Alarm"
    if composite_alarms(spec):
        yield "AWS::CloudWatch::CompositeAlarm"
    if spec.dashboard is not False:
        yield "AWS::CloudWatch::Dashboard"
