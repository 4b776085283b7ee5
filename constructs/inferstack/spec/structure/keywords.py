"""What words of JSON Schema mean in a spec, where that is not what the standard says.

Both who decides and who reports ask here, so that they cannot differ.
"""

import math
import re
from functools import cache

from inferstack.spec.texts.placeholders import OR_PLACEHOLDER, is_opaque, sample

_LONGEST_TO_MATCH = 4096


def is_integer(value: object) -> bool:
    """Unlike JSON Schema's own: 2.0 is a float, as it is for CloudFormation."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Without infinity and NaN, which YAML has and CloudFormation has not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def has_form(value: object, pattern: str, longest: int | None) -> bool:
    """Whether a text matches, from the pattern's beginning to its end; anything but text does.

    Some of AWS's patterns take quadratic time, so that a text longer than ``longest`` is not matched:
    that is said by its length. Where no length is given, it has not the form.
    """
    if not isinstance(value, str) or is_opaque(value):
        return True
    if len(value) > (_LONGEST_TO_MATCH if longest is None else longest):
        return longest is not None
    return _whole(pattern).search(str(sample(value))) is not None


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    # Python's `$` also matches before a final line break, which AWS would refuse.
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern.removesuffix(OR_PLACEHOLDER)))
