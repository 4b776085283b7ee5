"""What CDK's tokens stand for, as far as CDK has told.

CDK numbers its tokens anew in every run: an id with a token's text in it would change as soon as anything
else in the app does. What a token stands for stays. :mod:`inferstack.constructs.known_tokens` records that
here before a spec is resolved; within a process, a token means the same everywhere.
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
    """Records what tokens stand for."""
    for token, meaning in meanings.items():
        # The first answer stays: CDK later turns a reference to another stack into an import of its value,
        # and resources would then be looked for under other ids than they were given.
        _MEANINGS.setdefault(token, meaning)


def meaning_of(token: str) -> Meaning:
    """What a token stands for; None where that is not recorded."""
    return _MEANINGS.get(token)


def lasting(text: str) -> str:
    """The text with each token replaced by something that is the same in every run, and differs by token.

    A token of which nothing is known has nothing that stays the same, and is left out.
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
    """What a spec could have instead of a token; None where only a function can express that."""
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
