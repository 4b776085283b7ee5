"""What stacks are called, and their templates: the files of `render`, and the stacks of the app."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from inferstack.check.load import LoadedSpec
from inferstack.problems import SpecError
from inferstack.source.document import Document
from inferstack.source.stages import at_stage, stage_names
from inferstack.texts.placeholders import without_pseudo_parameters


class StackPlace(NamedTuple):
    """The name of a stack, and where it goes; None where the spec does not say it."""

    name: str
    account: str | None
    region: str | None

    @property
    def whole(self) -> str:
        """The name with account and region."""
        return "-".join(part for part in self if part is not None)


def stack_name(endpoint_name: str) -> str:
    """The endpoint's name, with a word in front if CloudFormation would refuse its first character.

    A stack's name cannot contain a function, so ``churn-${AWS::Region}`` becomes `churn-Region`.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    """
    name = without_pseudo_parameters(endpoint_name)
    return name if name[:1].isalpha() else f"endpoint-{name}"


def stack_of(loaded: LoadedSpec) -> StackPlace:
    """The stack that a spec makes."""
    return StackPlace(stack_name(loaded.spec.endpoint_name), loaded.spec.account, loaded.spec.region)


def stack_ids(stacks: Sequence[StackPlace], beside: Iterable[StackPlace] = ()) -> list[str]:
    """What tells stacks apart in an app or a folder of templates: the name, with account and region for those
    that share a name with one another or with a stack ``beside`` them.
    """
    # Some file systems take two names for one if they differ only in case.
    count = Counter(it.name.casefold() for it in (*stacks, *beside))
    return [it.name if count[it.name.casefold()] == 1 else it.whole for it in stacks]


def stacks_at_stages(document: Document, region: str | None = None) -> Iterator[tuple[str, StackPlace]]:
    """The stack that a spec file makes at each of its stages, as far as the stage can be read. Nothing else
    is checked. ``region`` is for stages that name none.
    """
    for stage in stage_names(document):
        try:
            data: dict[str, Any] = at_stage(document, stage).data
        except SpecError:
            continue
        match data:
            case {"endpoint_name": str() as name} if name:
                env = data.get("env")
                account, own = (
                    (env.get("account"), env.get("region")) if isinstance(env, dict) else (None, None)
                )
                yield stage, StackPlace(stack_name(name), account, region if own is None else own)
