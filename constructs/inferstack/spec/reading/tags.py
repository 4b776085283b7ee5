"""YAML tags: which of them a spec may use, and what to write instead of the others."""

import re
from typing import NamedTuple

from inferstack.spec.reading.yaml12 import CORE_TAG

COLLECTION_TAGS = {CORE_TAG + "map": "a mapping", CORE_TAG + "seq": "a list"}
"""Tags that are allowed on a mapping or list, since they only say what it is anyway."""

_LONGEST = 60


class _Advice(NamedTuple):
    tag: str
    fix: str


_ADVICE = (
    _Advice(
        "!(Ref|Sub|Join|Fn::.*)",
        "write pseudo parameters as `${AWS::AccountId}` or `${AWS::Region}` inside a text,"
        " and look up other values with `{{resolve:ssm:/name}}` in quotes",
    ),
    _Advice(
        "!(GetAtt|ImportValue|Select|Split|FindInMap|If|Condition|Base64|Cidr|GetAZs|Transform)",
        "a spec holds plain data, not CloudFormation functions: write the value itself,"
        ' or look it up with "{{resolve:ssm:/name}}"',
    ),
    _Advice("!!python/.*", "a spec holds plain data only: write the value itself"),
    _Advice("!!(timestamp|binary|merge|value|yaml)", "remove the tag; the value is then text"),
    _Advice("!!(set|omap|pairs)", "write a list or a mapping without a tag"),
    _Advice(".*", "remove the tag; if `!` belongs to the text, quote the text"),
)


def tag_name(tag: str) -> str:
    """A tag as people write it: ``!!str``, not its long form."""
    short = f"!!{tag.removeprefix(CORE_TAG)}" if tag.startswith(CORE_TAG) else tag
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def tag_fix(tag: str) -> str:
    """What to do about a tag that a spec may not use."""
    name = tag_name(tag)
    return next(advice.fix for advice in _ADVICE if re.fullmatch(advice.tag, name, re.DOTALL))
