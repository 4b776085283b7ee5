"""Previous templates: files of JSON or YAML, or the folders that `cdk synth` and `inferstack render` fill."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec.structs import replace

from inferstack.catalog.images import is_of_any_region, region_of_images
from inferstack.catalog.resource_types import COMPONENT_TYPE, ENDPOINT_TYPE, MODEL_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources
from inferstack.endpoint.own_stack import endpoints_of, source_of
from inferstack.format.logical_ids import SOURCE_METADATA
from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import BAD_TEMPLATE, NOT_A_TEMPLATE
from inferstack.problems.words import describe, listed
from inferstack.review.cloud_assembly import stack_in_app
from inferstack.source.spec_file import read_text

PATTERNS = ("*.template.json", "*.template.yaml", "*.template.yml")
"""Names of templates in a folder."""
_STAGES = "assembly-*"
"""Names that CDK gives to the folder of a `Stage`, in the folder of the app or of the stage around it."""

_GET_A_TEMPLATE = (
    "name a template that `inferstack render`, `cdk synth` or `aws cloudformation get-template` wrote"
)
DEEPEST = 100
"""How many mappings and lists of a template may stand in one another."""


class PreviousTemplate(msgspec.Struct, frozen=True):
    """A template that a stack was made from."""

    file: str
    resources: Resources
    sections: Mapping[str, Any]
    """All sections of the template."""
    account: str | None = None
    """The account that an app made it for; None if that is not known."""
    made_for: str | None = None
    """The region that an app made it for; None if that is not known."""
    stack: str | None = None
    """The stack that an app made it for; None if that is not known."""
    construct: str = ""
    """What the logical ids of the endpoint begin with in a stack where other resources stand, too."""
    ids: Mapping[str, str] = {}
    """In such a stack, the logical ids there by those of ``resources``, which are as `render` makes them."""

    @property
    def title(self) -> str:
        """The file, and in a stack where other resources stand, too, which of its constructs it is about."""
        return f"{self.file} ({self.construct})" if self.construct else self.file

    @property
    def is_own_stack(self) -> bool:
        """Whether other resources stand in the stack, too."""
        return bool(self.ids)

    @property
    def region(self) -> str | None:
        """The region that it is for: the app's, or else that of its images."""
        return self.image_region if self.made_for is None else self.made_for

    @property
    def made(self) -> "PreviousTemplate":
        """The template without resources that no spec made."""
        own = {it: one for it, one in self.resources.items() if source_of(one) is not None}
        return replace(self, resources=own)

    @property
    def unknown_endpoints(self) -> list[str]:
        """The logical ids of endpoints that no spec has made."""
        every = deployed.of_type(self.resources, ENDPOINT_TYPE)
        return [it for it in every if source_of(self.resources[it]) is None]

    @property
    def is_foreign(self) -> bool:
        """Whether it has endpoints, and no spec has made any of them."""
        every = deployed.of_type(self.resources, ENDPOINT_TYPE)
        return bool(every) and len(self.unknown_endpoints) == len(every)

    @property
    def endpoint_name(self) -> str | None:
        """Name of the template's endpoint, where it is plain text."""
        return deployed.endpoint_name(self.resources)

    @property
    def spec_files(self) -> frozenset[str]:
        """The spec files that its resources came from."""
        return frozenset(it for it in map(self.source_of, self.resources) if it is not None)

    def source_of(self, logical_id: str) -> str | None:
        """The spec file that a resource came from; None where there is no such resource or file."""
        source = source_of(self.resources.get(logical_id))
        return None if source is None else source.rpartition(":")[0]

    @property
    def image_region(self) -> str | None:
        """The region that the images are taken from; None where none is written out."""
        return region_of_images(self._what_runs())

    @property
    def is_of_any_region(self) -> bool:
        """Whether images are looked up at deployment, in the region that the stack goes to."""
        return is_of_any_region(self._what_runs())

    def _what_runs(self) -> str:
        types = (MODEL_TYPE, COMPONENT_TYPE)
        return deployed.shown(
            [it for name in types for it in deployed.of_type(self.resources, name).values()]
        )


def each_endpoint(template: PreviousTemplate) -> list[PreviousTemplate]:
    """A template for each endpoint in it, as if each had the stack to itself."""
    found = endpoints_of(template.sections)
    region = template.region
    return [
        replace(
            template,
            resources=it.sections["Resources"],
            sections=it.sections,
            made_for=region,
            construct=it.construct,
            ids=it.ids,
        )
        for it in found
    ] or [template]


def notes_on(templates: Iterable[PreviousTemplate]) -> Iterator[str]:
    """Says which endpoints are not compared, since they stand next to those of specs and no spec made
    them."""
    for template in templates:
        unknown = template.unknown_endpoints
        if unknown and not template.is_foreign:
            names = listed(unknown, last="and")
            have = "has" if len(unknown) == 1 else "have"
            yield f"{template.file}: {names} {have} no `{SOURCE_METADATA}`: no spec made it, not compared"


def read_template(path: Path) -> PreviousTemplate:
    """Reads a template of at most 1 MiB, which is all that CloudFormation accepts.

    The output of `aws cloudformation get-template` is unpacked.

    Raises:
        SpecError: when the file cannot be read, is neither JSON nor YAML, or is not a template.
    """
    file = path.as_posix()
    try:
        text = read_text(path, file)
    except SpecError as error:
        found = error.problems[0]
        raise SpecError([Problem(found.in_file, found.message, _GET_A_TEMPLATE, BAD_TEMPLATE)]) from None
    sections = _sections(_parsed(text, file), file)
    made_for = stack_in_app(path)
    return PreviousTemplate(
        file, sections["Resources"], sections, made_for.account, made_for.region, made_for.name
    )


