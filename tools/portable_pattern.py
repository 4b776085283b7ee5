"""Patterns that Python and an editor's JavaScript both understand.

AWS writes Java's dialect. Its Unicode classes and surrogate pairs are errors to Python's ``re``, which
is what the ``jsonschema`` package matches with. JSON Schema asks for JavaScript's dialect with the flag
``u``, in which a character that means nothing by itself must not be escaped: check-jsonschema and Ajv
refuse the whole schema for one such pattern.
"""

import re

_ANYTHING = re.compile(r"\^?(\.\*|\[\\s\\S\]\*|\[\\S\\s\]\*)\$?")
_NEEDLESS_ESCAPE = re.compile(r"(\\[\\^$.*+?()\[\]{}|/\-A-Za-z0-9])|\\(.)")
_BEYOND_ASCII = "\u0080-\U0010ffff"
_SPELLINGS = {
    r"\uD800\uDC00-\uDBFF\uDFFF": "\U00010000-\U0010ffff",
    r"\p{L}\p{Z}\p{N}": rf"0-9A-Za-z\s{_BEYOND_ASCII}",
    r"\p{Alnum}": "0-9A-Za-z",
    r"\p{Print}": r"[^\x00-\x1f\x7f]",
}


def portable(pattern: str) -> str | None:
    r"""``pattern`` without Java's classes and needless escapes, or None if it lets everything pass.

    Classes that reach beyond ASCII become a little more lenient.
    """
    if _ANYTHING.fullmatch(pattern):
        return None
    for java, common in _SPELLINGS.items():
        pattern = pattern.replace(java, common)
    return _NEEDLESS_ESCAPE.sub(r"\1\2", pattern)
