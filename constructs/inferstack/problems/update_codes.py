"""Codes for what a deployment would do to the existing stack: IS850 to IS899.

:mod:`inferstack.review` finds them by comparing with a previous template. They are defined here so that specs
can ignore them and `explain` can show them. A refusal that AWS documents, or is on record to answer with,
is an error; what interrupts, resets or replaces something is a warning, and so is what is not confirmed.
"""

from inferstack.problems.codes import by_code, error, warning

UNREADABLE = "IS850"
NOT_A_TEMPLATE = "IS851"
UNCLEAR = "IS852"
OTHER_STACK = "IS853"
LEFT_OVER = "IS854"
TOO_MANY_POLICIES = "IS855"
SCALED_TYPE_CHANGES = "IS860"
GUARDED_VARIANTS_CHANGE = "IS861"
BECOMES_SERVERLESS = "IS862"
NO_LONGER_ASYNC = "IS863"
SAME_NAME_IN_OTHER_CASE = "IS864"
COMPONENT_NAME_TAKEN = "IS865"
POLICY_RENAMED = "IS866"
NEW_FLEET = "IS870"
COUNT_RESET = "IS871"
COUNT_KEPT = "IS872"
VARIANTS_CHANGE = "IS873"
SCALED_VARIANT_GONE = "IS874"
NO_LONGER_SERVERLESS = "IS875"
KIND_CHANGES = "IS876"
ENDPOINT_RENAMED = "IS877"
PREFIX_CHANGES = "IS878"
SAME_CONFIG_AGAIN = "IS879"
COMPONENT_REMOVED = "IS880"
COMPONENT_RENAMED = "IS881"
COMPONENT_UPDATED = "IS882"
COPIES_RESET = "IS883"
FLEET_UNDER_COMPONENTS = "IS884"
ADAPTER_REBASED = "IS885"
VARIANT_UNDER_COMPONENTS = "IS886"
SCALED_POOLS_CHANGE = "IS887"
LIMIT_LOWERED = "IS890"
SCALING_REMOVED = "IS891"
POLICY_NAME_TAKEN = "IS892"

_AWS = "https://docs.aws.amazon.com"
_DG = f"{_AWS}/sagemaker/latest/dg"
_API = f"{_AWS}/sagemaker/latest/APIReference"
_TEMPLATES = f"{_AWS}/AWSCloudFormation/latest/UserGuide/template-anatomy.html"
_REPLACEMENT = f"{_AWS}/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html"
_UPDATE = f"{_API}/API_UpdateEndpoint.html"
_UPDATE_COMPONENT = f"{_API}/API_UpdateInferenceComponent.html"
_SCALED = f"{_DG}/endpoint-scaling-update.html"
_GUARDRAILS = f"{_DG}/deployment-guardrails-exclusions.html"
_SERVERLESS = f"{_DG}/serverless-endpoints.html"
_REGISTER = f"{_AWS}/autoscaling/application/APIReference/API_RegisterScalableTarget.html"
_OWN = "inferstack's comparison of templates"


