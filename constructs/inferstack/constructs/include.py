"""CDK's `CfnInclude`, as editors and type checkers see it: with what a user may need, and nothing else.

Its other members are about templates that a user has written: nested stacks, conditions, rules, hooks.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_cdk import CfnOutput, CfnParameter, CfnResource
    from constructs import Construct

    class Include(Construct):
        """The resources of a template as constructs."""

        def __init__(
            self, scope: Construct, construct_id: str, *, template_file: str, preserve_logical_ids: bool
        ) -> None:
            """Reads the template at once."""

        def get_resource(self, logical_id: str) -> CfnResource:
            """The L1 that has this logical id in what `inferstack render` prints."""

        def get_parameter(self, parameter_name: str) -> CfnParameter:
            """A parameter of the spec."""

        def get_output(self, logical_id: str) -> CfnOutput:
            """An output that `inferstack render` prints, where the endpoint has its stack to itself."""

else:
    from aws_cdk.cloudformation_include import CfnInclude as Include

__all__ = ["Include"]
