"""Templates of specs that were read, made when they are needed or earlier."""

from inferstack.resolve.template import Template, resolve_template
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.check import LoadedSpec


class ResolvedSpec(LoadedSpec, frozen=True, kw_only=True):
    """A spec whose template is made already, such as while CDK is starting."""

    template: Template
    resolved: ModelSpec
    """What ``template`` was made of: ``spec`` may be replaced, as by one for the region of a stack."""


def resolve_ahead(loaded: LoadedSpec) -> ResolvedSpec:
    """The spec together with its template."""
    return ResolvedSpec(
        loaded.spec,
        loaded.document,
        loaded.stage,
        loaded.warnings,
        loaded.uploaded,
        template=template_of(loaded),
        resolved=loaded.spec,
    )


def template_of(loaded: LoadedSpec) -> Template:
    """The template of a spec for the region that it names, or for any."""
    if isinstance(loaded, ResolvedSpec) and loaded.resolved is loaded.spec:
        return loaded.template
    return resolve_template(loaded.spec, region=loaded.spec.region, source_of=loaded.source_of)
