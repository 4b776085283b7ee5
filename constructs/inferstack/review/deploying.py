"""A spec about to be deployed over a template: the update, or why there is none."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from inferstack.check.in_stack import in_place
from inferstack.check.load import LoadedSpec, ruled
from inferstack.check.stack_names import stack_name
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import PropertyPath, Resources
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import PlaceOf
from inferstack.facts.walk import containers, variants
from inferstack.format.kinds import Environment
from inferstack.format.logical_ids import ENDPOINT, SOURCE_METADATA
from inferstack.format.model import FrameworkImage
from inferstack.problems import FilePlace, Problem, SpecError, dotted
from inferstack.problems.file_codes import OTHER_STACK
from inferstack.problems.words import listed
from inferstack.resolve.template import resolve_resources, resolve_template
from inferstack.review.base import BaseStack
from inferstack.review.templates import PreviousTemplate
from inferstack.updates.rules import update_problems as problems_by_rule
from inferstack.updates.update import OldPlace, Update, compare


def update_of(loaded: LoadedSpec, before: Resources, sections: Mapping[str, Any] | None = None) -> Update:
    """What deploying the spec does to a stack with the resources ``before``; ``sections`` are all sections of
    its template.
    """
    spec = loaded.spec
    template = resolve_template(spec, region=spec.region, source_of=lambda _: "")
    after = template["Resources"]
    return Update(
        endpoint_name=spec.endpoint_name,
        account=spec.account,
        named_region=spec.region,
        variants={it.variant_name: path for path, it in variants(spec)},
        data=loaded.document.data,
        sources={logical_id: it.source for logical_id, it in resolve_resources(spec, spec.region).items()},
        before=before,
        after=after,
        changes=compare(before, after),
        sections_before={} if sections is None else sections,
        sections_after=template,
    )


def update_over(loaded: LoadedSpec, stack: BaseStack) -> Update:
    """What deploying the spec does to a stack of the base.

    Raises:
        SpecError: when the template is of another kind of stack.
    """
    template = stack.template
    sections = template.sections
    if not template.is_foreign:
        _refuse_given(template)
    if template.is_own_stack:
        # A spec in a stack of an app has no outputs: those are the app's.
        sections = {name: it for name, it in sections.items() if name != "Outputs"}
    update = update_of(loaded, template.resources, sections)
    strange = [*_strangers(update)]
    if strange:
        names = listed(strange, last="and")
        message = (
            f"{names} is not there, or not what it is in templates of `inferstack render` and EndpointStack"
        )
        fix = "compare with the template of the endpoint's own stack"
        raise SpecError([Problem(FilePlace(template.file), message, fix, OTHER_STACK)])
    name = str(template.endpoint_name or loaded.spec.endpoint_name)
    place = OldPlace(
        name, stack.account, stack.region, stack.delete_command(stack_name(name)), template.resources
    )
    # A template does not say where it was deployed, while a spec that says nothing leaves it open.
    placed = replace(update, old_place=place)
    if placed.moves:
        return replace(update_of(loaded, {}), old_place=place)
    return update if stack.spec is None else placed


def _refuse_given(template: PreviousTemplate) -> None:
    """Refuses a spec alone where an app has added to it: what the app gave would seem to be removed."""
    own = template.made
    known = {*own.resources, *deployed.mapping(template.sections.get("Parameters"))}
    properties = [deployed.properties_of(it) for it in own.resources.values()]
    given = [it for it in deployed.references(properties) if it not in known and "::" not in it]
    if given:
        message = (
            f"the app gives `{template.construct or ENDPOINT}` what its spec does not say, such as "
            f"`{given[0]}`, so the spec alone does not make what is deployed"
        )
        fix = "compare what `cdk synth` makes: name `cdk.out`, or one template in it, in place of the spec"
        raise SpecError([Problem(FilePlace(template.file), message, fix, OTHER_STACK)])


def _strangers(update: Update) -> Iterator[str]:
    """Logical ids that stand for something else in the previous template."""
    if ENDPOINT not in update.before:
        yield ENDPOINT
    for logical_id, resource in update.before.items():
        if logical_id in update.after and resource["Type"] != update.after[logical_id]["Type"]:
            yield logical_id


def as_deployed(loaded: LoadedSpec, template: PreviousTemplate, region: str | None) -> LoadedSpec:
    """The spec for the region that it goes to, which it need not name. The region chooses framework images;
    where the previous template leaves that choice to the deployment, so does this.
    """
    env = loaded.document.data.get("env") or {}
    framework = any(isinstance(it.image, FrameworkImage) for it in containers(loaded.spec))
    if env.get("region") is not None or not framework:
        return loaded
    if template.is_of_any_region:
        account = loaded.spec.account
        return replace(
            loaded, spec=replace(loaded.spec, env=Environment(account=account) if account else None)
        )
    where = template.image_region if region is None else region
    return loaded if where is None else ruled(in_place(loaded, None, where))


def not_ours(templates: Iterable[PreviousTemplate]) -> Iterator[Problem]:
    """Reports templates whose endpoint does not come from a spec: every template of ours says where from."""
    for template in {it.title: it for it in templates}.values():
        if template.is_foreign:
            endpoint = template.unknown_endpoints[0]
            message = f"inferstack has not made this template: `{endpoint}` has no `{SOURCE_METADATA}`"
            fix = "compare with that of the endpoint's own stack; to compare all the same, add `--foreign`"
            if ENDPOINT not in template.resources:
                fix = "compare with a template that still has the `Metadata` of its resources"
            yield Problem(FilePlace(template.file), message, fix, OTHER_STACK)


def update_problems(loaded: LoadedSpec, update: Update) -> list[Problem]:
    """What to know about a deployment, located in the spec, without what the spec ignores."""
    return [
        loaded.document.located(problem, rule.code, rule.severity)
        for rule, problem in problems_by_rule(update)
        if rule.code not in loaded.spec.ignored_codes
    ]


def places_of(loaded: LoadedSpec, update: Update) -> PlaceOf:
    """Where the file of a spec has what the resources of its update are made from."""
    document = loaded.document

    def place(logical_id: str, path: PropertyPath) -> Place:
        if logical_id not in update.sources:
            return Place(document.file)
        found = update.place(logical_id, path)
        return place_in(loaded, found)

    return place


def place_in(loaded: LoadedSpec, path: tuple[str | int, ...]) -> Place:
    """The place of a part of the spec in its file."""
    at = loaded.document.place(path)
    return Place(at.file, at.line, at.column, dotted(path))
