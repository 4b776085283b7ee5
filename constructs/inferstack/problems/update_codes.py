"""Codes for what a deployment would do to the existing stack: IS850 to IS899, and two about what a stack
gives to others and is given.

:mod:`inferstack.review` finds them by comparing with a previous template. Their table is here, and not on the
functions that find them as with other rules, because the rule on `ignore` has to know them and `check` may
not import `review`; besides, several of those functions report one of two codes.

A refusal that AWS documents, or is known to answer with, is an error. What interrupts, resets or replaces
something is a warning, and so is what is not confirmed.
"""

from inferstack.problems.codes import CodeTable

_AWS = "https://docs.aws.amazon.com"
_DG = f"{_AWS}/sagemaker/latest/dg"
_API = f"{_AWS}/sagemaker/latest/APIReference"
_TEMPLATES = f"{_AWS}/AWSCloudFormation/latest/UserGuide/template-anatomy.html"
_REPLACEMENT = f"{_AWS}/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html"
_EXPORTS = f"{_AWS}/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html"
_UPDATE_STACK = f"{_AWS}/cli/latest/reference/cloudformation/deploy/"
_CREATE = f"{_API}/API_CreateEndpoint.html"
_UPDATE = f"{_API}/API_UpdateEndpoint.html"
_UPDATE_COMPONENT = f"{_API}/API_UpdateInferenceComponent.html"
_SCALED = f"{_DG}/endpoint-scaling-update.html"
_GUARDRAILS = f"{_DG}/deployment-guardrails-exclusions.html"
_SERVERLESS = f"{_DG}/serverless-endpoints.html"
_REGISTER = f"{_AWS}/autoscaling/application/APIReference/API_RegisterScalableTarget.html"
_PUT_POLICY = f"{_AWS}/autoscaling/application/APIReference/API_PutScalingPolicy.html"
_IAM_QUOTAS = f"{_AWS}/IAM/latest/UserGuide/reference_iam-quotas.html"
_OWN = "inferstack's comparison of templates"

UPDATE_CODES = CodeTable()
"""What a comparison with a previous template reports, by code."""
_error, _warning = UPDATE_CODES.error, UPDATE_CODES.warning

