"""Patterns that both Python and the JavaScript of editors understand.

AWS writes Java's dialect. Its Unicode classes and surrogate pairs are errors in Python's ``re``, which the
``jsonschema`` package uses. JSON Schema requires JavaScript's dialect with the flag ``u``, in which a
character without a special meaning must not be escaped: check-jsonschema and Ajv refuse the whole schema
because of one such pattern.
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
    r"\d{12}": "[0-9]{12}",
    r"\Z": "$",
}


def portable(pattern: str) -> str | None:
    r"""``pattern`` without Java's classes and needless escapes, or None if it matches everything.

    Classes that reach beyond ASCII become a little more lenient.
    """
    if _ANYTHING.fullmatch(pattern):
        return None
    for java, common in _SPELLINGS.items():
        pattern = pattern.replace(java, common)
    return _NEEDLESS_ESCAPE.sub(r"\1\2", pattern)
