"""What the emulator assumes although AWS does not say so.

A refusal of the emulator has one of three grounds: the service's own model (:mod:`emulator.strictness`), a page of
AWS's documentation (named beside the rule), or an entry of this table. A refusal of the third kind names its entry,
so that a deployment that fails here can be told from one that AWS is known to refuse.
"""

from collections.abc import Mapping

BELIEFS: Mapping[str, str] = {
    "component-model-exists": "Nothing says when the model of an inference component is looked up; whenever it is named, "
    "as that of an endpoint configuration is.",
    "components-need-a-role": "The page on endpoint configurations does not say that a variant without a model needs "
    "ExecutionRoleArn. AWS answers so: github.com/pulumi/pulumi-aws/issues/4940.",
    "components-before-endpoint": "No page says that an endpoint with inference components cannot be deleted. AWS "
    "answers so: github.com/gruntwork-io/cloud-nuke/issues/1142.",
    "adapters-before-base": "No page says that a base component cannot be deleted under its adapters; deleting in the "
    "other order is safe either way.",
    "adapters-count-for-base": "No page says whether the metrics of a base count the requests to its adapters. A "
    "production stack scales its base by them alone: github.com/AnthusAI/Plexus.",
    "config-in-use": "AWS says not to delete a configuration that an endpoint uses, and may not refuse it; in a stack "
    "it would mean a wrong order.",
    "managed-scaling-bounds": "Nothing says that MinInstanceCount above MaxInstanceCount is refused on creation.",
    "asynchronous-for-good": "No page says that an asynchronous endpoint stays one. AWS answers so: "
    "github.com/aws/sagemaker-python-sdk/pull/3124.",
    "variant-names-twice": "The names of variants are said to be unique; when that is looked at is not.",
    "role-reads-artifacts": "The guide says that the role needs s3:GetObject on the model's files; users report that its "
    "lack is refused when the model is made, and for a component when that is made.",
    "scaled-resource-exists": "RegisterScalableTarget is not documented to look for the resource, and users report "
    "that it does for SageMaker.",
    "dimension-fits-resource": "What happens when the dimension is of another kind of resource than the id is not "
    "documented.",
    "metric-fits-dimension": "What happens when a predefined metric is of another kind of resource than the dimension "
    "is not documented.",
    "one-metric-specification": "A target tracking policy has either a predefined or a customized metric; that both "
    "or none is refused on creation is not documented.",
    "least-of-a-variant": "The guide says that instances scale to zero on asynchronous endpoints only, not that "
    "registering a minimum of zero is refused elsewhere.",
    "composite-children-exist": "Nothing says that the alarms that a composite alarm names must be there before it; in "
    "a stack it would mean a wrong order.",
    "cleanup-order": "CloudFormation deletes what an update replaced in the reverse order of creation; documented for "
    "deleting stacks only.",
    "revert-order": "CloudFormation reverts updated resources before it deletes what the failed update created.",
}


def believed(belief: str, message: str) -> str:
    """The message of a refusal that is based on an entry of the table."""
    if belief not in BELIEFS:
        raise KeyError(f"no such belief: {belief}")
    return f"{message} [emulated by belief: {belief}]"
