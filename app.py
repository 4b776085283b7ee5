"""The CDK app: one stack for each spec in `model_specs`. Works under the CDK CLI and by itself."""

from inferstack_stacks import build_app

build_app().synth()