UNREADABLE = _error("IS850", "The template to compare with cannot be read.", _OWN)
NOT_A_TEMPLATE = _error("IS851", "The file to compare with is not a CloudFormation template.", _TEMPLATES)
UNCLEAR = _error("IS852", "It is not clear which template belongs to which stage of the spec.", _OWN)
OTHER_STACK = _error("IS853", "The template to compare with is of a different kind of stack.", _OWN)
TOO_MANY_POLICIES = _warning(
    "IS855",
    "While the update runs, the role has more managed policies than AWS allows by default.",
    _IAM_QUOTAS,
)
SCALED_TYPE_CHANGES = _error(
    "IS860", "The instance type of a variant changes while a scaling target is registered for it.", _SCALED
)
GUARDED_VARIANTS_CHANGE = _error("IS861", "Variants are renamed in an update with guardrails.", _GUARDRAILS)
BECOMES_SERVERLESS = _error("IS862", "An endpoint on instances becomes serverless.", _SERVERLESS)
NO_LONGER_ASYNC = _error(
    "IS863",
    "An asynchronous endpoint becomes a real-time one.",
    "https://github.com/aws/sagemaker-python-sdk/pull/3124",
)
SAME_NAME_IN_OTHER_CASE = _error(
    "IS864", "The new name of an endpoint differs from the old one only in case.", _CREATE
)
COMPONENT_NAME_TAKEN = _error(
    "IS865", "An inference component moves to another endpoint or variant and keeps its name.", _REPLACEMENT
)
POLICY_RENAMED = _error(
    "IS866",
    "A policy that tracks a metric gets another name, or the metric of another policy.",
    "https://github.com/aws/aws-cdk/issues/17956",
)
NEW_FLEET = _warning("IS870", "The endpoint gets a new fleet.", _UPDATE)
COUNT_RESET = _warning("IS871", "The update resets an instance count that scaling has set.", _UPDATE)
COUNT_KEPT = _warning(
    "IS872", "A new initial count or weight has no effect because the old one is retained.", _UPDATE
)
VARIANTS_CHANGE = _warning("IS873", "A variant is added, removed or renamed.", _UPDATE)
SCALED_VARIANT_GONE = _warning(
    "IS874",
    "A variant is removed while a scaling target is registered for it. That SageMaker refuses this is "
    "not confirmed.",
    _SCALED,
)
NO_LONGER_SERVERLESS = _warning(
    "IS875", "A serverless endpoint moves to instances, which cannot be undone.", _SERVERLESS
)
KIND_CHANGES = _warning(
    "IS876",
    "An endpoint becomes asynchronous, or starts or stops hosting many models or inference components: "
    "requests must change, and whether an update can do it is not confirmed.",
    _UPDATE,
)
ENDPOINT_RENAMED = _warning("IS877", "A new name means a new endpoint.", _REPLACEMENT)
PREFIX_CHANGES = _warning("IS878", "A multi-model endpoint reads its models from another prefix.", _UPDATE)
SAME_CONFIG_AGAIN = _warning(
    "IS879",
    "The endpoint is updated with its present configuration. What SageMaker does is not confirmed.",
    _UPDATE,
)
COMPONENT_REMOVED = _warning("IS880", "An inference component is removed.", _REPLACEMENT)
COMPONENT_RENAMED = _warning("IS881", "A new name means a new inference component.", _REPLACEMENT)
COMPONENT_UPDATED = _warning("IS882", "The copies of an inference component are replaced.", _UPDATE_COMPONENT)
COPIES_RESET = _warning(
    "IS883",
    "An update sends the copy count of a scaled inference component. That it resets the count is not "
    "confirmed.",
    _UPDATE_COMPONENT,
)
FLEET_UNDER_COMPONENTS = _warning(
    "IS884",
    "The instances under inference components are replaced. How their copies move is not confirmed.",
    _UPDATE,
)
ADAPTER_REBASED = _warning(
    "IS885",
    "An adapter moves to another base component. Whether an update can do that is not confirmed.",
    _UPDATE_COMPONENT,
)
VARIANT_UNDER_COMPONENTS = _warning(
    "IS886",
    "A variant is removed before the inference components on it. That SageMaker refuses this is not "
    "confirmed.",
    _REPLACEMENT,
)
SCALED_POOLS_CHANGE = _warning(
    "IS887",
    "A variant with instance pools changes all its instance types while a scaling target is registered "
    "for it. That SageMaker refuses this is not confirmed.",
    _SCALED,
)
LIMIT_LOWERED = _warning("IS890", "The maximum capacity of scaling is lowered.", _REGISTER)
SCALING_REMOVED = _warning("IS891", "A variant or inference component no longer scales.", _SCALED)
POLICY_NAME_TAKEN = _warning(
    "IS892",
    "A new policy has the name of one that is removed: made first, it would be removed as well. Whether "
    "AWS refuses that instead is not confirmed.",
    _PUT_POLICY,
)
GONE = _warning(
    "IS893",
    "A resource is removed or replaced that no other problem is about: an alarm, the dashboard, or something "
    "that no spec has made.",
    _REPLACEMENT,
)
KNOWN_BY_NAME = _warning(
    "IS894",
    "What others know by its name or ARN is replaced or removed: an alarm, or the bucket or a topic for "
    "asynchronous requests.",
    _REPLACEMENT,
)
EXPORT_GONE = _warning(
    "IS832",
    "An export is removed, renamed or gets another value, which CloudFormation refuses while it is imported.",
    _EXPORTS,
)
DEFAULT_CHANGES = _warning(
    "IS182", "The default of a parameter changes, which reaches no stack that exists.", _UPDATE_STACK
)

LEFT_OVER_CODES = CodeTable()
"""What is reported about templates without a spec. No spec could ignore it, so it has a table of its own."""

LEFT_OVER = LEFT_OVER_CODES.warning("IS854", "No spec of the folder makes a template's stack any more.", _OWN)
