"""What CDK already knows of a spec's tokens when a construct is made, and how CDK gets texts of a spec."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from aws_cdk import Stack, Token
from constructs import Construct

from inferstack.check.in_stack import filled_in
from inferstack.check.load import LoadedSpec
from inferstack.resolve.resource import at_deployment, meaning_of, plain_text, remember
from inferstack.texts.placeholders import is_list_token, tokens


def for_cdk(value: Any) -> str:
    """A text of a spec, or a function with such texts, as CDK's constructs need it: to them `${AWS::Region}`
    is not a placeholder, but text like any other.
    """
    filled = at_deployment(value)
    return filled if isinstance(filled, str) else Token.as_string(filled)


def with_what_is_known(scope: Construct, loaded: LoadedSpec) -> LoadedSpec:
    """The spec, checked again, with each token replaced for which CDK has a text already, such as an asset's
    URL. What tokens stand for is remembered in :mod:`inferstack.resolve.resource`.

    Raises:
        SpecError: when the spec is wrong with these texts.
    """
    written = msgspec.json.encode(loaded.spec)
    # Nearly all specs have no token, and asking CDK takes a round trip to Node.
    if b"{Token[" not in written:
        return loaded
    found = list(dict.fromkeys(tokens(written.decode())))
    remember(_meanings(Stack.of(scope), [token for token in found if meaning_of(token) is None]))
    texts = {token: plain_text(meaning_of(token)) for token in found}
    known = {token: text for token, text in texts.items() if text is not None}
    return filled_in(loaded, known) if known else loaded


def _meanings(stack: Stack, found: list[str]) -> Mapping[str, Any]:
    try:
        return _resolved(stack, found)
    except Exception:
        # The code behind a token may raise anything. One that is not known yet must not hide the others.
        return _one_by_one(stack, found)


def _resolved(stack: Stack, found: Iterable[str]) -> dict[str, Any]:
    # Tokens are not the keys, since CDK resolves those, too.
    numbered = {str(index): token for index, token in enumerate(found)}
    data = {index: [token] if is_list_token(token) else token for index, token in numbered.items()}
    resolved = stack.resolve(data)
    return {numbered[index]: meaning for index, meaning in resolved.items()}


def _one_by_one(stack: Stack, found: Iterable[str]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for token in found:
        try:
            known |= _resolved(stack, [token])
        except Exception:
            # Synthesis will say what is wrong with it.
            continue
    return known
