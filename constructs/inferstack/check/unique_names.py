"""Names that must be unique in an account and region, across specs and across the stages of a spec.

Two specs go to the same place for certain if they are deployed at once (at the same stage) and name the same
account and region, or none, since then both get those of the credentials. At different stages, they must
name both: the same credentials need not be used. Where one of them leaves something open, the place may be
the same, and that is a warning.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from inferstack.catalog.regions import has_form, partition
from inferstack.check.load import LoadedSpec
from inferstack.check.stack_names import stack_name
from inferstack.facts.async_inference import BUCKET_NAME, made_names
from inferstack.facts.composite_alarms import chosen_names
from inferstack.facts.publications import named_dashboard
from inferstack.facts.walk import components
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Problem, Severity, SpecPath
from inferstack.problems.file_codes import (
    MAYBE_SAME_NAME,
    SAME_ALARM,
    SAME_BUCKET,
    SAME_COMPONENT,
    SAME_DASHBOARD,
    SAME_ENDPOINT,
    SAME_EXPORT,
    SAME_POLICY,
    SAME_ROLE,
    SAME_SCALING,
    SAME_STACK,
    SAME_TOPIC,
)
from inferstack.problems.words import listed
from inferstack.texts.placeholders import is_settled

_ENDPOINT_NAME = ("endpoint_name",)
_WHAT = {
    SAME_ENDPOINT: "endpoint name",
    SAME_COMPONENT: "inference component name",
    SAME_DASHBOARD: "dashboard name",
    SAME_STACK: "stack name",
    SAME_SCALING: "scalable target",
    SAME_ALARM: "alarm name",
    SAME_BUCKET: "bucket name",
    SAME_TOPIC: "topic name",
    SAME_EXPORT: "export name",
    SAME_ROLE: "role name",
    SAME_POLICY: "policy name",
}
# Names that differ in case are different.
_WITH_CASE = frozenset({SAME_ALARM, SAME_TOPIC, SAME_EXPORT})

_SCOPES = {
    **dict.fromkeys((SAME_DASHBOARD, SAME_ROLE, SAME_POLICY), "account"),
    SAME_BUCKET: "partition",
}
"""Where a name must be unique, unless in an account and region.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutDashboard.html
https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html
https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
"""


class TakenName(msgspec.Struct, frozen=True):
    """A name, the code of the problem if it is taken twice, and where the spec gives the name."""

    code: str
    name: str
    path: SpecPath
    at: FilePlace

    @property
    def compared(self) -> str:
        """The name as AWS compares it with others."""
        return self.name if self.code in _WITH_CASE else self.name.casefold()

    @property
    def scope(self) -> str:
        """Where the name must be unique."""
        return _SCOPES.get(self.code, "account and region")

    def place(self, account: str | None, region: str | None) -> tuple[str | None, ...]:
        """Where the name is taken by a spec of this account and region: None for what is not known."""
        match self.scope:
            case "partition":
                return (partition(region) if region is not None and has_form(region) else None,)
            case "account":
                return (account,)
            case _:
                return account, region


class TakenNames(msgspec.Struct, frozen=True):
    """The names that a spec takes at one stage. Account and region are None if the spec names none.

    ``ignored`` are the codes of the warnings that the spec turns off.
    """

    file: str
    stage: str | None
    account: str | None
    region: str | None
    names: tuple[TakenName, ...]
    ignored: frozenset[str] = frozenset()


def taken_names(loaded: LoadedSpec) -> TakenNames:
    """Every name in a spec that must be unique in an account and region."""
    spec, document = loaded.spec, loaded.document
    names = (TakenName(code, name, path, document.place(path)) for code, path, name in _names(loaded))
    ignored = frozenset(spec.ignored_codes)
    return TakenNames(document.file, loaded.stage, spec.account, spec.region, tuple(names), ignored)


def _names(loaded: LoadedSpec) -> Iterator[tuple[str, SpecPath, str]]:
    yield SAME_ENDPOINT, _ENDPOINT_NAME, loaded.spec.endpoint_name
    yield SAME_STACK, _ENDPOINT_NAME, stack_name(loaded.spec.endpoint_name)
    for path, name, _ in components(loaded.spec):
        yield SAME_COMPONENT, path, name
    if board := named_dashboard(loaded.spec):
        yield SAME_DASHBOARD, *board
    yield from dict.fromkeys((SAME_ALARM, *named) for named in chosen_names(loaded.spec))
    for path, name in made_names(loaded.spec):
        yield SAME_BUCKET if path[-1] == BUCKET_NAME else SAME_TOPIC, path, name
    if loaded.spec.exports is not None:
        for key, name in loaded.spec.exports.chosen.items():
            yield SAME_EXPORT, ("exports", key), name
    yield from _of_invokers(loaded.spec)


def _of_invokers(spec: ModelSpec) -> Iterator[tuple[str, SpecPath, str]]:
    """Names of the role and the policy, as far as they are known before the deployment."""
    block = spec.invokers
    if block is None:
        return
    role = None if block.role is None else block.role.role_name
    found = (
        (SAME_ROLE, ("invokers", "role", "role_name"), role),
        (SAME_POLICY, ("invokers", "managed_policy_name"), block.managed_policy_name),
    )
    for code, path, written in found:
        if written is not None:
            name = written if spec.region is None else written.replace("${AWS::Region}", spec.region)
            if is_settled(name):
                yield code, path, name


def known_as(name: TakenName, account: str | None, region: str | None) -> tuple[str | None, ...]:
    """What identifies a name: another one is different if it differs in any of these."""
    return name.code, name.compared, *name.place(account, region)


def same_name(taken: TakenName, by: str, fix: str) -> Problem:
    """The problem of a name that is already taken; ``by`` says by what."""
    message = f'the {_WHAT[taken.code]} "{taken.name}" is taken by {by}, for the same {taken.scope}'
    return Problem(taken.path, message, fix, taken.code, at=taken.at)


def without_followers(problems: Sequence[Problem]) -> list[Problem]:
    """The problems of one spec without consequential ones: if two endpoints have the same name, so do the
    stacks and dashboards that are named after them.
    """
    if all(it.code != SAME_ENDPOINT for it in problems):
        return list(problems)
    return [it for it in problems if it.code == SAME_ENDPOINT or it.path != _ENDPOINT_NAME]


# ---------------------------------------------------------------- which uses of a name clash


class _Use(NamedTuple):
    """A name as one spec takes it at one stage."""

    by: TakenNames
    taken: TakenName

    @property
    def identity(self) -> tuple[str, str]:
        return self.taken.code, self.taken.compared

    @property
    def place(self) -> tuple[str | None, ...]:
        return self.taken.place(self.by.account, self.by.region)


class _Clash(NamedTuple):
    """Uses of one name: an error if they are in the same place for certain, a warning if they may be.

    It is reported at the last one.
    """

    uses: tuple[_Use, ...]
    severity: Severity


_Judge = Callable[[_Use, _Use], Severity | None]


def names_taken_twice(specs: Iterable[TakenNames]) -> list[Problem]:
    """The names that are taken twice for certain, by specs that are all deployed at once.

    Each is reported at the later spec.
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
    """
    return [it for it in names_that_clash(specs) if it.severity is Severity.ERROR]


def names_that_clash(specs: Iterable[TakenNames]) -> list[Problem]:
    """The names that are taken twice, or may be, by specs and stages that are deployed at once or one after
    the other.

    A file without stages is deployed at every stage. A file with stages is deployed at those or as it stands,
    without any: its bare spec is not deployed beside its own stages, nor beside those of other files.
    """
    specs = list(specs)
    staged = frozenset(one.file for one in specs if one.stage is not None)

    def judge(one: _Use, other: _Use) -> Severity | None:
        return _judged(one, other, staged)

    clashes = (*_between_files(specs, judge), *_between_stages(specs, judge))
    return [it for clash in clashes for it in _problems(clash)]


def _judged(one: _Use, other: _Use, staged: frozenset[str]) -> Severity | None:
    """ERROR if both are deployed to the same place, WARNING if they may be, None if they are not."""
    stages = (one.by.stage, other.by.stage)
    everywhere = any(it.by.stage is None and it.by.file not in staged for it in (one, other))
    at_once = everywhere or stages[0] == stages[1]
    if not at_once and None in stages:
        return None
    places = list(zip(one.place, other.place, strict=True))
    if any(here != there and None not in (here, there) for here, there in places):
        return None
    certain = all(here == there and (at_once or here is not None) for here, there in places)
    return Severity.ERROR if certain else Severity.WARNING


def _between_files(specs: Iterable[TakenNames], judge: _Judge) -> Iterator[_Clash]:
    """Names that an earlier spec takes as well, or may take."""
    earlier: dict[tuple[str, str], list[_Use]] = {}
    for spec in specs:
        clashes: list[_Clash] = []
        for use in (_Use(spec, taken) for taken in spec.names):
            others = earlier.setdefault(use.identity, [])
            judged = [(other, judge(use, other)) for other in others if not _are_stages(use, other)]
            found = (
                _Clash((it, use), severity) for severity in Severity for it, is_ in judged if is_ is severity
            )
            clashes += islice(found, 1)
            _remember(use, others)
        yield from _without_followers(clashes)


def _are_stages(one: _Use, other: _Use) -> bool:
    """Whether these are stages of one file; specs made in Python have no file, and no stages either."""
    return one.by is other.by or (one.by.file == other.by.file and one.by.stage != other.by.stage)


def _remember(use: _Use, others: list[_Use]) -> None:
    """Adds a use of the name, unless there are enough like it. A second one is from another file than the
    first; a third would add nothing new, and a thousand would have to be compared with one another.
    """
    alike = [it.by.file for it in others if (it.by.stage, it.place) == (use.by.stage, use.place)]
    if not alike or (len(alike) == 1 and alike[0] != use.by.file):
        others.append(use)


def _between_stages(specs: Iterable[TakenNames], judge: _Judge) -> Iterator[_Clash]:
    """Names that several stages of a file take."""
    files: dict[str, dict[tuple[str, str], list[_Use]]] = {}
    for one in specs:
        if one.stage is not None:
            for use in (_Use(one, taken) for taken in one.names):
                files.setdefault(one.file, {}).setdefault(use.identity, []).append(use)
    for of_file in files.values():
        yield from _without_followers([it for uses in of_file.values() for it in _of_stages(uses, judge)])


def _of_stages(uses: Sequence[_Use], judge: _Judge) -> Iterator[_Clash]:
    by_place: dict[tuple[str | None, ...], list[_Use]] = {}
    for use in uses:
        by_place.setdefault(use.place, []).append(use)
    for place, those in by_place.items():
        if None not in place and len(those) > 1:
            yield _Clash(tuple(those), Severity.ERROR)
    unclear = tuple(
        it for it in uses if any(judge(it, other) is Severity.WARNING for other in uses if other is not it)
    )
    if unclear:
        yield _Clash(unclear, Severity.WARNING)


def _without_followers(clashes: list[_Clash]) -> list[_Clash]:
    """If two endpoints have the same name, so do the stacks and dashboards that are named after them."""
    taken = [it.uses[-1].taken for it in clashes]
    if all(it.code != SAME_ENDPOINT for it in taken):
        return clashes
    both = zip(clashes, taken, strict=True)
    return [clash for clash, it in both if it.code == SAME_ENDPOINT or it.path != _ENDPOINT_NAME]


# ---------------------------------------------------------------- in words

_OWN_STAGES = {
    SAME_ENDPOINT: ("deploying one updates the stack of the other", 'write `endpoint_name: "{}-${{stage}}"`'),
    SAME_STACK: ("deploying one updates the stack of the other", "give one of them another `endpoint_name`"),
    SAME_COMPONENT: (
        "the second one cannot be created",
        'write `"{}-${{stage}}"` for it, here and wherever it is named',
    ),
    SAME_DASHBOARD: ("the later one replaces the other", 'write `dashboard_name: "{}-${{stage}}"`'),
    SAME_ALARM: ("the second one is not made", 'write `alarm_name: "{}-${{stage}}"`'),
    SAME_BUCKET: ("the second one is not made", 'write `bucket_name: "{}-${{stage}}"`'),
    SAME_TOPIC: ("both are one topic", 'write `topic_name: "{}-${{stage}}"`'),
    SAME_EXPORT: ("the second stack is not made", 'write `"{}-${{stage}}"`'),
    SAME_ROLE: ("the second stack is not made", 'write `role_name: "{}-${{stage}}"`'),
    SAME_POLICY: ("the second stack is not made", 'write `managed_policy_name: "{}-${{stage}}"`'),
}
"""For a name that several stages of a file take: what happens, and how to make it differ."""


def _problems(clash: _Clash) -> Iterator[Problem]:
    """The problem of a clash, unless the spec ignores it."""
    (other, _), (by, taken) = clash.uses[0], clash.uses[-1]
    certain = clash.severity is Severity.ERROR
    code = taken.code if certain else MAYBE_SAME_NAME
    if certain or code not in by.ignored:
        say = _said_of_stages if other.file == by.file and other.stage != by.stage else _said_of_files
        message, fix = say(clash, taken)
        yield Problem(taken.path, message, fix, code, clash.severity, taken.at)


def _said_of_files(clash: _Clash, taken: TakenName) -> tuple[str, str]:
    (before, there), (by, _) = clash.uses
    here = at = ""
    if before.stage != by.stage and None not in (before.stage, by.stage):
        here, at = f" of the stage `{by.stage}`", f" at the stage `{before.stage}`"
    where = f"{there.at.file}:{there.at.line}{at}"
    fix = "give one of them another name"
    message = f'the {_WHAT[taken.code]} "{taken.name}"{here} is taken by {where}'
    if clash.severity is Severity.ERROR:
        return f"{message}, for the same {taken.scope}", f"{fix}{_unless(taken, ', or another `env`')}"
    fix += _unless(taken, f", or name the {taken.scope} of both under `env`")
    return f"{message}, which may be for the same {taken.scope}", fix


def _said_of_stages(clash: _Clash, taken: TakenName) -> tuple[str, str]:
    stages = listed([it.by.stage for it in clash.uses], last="and")
    then, fix = _OWN_STAGES[taken.code]
    fix = fix.format(taken.name)
    same = f'the stages {stages} take the same {_WHAT[taken.code]}, "{taken.name}"'
    if clash.severity is Severity.ERROR:
        fix += _unless(taken, ", or another `env` in one of them")
        return f"{same}, in the same {taken.scope}: {then}", fix
    fix += _unless(taken, "; or if their accounts differ, name them: `env: {account: …}` in each stage")
    return f"{same}, and may be for the same {taken.scope}: then, {then}", fix


def _unless(taken: TakenName, elsewhere: str) -> str:
    """What else helps: nothing for a bucket, whose name is taken in all accounts and regions."""
    return "" if taken.code == SAME_BUCKET else elsewhere
