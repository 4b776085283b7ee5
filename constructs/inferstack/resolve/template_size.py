"""Whether CloudFormation accepts the size of a template, which is only known once the template is made."""

from collections import Counter

import msgspec

from inferstack.resolve.template import Template, resolve_resources
from inferstack.spec.check import LoadedSpec
from inferstack.spec.problem import Problem, SpecError
from inferstack.spec.rules.template import LARGEST_TEMPLATE, TEMPLATE_TOO_LARGE

_FIX = "move long values of `environment` into the model's files, or split the endpoint in two"


def refuse_too_large(loaded: LoadedSpec, template: Template, size: int) -> None:
    """Refuses a template that is written in too many bytes.

    Raises:
        SpecError: when no stack can be made of it, with the spec's warnings.
    """
    if size > LARGEST_TEMPLATE:
        raise SpecError([*loaded.warnings, _too_large(loaded, template, size)])


def _too_large(loaded: LoadedSpec, template: Template, size: int) -> Problem:
    key, share = _most(loaded, template)
    message = f"the template has {size:,} bytes, {share} % of them for `{key}`"
    fix = f"at most {LARGEST_TEMPLATE:,} are possible: {_FIX}"
    return loaded.document.problem((key,), TEMPLATE_TOO_LARGE, message, fix, key=True)


def _most(loaded: LoadedSpec, template: Template) -> tuple[str, int]:
    """The key of the spec that most of the template is made for, and its share in percent."""
    sizes: Counter[str] = Counter()
    for logical_id, resource in resolve_resources(loaded.spec, loaded.spec.region).items():
        if logical_id in template["Resources"]:
            sizes[str(resource.source[0])] += len(msgspec.json.encode(template["Resources"][logical_id]))
    [(key, most)] = sizes.most_common(1)
    return key, round(100 * most / sizes.total())
