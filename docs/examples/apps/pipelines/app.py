"""CDK Pipelines deploy every spec to test, and to prod when somebody has approved it."""

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild, aws_codepipeline as codepipeline, pipelines

from inferstack_stacks import add_stacks

REGION = "us-east-1"
TOOLS = cdk.Environment(account="111122223333", region=REGION)
TEST = cdk.Environment(account="222233334444", region=REGION)
PROD = cdk.Environment(account="333344445555", region=REGION)
CONNECTION = (
    f"arn:aws:codestar-connections:{REGION}:{TOOLS.account}:connection/01234567-89ab-cdef-0123-456789abcdef"
)

app = cdk.App()

pipeline = pipelines.CodePipeline(
    cdk.Stack(app, "DemandPipeline", env=TOOLS),
    "Pipeline",
    pipeline_type=codepipeline.PipelineType.V2,
    cross_account_keys=True,
    synth=pipelines.ShellStep(
        "Synth",
        input=pipelines.CodePipelineSource.connection("acme/demand", "main", connection_arn=CONNECTION),
        commands=["pip install -r requirements.txt", "npm ci", "inferstack validate", "npx cdk synth"],
    ),
    code_build_defaults=pipelines.CodeBuildOptions(
        partial_build_spec=codebuild.BuildSpec.from_object(
            {"phases": {"install": {"runtime-versions": {"python": "3.12", "nodejs": "22"}}}}
        )
    ),
)

test = cdk.Stage(app, "Test", env=TEST)
add_stacks(test, stage="test")
pipeline.add_stage(test)

prod = cdk.Stage(app, "Prod", env=PROD)
add_stacks(prod, stage="prod")
pipeline.add_stage(prod, pre=[pipelines.ManualApprovalStep("Approve")])

app.synth()
