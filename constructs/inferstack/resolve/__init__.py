"""From a spec to CloudFormation, as plain data.

    ModelSpec -> {logical id: Resource}, with one module per topic -> template

Nothing here needs Node, CDK or AWS: the result can be printed, compared and tested as it is, and
:mod:`inferstack.constructs` hands the same data to CDK.
"""

from inferstack.resolve.template import resolve_template

__all__ = ["resolve_template"]
