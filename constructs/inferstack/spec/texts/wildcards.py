"""What IAM reads in an ARN as something else than is written.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
"""

import re
from collections.abc import Iterator

from inferstack.spec.texts.placeholders import DYNAMIC_REFERENCE, PSEUDO_PARAMETERS, TOKEN

_PSEUDO = "|".join(map(re.escape, PSEUDO_PARAMETERS))
# The first three are whole parts of a text, which none of the characters in them ends.
_PART = re.compile(rf"{DYNAMIC_REFERENCE}|{TOKEN}|\$\{{(?:{_PSEUDO})\}}|(?P<wild>[*?]|\$\{{[^{{}}]*\}})")


def wildcard_in(text: str) -> str | None:
    """The first wildcard or variable of IAM in a text; None where there is none.

    What the deployment fills in is neither.
    """
    return next((found["wild"] for found in _parts(text) if found["wild"] is not None), None)


def without_wildcards(text: str) -> str:
    """The text as a policy has to write it for IAM to take it as it is: `${*}` is an asterisk."""
    if wildcard_in(text) is None:
        return text
    return _PART.sub(lambda found: found[0] if found["wild"] is None else _plain(found["wild"]), text)


def _parts(text: str) -> Iterator[re.Match[str]]:
    # Most texts have none, and that is known sooner.
    return _PART.finditer(text) if "*" in text or "?" in text or "${" in text else iter(())


def _plain(wild: str) -> str:
    return f"${{$}}{wild[1:]}" if wild.startswith("$") else f"${{{wild}}}"
