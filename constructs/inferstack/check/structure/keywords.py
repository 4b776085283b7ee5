"""What JSON Schema's keywords mean in a spec, if that differs from the standard.

Both `decide` and `validator` use this module, so that they cannot disagree.
"""

import math
import re
from functools import cache

from inferstack.texts.placeholders import OR_PLACEHOLDER, is_opaque, sample

_LONGEST_TO_MATCH = 4096


def is_integer(value: object) -> bool:
    """Unlike in JSON Schema itself, 2.0 is a float, as it is for CloudFormation."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Infinity and NaN are no numbers: YAML has them, CloudFormation does not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def has_form(value: object, pattern: str, longest: int | None) -> bool:
    """Whether a text matches, from the pattern's beginning to its end. Anything that is not text passes.

    Some of AWS's patterns take quadratic time, so a text longer than ``longest`` is not matched: its length
    is reported instead. If ``longest`` is not given, a very long text does not have the form.
    """
    if not isinstance(value, str) or is_opaque(value):
        return True
    if len(value) > (_LONGEST_TO_MATCH if longest is None else longest):
        return longest is not None
    return _whole(pattern).search(str(sample(value))) is not None


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    # Python's `$` also matches before a final line break, and AWS would refuse such a text.
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern.removesuffix(OR_PLACEHOLDER)))
