"""Generates docs/metrics.md and docs/images.md: the names that a spec may write, and the default alarms."""

from collections.abc import Iterator
from typing import get_args

from inferstack.catalog import images, metrics
from inferstack.facts.alarms import evaluation
from inferstack.facts.kinds import KINDS
from inferstack.format.alarms import AlarmRule
from inferstack.format.default_alarms import DEFAULT_ALARMS
from inferstack.format.defaults import GPU_MEMORY_TAKEN, VARIABLES_OF_GPU_MEMORY_TAKERS
from tools.generated_files import ROOT, Contents, generated_by
from tools.markdown import cell, table

METRICS = ROOT / "docs" / "metrics.md"
IMAGES = ROOT / "docs" / "images.md"

_GENERATED = generated_by("lists")
_METRICS_TOP = f"""\
# Metrics

{_GENERATED}

`metric:` in `autoscaling` and in `alarms` takes AWS's own name; namespace, dimension and unit follow from it.
A metric that the endpoint does not publish is refused: a policy would never do anything
([IS512](codes.md#is512)), and an alarm would stay in INSUFFICIENT_DATA ([IS801](codes.md#is801)).
A `metric:` on requests to a variant with inference components is warned of: AWS lists such metrics, but on
live endpoints only the components were found to have them ([IS524](codes.md#is524), [IS849](codes.md#is849)).
The dashboard does not draw them.

AWS lists `FirstChunkLatency` and its like for bidirectional streams only. Nobody has shown data for what
InvokeEndpointWithResponseStream answers, so an alarm of a language model on one of them is warned of
([IS352](codes.md#is352)); its engine has [metrics of its own](language-models.md#what-to-watch).

Write metrics of your own as in CloudFormation: in `alarms.rules` and `step_policies` as `namespace`,
`metric_name`, `dimensions` and `statistic`, or as `metrics` with an expression over several; in `policies` as
`customized_metric_specification`.

```yaml
alarms:
  rules:
    - namespace: Acme/Serving
      metric_name: QueueDepth
      dimensions: [{{name: Service, value: scores}}]
      statistic: Maximum
      threshold: 500
    - metrics:
        - id: wrong
          metric_stat: {{metric: {{namespace: Acme, metric_name: Wrong}}, stat: Sum, period: 300}}
          return_data: false
        - id: answers
          metric_stat: {{metric: {{namespace: Acme, metric_name: Answers}}, stat: Sum, period: 300}}
          return_data: false
        - {{id: wrong_share, expression: wrong / answers * 100}}
      threshold: 5
```

For such an alarm to undo updates, refer to it by the metric's name, or for an expression by the `id` of what
it returns (`auto_rollback_configuration: {{alarms: [{{metric: wrong_share}}]}}`). To undo updates of an
inference component, the alarm's rule must name the component with `inference_component`.
"""
_SCALING_TOP = """\
## Predefined for target tracking

Application Auto Scaling computes these itself: write `metric: NAME` in `autoscaling`, nothing else.

AWS does not say whether requests to an adapter count in the metrics of its base, too. If not, a policy on
requests takes a base for idle while only its adapters are asked. `GPUUtilizationNormalized` of the base is
about the GPUs of its copies, whichever of them is asked: if your test shows that the others miss adapters,
follow that.
"""
_KINDS_TOP = """\
## Kinds

What each kind of spec runs on its instances, which metrics it publishes, and what can scale. Asynchronous and
serverless endpoints have metrics of their own, in the sections below. *Requests at once* is drawn where an
engine of language models is known to run.
"""
_ALARMS_TOP = """\
## Default alarms

The alarms that an endpoint has unless its spec says `alarms: {defaults: false}`. A rule of your own on a
metric replaces the default for it; with `variant_name` or `inference_component`, only the one for that
variant or component. Without `alarms.actions`, an alarm only changes its state and notifies nobody.

The last two columns say on which healthy endpoint the alarm would always be on, and what keeps it from there,
and on which sick endpoint it stays off.
"""
_TAKEN_TOP = f"""\
An adapter runs in the container of its base and on the base's copies. It has a default alarm on
`Invocation5XXErrors`, one on `NoCapacityInvocationFailures` if its base may go to zero copies, and none on
memory, which the base's alarms watch. A rule of your own without `inference_component` covers adapters too.

A multi-model endpoint, or a pipeline with a multi-model container, has a default alarm on memory, disk and
GPU memory only with `model_cache_setting: Disabled`. Otherwise SageMaker [keeps
models](https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-caching.html) until there is no room for
another one, so all three are nearly full in normal operation.

A variant or an inference component has no default alarm on GPU memory if its image's name contains one of
the words below, or if the image is given by its URI and a variable in its environment begins with one of
{", ".join(f"`{it}`" for it in VARIABLES_OF_GPU_MEMORY_TAKERS)}.
Such a server takes most of the GPU's memory when it starts, and the CUDA context comes on top of that, so the
alarm would always be on. Nor is there one where nothing says what runs: for model packages, models of a hub,
models that exist already, and images whose name comes from elsewhere. If you want one, write a rule in
`alarms.rules`.
"""
_TITLES = {
    "instances": "One model per variant, on instances",
    "multi-model": "Multi-model",
    "inference-components": "Inference components",
    "async": "Asynchronous",
    "serverless": "Serverless",
}
_IMAGES_TOP = f"""\
# Images

{_GENERATED}

`image: {{framework: NAME, version: "VERSION"}}` becomes the URI of AWS's own image in the stack's region, for
the processor of the instance type. Write any other image as its full URI.

Some versions have several builds, such as `djl-lmi` 0.36.0. The spec then gets the one that AWS's SDK has
for the version, which need not be the newest, and with a later inferstack perhaps another. To choose a build,
write it as the version where the table has it (`0.36.0-lmi28.0.0`),
else the URI that `inferstack render` shows.
"""


