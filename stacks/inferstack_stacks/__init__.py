"""An endpoint as a stack, and the app that makes one for each spec.

Importing this starts Node, and CDK's own import waits for it most of the time. It goes on beside the import
of what reads specs and beside reading them, which need neither.
"""

from typing import TYPE_CHECKING, Any

from inferstack_stacks.cdk_import import begin_cdk_import

begin_cdk_import()

from inferstack_stacks.app import build_app

if TYPE_CHECKING:
    from inferstack_stacks.endpoint_stack import EndpointStack

__all__ = ["EndpointStack", "build_app"]


def __getattr__(name: str) -> Any:
    if name == "EndpointStack":
        from inferstack_stacks.endpoint_stack import EndpointStack  # noqa: PLC0415 - waits for CDK

        return EndpointStack
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
