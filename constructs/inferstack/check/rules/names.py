"""Which models and variants there are, and what they are called."""

from collections.abc import Iterable, Iterator

from inferstack.catalog import cloudformation
from inferstack.check.rules.base import API, CONFIG_PAGE, error, warning
from inferstack.facts.walk import components, every_variant, models, runs, variants
from inferstack.format.kinds import InferenceComponentsSpec, ModelBackedSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.texts.placeholders import is_opaque

_VARIANT = f"{API}/API_ProductionVariant.html"
_COMPONENT = f"{API}/API_CreateInferenceComponent.html"


@error("IS200", _VARIANT)
def one_model_or_several(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A spec has either `model` or `models`, with at least one model.

    It needs none if its variants name models that exist already.
    """
    if spec.models is not None or not _names_some(spec):
        existing = ", or name an existing one as the variant's `model_name`"
        yield from _one_or_several("model", spec.model, spec.models, existing)


@error("IS201", CONFIG_PAGE)
def one_variant_or_several(spec: ModelSpec) -> Iterator[Problem]:
    """A spec has either `variant` or `variants`."""
    yield from _one_or_several("variant", spec.variant, spec.variants)


def named_models(spec: ModelSpec) -> Iterator[tuple[SpecPath, str]]:
    """Every name by which variants, their pools and components choose a model: a key of `models`, or the name
    of a model that exists already.
    """
    for path, variant in every_variant(spec):
        if variant.model_name is not None:
            yield (*path, "model_name"), variant.model_name
        for index, pool in enumerate(variant.instance_pools or ()):
            if pool.model_name_override is not None:
                yield (*path, "instance_pools", index, "model_name_override"), pool.model_name_override
    for run in runs(spec):
        if run.specification.model_name is not None:
            yield (*run.path, "model_name"), run.specification.model_name


def _names_some(spec: ModelSpec) -> bool:
    return any(True for _ in named_models(spec))


def _one_or_several(name: str, one: object, several: object, instead: str = "") -> Iterator[Problem]:
    if one is not None and several is not None:
        yield Problem((f"{name}s",), f"`{name}` and `{name}s` cannot be used together", "keep one of them")
    elif one is None and several is None:
        fix = f"add `{name}:`, or `{name}s:` for several{instead}"
        yield Problem((), f"the spec has no {name}", fix, lacks=name)
    elif several is not None and not several:
        yield Problem((f"{name}s",), f"`{name}s` is empty", f"add one, or write `{name}:` instead")


@error("IS202", _VARIANT)
def variant_names_a_model(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A variant must name its model in `model_name`, unless that is the only one of the spec, `model`.

    The name is a key of `models`, or that of an existing SageMaker model. Some variant must host `model`.
    """
    nameless = {path for path, variant in every_variant(spec) if variant.model_name is None}
    chooses = has_to_choose(spec)
    for path, variant in variants(spec):
        if spec.model is not None and spec.models is None and not nameless:
            message = f"`model_name: {variant.model_name}` cannot be used: the spec has a single `model`"
            fix = "remove it, or write the model under `models`; for an existing model, remove `model`"
            yield Problem((*path, "model_name"), message, fix)
        elif chooses and path in nameless:
            message = "the variant does not say which model it hosts"
            yield Problem(path, message, f"add `model_name`: {what_to_name(spec)}", lacks="model_name")


def has_to_choose(spec: ModelBackedSpec) -> bool:
    """Whether a variant must name its model: where there is no `model`, but others to choose from."""
    return spec.model is None and (bool(spec.models) or _names_some(spec))


def what_to_name(spec: ModelSpec) -> str:
    """What `model_name` may be."""
    return listed(list(spec.models)) if spec.models else "that of an existing SageMaker model"


@warning("IS203", OWN_FORMAT)
def every_model_is_hosted(spec: ModelSpec) -> Iterator[Problem]:
    """Each model should be hosted by a variant or run by an inference component.

    A model that nothing hosts is created anyway.
    """
    what, key = "variant hosts", "a variant's `model_name`"
    if components(spec):
        what, key = "inference component runs", "`specification.model_name` of one"
    used = {name for _, name in named_models(spec)}
    for path, name, _ in models(spec):
        if name is not None and name not in used:
            yield Problem(path, f"no {what} the model `{name}`", f"name it in {key}, or remove it")


@warning("IS286", _VARIANT)
def variant_names_a_model_of_the_spec(spec: ModelBackedSpec) -> Iterator[Problem]:
    """In a spec with `models`, the `model_name` of a variant or pool should be one of them.

    Any other name is that of an existing SageMaker model, but may also be a typo, or a model's former name.
    """
    known = list(spec.models or ())
    for path, name in named_models(spec) if known else ():
        if name not in (spec.models or {}) and not is_opaque(name):
            message = f"the spec has no model `{name}`, so one must already exist"
            fix = did_you_mean_then(name, known, f"the spec has {listed(known, last='and')};")
            yield Problem(path, message, f"{fix} if it exists, ignore IS286")


@error("IS204", CONFIG_PAGE)
def names_are_unique(spec: ModelSpec) -> Iterator[Problem]:
    """Names of models, variants and components must differ in more than case and hyphens.

    Metrics, scaling targets and logical ids are distinguished by them alone.
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


def unknown_name(path: SpecPath, what: str, found: str, known: list[str]) -> Problem:
    """The problem of a name that refers to nothing, with the nearest one that exists."""
    allowed = f"the spec has {listed(known, last='and')}" if known else f"the spec has no {what} with a name"
    return Problem(path, f"there is no {what} `{found}`", did_you_mean_then(found, known, allowed))
