"""An endpoint as a stack, and the app that makes one for each spec.

Importing this does not import CDK, which starts Node at once. :func:`build_app` does, while it reads specs.
"""

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inferstack.node_runtime import NodeMissingError, select_node

# This must run before anything below imports aws_cdk. Without Node, whatever needs it reports that later.
with suppress(NodeMissingError):
    select_node()

from inferstack_stacks.app import build_app

if TYPE_CHECKING:
    from inferstack_stacks.building import add_stacks
    from inferstack_stacks.endpoint_stack import EndpointStack

__all__ = ["EndpointStack", "add_stacks", "build_app"]

# Names that are imported on demand, and their modules: these start Node, or read specs while Node starts.
_ON_DEMAND = {"EndpointStack": "endpoint_stack", "add_stacks": "building"}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Names that are imported on demand are not globals yet, and editors complete names from here.
    return sorted({*globals(), *__all__})
