"""What CDK knows of the tokens in a spec when a construct is made, and what it is told of texts."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from aws_cdk import Stack, Token
from constructs import Construct

from inferstack.resolve.resource import at_deployment
from inferstack.resolve.tokens import meaning_of, plain_text, remember
from inferstack.spec.check import LoadedSpec, filled_in
from inferstack.spec.texts.placeholders import is_list_token, tokens


def for_cdk(value: Any) -> str:
    """A text of a spec, or a function with such texts, for CDK's constructs: to them `${AWS::Region}` is no
    placeholder, but text like any other.
    """
    filled = at_deployment(value)
    return filled if isinstance(filled, str) else Token.as_string(filled)


def with_what_is_known(scope: Construct, loaded: LoadedSpec) -> LoadedSpec:
    """The spec with the texts that CDK has for tokens in it, such as the URL of an asset; checked again.

    What the others stand for is kept in :mod:`inferstack.resolve.tokens`.

    Raises:
        SpecError: when what is known now is wrong.
    """
    written = msgspec.json.encode(loaded.spec)
    # Nearly all specs have none; asking CDK takes a round trip to Node.
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
        # Whatever the code behind a token raises: one that is not known yet keeps no other from being known.
        return _one_by_one(stack, found)


def _resolved(stack: Stack, found: Iterable[str]) -> dict[str, Any]:
    # Not as keys, which CDK resolves, too.
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
            # The synthesis says what is wrong with it.
            continue
    return known
