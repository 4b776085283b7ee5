"""Names that there can be one of in an account and region, over several specs."""

from collections.abc import Iterable, Iterator

import msgspec

from inferstack.spec.blocks.alarms import Dashboard
from inferstack.spec.check import LoadedSpec
from inferstack.spec.document import Position
from inferstack.spec.parts.walk import components
from inferstack.spec.problem import Problem, SpecPath

SAME_ENDPOINT = "IS041"
SAME_COMPONENT = "IS042"
SAME_DASHBOARD = "IS043"
SAME_STACK = "IS044"
NAME_CODES = {
    SAME_ENDPOINT: (
        "Two specs deploy endpoints of the same name into the same account and region. Names are compared "
        "without regard to case, as SageMaker does."
    ),
    SAME_COMPONENT: (
        "Two specs deploy inference components of the same name into the same account and region. There can "
        "be one of a name there, also on different endpoints."
    ),
    SAME_DASHBOARD: "Two specs write a dashboard of the same name: the later one would replace the other.",
    SAME_STACK: (
        "Two specs make stacks of the same name. A stack is called like its endpoint, with "
        "`endpoint-` before a digit, since CloudFormation wants a letter."
    ),
}
"""Code and meaning of everything that this module reports."""
_WHAT = {
    SAME_ENDPOINT: "endpoint",
    SAME_COMPONENT: "inference component",
    SAME_DASHBOARD: "dashboard",
    SAME_STACK: "stack",
}


class TakenName(msgspec.Struct, frozen=True):
    """A name, the code of the problem that a second one is, and where the spec says it."""

    code: str
    name: str
    path: SpecPath
    at: Position


class TakenNames(msgspec.Struct, frozen=True):
    """What a spec takes at one of its stages, in an account and region; None where it names none."""

    file: str
    stage: str | None
    account: str | None
    region: str | None
    endpoint: str
    names: tuple[TakenName, ...]


def taken_names(loaded: LoadedSpec) -> TakenNames:
    """Every name of a spec that is to be one of its kind in an account and region."""
    spec, document = loaded.spec, loaded.document
    names = (TakenName(code, name, path, document.position(path)) for code, path, name in _names(loaded))
    endpoint = spec.endpoint_name.casefold()
    return TakenNames(document.file, loaded.stage, spec.account, spec.region, endpoint, tuple(names))


def _names(one: LoadedSpec) -> Iterator[tuple[str, SpecPath, str]]:
    yield SAME_ENDPOINT, ("endpoint_name",), one.spec.endpoint_name
    yield SAME_STACK, ("endpoint_name",), stack_name(one.spec.endpoint_name)
    for path, name, _ in components(one.spec):
        yield SAME_COMPONENT, path, name
    board = one.spec.dashboard
    if isinstance(board, Dashboard) and board.dashboard_name is not None:
        yield SAME_DASHBOARD, ("dashboard", "dashboard_name"), board.dashboard_name


def stack_name(endpoint_name: str) -> str:
    """The endpoint's name, with a word before it where CloudFormation would refuse the first character.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    """
    return endpoint_name if endpoint_name[0].isalpha() else f"endpoint-{endpoint_name}"


def names_taken_twice(specs: Iterable[TakenNames]) -> list[Problem]:
    """What specs that are deployed together do to one another: two endpoints, components or
    dashboards of one name.

    Each is reported at the later spec. An account or region that neither names counts as the same.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
    """
    first: dict[tuple[str, str, str | None, str | None], tuple[TakenNames, TakenName]] = {}
    problems: list[Problem] = []
    for one in specs:
        for taken in one.names:
            key = (taken.code, taken.name.casefold(), one.account, one.region)
            before, other = first.setdefault(key, (one, taken))
            # Endpoints of one name have stacks of one name, too.
            if before is not one and not (taken.code == SAME_STACK and one.endpoint == before.endpoint):
                by, fix = f"{before.file}:{other.at.line}", "give one of them another name, or another `env`"
                problems.append(same_name(one.file, taken, by, fix))
    return problems


def same_name(file: str, taken: TakenName, by: str, fix: str) -> Problem:
    """A name that something else has taken, which ``by`` says."""
    what = _WHAT[taken.code]
    message = f'the {what} name "{taken.name}" is taken by {by}, for the same account and region'
    return Problem(file, *taken.at, taken.code, message, fix, path=taken.path)
