"""What CDK's tokens stand for, as far as CDK has told.

CDK numbers its tokens anew in every run, so that an id with a token's text in it would be another one as soon
as anything else in the app is. What a token stands for lasts. Whoever knows CDK tells it here before a spec
is resolved (:mod:`inferstack.constructs.known`); in a process a token is the same for all.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from inferstack.spec.texts.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS, without_tokens

Meaning = Any
"""A text, a number, or a function of CloudFormation."""

_MEANINGS: dict[str, Meaning] = {}
_DIGITS = 8


def remember(meanings: Mapping[str, Meaning]) -> None:
    """Keeps what tokens stand for."""
    for token, meaning in meanings.items():
        # The first answer stays: a reference to another stack becomes an import of its value by and by, and
        # ids that have been given would be looked for under others.
        _MEANINGS.setdefault(token, meaning)


def meaning_of(token: str) -> Meaning:
    """What a token stands for; None where nobody said it."""
    return _MEANINGS.get(token)


def lasting(text: str) -> str:
    """The text with something for each token that is the same in every run, and another for another token.

    A token of which nothing is known has nothing that lasts and is left out.
    """
    return without_tokens(text, _name)


def _name(token: str) -> str:
    meaning = meaning_of(token)
    text = plain_text(meaning)
    if text is not None:
        return text
    return "" if meaning is None else short_digest(json.dumps(meaning, sort_keys=True))


def short_digest(text: str) -> str:
    """Eight hexadecimal digits that tell one text from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS].upper()


def plain_text(meaning: Meaning) -> str | None:
    """What a spec could say itself in the place of a token; None of what only a function can say."""
    match meaning:
        case str():
            return meaning
        case int() | float() if not isinstance(meaning, bool):
            return str(meaning)
        case {"Ref": str() as name} if name in PSEUDO_PARAMETERS:
            return f"${{{name}}}"
        case {"Fn::Sub": str() as text} if all(it in PSEUDO_PARAMETERS for it in PLACEHOLDER.findall(text)):
            return text
        case {"Fn::Join": ["", [*parts]]}:
            texts = [plain_text(part) for part in parts]
            return None if None in texts else "".join(text for text in texts if text is not None)
        case _:
            return None