def read_folder(folder: Path) -> tuple[list[PreviousTemplate], list[Problem]]:
    """The templates with an endpoint in a folder and in stages below it, and the problems of other files."""
    try:
        paths = template_files(folder)
    except OSError as error:
        return [], [_unreadable(folder, f"the folder cannot be read: {error.strerror}")]
    if not paths:
        return [], [_unreadable(folder, f"the folder holds no {' and no '.join(PATTERNS[:2])}")]
    templates: list[PreviousTemplate] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            templates.append(read_template(path))
        except SpecError as error:
            problems += error.problems
    return [it for it in templates if deployed.of_type(it.resources, ENDPOINT_TYPE)], problems


def template_files(folder: Path) -> list[Path]:
    """The templates in a folder and in stages below it."""
    return sorted(file for it in _with_stages(folder) for form in PATTERNS for file in it.glob(form))


def _with_stages(folder: Path) -> Iterator[Path]:
    yield folder
    for below in folder.glob(_STAGES):
        # CDK makes no links, and a link may lead back here.
        if below.is_dir() and not below.is_symlink():
            yield from _with_stages(below)


def _unreadable(folder: Path, message: str) -> Problem:
    return Problem(FilePlace(folder.as_posix()), message, _GET_A_TEMPLATE, BAD_TEMPLATE)


def _parsed(text: str, file: str) -> Any:
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text)
        return read_yaml(text)
    except json.JSONDecodeError as error:
        at, message = (error.lineno, error.colno), f"this is not complete JSON: {error.msg}"
    except TemplateYamlError as error:
        at, message = (error.line, error.column), f"this is not the YAML of a template: {error}"
    except RecursionError:
        at, message = (1, 1), f"values are nested more than {DEEPEST} deep"
    except ValueError as error:
        at, message = (1, 1), f"a value cannot be read: {error}"
    raise SpecError(
        [Problem(FilePlace(file, *at), message, "write the file again; it may be cut short", BAD_TEMPLATE)]
    )


def _sections(data: Any, file: str) -> Mapping[str, Any]:
    fix = _GET_A_TEMPLATE
    match data:
        case {"TemplateBody": dict() as body}:
            return _sections(body, file)
        case {"TemplateBody": str() as text}:
            return _sections(_parsed(text, file), file)
        case {"Resources": dict() as resources, **others} if resources:
            fault = next(_faults(resources), None)
            if fault is None:
                return {**{str(name): section for name, section in others.items()}, "Resources": resources}
        case {"kind": str(), **others} if "Resources" not in others:
            fault = "this is a spec, not a template"
            fix = (
                "name the template that `inferstack render` makes of it, or, for `review`, the spec's folder"
            )
        case dict():
            fault = "there are no `Resources`"
        case _:
            fault = f"this is {describe(data)}, not a mapping with `Resources`"
    raise SpecError([Problem(FilePlace(file), fault, fix, NOT_A_TEMPLATE)])


def _faults(resources: Mapping[Any, Any]) -> Iterator[str]:
    for logical_id, resource in resources.items():
        match resource:
            case {"Type": str(), **rest} if isinstance(rest.get("Properties", {}), dict):
                pass
            case _:
                yield f"the resource {describe(logical_id)} has no type, or properties that are not a mapping"
        if not isinstance(logical_id, str):
            yield f"the resource {describe(logical_id)} has a name that is not text"
    if _depth(resources) > DEEPEST:
        yield f"values are nested more than {DEEPEST} deep"


def _depth(value: Any) -> int:
    """Levels of mappings and lists, counted without recursion, which would overflow in a deep value."""
    level, depth = [value], 0
    while level := [below for it in level for below in _below(it)]:
        depth += 1
    return depth


def _below(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            yield from value.values()
        case list():
            yield from value


# ---------------------------------------------------------------- CloudFormation's YAML
#
# Plain data, with tags as a short form of functions:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html


_PLAIN_TAGS = frozenset({"Ref", "Condition"})


class TemplateYamlError(Exception):
    """Tells what is wrong with a text, and at which line and column."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def _function(loader: Any, name: str, node: yaml.Node) -> dict[str, Any]:
    """``!GetAtt Model.ModelName`` is ``{"Fn::GetAtt": "Model.ModelName"}``."""
    match node:
        case yaml.ScalarNode():
            value = loader.construct_scalar(node)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case _:
            value = loader.construct_mapping(node, deep=True)
    return {name if name in _PLAIN_TAGS else f"Fn::{name}": value}


# A class of its own, so that no other loader gets its tags; on libyaml where PyYAML was built with it.
_Loader: Any = type("TemplateLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
_Loader.add_multi_constructor("!", _function)


def read_yaml(text: str) -> Any:
    """The data of a YAML template.

    Raises:
        TemplateYamlError: when it is not one, or has an alias, which CloudFormation does not accept.
        ValueError: for a date or number that does not exist.
    """
    try:
        _check_events(text)
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise TemplateYamlError(str(error.problem), *_place(error.problem_mark)) from None
    except yaml.YAMLError as error:
        raise TemplateYamlError(str(error).splitlines()[0]) from None


def _check_events(text: str) -> None:
    """Checks before loading: libyaml recurses into values, and ends the process if they are too deep."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        match event:
            case yaml.AliasEvent():
                raise TemplateYamlError("it has an alias", *_place(event.start_mark))
            case yaml.CollectionStartEvent():
                depth += 1
            case yaml.CollectionEndEvent():
                depth -= 1
        if depth > DEEPEST:
            raise TemplateYamlError(f"values are nested more than {DEEPEST} deep", *_place(event.start_mark))


def _place(mark: Any) -> tuple[int, int]:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
