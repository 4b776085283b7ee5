"""Experiments on SageMaker's resources, and on what scales them."""

from collections.abc import Mapping
from typing import Any

from account.beliefs.lab import TAG, VARIANT, Answer, Lab, is_refused, refused

from inferstack.account.existing import pages
from inferstack.catalog import instances

_COUNT, _COPIES = "sagemaker:variant:DesiredInstanceCount", "sagemaker:inference-component:DesiredCopyCount"


# ---------------------------------------------------------------- updates


def silent_rollback(lab: Lab) -> Answer:
    before = lab.described(lab.shared)["EndpointConfigName"]
    garbage = lab.container(lab.archive(files={"xgboost-model": bytes(range(256))}), runs_code=False)
    config = lab.config(lab.variant(ModelName=lab.model(garbage)))
    lab.sagemaker.update_endpoint(EndpointName=lab.shared, EndpointConfigName=config)
    statuses = lab.statuses(lab.shared)
    found = lab.described(lab.shared)
    serves = {before: "the old", config: "the new"}.get(found["EndpointConfigName"], "another")
    told = f"{' > '.join(statuses)}; serves {serves} configuration; FailureReason: {found.get('FailureReason')!r}"
    if serves == "the new" and statuses[-1] == "InService":
        return Answer("cannot tell", f"the model that should be broken serves: {told}")
    return Answer.of(statuses[-1] == "InService" and serves == "the old", told)


def tag_only_update(lab: Lab) -> Answer:
    def template(value: str) -> dict[str, Any]:
        tags = [{"Key": "version", "Value": value}]
        made = {"EndpointName": endpoint, "EndpointConfigName": config, "Tags": tags}
        return {"Resources": {"Endpoint": {"Type": "AWS::SageMaker::Endpoint", "Properties": made}}}

    config, endpoint = lab.config(), lab.name()
    stack, status = lab.deploy(template("1"))
    if status != "CREATE_COMPLETE":
        return Answer("cannot tell", f"the stack of the experiment is {status}")
    before = lab.described(endpoint)
    statuses = [before["EndpointStatus"]]

    def look() -> str:
        statuses.append(lab.described(endpoint)["EndpointStatus"])
        return str(lab.stack(stack)["StackStatus"])

    lab.submit(template("2"), stack)
    *_, status = lab.seen(look)
    [resource] = lab.cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    after = lab.described(endpoint)
    same = resource["PhysicalResourceId"] == before["EndpointArn"]
    told = (
        f"{status}; the endpoint was {' > '.join(dict.fromkeys(statuses))} and is {'the same' if same else 'replaced'}; "
        f"LastModifiedTime moved by {(after['LastModifiedTime'] - before['LastModifiedTime']).total_seconds():.0f} s"
    )
    return Answer.of(status == "UPDATE_COMPLETE" and same and {*statuses} == {"InService"}, told)


def update_to_the_same_configuration(lab: Lab) -> Answer:
    name, config = lab.shared, lab.described(lab.shared)["EndpointConfigName"]
    told = refused(lab.sagemaker.update_endpoint, EndpointName=name, EndpointConfigName=config)
    return is_refused(told) if told else Answer.of(False, f"accepted: {' > '.join(lab.statuses(name))}")


def size_of_another_type(lab: Lab) -> Answer:
    size = {"Type": "CAPACITY_PERCENT", "Value": 50}
    routing = {"Type": "ALL_AT_ONCE", "WaitIntervalInSeconds": 0, "CanarySize": size}
    request = {"BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": routing}}
    told = refused(
        lab.sagemaker.update_endpoint,
        EndpointName=lab.shared,
        EndpointConfigName=lab.config(),
        DeploymentConfig=request,
    )
    lab.statuses(lab.shared)
    return is_refused(told)


def asynchronous_for_good(lab: Lab) -> Answer:
    output = {"OutputConfig": {"S3OutputPath": f"s3://{lab.bucket}/readable/answers"}}
    name = lab.endpoint(lab.config(AsyncInferenceConfig=output))
    told = refused(lab.sagemaker.update_endpoint, EndpointName=name, EndpointConfigName=lab.config())
    lab.statuses(name)
    return is_refused(told)


def config_in_use(lab: Lab) -> Answer:
    config = lab.described(lab.endpoint())["EndpointConfigName"]
    return is_refused(refused(lab.sagemaker.delete_endpoint_config, EndpointConfigName=config))


# ---------------------------------------------------------------- configurations and models


def _refused_config(lab: Lab, *variants: Any) -> Answer:
    request = {"EndpointConfigName": lab.name(), "ProductionVariants": [*variants], "Tags": [TAG]}
    return is_refused(refused(lab.sagemaker.create_endpoint_config, **request))


