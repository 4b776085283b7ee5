"""Names that must be unique in an account and region, compared across several specs."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from inferstack.spec.check import LoadedSpec
from inferstack.spec.document import Position
from inferstack.spec.parts.dashboard_name import named_dashboard
from inferstack.spec.parts.walk import components
from inferstack.spec.problem import Problem, SpecPath
from inferstack.spec.problem.codes import by_code, error
from inferstack.spec.texts.placeholders import without_pseudo_parameters

SAME_ENDPOINT = "IS041"
SAME_COMPONENT = "IS042"
SAME_DASHBOARD = "IS043"
SAME_STACK = "IS044"
SAME_SCALING = "IS045"
_CREATE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html"
NAME_CODES = by_code(
    error(
        SAME_ENDPOINT,
        "Two specs deploy endpoints of the same name into the same account and region. Names are compared "
        "without regard to case, as SageMaker does.",
        _CREATE,
    ),
    error(
        SAME_COMPONENT,
        "Two specs deploy inference components of the same name into the same account and region. Such a "
        "name must be unique there, even across endpoints.",
    ),
    error(
        SAME_DASHBOARD,
        "Two specs write a dashboard of the same name in one account: the later one would replace the other. "
        "Dashboards are shared by all regions.",
    ),
    error(
        SAME_STACK,
        "Two specs make stacks of the same name. A stack is named after its endpoint, with "
        "`endpoint-` before a digit, since CloudFormation requires a letter.",
    ),
    error(
        SAME_SCALING,
        "Two constructs of an app scale the same variant or inference component, which can have only one "
        "scalable target.",
        "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html",
    ),
)
"""Everything that this module reports."""
_ENDPOINT_NAME = ("endpoint_name",)
_WHAT = {
    SAME_ENDPOINT: "endpoint name",
    SAME_COMPONENT: "inference component name",
    SAME_DASHBOARD: "dashboard name",
    SAME_STACK: "stack name",
    SAME_SCALING: "scalable target",
}


class TakenName(msgspec.Struct, frozen=True):
    """A name, the code of the problem if it is taken twice, and where the spec gives the name."""

    code: str
    name: str
    path: SpecPath
    at: Position

    @property
    def is_regional(self) -> bool:
        """False for a dashboard, which is one for all regions.

        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutDashboard.html
        """
        return self.code != SAME_DASHBOARD


class TakenNames(msgspec.Struct, frozen=True):
    """The names that a spec takes at one stage. Account and region are None if the spec names none."""

    file: str
    stage: str | None
    account: str | None
    region: str | None
    names: tuple[TakenName, ...]


def taken_names(loaded: LoadedSpec) -> TakenNames:
    """Every name in a spec that must be unique in an account and region."""
    spec, document = loaded.spec, loaded.document
    names = (TakenName(code, name, path, document.position(path)) for code, path, name in _names(loaded))
    return TakenNames(document.file, loaded.stage, spec.account, spec.region, tuple(names))


def _names(one: LoadedSpec) -> Iterator[tuple[str, SpecPath, str]]:
    yield SAME_ENDPOINT, _ENDPOINT_NAME, one.spec.endpoint_name
    yield SAME_STACK, _ENDPOINT_NAME, stack_name(one.spec.endpoint_name)
    for path, name, _ in components(one.spec):
        yield SAME_COMPONENT, path, name
    if board := named_dashboard(one.spec):
        yield SAME_DASHBOARD, *board


def stack_name(endpoint_name: str) -> str:
    """The endpoint's name, with a word in front if CloudFormation would refuse its first character.

    A stack's name cannot contain a function, so ``churn-${AWS::Region}`` becomes `churn-Region`.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    """
    name = without_pseudo_parameters(endpoint_name)
    return name if name[0].isalpha() else f"endpoint-{name}"


def names_taken_twice(specs: Iterable[TakenNames]) -> list[Problem]:
    """Conflicts between specs that are deployed together: endpoints, components, dashboards or stacks of the
    same name.

    Each is reported at the later spec. If neither spec names an account or region, it counts as the same.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
    """
    first: dict[tuple[str | None, ...], tuple[TakenNames, TakenName]] = {}
    problems: list[Problem] = []
    for one in specs:
        found: list[Problem] = []
        for taken in one.names:
            before, other = first.setdefault(known_as(taken, one.account, one.region), (one, taken))
            if before is not one:
                by, fix = f"{before.file}:{other.at.line}", "give one of them another name, or another `env`"
                found.append(same_name(one.file, taken, by, fix))
        problems += without_followers(found)
    return problems


def known_as(name: TakenName, account: str | None, region: str | None) -> tuple[str | None, ...]:
    """What identifies a name: another one is different if it differs in any of these."""
    return name.code, name.name.casefold(), account, region if name.is_regional else None


def without_followers(problems: Sequence[Problem]) -> list[Problem]:
    """The problems of one spec without those that follow from another: if two endpoints have the same name,
    so do the stacks and dashboards that are named after them.
    """
    if all(it.code != SAME_ENDPOINT for it in problems):
        return list(problems)
    return [it for it in problems if it.code == SAME_ENDPOINT or it.path != _ENDPOINT_NAME]


def same_name(file: str, taken: TakenName, by: str, fix: str) -> Problem:
    """The problem that a name is already taken; ``by`` says by what."""
    where = "account and region" if taken.is_regional else "account"
    message = f'the {_WHAT[taken.code]} "{taken.name}" is taken by {by}, for the same {where}'
    return Problem(file, *taken.at, taken.code, message, fix, path=taken.path)
