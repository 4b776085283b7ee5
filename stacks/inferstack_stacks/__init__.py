"""An endpoint as a stack, and the app that makes one for each spec."""

from inferstack.node_runtime import select_node

# Before anything below imports aws_cdk, which starts Node at once.
select_node()

from inferstack_stacks.app import build_app
from inferstack_stacks.endpoint_stack import EndpointStack

__all__ = ["EndpointStack", "build_app"]