def components_need_a_role(lab: Lab) -> Answer:
    return _refused_config(lab, lab.variant())


def managed_scaling_bounds(lab: Lab) -> Answer:
    scaling = {"Status": "ENABLED", "MinInstanceCount": 3, "MaxInstanceCount": 2}
    return _refused_config(lab, lab.variant(ModelName=lab.model(), ManagedInstanceScaling=scaling))


def variant_names_twice(lab: Lab) -> Answer:
    return _refused_config(lab, *[lab.variant(ModelName=lab.model())] * 2)


def variants_without_traffic(lab: Lab) -> Answer:
    return _refused_config(lab, lab.variant(ModelName=lab.model(), InitialVariantWeight=0))


def role_reads_artifacts(lab: Lab) -> Answer:
    return _refused_model(lab, lab.container(lab.archive("unreadable")))


def _refused_model(lab: Lab, container: Mapping[str, Any]) -> Answer:
    request = {
        "ModelName": lab.name(),
        "PrimaryContainer": container,
        "ExecutionRoleArn": lab.role,
        "Tags": [TAG],
    }
    return is_refused(refused(lab.sagemaker.create_model, **request))


def package_and_image(lab: Lab) -> Answer:
    listed = pages(lab.sagemaker, "list_model_packages", "ModelPackageSummaryList")
    package = next((it["ModelPackageArn"] for it in listed), None)
    if package is None:
        return Answer("cannot tell", "the account has no model package")
    return _refused_model(lab, {**lab.container(lab.archive()), "ModelPackageName": package})


def type_without_a_quota(lab: Lab) -> Answer:
    quotas = lab.client("service-quotas")
    suffix = " for endpoint usage"
    listed = {
        it["QuotaName"].removesuffix(suffix)
        for it in pages(quotas, "list_aws_default_service_quotas", "Quotas", ServiceCode="sagemaker")
        if it["QuotaName"].endswith(suffix)
    }
    known = sorted({*instances.names()} - listed)
    if not listed or not known:
        return Answer("cannot tell", f"{len(listed)} types have a quota, {len(known)} known ones have none")
    request = {"EndpointName": lab.name(), "Tags": [TAG]}
    config = lab.config(lab.variant(ModelName=lab.model()) | {"InstanceType": known[0]})
    told = refused(lab.sagemaker.create_endpoint, **request, EndpointConfigName=config)
    return Answer.of(told is not None, f"{known[0]}, of {len(known)} without a quota: {told or 'accepted'}")


# ---------------------------------------------------------------- scaling and metrics


def _target(resource_id: str, dimension: str = _COUNT) -> dict[str, Any]:
    return {"ServiceNamespace": "sagemaker", "ResourceId": resource_id, "ScalableDimension": dimension}


def _refused_target(lab: Lab, target: dict[str, Any], least: int = 1) -> Answer:
    return is_refused(
        refused(lab.scaling.register_scalable_target, **target, MinCapacity=least, MaxCapacity=2)
    )


def _refused_policy(lab: Lab, **tracking: Any) -> Answer:
    target = _target(f"endpoint/{lab.shared}/variant/{VARIANT}")
    lab.scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=1)
    told = refused(
        lab.scaling.put_scaling_policy,
        **target,
        PolicyName="tried",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={"TargetValue": 50, **tracking},
    )
    lab.scaling.deregister_scalable_target(**target)
    return is_refused(told)


def scaled_resource_exists(lab: Lab) -> Answer:
    return _refused_target(lab, _target(f"endpoint/{lab.name()}/variant/{VARIANT}"))


def dimension_fits_resource(lab: Lab) -> Answer:
    return _refused_target(lab, _target(f"endpoint/{lab.shared}/variant/{VARIANT}", _COPIES))


def least_of_a_variant(lab: Lab) -> Answer:
    return _refused_target(lab, _target(f"endpoint/{lab.shared}/variant/{VARIANT}"), least=0)


def metric_fits_dimension(lab: Lab) -> Answer:
    metric = "SageMakerInferenceComponentInvocationsPerCopy"
    return _refused_policy(lab, PredefinedMetricSpecification={"PredefinedMetricType": metric})


def one_metric_specification(lab: Lab) -> Answer:
    return _refused_policy(lab)


def scaled_variant_removed(lab: Lab) -> Answer:
    endpoint = lab.endpoint()
    target = _target(f"endpoint/{endpoint}/variant/{VARIANT}")
    lab.scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=1)
    other = lab.config({**lab.variant(ModelName=lab.model()), "VariantName": "Other"})
    told = refused(lab.sagemaker.update_endpoint, EndpointName=endpoint, EndpointConfigName=other)
    lab.statuses(endpoint)
    lab.scaling.deregister_scalable_target(**target)
    return is_refused(told)
