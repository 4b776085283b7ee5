"""The one way from plain CloudFormation data to CDK.

:class:`aws_cdk.cloudformation_include.CfnInclude` makes real L1 constructs of a template in a single
crossing to Node, so that tags, aspects, CDK tokens and escape hatches work as in any CDK construct.
https://docs.aws.amazon.com/cdk/v2/guide/use-cfn-template.html
"""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aws_cdk import Annotations, CfnResource, Stack
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

from inferstack.resolve import resolve_template
from inferstack.spec.check import LoadedSpec, checked, in_region
from inferstack.spec.blocks.kinds import Environment, ModelSpec
from inferstack.spec.placeholders import has_pseudo_parameter, is_opaque
from inferstack.spec.problem import Problem

Template = dict[str, Any]
_CHILD = "Resources"