UPDATE_CODES = by_code(
    error(UNREADABLE, "The template to compare with cannot be read.", _OWN),
    error(NOT_A_TEMPLATE, "The file to compare with is not a CloudFormation template.", _TEMPLATES),
    error(UNCLEAR, "It is not clear which template belongs to which stage of the spec.", _OWN),
    error(OTHER_STACK, "The template to compare with is of a different kind of stack.", _OWN),
    warning(
        TOO_MANY_POLICIES,
        "While the update runs, the role has more managed policies than AWS allows by default.",
        f"{_AWS}/IAM/latest/UserGuide/reference_iam-quotas.html",
    ),
    error(
        SCALED_TYPE_CHANGES,
        "The instance type of a variant changes while a scaling target is registered for it.",
        _SCALED,
    ),
    error(GUARDED_VARIANTS_CHANGE, "Variants change their names in an update with guardrails.", _GUARDRAILS),
    error(BECOMES_SERVERLESS, "An endpoint on instances becomes serverless.", _SERVERLESS),
    error(
        NO_LONGER_ASYNC,
        "An asynchronous endpoint becomes a real-time one.",
        "https://github.com/aws/sagemaker-python-sdk/pull/3124",
    ),
    error(
        SAME_NAME_IN_OTHER_CASE,
        "The new name of an endpoint differs from the old one only in case.",
        f"{_API}/API_CreateEndpoint.html",
    ),
    error(
        COMPONENT_NAME_TAKEN,
        "An inference component moves to another endpoint or variant and keeps its name.",
        _REPLACEMENT,
    ),
    error(
        POLICY_RENAMED,
        "A policy that tracks a metric gets another name, or the metric of another policy.",
        "https://github.com/aws/aws-cdk/issues/17956",
    ),
    warning(NEW_FLEET, "The endpoint gets a new fleet.", _UPDATE),
    warning(COUNT_RESET, "The update resets an instance count that scaling has set.", _UPDATE),
    warning(
        COUNT_KEPT, "A new initial count or weight has no effect because the old one is retained.", _UPDATE
    ),
    warning(VARIANTS_CHANGE, "A variant is added, removed or renamed.", _UPDATE),
    warning(
        SCALED_VARIANT_GONE,
        "A variant is removed while a scaling target is registered for it. That SageMaker refuses this is "
        "not confirmed.",
        _SCALED,
    ),
    warning(
        SCALED_POOLS_CHANGE,
        "A variant with instance pools changes all its instance types while a scaling target is registered "
        "for it. That SageMaker refuses this is not confirmed.",
        _SCALED,
    ),
    warning(
        NO_LONGER_SERVERLESS, "A serverless endpoint moves to instances, which cannot be undone.", _SERVERLESS
    ),
    warning(
        KIND_CHANGES,
        "An endpoint becomes asynchronous, or starts or stops hosting many models or inference components: "
        "requests must change, and whether an update can do it is not confirmed.",
        _UPDATE,
    ),
    warning(ENDPOINT_RENAMED, "A new name means a new endpoint.", _REPLACEMENT),
    warning(PREFIX_CHANGES, "A multi-model endpoint reads its models from another prefix.", _UPDATE),
    warning(
        SAME_CONFIG_AGAIN,
        "The endpoint is updated with the configuration that it has. What SageMaker does is not confirmed.",
        _UPDATE,
    ),
    warning(COMPONENT_REMOVED, "An inference component is removed.", _REPLACEMENT),
    warning(COMPONENT_RENAMED, "A new name means a new inference component.", _REPLACEMENT),
    warning(COMPONENT_UPDATED, "The copies of an inference component are replaced.", _UPDATE_COMPONENT),
    warning(
        COPIES_RESET,
        "An update sends the copy count of a scaled inference component. That it resets the count is not "
        "confirmed.",
        _UPDATE_COMPONENT,
    ),
    warning(
        FLEET_UNDER_COMPONENTS,
        "The instances under inference components are replaced. How their copies move is not confirmed.",
        _UPDATE,
    ),
    warning(
        ADAPTER_REBASED,
        "An adapter moves to another base component. Whether an update can do that is not confirmed.",
        _UPDATE_COMPONENT,
    ),
    warning(
        VARIANT_UNDER_COMPONENTS,
        "A variant is removed before the inference components on it. That SageMaker refuses this is not "
        "confirmed.",
        _REPLACEMENT,
    ),
    warning(
        POLICY_NAME_TAKEN,
        "A new policy has the name of one that is removed: made first, it would be removed as well. Whether "
        "AWS refuses that instead is not confirmed.",
        "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScalingPolicy.html",
    ),
    warning(LIMIT_LOWERED, "The maximum that scaling may start is lowered.", _REGISTER),
    warning(SCALING_REMOVED, "A variant or inference component no longer scales.", _SCALED),
)
"""What a comparison with a previous template reports, by code."""

LEFT_OVER_CODES = by_code(
    warning(LEFT_OVER, "No spec of the folder makes a template's stack any more.", _OWN)
)
"""What is reported about templates without a spec; so there is no spec that could ignore it."""