def metrics_page() -> str:
    """The metrics that each kind of endpoint publishes, and those predefined for target tracking."""
    return "\n".join(
        [_METRICS_TOP, _kinds_section(), _alarms_section(), _scaling_section(), *_hosting_sections()]
    )


def _minutes(rule: AlarmRule) -> str:
    found = evaluation(rule)
    return str(found.evaluation_periods * found.period // 60)


def _kinds_section() -> str:
    rows = [
        (
            f"`{it.name}`",
            it.hosts,
            _TITLES[it.publishes],
            ", ".join(f"`{dimension}`" for dimension in sorted(it.scales)),
            ", ".join(f"`{alarm.rule.metric}`" for alarm in it.alarms),
            ", ".join(widget.title for widget in it.shows),
        )
        for it in KINDS
    ]
    heads = ("Kind", "Hosts", "Metrics", "Scales", "Default alarms on", "Graphs")
    return f"{_KINDS_TOP}\n{table(heads, rows)}"


def _alarms_section() -> str:
    alarms = [
        (
            f"`{it.rule.metric}`",
            str(it.rule.statistic),
            str(it.rule.threshold),
            _minutes(it.rule),
            "; ".join(_TITLES[one].lower() for one in get_args(metrics.Hosting) if one in it.hostings),
            cell(it.reason),
            cell(it.false_alarm),
            cell(it.blind_spot),
        )
        for it in DEFAULT_ALARMS
    ]
    taken = [
        (f"`{word}`", f"{it.value:.0%}", cell(f"{it.reason} [Source]({it.source})"))
        for word, it in GPU_MEMORY_TAKEN.items()
    ]
    heads = (
        "Metric",
        "Statistic",
        "Limit",
        "Minutes",
        "Endpoints",
        "Reason",
        "Healthy, yet on",
        "Sick, yet off",
    )
    of_alarms = f"{_ALARMS_TOP}\n{table(heads, alarms)}"
    return f"{of_alarms}\n{_TAKEN_TOP}\n{table(('In the name', 'Share', 'What sets it'), taken)}"


def _scaling_section() -> str:
    rows = [
        (f"`{one.name}`", f"`{one.scalable_dimension}`", cell(one.description))
        for one in metrics.PREDEFINED_SCALING_METRICS
    ]
    return f"{_SCALING_TOP}\n{table(('Metric', 'Scales', 'Meaning'), rows)}"


def _hosting_sections() -> Iterator[str]:
    heads = ("Metric", "Of each", "Unit", "Statistic", "Meaning")
    for hosting in get_args(metrics.Hosting):
        found = [one for name in metrics.names(hosting) for one in metrics.find(name, hosting)]
        rows = [
            (f"`{one.name}`", one.dimensions, one.unit, one.statistic, cell(one.description)) for one in found
        ]
        yield f"## {_TITLES[hosting]}\n\n{table(heads, rows)}"


def images_page() -> str:
    """Every framework with its versions."""
    rows = [
        (f"`{framework}`", ", ".join(f"`{version}`" for version in images.versions(framework)))
        for framework in images.frameworks()
    ]
    return f"{_IMAGES_TOP}\n{table(('Framework', 'Versions'), rows)}"


def generate() -> Contents:
    return {METRICS: metrics_page(), IMAGES: images_page()}
