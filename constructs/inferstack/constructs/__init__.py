"""CDK constructs of a SageMaker inference endpoint.

    spec -> plain CloudFormation data (:mod:`inferstack.resolve`) -> L1 constructs, in one call to Node

:class:`InferenceEndpoint` makes all of it; every other construct makes one part, for an endpoint made
elsewhere. Importing this package chooses which Node runs CDK, see :mod:`inferstack.node_runtime`.
"""

from inferstack.node_runtime import select_node

# Before anything below imports aws_cdk, which starts Node at once.
select_node()

from inferstack.constructs.inference_endpoint import InferenceEndpoint
from inferstack.constructs.interface import IInferenceEndpoint
from inferstack.constructs.invoking import MetricOptions
from inferstack.constructs.network import vpc_config
from inferstack.constructs.parts import (
    EndpointAlarms,
    EndpointAutoscaling,
    EndpointDashboard,
    ExecutionRole,
    InferenceComponents,
)

__all__ = [
    "EndpointAlarms",
    "EndpointAutoscaling",
    "EndpointDashboard",
    "ExecutionRole",
    "IInferenceEndpoint",
    "InferenceComponents",
    "InferenceEndpoint",
    "MetricOptions",
    "vpc_config",
]
