"""The name of an endpoint's dashboard."""

from inferstack.spec.blocks.alarms import Dashboard
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.problem import SpecPath

_REGION = "${AWS::Region}"


def dashboard_name(spec: ModelSpec) -> str | None:
    """The name of the dashboard, for ``Fn::Sub``; None if the spec wants no dashboard."""
    if spec.dashboard is False:
        return None
    # Dashboards are global; the region keeps endpoints of the same name in two regions apart.
    written = _written_name(spec)
    return f"{spec.endpoint_name}-{_REGION}" if written is None else written


def named_dashboard(spec: ModelSpec) -> tuple[SpecPath, str] | None:
    """The dashboard's name as far as the spec determines it, and the part of the spec that does."""
    name = dashboard_name(spec)
    if name is None:
        return None
    path = ("endpoint_name",) if _written_name(spec) is None else ("dashboard", "dashboard_name")
    return path, name if spec.region is None else name.replace(_REGION, spec.region)


def _written_name(spec: ModelSpec) -> str | None:
    return spec.dashboard.dashboard_name if isinstance(spec.dashboard, Dashboard) else None
