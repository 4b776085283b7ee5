"""CDK's tokens: what they stand for in a stack, and how CDK gets texts of a spec."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
from aws_cdk import Stack, Token
from constructs import Construct

from inferstack.format.kinds import ModelSpec
from inferstack.resolve.resource import Value, at_deployment, lasting_token
from inferstack.texts.placeholders import (
    PLACEHOLDER,
    PSEUDO_PARAMETERS,
    is_list_token,
    tokens,
    without_tokens,
)


def for_cdk(value: Any) -> str:
    """A text of a spec, or a function with such texts, as CDK's constructs need it: to them `${AWS::Region}`
    is not a placeholder, but text like any other.
    """
    filled = at_deployment(value)
    return filled if isinstance(filled, str) else Token.as_string(filled)


class Tokens(NamedTuple):
    """The tokens of a spec as far as CDK knows what they stand for when a construct is made."""

    texts: Mapping[str, str]
    """Texts, such as an asset's URL, which a spec could have instead of the tokens."""
    lasting_tokens: Mapping[str, str]
    """For each token that stands for a function, the one that takes its place while a template is made."""

    def lasting(self, name: str) -> str:
        """A name as it is in the spec that the template is made of."""
        instead = {**self.lasting_tokens, **self.texts}
        return without_tokens(name, lambda token: instead.get(token, token))

    def put_back(self, template: bytes) -> bytes:
        """A template with CDK's tokens, in which CDK fills in what they stand for."""
        for token, instead in self.lasting_tokens.items():
            template = template.replace(instead.encode(), token.encode())
        return template


def tokens_of(scope: Construct, spec: ModelSpec) -> Tokens:
    """The tokens of a spec that is used in this scope."""
    written = msgspec.json.encode(spec)
    # Nearly all specs have no token, and asking CDK takes a round trip to Node.
    if b"{Token[" not in written:
        return Tokens({}, {})
    known = _meanings(Stack.of(scope), list(dict.fromkeys(tokens(written.decode()))))
    texts = {token: text for token, it in known.items() if (text := _plain_text(it)) is not None}
    lasting = {token: lasting_token(token, it) for token, it in known.items() if token not in texts}
    return Tokens(texts, lasting)


def _meanings(stack: Stack, found: list[str]) -> Mapping[str, Value]:
    """What CDK writes in place of the tokens: a text, a number, or a function."""
    try:
        return _resolved(stack, found)
    except Exception:
        # The code behind a token may raise anything. One that is not known yet must not hide the others.
        return _one_by_one(stack, found)


def _resolved(stack: Stack, found: Iterable[str]) -> dict[str, Value]:
    # Tokens are not the keys, since CDK resolves those, too.
    numbered = {str(index): token for index, token in enumerate(found)}
    data = {index: [token] if is_list_token(token) else token for index, token in numbered.items()}
    resolved = stack.resolve(data)
    return {numbered[index]: meaning for index, meaning in resolved.items() if meaning is not None}


def _one_by_one(stack: Stack, found: Iterable[str]) -> dict[str, Value]:
    known: dict[str, Value] = {}
    for token in found:
        try:
            known |= _resolved(stack, [token])
        except Exception:
            # Synthesis will say what is wrong with it.
            continue
    return known


def _plain_text(meaning: Value) -> str | None:
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
            texts = [_plain_text(part) for part in parts]
            return None if None in texts else "".join(text for text in texts if text is not None)
        case _:
            return None
