"""What callers of an endpoint, or of inference components on it, need: the right to invoke, and metrics.

CDK's service modules are reached through ``aws_cdk``, which loads each on first use: an app that asks for no
grant or metric does not pay for them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

import aws_cdk as cdk
from constructs import Construct

from inferstack.catalog.metrics import Hosting
from inferstack.constructs.metrics import WantedMetric, metric_with_dimensions
from inferstack.constructs.names_taken import settled
from inferstack.constructs.tokens import for_cdk
from inferstack.facts.publications import Publisher
from inferstack.format.defaults import ALARM_PERIOD
from inferstack.problems.file_codes import NO_RIGHT
from inferstack.problems.words import did_you_mean_then
from inferstack.resolve.alarms import named_unit
from inferstack.resolve.invokers import CALL_WITH_TOKEN, INVOKE


class MetricOptions(TypedDict, total=False):
    """The options of CDK's metrics, and two that choose among several variants or inference components.

    https://docs.aws.amazon.com/cdk/api/v2/python/aws_cdk.aws_cloudwatch/MetricOptions.html
    """

    statistic: str | None
    """`Average`, `Sum`, `p99`…; what suits the metric when absent."""
    period: cdk.Duration | None
    """Time of one data point; a minute when absent, as that is how often SageMaker publishes."""
    variant_name: str | None
    """The variant, where several publish the metric."""
    inference_component: str | None
    """The inference component, where several publish the metric."""
    label: str | None
    """Its name in a graph; CloudWatch fills in placeholders such as `[max: ${MAX}]`."""
    color: str | None
    """Its colour in a graph, `#00ff00` for instance."""
    visible: bool | None
    """False for a metric that only expressions use."""
    id: str | None
    """Its name in expressions: a lower-case letter, then letters, digits and `_`."""
    unit: cdk.aws_cloudwatch.Unit | None
    """Only data points of this unit; when absent, the metric's own for a percentage or a time, else any."""
    dimensions_map: Mapping[str, str] | None
    """Other dimensions instead of those of the endpoint's part."""
    account: str | None
    """Another account than the endpoint's."""
    region: str | None
    """Another region than the endpoint's."""
    stack_account: str | None
    """The account that a graph or alarm does not have to name; the endpoint's when absent."""
    stack_region: str | None
    """The region that a graph or alarm does not have to name; the endpoint's when absent."""


