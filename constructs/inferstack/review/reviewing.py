"""The review of some specs: each with its stack, compared with the base where there is one.

files -> specs at their stages -> stacks -> endpoints -> findings, quotas, totals
base  -> templates ----------------^
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from inferstack.catalog.resource_types import ENDPOINT_TYPE
from inferstack.check.files import spec_files
from inferstack.check.load import LoadedSpec
from inferstack.check.project_file import read_spec
from inferstack.check.stack_names import stack_ids, stack_name, stack_of
from inferstack.check.unique_names import names_that_clash, taken_names
from inferstack.endpoint.cost import Prices
from inferstack.endpoint.of_template import Identity, picture_of
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import Stack, places_in_template
from inferstack.problems import Problem, Severity, SpecError, in_file_order
from inferstack.review.avoidable_costs import avoidable_costs, avoidable_together
from inferstack.review.base import Base, BaseStack, Question, read_base
from inferstack.review.comparing import (
    GRAVE,
    compared,
    cost_findings,
    finding_of,
    grave_findings,
    reasons_to_ignore,
    resource_changes,
    room_findings,
)
from inferstack.review.data import EndpointFate, Finding, Review, Reviewed
from inferstack.review.deploying import as_deployed, place_in, places_of, update_of, update_over
from inferstack.review.matching import Match, SpecsOfFile, delete_commands, left_over, matched, specs_of
from inferstack.review.order import library_finding, worst_first
from inferstack.review.pair import Pair
from inferstack.review.project_rules import loosened_rules
from inferstack.review.sums import quotas, totals
from inferstack.review.synthesized import (
    Synthesis,
    holds_templates,
    match_templates,
    read_synthesis,
    removal,
    update_between,
)
from inferstack.review.templates import PreviousTemplate
from inferstack.review.widened import new_role_findings
from inferstack.sizing.prices import PRICE_FILE, PriceFile, read_price_file
from inferstack.source.spec_file import name_in_templates
from inferstack.updates.effects import Effect
from inferstack.updates.fleet import keeps_counts, kept_by_endpoint
from inferstack.updates.update import Fate, Update

_NO_PRICES = PriceFile({})


def review(
    specs: Path | str | Sequence[Path | str],
    base: Path | str | None = None,
    *,
    stage: str | None = None,
    region: str | None = None,
    prices: Path | PriceFile | None = None,
    base_program: str | None = None,
) -> Review:
    """What deploying specs makes, and what that changes against a base. AWS is not asked.

    Args:
        specs: spec files, and folders of spec files.
        base: a template, a folder of templates or specs, or a revision of git, as `git:REVISION` always is.
        stage: the stage of every spec; without it, every stage that can be deployed.
        region: the region of specs that name none.
        prices: a price file, or its content; without it `inferstack-prices.json` here, if there is one.
        base_program: the `inferstack` of the base's own version, to render the base's specs.

    Raises:
        SpecError: when the base or the price file cannot be read. What is wrong with specs is in the review.
    """
    paths = tuple(map(Path, [specs] if isinstance(specs, (str, Path)) else specs))
    asked = Question(paths=paths, stage=stage, region=region, program=base_program)
    known = None if base is None else read_base(base, asked)
    notes = [] if known is None else [*known.notes]
    return _Reviewer(asked, known, _price_file(prices), notes=notes).review()


def _price_file(prices: Path | PriceFile | None) -> PriceFile:
    if isinstance(prices, PriceFile):
        return prices
    path = Path(PRICE_FILE) if prices is None else prices
    return _NO_PRICES if prices is None and not path.is_file() else read_price_file(path)


class _Reviewer(msgspec.Struct):
    """One review as it is made."""

    asked: Question
    base: Base | None
    prices: PriceFile
    reviewed: list[Reviewed] = msgspec.field(default_factory=list)
    findings: list[Finding] = msgspec.field(default_factory=list)
    keys: dict[int, str] = msgspec.field(default_factory=dict)
    """What each spec's endpoint is called, by the spec's identity."""
    used: dict[str, Prices] = msgspec.field(default_factory=dict)
    """Prices that were used, by region."""
    notes: list[str] = msgspec.field(default_factory=list)
    """What could not be compared, and why."""

    def review(self) -> Review:
        # Without a base, nothing is known of templates that a list of specs would not say better.
        made = [it for it in self.asked.paths if self.base is not None and holds_templates(it)]
        files, problems = _files([it for it in self.asked.paths if it not in made])
        read = [specs_of(file, self.asked.stage, self.asked.region, problems) for file in files]
        specs = [one for it in read for one in it.specs]
        self.keys = _keys(specs)
        problems += names_that_clash(map(taken_names, specs))
        claimed = self._review_all(read)
        if self.base is not None:
            self._review_templates(read_synthesis(made), self.base)
            self._left_over(self.base, claimed, files)
            self.findings += self._not_compared(self.base, read)
            self.findings += _loosened_rules(self.base, files)
        self.findings += self._of_files(in_file_order(problems))
        self.findings += avoidable_together(self.reviewed)
        return self._made()

    def _made(self) -> Review:
        sources = dict.fromkeys(it.source for it in self.used.values() if it.source)
        return Review(
            base=None if self.base is None else self.base.title,
            base_commit=None if self.base is None else self.base.commit,
            endpoints=tuple(self.reviewed),
            findings=worst_first(self.findings, [it.key for it in self.reviewed]),
            quotas=quotas(self.reviewed),
            totals=totals(self.reviewed),
            prices=tuple(sources),
            notes=tuple(self.notes),
        )

    # ------------------------------------------------------------ one by one

    def _review_all(self, read: Sequence[SpecsOfFile]) -> set[str]:
        """Reviews every spec; returns the files of the templates that some are compared with."""
        claimed: set[str] = set()
        alone = sum(len(it.specs) for it in read) == 1
        for of_file in read:
            for match in matched(of_file, self.base, alone=alone):
                claimed |= set(match.candidates)
                self._review_one(match)
        if self.base is not None:
            self.findings += [finding_of(it, "invalid", None) for it in self.base.problems]
        return claimed

    def _review_one(self, match: Match) -> None:
        key = self.keys[id(match.one)]
        if match.problem is not None:
            self.findings.append(finding_of(match.problem, "invalid", key))
        if match.stack is None:
            fate: EndpointFate = "not compared" if self.base is None or match.is_unclear else "new"
            self._alone(key, match.one, fate)
            return
        try:
            one = as_deployed(match.one, match.stack.template, self.asked.region)
            update = update_over(one, match.stack)
        except SpecError as error:
            self.findings += [finding_of(it, "invalid", key) for it in error.problems]
            self._alone(key, match.one, "not compared")
        else:
            self._compared(match, one, update, match.stack)

    def _alone(self, key: str, one: LoadedSpec, fate: EndpointFate) -> None:
        update = update_of(one, {})
        stack, where = _stack_of(one, update), _identity(one, update)
        after = picture_of(stack, where, self._prices(where.region))
        self.reviewed.append(Reviewed(key=key, fate=fate, after=after))
        if self.base is not None:
            # What cannot be compared counts as new: a policy must not pass because main is broken.
            self.findings += new_role_findings(key, stack)
            self.findings += cost_findings(key, None, after)
        self.findings += grave_findings(key, one)
        self.findings += avoidable_costs(key, stack, after)

    def _compared(self, match: Match, one: LoadedSpec, update: Update, base: BaseStack) -> None:
        key, here = self.keys[id(match.one)], _identity(match.one, update)
        pair = self._pair(
            key,
            update,
            (base.template, _where_before(match.one, base, here)),
            (_stack_of(one, update), here),
            ignored=reasons_to_ignore(one),
            located=one.document.located,
        )
        self._report(pair, base)
        self.findings += room_findings(key, base.rooms, match.one)
        self.findings += grave_findings(key, one)

    def _pair(
        self,
        key: str,
        update: Update,
        was: tuple[PreviousTemplate, Identity],
        now: tuple[Stack, Identity],
        *,
        ignored: Mapping[str, str],
        located: Callable[[Problem, str, Severity], Problem],
    ) -> Pair:
        (template, where), (stack, here) = was, now
        old = Stack(template.resources, template.sections, places_in_template(template.file), where.region)
        new = replace(stack, resources=kept_by_endpoint(update))
        return Pair(
            key=key,
            ignored=ignored,
            located=located,
            update=update,
            old=old,
            new=new,
            before=picture_of(old, where, self._prices(where.region)),
            after=picture_of(new, here, self._prices(here.region)),
        )

    def _report(self, pair: Pair, base: BaseStack) -> None:
        """Adds an endpoint that there was before, and what the update means."""
        key, update, before, after = pair.key, pair.update, pair.before, pair.after
        then = None if base.by_this_version is None else base.by_this_version.resources
        findings = compared(pair)
        done = Reviewed(
            key=key,
            fate=_fate(update, is_told=any(it.code is not None for it in findings)),
            after=after,
            before=before,
            has_new_fleet=update.new_fleet or not update.same_endpoint,
            keeps_counts=update.same_endpoint and keeps_counts(update),
            compared_with=base.template.title,
            changes=resource_changes(update, then),
        )
        self.reviewed.append(done)
        self.findings += findings
        self.findings += library_finding(done)
        known = {it.message for it in avoidable_costs(key, pair.old, before)}
        self.findings += [it for it in avoidable_costs(key, pair.new, after) if it.message not in known]

    # ------------------------------------------------------------ templates of apps

    def _review_templates(self, synthesis: Synthesis, base: Base) -> None:
        """Reviews what apps are about to deploy."""
        self.notes += synthesis.notes
        self.findings += [finding_of(it, "invalid", None) for it in synthesis.problems]
        matches, gone = match_templates(synthesis, base.stacks)
        for match in matches:
            one, known = match.one, self.keys.values()
            key = one.endpoint_name if one.endpoint_name not in known else one.template.title
            self.keys[id(one)] = key
            update = update_between(one, None if match.stack is None else match.stack.template)
            stack = Stack(update.after, update.sections_after, one.place_of(update), update.region)
            here = _identity_of(one.template, one.place(("endpoint_name",)), key)
            if match.stack is not None:
                was = match.stack.template
                where = replace(here, account=was.account or here.account, region=was.region or here.region)
                reasons = one.reasons_to_ignore
                pair = self._pair(
                    key, update, (was, where), (stack, here), ignored=reasons, located=one.located
                )
                self._report(pair, match.stack)
                continue
            if match.problem is not None:
                self.findings.append(finding_of(match.problem, "invalid", key))
            after = picture_of(stack, here, self._prices(here.region))
            fate: EndpointFate = "new" if match.problem is None else "not compared"
            self.reviewed.append(Reviewed(key=key, fate=fate, after=after))
            self.findings += new_role_findings(key, stack)
            self.findings += cost_findings(key, None, after)
            self.findings += avoidable_costs(key, stack, after)
        for stack_gone in gone:
            key = self._removed(stack_gone)
            self.findings.append(finding_of(removal(stack_gone), "removed", key))

    def _prices(self, region: str | None) -> Prices:
        found = self.prices.of(region)
        self.used[region or ""] = found
        return found

    # ------------------------------------------------------------ beside the endpoints

    def _left_over(self, base: Base, claimed: set[str], files: Sequence[Path]) -> None:
        """Endpoints of the base that no spec makes any more."""
        gone = [
            (self._removed(stack), stack, problem)
            for stack, problem in left_over(base, claimed, files, self.asked.paths)
        ]
        if len(gone) == 1:
            [(key, _, problem)] = gone
            self.findings.append(finding_of(problem, "removed", key))
        elif gone:
            self.findings.append(_all_removed(gone))

    def _removed(self, gone: BaseStack) -> str:
        """Reviews an endpoint that no spec makes any more; returns its key."""
        template = gone.template
        region = self.asked.region if gone.region is None else gone.region
        stack = Stack(template.resources, template.sections, places_in_template(template.file), region)
        identity = Identity(
            stack=stack_name(str(template.endpoint_name)),
            stage=gone.stage,
            account=gone.account,
            region=region,
            kind=None,
            place=Place(template.file),
        )
        before = picture_of(stack, identity, self._prices(region))
        key = identity.stack if identity.stack not in self.keys.values() else f"{identity.stack} (gone)"
        reviewed = Reviewed(key=key, fate="removed", after=None, before=before, compared_with=template.file)
        self.reviewed.append(reviewed)
        return key

    def _not_compared(self, base: Base, read: Sequence[SpecsOfFile]) -> Iterator[Finding]:
        """Spec files of the base with errors, and the endpoints that count as new because of them."""
        fates = {it.key: it.fate for it in self.reviewed}
        for name, problem in base.wrong.items():
            of_file = [self.keys[id(one)] for it in read if it.file == name for one in it.specs]
            keys = tuple(key for key in of_file if fates[key] == "not compared")
            so, fix = "what it made is not known", ""
            if keys:
                so = "it is not compared, and all rights and costs are judged as new"
                fix = "read the whole spec, not only what changes"
            yield Finding(
                effect="invalid",
                severity="warning",
                endpoints=keys,
                message=f"{problem.file} has errors, such as {problem.code} ({problem.message}): {so}",
                fix=fix,
                place=Place(problem.file, problem.line, problem.column),
            )

    def _of_files(self, problems: Sequence[Problem]) -> Iterator[Finding]:
        """What is wrong with the specs as they are."""
        by_file: dict[str, list[str]] = {}
        for it in self.reviewed:
            if it.after is not None:
                by_file.setdefault(it.after.place.file, []).append(it.key)
        for problem in problems:
            keys = by_file.get(problem.file, [])
            if problem.code in GRAVE:
                continue
            effect: Effect = "invalid" if problem.severity is Severity.ERROR else "advice"
            yield finding_of(problem, effect, keys[0] if len(keys) == 1 else None)


def _loosened_rules(base: Base, files: Sequence[Path]) -> Iterator[Finding]:
    """What the projects of the specs allow now, once for each."""
    found: dict[tuple[str, str], Finding] = {}
    for file in files:
        before = base.rules.get(name_in_templates(str(file)))
        try:
            finding = None if not before else loosened_rules(read_spec(file), before)
        except SpecError:
            # What is wrong with it is reported with the specs.
            continue
        if finding is not None:
            found.setdefault((finding.place.file, finding.message), finding)
    yield from found.values()


def _all_removed(gone: Sequence[tuple[str, BaseStack, Problem]]) -> Finding:
    """Several endpoints that no spec makes any more, in one finding, which names all of them."""
    stacks = [stack for _, stack, _ in gone]
    *names, last = (f"`{it.template.endpoint_name}`" for it in stacks)
    those = f"{', '.join(names)} and {last}"
    commands = " and ".join(f"`{it}`" for it in delete_commands(stacks))
    # Specs of a base are rendered: there are no templates to remove.
    more = "" if stacks[0].spec is not None else "; if that is done, remove their templates"
    first, *others = [Place(it.template.file, 1, 1) for it in stacks]
    return Finding(
        effect="removed",
        severity="warning",
        endpoints=tuple(key for key, _, _ in gone),
        message=f"no spec makes the endpoints {those} any more: those that were deployed stay and cost money",
        fix=f"delete their stacks: {commands}{more}",
        code=gone[0][2].code,
        place=first,
        also=tuple(others),
    )


# ---------------------------------------------------------------- specs


def _files(paths: Sequence[Path]) -> tuple[list[Path], list[Problem]]:
    files: dict[Path, Path] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            files |= {file.absolute(): file for file in spec_files(path) if file.absolute() not in files}
        except SpecError as error:
            problems += error.problems
    return list(files.values()), problems


def _keys(specs: Sequence[LoadedSpec]) -> dict[int, str]:
    ids = stack_ids([stack_of(it) for it in specs])
    count = Counter(ids)
    keys: dict[int, str] = {}
    for name, one in zip(ids, specs, strict=True):
        staged = f"{name} ({'no stage' if one.stage is None else one.stage})"
        key = name if count[name] == 1 else staged
        keys[id(one)] = key if key not in keys.values() else f"{key} of {one.document.file}"
    return keys


def _identity(one: LoadedSpec, update: Update) -> Identity:
    return Identity(
        stack=stack_name(one.spec.endpoint_name),
        stage=one.stage,
        account=one.spec.account,
        region=one.spec.region if update.region is None else update.region,
        kind=one.spec.kind,
        place=place_in(one, ("endpoint_name",)),
    )


def _identity_of(template: PreviousTemplate, place: Place, stack: str) -> Identity:
    """What is known about an endpoint of a template that is about to be deployed."""
    return Identity(
        stack=stack, stage=None, account=template.account, region=template.region, kind=None, place=place
    )


def _where_before(one: LoadedSpec, base: BaseStack, now: Identity) -> Identity:
    """What is known about the endpoint before, beside its template. Where the base leaves the place open, it
    was deployed to the same as now, as far as anybody knows here.
    """
    name = base.template.endpoint_name
    return Identity(
        stack=stack_name(one.spec.endpoint_name if name is None else name),
        stage=one.stage,
        account=now.account if base.account is None else base.account,
        region=now.region if base.region is None else base.region,
        kind=one.spec.kind,
        place=place_in(one, ("endpoint_name",)),
    )


def _stack_of(one: LoadedSpec, update: Update) -> Stack:
    digests = tuple(it.sha256 for it in one.uploaded.values())
    place_of = places_of(one, update)
    return Stack(update.after, update.sections_after, place_of, one.spec.region, digests)


def _fate(update: Update, *, is_told: bool) -> EndpointFate:
    """Exports and parameters are no resources, so an update may change none, and yet be told of."""
    if update.moves:
        return "moved"
    if update.fate(ENDPOINT_TYPE) is Fate.REPLACED:
        return "replaced"
    changed = any(it.fate is not Fate.UNCHANGED for it in update.changes.values())
    return "updated" if changed or is_told else "unchanged"
