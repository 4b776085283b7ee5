"""What a stack adds to a spec: account and region, a role of the app, texts for tokens.

Each step gives the changed spec and refuses what contradicts it. None applies the rules: the caller that has
taken all the steps does so once, with :func:`inferstack.check.load.ruled`.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.check.load import LoadedSpec, with_region
from inferstack.check.references import reference_problems
from inferstack.check.structure import MISSING_KEY
from inferstack.check.structure.report import structure_problems
from inferstack.format.kinds import LONGEST_HOSTING_NAME, ExecutionRole, ModelSpec, Spec
from inferstack.problems import SpecError
from inferstack.problems.file_codes import NOT_ALONE, OTHER_PLACE, OTHER_ROLE
from inferstack.source.document import Document
from inferstack.source.stages import overridden
from inferstack.texts.placeholders import without_tokens

_DIGITS = 8


def in_place(loaded: LoadedSpec, account: str | None, region: str | None) -> LoadedSpec:
    """The spec as it is in a stack in this account and region; None means that only the deployment knows it.

    Raises:
        SpecError: when the spec names another account or region.
    """
    _refuse_elsewhere(loaded, "account", loaded.spec.account, account)
    _refuse_elsewhere(loaded, "region", loaded.spec.region, region)
    spec = with_region(loaded.spec, region)
    return loaded if spec is loaded.spec else replace(loaded, spec=spec)


def _refuse_elsewhere(loaded: LoadedSpec, what: str, named: str | None, found: str | None) -> None:
    if None not in (named, found) and named != found:
        message = f"the spec is for `{named}`, but the stack is in `{found}`"
        fix = f"remove `env.{what}` from the spec, or use it in a stack in that {what}"
        raise SpecError([loaded.document.problem(("env", what), OTHER_PLACE, message, fix)])


def under_role(loaded: LoadedSpec, role_arn: str, made_of: ExecutionRole | None) -> LoadedSpec:
    """The spec with the app's own role as its `execution_role`.

    ``made_of`` is the `execution_role` block that the role was made of. A spec with the same block is
    accepted, since the role already has all of that.

    Raises:
        SpecError: when the spec itself says something else about the role.
    """
    if loaded.spec.execution_role not in (None, role_arn, made_of):
        message = "the spec has an `execution_role`, but the construct is also given a role"
        fix = "remove `execution_role` from the spec, or `role=` from the call"
        raise SpecError([loaded.document.problem(("execution_role",), OTHER_ROLE, message, fix)])
    document = overridden(loaded.document, {"execution_role": role_arn}, loaded.stage)
    return replace(loaded, spec=replace(loaded.spec, execution_role=role_arn), document=document)


def named_after(loaded: LoadedSpec, path: str | None) -> LoadedSpec:
    """The spec with a name that follows from the path of the construct that makes the endpoint; None means
    that another construct makes it. The end of a path says the most, and a hash keeps similar paths apart.

    Raises:
        SpecError: when another construct makes it.
    """
    if path is None:
        message, fix = (
            "the endpoint's name is missing",
            "write `endpoint_name`: another construct makes the endpoint",
        )
        raise SpecError([loaded.document.problem((), MISSING_KEY, message, fix)])
    digest = hashlib.sha256(path.encode()).hexdigest()[:_DIGITS]
    words = re.sub("[^A-Za-z0-9]+", "-", path)[-(LONGEST_HOSTING_NAME - _DIGITS - 1) :].strip("-")
    name = f"{words}-{digest}" if words else digest
    document = overridden(loaded.document, {"endpoint_name": name}, loaded.stage)
    return replace(loaded, spec=replace(loaded.spec, endpoint_name=name), document=document)


def refuse_exports(loaded: LoadedSpec) -> None:
    """For an endpoint that does not have its stack to itself: outputs are the stack's.

    Raises:
        SpecError: when the spec exports anything.
    """
    if loaded.spec.exports is not None:
        message = "the stack is the app's, which makes its outputs"
        fix = "remove `exports`, and export `endpoint_name` of the construct with a `CfnOutput`"
        raise SpecError([loaded.document.problem(("exports",), NOT_ALONE, message, fix, key=True)])


def filled_in(loaded: LoadedSpec, texts: Mapping[str, str]) -> LoadedSpec:
    """The spec with these texts in place of its tokens, as if they had been written there.

    Raises:
        SpecError: when a text does not have the form that its place requires.
    """
    if not texts:
        return loaded
    filled = Document.from_data(_replaced(msgspec.to_builtins(loaded.spec), texts), loaded.document.file)
    problems = [*structure_problems(filled), *reference_problems(filled)]
    if problems:
        raise SpecError(problems)
    return replace(loaded, spec=msgspec.convert(filled.data, Spec))


def with_texts(spec: ModelSpec, texts: Mapping[str, str]) -> ModelSpec:
    """The spec with these texts in place of its tokens, which must have the form that tokens have."""
    return msgspec.convert(_replaced(msgspec.to_builtins(spec), texts), Spec) if texts else spec


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    match value:
        case str():
            return without_tokens(value, lambda token: texts.get(token, token))
        case dict():
            return {_replaced(key, texts): _replaced(item, texts) for key, item in value.items()}
        case list() | tuple():
            return [_replaced(item, texts) for item in value]
        case _:
            return value