class Invokable(Construct):
    """What can be invoked and measured: an endpoint, or inference components on it."""

    @property
    @abstractmethod
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""

    @property
    @abstractmethod
    def env(self) -> cdk.interfaces.ResourceEnvironment:
        """Account and region of the endpoint; tokens where only the deployment knows them."""

    @abstractmethod
    def _component_arns(self) -> Iterable[str]:
        """ARNs of the inference components: invoking one takes a permission on it."""

    @abstractmethod
    def _known_name(self) -> str:
        """The name as the spec or the app gives it, not a reference, which would make a resource wait."""

    @abstractmethod
    def _publishers(self) -> Sequence[Publisher]:
        """The parts that publish metrics."""

    @abstractmethod
    def _hosting(self) -> Hosting | None:
        """How models are hosted, which decides which metrics exist; None where it is not known."""

    def _invoke_actions(self) -> Sequence[str]:
        """The actions that requests take: all where nothing is known of the endpoint."""
        return INVOKE

    def _has_openai_route(self) -> bool:
        """Whether an engine of the endpoint is known to answer on the OpenAI-compatible route."""
        return False

    def grant_invoke(
        self, grantee: cdk.aws_iam.IGrantable, *, openai_route: bool | None = None
    ) -> cdk.aws_iam.Grant:
        """Lets ``grantee`` send requests to the endpoint and to each of its inference components.

        ``openai_route``: whether to allow bearer tokens, too, which that route takes, and for which IAM knows
        no resource; when absent, where a container runs one of AWS's images for language models.
        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html

        Raises:
            TypeError: when ``grantee`` cannot be granted anything, such as a text.
        """
        if not hasattr(grantee, "grant_principal"):
            given = f"the text {grantee!r}" if isinstance(grantee, str) else f"a {type(grantee).__name__}"
            fix = "pass a role, such as `aws_iam.Role.from_role_name(…)`"
            raise TypeError(f"`grantee` is {given}, to which nothing can be granted; {fix}")
        granted = cdk.aws_iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[*self._invoke_actions()],
            resource_arns=[self.endpoint_arn, *self._component_arns()],
        )
        if self._has_openai_route() if openai_route is None else openai_route:
            granted = granted.combine(
                cdk.aws_iam.Grant.add_to_principal(
                    grantee=grantee, actions=[CALL_WITH_TOKEN], resource_arns=["*"]
                )
            )
        self._warn_of_another_account(settled(grantee.grant_principal.principal_account))
        return granted

    def _warn_of_another_account(self, account: str | None) -> None:
        """CDK reports success for a role of another account, to which it attaches nothing."""
        own = settled(self.env.account)
        if None in (account, own) or account == own:
            return
        message = (
            f"the right to invoke {self._known_name()} has no effect: it is granted to the account {account}"
        )
        fix = (
            "name the caller under `invokers: {role: {trusted: …}}` in the spec, and let it assume that role"
        )
        cdk.Annotations.of(self).add_warning_v2(NO_RIGHT, f"{NO_RIGHT}: {message}; {fix}")

    def metric(self, metric_name: str, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """A metric that SageMaker publishes for the endpoint, by AWS's name for it.

        Namespace, dimensions and unit follow from the name. Latencies are in microseconds; GPUUtilization and
        CPUUtilization are sums over an instance's devices, up to 100 % for each. The metric carries the
        endpoint's account and region: dashboards elsewhere can show it, alarms in another region cannot use
        it. https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html

        Raises:
            TypeError: when ``options`` has a key that :class:`MetricOptions` does not have.
            ValueError: when an endpoint of this kind does not publish the metric, or when several of its
                variants or inference components do and none is chosen.
        """
        chosen = _chosen(options)
        part = {name: chosen.pop(name, None) for name in ("variant_name", "inference_component")}
        wanted = WantedMetric(metric_name, **part)
        metric, dimensions = metric_with_dimensions(wanted, self._publishers(), self._hosting())
        unit = named_unit(metric)
        usual = {
            "dimensions_map": {name: for_cdk(value) for name, value in dimensions.items()},
            "statistic": metric.statistic,
            "period": cdk.Duration.seconds(ALARM_PERIOD.value),
            "unit": None if unit is None else cdk.aws_cloudwatch.Unit[unit.upper()],
            # As CDK's `attach_to` sets them: graphs and alarms in the same place do not name it.
            "stack_account": settled(self.env.account),
            "stack_region": settled(self.env.region),
        }
        return cdk.aws_cloudwatch.Metric(
            namespace=metric.namespace, metric_name=metric.name, **{**usual, **chosen}
        )

    def metric_invocations(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Number of requests."""
        return self.metric("Invocations", **options)

    def metric_model_latency(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Time that the container took to answer, in microseconds."""
        return self.metric("ModelLatency", **options)

    def metric_overhead_latency(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Time that SageMaker added to a request, in microseconds."""
        return self.metric("OverheadLatency", **options)

    def metric_client_errors(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Requests that were answered with a 4xx status."""
        return self.metric("Invocation4XXErrors", **options)

    def metric_server_errors(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Requests that were answered with a 5xx status."""
        return self.metric("Invocation5XXErrors", **options)

    def metric_gpu_utilization(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Use of an instance's GPUs in percent, up to 100 for each GPU."""
        return self.metric("GPUUtilization", **options)

    def metric_gpu_memory_utilization(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Use of the memory of an instance's GPUs in percent, up to 100 for each GPU."""
        return self.metric("GPUMemoryUtilization", **options)

    def metric_cpu_utilization(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Use of an instance's vCPUs in percent, up to 100 for each vCPU."""
        return self.metric("CPUUtilization", **options)

    def metric_memory_utilization(self, **options: Unpack[MetricOptions]) -> cdk.aws_cloudwatch.Metric:
        """Use of an instance's memory in percent."""
        return self.metric("MemoryUtilization", **options)


def _chosen(options: MetricOptions) -> dict[str, Any]:
    """The given options, checked: types are not checked at run time, and a dropped option goes unnoticed."""
    known = sorted(MetricOptions.__optional_keys__)
    for name in options:
        if name not in known:
            hint = did_you_mean_then(name, known, "it has those of MetricOptions")
            raise TypeError(f"a metric has no option '{name}'; {hint}")
    return {name: value for name, value in options.items() if value is not None}
