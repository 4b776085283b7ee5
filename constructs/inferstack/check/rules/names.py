"""Which models and variants there are, and what they are called."""

from collections.abc import Iterable, Iterator

from inferstack.catalog import cloudformation
from inferstack.check.rules.base import API, CONFIG_PAGE, error, warning
from inferstack.facts.walk import components, every_variant, models, runs, variants
from inferstack.format.kinds import InferenceComponentsSpec, ModelBackedSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import did_you_mean_then, listed

_VARIANT = f"{API}/API_ProductionVariant.html"
_COMPONENT = f"{API}/API_CreateInferenceComponent.html"


@error("IS200", _VARIANT)
def one_model_or_several(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A spec has either `model` or `models`, with at least one model."""
    yield from _one_or_several("model", spec.model, spec.models)


@error("IS201", CONFIG_PAGE)
def one_variant_or_several(spec: ModelSpec) -> Iterator[Problem]:
    """A spec has either `variant` or `variants`."""
    yield from _one_or_several("variant", spec.variant, spec.variants)


def _one_or_several(name: str, one: object, several: object) -> Iterator[Problem]:
    if one is not None and several is not None:
        yield Problem((f"{name}s",), f"`{name}` and `{name}s` cannot be used together", "keep one of them")
    elif one is None and several is None:
        yield Problem((), f"the spec has no {name}", f"add `{name}:`, or `{name}s:` for several", lacks=name)
    elif several is not None and not several:
        yield Problem((f"{name}s",), f"`{name}s` is empty", f"add one, or write `{name}:` instead")


@error("IS202", _VARIANT)
def variant_names_a_model(spec: ModelBackedSpec) -> Iterator[Problem]:
    """The `model_name` of a variant must be a model that the spec has.

    `model_name` is a key of `models`: required with several models, and superfluous with a single `model`.
    """
    known = list(spec.models or ())
    for path, variant in variants(spec):
        found = variant.model_name
        if spec.models is None and found is not None:
            message = f"`model_name: {found}` cannot be used: the spec has a single `model`"
            yield Problem((*path, "model_name"), message, "remove it, or write the model under `models`")
        elif known and found is None:
            message = "the variant does not say which model it hosts"
            yield Problem(path, message, f"add `model_name`: {listed(known)}", lacks="model_name")
        elif known and found not in known:
            yield unknown_name((*path, "model_name"), "model", str(found), known)


@warning("IS203", OWN_FORMAT)
def every_model_is_hosted(spec: ModelSpec) -> Iterator[Problem]:
    """Each model should be hosted by a variant or run by an inference component.

    A model that nothing hosts is created anyway.
    """
    what, key, used = _of_components(spec) if components(spec) else _of_variants(spec)
    for path, name, _ in models(spec):
        if name is not None and name not in used:
            yield Problem(path, f"no {what} the model `{name}`", f"name it in {key}, or remove it")


def _of_components(spec: ModelSpec) -> tuple[str, str, set[str | None]]:
    used = {run.specification.model_name for run in runs(spec)}
    return "inference component runs", "`specification.model_name` of one", used


def _of_variants(spec: ModelSpec) -> tuple[str, str, set[str | None]]:
    pools = (pool for _, variant in every_variant(spec) for pool in variant.instance_pools or ())
    of_variants = (variant.model_name for _, variant in every_variant(spec))
    used = {*of_variants, *(pool.model_name_override for pool in pools)}
    return "variant hosts", "a variant's `model_name`", used


@error("IS204", CONFIG_PAGE)
def names_are_unique(spec: ModelSpec) -> Iterator[Problem]:
    """Names of models, variants and components must differ in more than case and hyphens.

    Metrics, scaling targets and logical ids are told apart by them.
    """
    yield from _called_alike("model", ((path, name) for path, name, _ in models(spec) if name is not None))
    yield from _called_alike(
        "variant", (((*path, "variant_name"), it.variant_name) for path, it in variants(spec))
    )
    yield from _called_alike("inference component", ((path, name) for path, name, _ in components(spec)))


def _called_alike(what: str, names: Iterable[tuple[SpecPath, str]]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for path, name in names:
        folded = name.replace("-", "").lower()
        if folded in first:
            message = f"the {what} name `{name}` clashes with `{first[folded]}`"
            yield Problem(path, message, "rename one of them")
        first.setdefault(folded, name)


@error("IS205", CONFIG_PAGE)
def not_too_many_variants(spec: ModelSpec) -> Iterator[Problem]:
    """An endpoint cannot have more variants than SageMaker allows.

    The limit is CloudFormation's.
    """
    most = cloudformation.shape("AWS::SageMaker::EndpointConfig")["production_variants"].schema["maxItems"]
    count = sum(1 for _ in variants(spec))
    if count > most:
        yield Problem(("variants",), f"the spec has {count} variants", f"at most {most} are allowed")


@error("IS206", _COMPONENT)
def component_names_a_variant(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The `variant_name` of an inference component must be a variant that the spec has.

    `variant_name` is required as soon as there are several variants.
    """
    known = [variant.variant_name for _, variant in variants(spec)]
    for path, name, component in components(spec):
        found = component.variant_name
        if found is None and len(known) > 1:
            message = f"`{name}` does not say which variant's instances it uses"
            yield Problem(path, message, f"add `variant_name`: {listed(known)}", lacks="variant_name")
        elif found is not None and known and found not in known:
            yield unknown_name((*path, "variant_name"), "variant", found, known)


@error("IS207", _VARIANT)
def pool_names_a_model(spec: ModelBackedSpec) -> Iterator[Problem]:
    """The `model_name_override` of an instance pool must be a model that the spec has.

    A pool can only switch to a model of the stack.
    """
    known = [name for _, name, _ in models(spec) if name is not None]
    for path, variant in variants(spec):
        for index, pool in enumerate(variant.instance_pools or ()):
            found = pool.model_name_override
            if found is not None and found not in known:
                where = (*path, "instance_pools", index, "model_name_override")
                yield unknown_name(where, "model", found, known)


def unknown_name(path: SpecPath, what: str, found: str, known: list[str]) -> Problem:
    """The problem of a name that refers to nothing, with the nearest one that exists."""
    allowed = f"the spec has {listed(known, last='and')}" if known else f"the spec has no {what} with a name"
    return Problem(path, f"there is no {what} `{found}`", did_you_mean_then(found, known, allowed))
