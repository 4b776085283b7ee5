"""CloudFormation's YAML: plain data, and tags as another way of writing functions.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-formats.html
"""

from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_TAGS = frozenset({"Ref", "Condition"})


class TemplateYamlError(Exception):
    """Says what is wrong with a text, at which line and column."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class _Loader(_Base):
    """Reads ``!GetAtt Model.ModelName`` as ``{"Fn::GetAtt": "Model.ModelName"}``."""


def _function(loader: Any, name: str, node: yaml.Node) -> dict[str, Any]:
    match node:
        case yaml.ScalarNode():
            value = loader.construct_scalar(node)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case _:
            value = loader.construct_mapping(node, deep=True)
    return {name if name in _PLAIN_TAGS else f"Fn::{name}": value}


_Loader.add_multi_constructor("!", _function)


def read_yaml(text: str) -> Any:
    """The data of a YAML template.

    Raises:
        TemplateYamlError: when it is none. Aliases are, since CloudFormation does not take them.
        ValueError: for a date or number that there is not.
        RecursionError: when values are nested too deeply.
    """
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                mark = event.start_mark
                raise TemplateYamlError("it has an alias", mark.line + 1, mark.column + 1)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - the loader knows plain data only
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        raise TemplateYamlError(str(error.problem), *at) from None
    except yaml.YAMLError as error:
        raise TemplateYamlError(str(error).splitlines()[0]) from None
