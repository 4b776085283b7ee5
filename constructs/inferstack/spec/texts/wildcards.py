"""What IAM does not take literally in an ARN: wildcards and policy variables.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
"""

import re
from collections.abc import Iterator

from inferstack.spec.texts.placeholders import DYNAMIC_REFERENCE, PSEUDO_PARAMETERS, TOKEN

_PSEUDO = "|".join(map(re.escape, PSEUDO_PARAMETERS))
# The first three match what the deployment fills in as a whole, so nothing inside it counts as a wildcard.
_PART = re.compile(rf"{DYNAMIC_REFERENCE}|{TOKEN}|\$\{{(?:{_PSEUDO})\}}|(?P<wild>[*?]|\$\{{[^{{}}]*\}})")


def wildcard_in(text: str) -> str | None:
    """The first IAM wildcard or variable in a text; None if there is none.

    What the deployment fills in does not count.
    """
    return next((found["wild"] for found in _parts(text) if found["wild"] is not None), None)


def without_wildcards(text: str) -> str:
    """The text as a policy must write it so that IAM takes it literally: `${*}` is an asterisk."""
    if wildcard_in(text) is None:
        return text
    return _PART.sub(lambda found: found[0] if found["wild"] is None else _plain(found["wild"]), text)


def _parts(text: str) -> Iterator[re.Match[str]]:
    # A quick test first: most texts have none.
    return _PART.finditer(text) if "*" in text or "?" in text or "${" in text else iter(())


def _plain(wild: str) -> str:
    return f"${{$}}{wild[1:]}" if wild.startswith("$") else f"${{{wild}}}"
