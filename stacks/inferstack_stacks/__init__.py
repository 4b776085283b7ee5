"""An endpoint as a stack, and the app that makes one for each spec.

Importing this does not import CDK, which starts Node at once. :func:`build_app` does after it
has read the specs.
"""

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inferstack.node_runtime import NodeMissingError, select_node

# Before anything imports aws_cdk. Without Node, whatever needs it reports that later.
with suppress(NodeMissingError):
    select_node()

from inferstack_stacks.app import build_app

if TYPE_CHECKING:
    from inferstack_stacks.endpoint_stack import EndpointStack, add_stacks

__all__ = ["EndpointStack", "add_stacks", "build_app"]

_WITH_CDK = frozenset({"EndpointStack", "add_stacks"})
"""These are imported on demand, as that starts Node."""


def __getattr__(name: str) -> Any:
    if name in _WITH_CDK:
        return getattr(import_module(f"{__name__}.endpoint_stack"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Names that are imported on demand are not globals yet, and editors complete names from here.
    return sorted({*globals(), *__all__})
