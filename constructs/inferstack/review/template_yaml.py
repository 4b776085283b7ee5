"""CloudFormation's YAML: plain data, with tags as a short form of functions.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html
"""

from typing import Any

import yaml

DEEPEST = 100
"""How many mappings and lists of a template may stand in one another."""
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
