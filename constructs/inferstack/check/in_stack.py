"""A spec in a stack of an app: in its region and account, under a role of the app, with its tokens filled in.

Nobody else needs this: neither to check a spec nor to render it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.check.load import LoadedSpec, ruled, with_region
from inferstack.check.references import reference_problems
from inferstack.check.structure.report import structure_problems
from inferstack.format.kinds import ExecutionRole, Spec
from inferstack.problems import Problem, SpecError
from inferstack.problems.codes import CodeTable
from inferstack.source.document import Document
from inferstack.source.stages import overridden
from inferstack.texts.placeholders import without_tokens

STACK_CODES = CodeTable()

OTHER_PLACE = STACK_CODES.error(
    "IS111", "The spec names a different account or region than the stack that it is used in."
)
OTHER_ROLE = STACK_CODES.error(
    "IS114", "The spec has an `execution_role`, but the construct is also given a role."
)


def in_region(loaded: LoadedSpec, region: str) -> LoadedSpec:
    """The spec as it is in a stack in this region, with the region's rules applied.

    Raises:
        SpecError: when the spec names another region, or has errors in this one.
    """
    named = loaded.spec.region
    if named == region:
        return loaded
    if named is not None:
        raise SpecError([_elsewhere(loaded, "region", named, region)])
    return ruled(with_region(loaded.spec, region), loaded.document, loaded.stage, loaded.uploaded)


def refuse_other_account(loaded: LoadedSpec, account: str) -> None:
    """Raises SpecError when the spec names another account than the stack's."""
    named = loaded.spec.account
    if named not in (None, account):
        raise SpecError([_elsewhere(loaded, "account", named, account)])


def _elsewhere(loaded: LoadedSpec, what: str, named: str | None, found: str) -> Problem:
    message = f"the spec is for `{named}`, but the stack is in `{found}`"
    fix = f"remove `env.{what}` from the spec, or use it in a stack in that {what}"
    return loaded.document.problem(("env", what), OTHER_PLACE, message, fix)


def under_role(loaded: LoadedSpec, role_arn: str, made_of: ExecutionRole | None) -> LoadedSpec:
    """The spec with the app's own role as its `execution_role`.

    ``made_of`` is the `execution_role` block that the role was made of. A spec with the same block is right:
    the role has all that it says.

    Raises:
        SpecError: when the spec itself says something else about the role, or has errors under this one.
    """
    if loaded.spec.execution_role not in (None, role_arn, made_of):
        message = "the spec has an `execution_role`, but the construct is also given a role"
        fix = "remove `execution_role` from the spec, or `role=` from the call"
        raise SpecError([loaded.document.problem(("execution_role",), OTHER_ROLE, message, fix)])
    document = overridden(loaded.document, {"execution_role": role_arn}, loaded.stage)
    return ruled(replace(loaded.spec, execution_role=role_arn), document, loaded.stage, loaded.uploaded)


def filled_in(loaded: LoadedSpec, texts: Mapping[str, str]) -> LoadedSpec:
    """The spec with these texts in place of its tokens, checked as if they had been written there.

    Raises:
        SpecError: with every error found, when there is any.
    """
    filled = Document.from_data(_filled(msgspec.to_builtins(loaded.spec), texts), loaded.document.file)
    problems = [*structure_problems(filled), *reference_problems(filled)]
    if problems:
        raise SpecError(problems)
    return ruled(msgspec.convert(filled.data, Spec), loaded.document, loaded.stage, loaded.uploaded)


def _filled(value: Any, texts: Mapping[str, str]) -> Any:
    match value:
        case str():
            return without_tokens(value, lambda token: texts.get(token, token))
        case dict():
            return {_filled(key, texts): _filled(item, texts) for key, item in value.items()}
        case list() | tuple():
            return [_filled(item, texts) for item in value]
        case _:
            return value
