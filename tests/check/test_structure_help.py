"""The fix for a spec with a wrong structure says what to write, and where."""

import json
import re
from pathlib import Path

import pytest
from support.checking import check_file

from inferstack.check.structure.other_names import NAMED_BY, NOT_A_KEY_HERE
from inferstack.check.structure.patterns import WHAT_A_PATTERN_MEANS
from inferstack.check.structure.validator import has_form
from inferstack.check.structure.words_of_aws import ELSEWHERE_CALLED
from inferstack.format.schema import allowed_at, kind_definitions, shipped_schema, shipped_schema_text

SINGLE = """\
kind: single-model
endpoint_name: ranker
model:
  image: {framework: triton, version: "25.09"}
  model_data_url: s3://acme-models/ranker/model.tar.gz
variant:
  instance_type: ml.m5.xlarge
  initial_instance_count: 2
"""
COMPONENT = """\
kind: inference-components
endpoint_name: ranker
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 2}
inference_components:
  ranker:
    specification:
      container: {image: 'acme/ranker:1', artifact_url: s3://acme-models/ranker/model.tar.gz}
"""
AT_THE_TOP = "write it at the top of the spec, without indentation"


def fixes(folder: Path, text: str) -> list[str]:
    path = folder / "spec.yaml"
    path.write_text(text, "utf-8")
    return [problem.fix for problem in check_file(path)]


def fix(folder: Path, text: str) -> str:
    found = fixes(folder, text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "home"),
    [
        (f"{SINGLE}deployment_config: {{}}\n", "endpoint"),
        (f"{SINGLE}  min_capacity: 2\n", "autoscaling"),
        (f"{SINGLE}model_cache_setting: Enabled\n", "model.multi_model_config"),
        (f"{SINGLE}  image: acme/ranker\n", "model"),
        (f"{COMPONENT}      triton: {{}}\n", "container"),
        (f"{COMPONENT}    compute_resource_requirements: {{}}\n", "specification"),
    ],
)
def test_a_key_of_another_block_is_sent_there(text: str, home: str, tmp_path: Path) -> None:
    assert f"write it under `{home}`" in fixes(tmp_path, text)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("max_concurrency: 5", "write it under `variant.serverless_config`"),
        ("sample_payload_url: s3://acme/p.tar.gz", "write it under `load_test`"),
    ],
)
def test_a_key_belongs_to_a_job_only_if_nothing_else_has_it(key: str, said: str, tmp_path: Path) -> None:
    assert fix(tmp_path, f"{SINGLE}{key}\n") == said


def test_a_key_is_not_sent_to_where_it_stands(tmp_path: Path) -> None:
    # A model may have the name of a key of models.
    named = SINGLE.replace("model:\n", "models:\n image:\n").replace(
        "  model_data", "  framework: triton\n  model_data"
    )
    assert fix(tmp_path, named.replace("variant:", "variant:\n  model_name: image")).startswith(
        "allowed: image, "
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{SINGLE}inference_components: {{}}\n",
            "it is for `kind: inference-components`: change `kind`, or write `model`",
        ),
        (
            f"{COMPONENT}model: {{image: 'acme/ranker:1'}}\n",
            "or write it under `models`, and its name there as `specification.model_name` of an inference component",
        ),
        (
            f"{COMPONENT}shadow_variants: []\n",
            "`kind: ensemble` or `kind: pipeline`: change `kind`, or remove it",
        ),
    ],
)
def test_a_key_of_another_kind_says_of_which(text: str, said: str, tmp_path: Path) -> None:
    (found,) = [fix for fix in fixes(tmp_path, text) if fix.startswith("it is for `kind: ")]
    assert said in found


@pytest.mark.parametrize(
    ("text", "keys", "said"),
    [
        (SINGLE.replace("model:", "models:"), "`image` and `model_data_url`", "for one model write `model:`"),
        (
            COMPONENT.replace("container: {image: 'acme/ranker:1', ", "model_name: net #")
            + "      compute_resource_requirements: {min_memory_required_in_mb: 1024}\n"
            + "models: {image: 'acme/ranker:1'}\n",
            "`image`",
            "write them under the model's name: `models: {NAME: {image: …}}`",
        ),
        (
            COMPONENT.replace("  ranker:\n    spec", "    spec"),
            "`specification`",
            "`inference_components: {NAME: {specification: …}}`",
        ),
    ],
)
def test_what_one_block_holds_is_not_taken_for_several_by_name(
    text: str, keys: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text, "utf-8")
    (problem,) = check_file(path)
    assert problem.message.endswith(f" by name, but this has the keys of a single one: {keys}")
    assert said in problem.fix


def test_a_model_that_is_called_like_a_key_is_let_be(tmp_path: Path) -> None:
    named = f"{SINGLE}models:\n  image: {{}}\nfoo: 1\n"
    assert not any(fix.startswith("for one model") for fix in fixes(tmp_path, named))


@pytest.mark.parametrize("key", ["KmsKeyId", "kmsKeyID"])
def test_a_key_in_another_spelling_stays_in_its_block(key: str, tmp_path: Path) -> None:
    # A block further down has it, too, but there it would encrypt something else.
    said = fix(tmp_path, f"{SINGLE}endpoint_config: {{{key}: alias/models}}\n")
    assert said.startswith("did you mean `kms_key_id`?")


def test_a_key_that_several_blocks_have_is_sent_to_none(tmp_path: Path) -> None:
    assert "write it under" not in fix(tmp_path, f"{SINGLE}policy_name: busy\n")


def test_a_key_without_its_last_word_is_no_slip_of_another(tmp_path: Path) -> None:
    metric = "{namespace: Acme, metric: Busy, statistic: Average}"
    scaling = f"{{min_capacity: 1, max_capacity: 2, policies: [{{target_value: 5, customized_metric_specification: {metric}}}]}}"
    assert fix(tmp_path, f"{SINGLE}autoscaling: {scaling}\n").startswith("did you mean `metric_name`? ")


def test_a_slip_of_the_pen_is_corrected_before_another_block_is_named(tmp_path: Path) -> None:
    assert fix(tmp_path, f"{SINGLE}  autoscalling: {{}}\n").startswith("did you mean `autoscaling`?")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (COMPONENT.replace("artifact_url", "model_data_url"), "it is called `artifact_url` here"),
        (
            COMPONENT.replace("artifact_url", "model_data_source"),
            "write the URL of a tar.gz as `artifact_url`; plain files are for a model under `models`, "
            "which `model_name` names instead of `container`",
        ),
        (
            COMPONENT.replace("artifact_url", "model_package_name"),
            "a model package is for a model under `models`, which `model_name` names instead of `container`",
        ),
        (
            COMPONENT.replace("artifact_url", "model_package"),
            "a model package is for a model under `models`, which `model_name` names instead of `container`",
        ),
        (SINGLE.replace("model_data_url", "version"), "write it under `image` or `model_package`"),
        (
            COMPONENT.replace("artifact_url", "image_config"),
            "a private registry is for a model under `models`, which `model_name` names instead of `container`",
        ),
        (SINGLE.replace("model_data_url", "artifact_url"), "it is called `model_data_url` here"),
        (
            f"{SINGLE}  managed_instance_scaling: {{min_capacity: 1}}\n",
            "it is called `min_instance_count` here",
        ),
        (f"{SINGLE}autoscaling: {{min_instance_count: 1}}\n", "it is called `min_capacity` here"),
        (
            SINGLE.replace("  image", "  primary_container: {}\n  image"),
            "write its contents in the model itself",
        ),
        (
            f"{COMPONENT}    inference_component_name: ranker\n",
            "remove it: its name is the key it is written under",
        ),
        (f"{COMPONENT}    name: ranker\n", "remove it: its name is the key it is written under"),
        (
            SINGLE.replace("  image", "  mode: MultiModel\n  image"),
            "remove it: `kind` sets it, `kind: multi-model` for MultiModel, `kind: single-model` for SingleModel",
        ),
        (f"{SINGLE}  name: main\n", "it is called `variant_name` here"),
        (f"{SINGLE}name: ranker\n", "it is called `endpoint_name` here"),
        (f"{SINGLE}endpoint: {{name: ranker}}\n", "write `endpoint_name` at the top of the spec"),
        (
            f"{SINGLE}endpoint_config: {{endpoint_config_name: ranker}}\n",
            "remove it: endpoint configurations are not named, so that an update can create the new one alongside the old one",
        ),
        (SINGLE.replace("  image", "  triton: {}\n  image"), AT_THE_TOP),
        (SINGLE.replace("  image", "  alarms: {}\n  image"), AT_THE_TOP),
        (f"{SINGLE}  models: {{}}\n", AT_THE_TOP),
        *(
            (
                f"{COMPONENT}models: {{ranker: {{image: 'acme/ranker:1', {key}: ranker}}}}\n",
                "remove it: models are not named, so that an update can create the new one alongside the old one; "
                "under `models`, the key is what variants and components name",
            )
            for key in ("name", "model_name")
        ),
        *(
            (
                SINGLE.replace("  image", f"  {key}: ranker\n  image"),
                "remove it: models are not named, so that an update can create the new one alongside the old one; "
                "under `models`, the key is what variants and components name",
            )
            for key in ("name", "model_name")
        ),
    ],
)
def test_a_key_by_the_name_of_another_block_is_called_by_its_own(
    text: str, said: str, tmp_path: Path
) -> None:
    assert said in fixes(tmp_path, text)


@pytest.mark.parametrize("value", ["{method: mtp}", "[a, b]", "[]"])
def test_a_variable_of_a_container_is_one_text(value: str, tmp_path: Path) -> None:
    text = SINGLE.replace("model:", f"model:\n  environment: {{SPECULATIVE: {value}}}")
    assert fix(tmp_path, text) == """write what the container reads, as one text: '{"key": "value"}'"""


SCALED = f"{SINGLE}autoscaling: {{min_capacity: 1, max_capacity: 2, POLICIES}}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{SINGLE}ProductionVariants: []\n", "it is called `variants` here"),
        (f"{SINGLE}DeploymentConfig: {{}}\n", "write it under `endpoint`"),
        (f"{SINGLE}dataCaptureConfig: {{}}\n", "write it under `endpoint_config`"),
        (
            SINGLE.replace("model:", "model:\n  PrimaryContainer: {}"),
            "write its contents in the model itself",
        ),
        (SINGLE.replace("model:", "model:\n  Mode: MultiModel"), "remove it: `kind` sets it"),
        (SINGLE.replace("model:", "model:\n  Env: {}"), "it is called `environment` here"),
        (SINGLE.replace("model:", "model:\n  AdditionalModelDataSources: []"), "remove it"),
        (
            SINGLE.replace("model:", "model:\n  jumpstart_model_id: meta-llm"),
            "JumpStart IDs are not looked up",
        ),
        (SINGLE + "log_group: {retention_in_days: 30}\n", "remove it: SageMaker creates the log groups; "),
        (SINGLE + "termination_protection: true\n", "remove it: `aws cloudformation update-term"),
        (f"{SINGLE}ExecutionRoleArn: arn\n", "it is called `execution_role` here"),
        (
            SINGLE.replace("model:", "model:\n  role: arn"),
            "write the role's ARN as `execution_role` at the top",
        ),
        (
            SINGLE.replace("model:", "model:\n  execution_role: arn"),
            "write the role's ARN as `execution_role` at",
        ),
        (
            f"{SINGLE}endpoint_config: {{role_arn: arn}}\n",
            "write the role's ARN as `execution_role` at the top",
        ),
        (
            SINGLE.replace("framework: triton", "framework: triton, image_scope: inference"),
            "remove it: only images for inference are meant",
        ),
        (
            f"{SINGLE}endpoint_config: {{ProductionVariants: []}}\n",
            "write them at the top of the spec, as `variants`",
        ),
        (f"{SINGLE}endpoint_config: {{serverless_config: {{}}}}\n", "write it under `variant`"),
        (
            f"{SINGLE}endpoint: {{EndpointConfigName: x}}\n",
            "remove it: endpoint configurations are not named",
        ),
        (f"{SINGLE}VpcConfig: {{}}\n", "write it under `model`"),
        (f"{COMPONENT}VpcConfig: {{}}\n", "write it under `endpoint_config`"),
        (f"{COMPONENT}    EndpointName: x\n", "remove it: it is the endpoint of the spec"),
        (
            SCALED.replace("POLICIES", "policies: [{target_value: 3, PredefinedMetricSpecification: {}}]"),
            "write its `predefined_metric_type` as `metric`",
        ),
        (
            SCALED.replace("POLICIES", "policies: [{policy_type: StepScaling, target_value: 3}]"),
            "remove it: `policies` track a target, and `step_policies` take steps",
        ),
        (f"{SINGLE}alarms: {{rules: [{{AlarmActions: []}}]}}\n", "it is called `actions` here"),
        (f"{SINGLE}alarms: {{rules: [{{severity: 2}}]}}\n", "write what an alarm of this severity notifies"),
        (f"{SINGLE}alarms: {{rules: [{{metric_query: []}}]}}\n", "it is called `metrics` here"),
        (f"{SINGLE}alarms: {{rules: [{{runbook: x}}]}}\n", "it is called `alarm_description` here"),
        (
            f"{SINGLE}alarms: {{enabled: false}}\n",
            "write `alarms: false` for no alarms, or `actions: []`",
        ),
        (f"{SINGLE}alarms: {{ActionsEnabled: false}}\n", "did you mean `actions_enabled`?"),
        (f"{SINGLE}alarms: {{rules: [{{ActionsEnabled: false}}]}}\n", "did you mean `actions_enabled`?"),
        (
            f"{SINGLE}alarms: {{rules: [{{ThresholdMetricId: band}}]}}\n",
            "remove it: there is no anomaly detection",
        ),
        (
            SCALED.replace("POLICIES", "step_policies: [{metric: CPUUtilization, AlarmActions: []}]"),
            "it is called `actions` here",
        ),
    ],
)
def test_the_words_of_cloudformation_lead_to_those_of_a_spec(text: str, said: str, tmp_path: Path) -> None:
    assert [fix for fix in fixes(tmp_path, text) if fix.startswith(said)]


@pytest.mark.parametrize("written", ["${Stage}", "$stage", "{stage}", "{{ stage }}", "${{ stage }}"])
def test_a_stage_written_in_another_way_is_recognized(written: str, tmp_path: Path) -> None:
    (fix,) = fixes(tmp_path, SINGLE.replace("name: ranker", f"name: 'ranker-{written}'"))
    assert fix.startswith("did you mean `${stage}`? write letters and digits")


def test_a_stage_that_stays_in_a_text_is_recognized(tmp_path: Path) -> None:
    (fix,) = fixes(tmp_path, SINGLE.replace("ranker/model", "${Stage}/model"))
    assert fix.startswith("did you mean `${stage}`? write what it stands for")
    (fix,) = fixes(tmp_path, SINGLE.replace("ranker/model", "$stage/model"))
    assert fix.startswith("did you mean `${stage}`? what is filled in")
    assert fixes(tmp_path, SINGLE.replace("ranker/model", "$stages/model")) == []


def test_one_word_for_a_block_of_one_choice_becomes_the_choice(tmp_path: Path) -> None:
    text = SINGLE.replace("single-model", "pipeline").replace(
        "  image", "  inference_execution_config: {}\n  image"
    )
    for found, written in (("serial", "Serial"), ("parallel", "…")):
        assert f"write `{{mode: {written}}}`" in fixes(tmp_path, text.replace("{}", found))


@pytest.mark.parametrize("block", ELSEWHERE_CALLED)
def test_a_word_of_aws_stands_for_a_key_of_the_format(block: str) -> None:
    """Its path leads to a key, from the block, or else from the top of a spec of any kind."""
    keys = shipped_schema()["$defs"][block]["properties"]
    for word, path in ELSEWHERE_CALLED[block].items():
        assert word not in keys
        first, *_ = steps = tuple(path.split("."))
        for definition in [block] if first in keys else kind_definitions().values():
            assert allowed_at(definition, steps), path


# Word by word what people wrote, and where similarity, or the only block with such a key, led them.
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{SINGLE}role: arn\n", "it is called `execution_role` here"),
        (f"{SINGLE}model_data: s3://acme-models/m.tar.gz\n", "write it as `model_data_url` under `model`"),
        (f"{SINGLE}instance_count: 2\n", "write it as `initial_instance_count` under `variant`"),
        (f"{SINGLE}volume_kms_key_id: k\n", "write it as `kms_key_id` under `endpoint_config`"),
        (f"{SINGLE}  kms_key_id: k\n", "write it under `endpoint_config`"),
        (f"{SINGLE}  num_instances: 2\n", "it is called `initial_instance_count` here"),
        (SINGLE.replace("model:", "model:\n  framework_version: '1'"), "write it as `version` under `image`"),
        (
            SINGLE.replace("model:", "model:\n  model_package_group_name: g"),
            "write it as `group` under `model_package`",
        ),
        (
            f"{SINGLE}endpoint_config: {{async_inference_config: {{output_path: s3://acme-out/a}}}}\n",
            "write it as `s3_output_path` under `output_config`",
        ),
        (
            f"{SINGLE}endpoint_config: {{async_inference_config: {{success_topic: t}}}}\n",
            "write it under `output_config.notification_config`",
        ),
        (
            f"{SINGLE}endpoint: {{canary_size: 1}}\n",
            "write it under `deployment_config.blue_green_update_policy.traffic_routing_configuration`",
        ),
        (
            f"{SINGLE}autoscaling: {{min_capacity: 1, max_capacity: 2, policies: [{{metric_name: CPUUtilization, "
            "target_value: 240}]}\n",
            "it is called `metric` here",
        ),
        (f"{SINGLE}execution_role: {{policies: []}}\n", "it is called `statements` here"),
        (f"{SINGLE}execution_role: {{role_name: r}}\n", "remove it: the role is not named"),
        (f"{SINGLE}entry_point: inference.py\n", "put the code into the archive"),
        (f"{COMPONENT}    env: {{}}\n", "write it as `environment` under `specification.container`"),
        (f"{COMPONENT}    copies: 2\n", "write it as `copy_count` under `runtime_config`"),
        (f"{COMPONENT}image_uri: i\n", "write it as `image` in the `container` of an inference component"),
    ],
)
def test_a_word_of_the_sdk_is_looked_up_before_similar_ones(text: str, said: str, tmp_path: Path) -> None:
    found = fixes(tmp_path, text)
    assert [it for it in found if it.startswith(said)], found


def test_what_a_word_of_the_sdk_sets_is_not_missing(tmp_path: Path) -> None:
    text = f"{SINGLE}endpoint_config: {{async_inference_config: {{output_path: s3://acme-out/a}}}}\n"
    assert fix(tmp_path, text) == "write it as `s3_output_path` under `output_config`"


@pytest.mark.parametrize(("block", "key"), NAMED_BY.items())
def test_a_block_has_the_key_that_its_name_is_called_by(block: str, key: str) -> None:
    keys = shipped_schema()["$defs"][block]["properties"]
    assert key in keys
    assert "name" not in keys


def test_a_block_that_says_it_has_no_such_key_has_none() -> None:
    blocks = shipped_schema()["$defs"]
    said = [(block, key) for block, keys in NOT_A_KEY_HERE.items() for key in keys]
    assert [(block, key) for block, key in said if key in blocks[block]["properties"]] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("alarms: {rules: [[]]}\n", "write keys under it: threshold, also metric, "),
        ("alarms: {actions: 'arn:aws:sns:us-east-1:111122223333:on-call'}\n", "[arn:aws:sns:us-east-1:"),
        (
            "alarms: {actions: my-topic}\n",
            "write a list; each entry is the ARN of a topic, function, OpsItem, response plan, investigation group "
            "or scaling policy: arn:aws:sns:",
        ),
        (
            "endpoint_config: {data_capture_config: {destination_s3_uri: s3://acme-captures/all, "
            "initial_sampling_percentage: 5, capture_options: input}}\n",
            "write it as an entry: [{capture_mode: Input}]",
        ),
        (
            "endpoint_config: {data_capture_config: {destination_s3_uri: s3://acme-captures/all, "
            "initial_sampling_percentage: 5}}\n",
            "add `capture_options`, a list of `{capture_mode: …}`: ",
        ),
        ("tags: [a]\n", "write `key: value`, one per line"),
        ("tags: [{Key: team, Value: ml}]\n", "write `key: value`, one per line"),
        (
            "execution_role: {statements: [{action: ['s3:Get*'], resource: ['arn:aws:s3:::acme-models/*'], "
            "condition: {StringEquals: [{a: b}]}}]}\n",
            "write `key: value`, one per line",
        ),
        (
            "triton: {models: [{name: a, backend: python}]}\n",
            "write each under its name, without a list: `NAME:`",
        ),
        ("alarms: [{metric: ModelLatency}]\n", "write the list under `rules`"),
        ("execution_role: [[]]\n", "write keys under it: "),
        (
            "autoscaling: [{metric: GPUUtilization}]\n",
            "write the list under `policies`, `step_policies` or `scheduled_actions`",
        ),
        (
            "autoscaling: [{variant_name: AllTraffic, min_capacity: 1, max_capacity: 2}]\n",
            "it is one block: write its keys under it, without a list",
        ),
        (
            "triton: {models: {a: {backend: python, dynamic_batching: true}}}\n",
            "; or `{}` for defaults alone",
        ),
        ("triton: {models: {a: {backend: python, dynamic_batching: }}}\n", "; or `{}` for defaults alone"),
    ],
)
def test_a_mapping_that_is_none_is_shown_how_to_be_one(more: str, said: str, tmp_path: Path) -> None:
    assert said in fix(tmp_path, SINGLE + more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "variants: {Old: {model_name: a}, New: {model_name: b}}\n",
            "write a list: `- variant_name: Old` and its keys below `variant_name`, one item for each",
        ),
        (
            "autoscaling: {min_capacity: 1, max_capacity: 2, policies: {metric: CPUUtilization, target_value: 5}}\n",
            "write a list: `- metric: …`, and the other keys below `metric`",
        ),
        (
            "alarms: {rules: {Slow: {metric: ModelLatency}}}\n",
            "write a list: [a, b] or one `- item` per line",
        ),
        ("alarms: {rules: {}}\n", "write a list: [a, b] or one `- item` per line"),
    ],
)
def test_a_mapping_that_should_be_a_list_of_blocks_is_shown_as_one(
    more: str, said: str, tmp_path: Path
) -> None:
    assert said in fixes(tmp_path, SINGLE + more)


def test_dimensions_by_name_are_shown_as_the_list_that_they_are(tmp_path: Path) -> None:
    # In Terraform and CDK, dimensions are a mapping.
    rule = "namespace: Acme, metric_name: Depth, threshold: 5, dimensions: {Queue: in, Zone: a}"
    listed = '[{name: "Queue", value: "in"}, {name: "Zone", value: "a"}]'
    assert fix(tmp_path, f"{SINGLE}alarms: {{rules: [{{{rule}}}]}}\n") == f"write a list: {listed}"


def test_a_value_of_several_types_is_shown_how_to_be_one_of_them(tmp_path: Path) -> None:
    assert fix(tmp_path, f"{SINGLE}alarms: yes\n").startswith("write true or false: ")
    # As a text, it would not be an image either.
    assert fix(tmp_path, SINGLE.replace('{framework: triton, version: "25.09"}', "25.09")).startswith(
        "write keys"
    )


def test_a_slip_in_the_key_that_decides_all_others_is_seen(tmp_path: Path) -> None:
    for slip in ("Kind", "knd"):
        written = SINGLE.replace("kind:", f"{slip}:")
        assert fix(tmp_path, written) == f"instead of `{slip}` write `kind: single-model`"
        unclear = written.replace("single-model", "model")
        assert fix(tmp_path, unclear).startswith(f"instead of `{slip}` write `kind:` with `single-model`, ")
    assert fix(tmp_path, SINGLE.replace("kind:", "endpoint:")).startswith("add `kind:`")


def test_an_unknown_key_of_an_entry_is_said_of_the_entry(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"{SINGLE}alarms: {{rules: [{{metric: ModelLatency, threshold: 5 s, colour: red}}]}}\n")
    (problem,) = check_file(path)
    assert problem.message == "unknown key `colour` in an entry of `rules`"


@pytest.mark.parametrize(
    ("key", "where"),
    [
        ("target", "write it as `target_value` in an entry of `policies`"),
        ("metric", "write it in an entry of `policies`"),
        ("PredefinedMetricType", "write the type of the metric as `metric` in an entry of `policies`"),
    ],
)
def test_what_belongs_into_a_policy_is_sent_there(key: str, where: str, tmp_path: Path) -> None:
    scaling = f"autoscaling: {{min_capacity: 2, max_capacity: 4, {key}: CPUUtilization}}\n"
    assert fix(tmp_path, SINGLE + scaling) == where


def test_defaults_alone_are_no_way_out_where_a_key_is_needed(tmp_path: Path) -> None:
    assert "defaults alone" not in fix(tmp_path, f"{SINGLE}autoscaling:\n")


@pytest.mark.parametrize("found", ["60 %", "60%", "10m", "1.5 s", "10 per second"])
def test_a_number_with_a_unit_is_asked_to_leave_it_out(found: str, tmp_path: Path) -> None:
    policy = f"{{metric: MemoryUtilization, target_value: {found}}}"
    scaling = f"autoscaling: {{min_capacity: 2, max_capacity: 4, policies: [{policy}]}}\n"
    assert fix(tmp_path, SINGLE + scaling) == "write a number without a unit"


@pytest.mark.parametrize(
    ("key", "found", "said"),
    [
        ("period", "1m", "write 60 (in seconds)"),
        ("period", "2 minutes", "write 120 (in seconds)"),
        ("period", "1.5 s", "write a whole number of seconds"),
        ("period", "60 %", "write a number of seconds, without a unit"),
        ("evaluation_periods", "5m", "write a number of periods, not a time"),
    ],
)
def test_a_number_with_a_unit_is_written_in_the_unit_of_its_key(
    key: str, found: str, said: str, tmp_path: Path
) -> None:
    rules = f"alarms: {{rules: [{{metric: Invocations, threshold: 5, {key}: {found}}}]}}\n"
    assert fix(tmp_path, SINGLE + rules) == said


@pytest.mark.parametrize(
    ("found", "said"),
    [("4GB", "write 4096 (in MB)"), ("2048 MiB", "write 2048 (in MB)"), ("1.5 GB", "write 1536 (in MB)")],
)
def test_memory_with_a_unit_is_written_in_megabytes(found: str, said: str, tmp_path: Path) -> None:
    variant = f"{{serverless_config: {{max_concurrency: 5, memory_size_in_mb: {found}}}}}"
    assert fix(tmp_path, f"{SINGLE.partition('variant:')[0]}variant: {variant}\n") == said


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            "async",
            "write `kind: single-model`, or another kind, and `async_inference_config` under `endpoint_config`",
        ),
        ("Serverless", "write `kind: single-model`, and `serverless_config` in the `variant`"),
        ("multi_container endpoint", "write `kind: pipeline`, and its containers under `model.containers`"),
        ("mme", "write `kind: multi-model`"),
        ("multi-modle", "did you mean `multi-model`?"),
        ("lambda", "allowed: single-model, multi-model, "),
    ],
)
def test_what_people_call_an_endpoint_leads_to_its_kind(kind: str, said: str, tmp_path: Path) -> None:
    assert fix(tmp_path, f"kind: {kind}\nendpoint_name: x\n").startswith(said)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("  enable_ssm_access: 'true'\n", "write it without quotes: true"),
        ("  enable_ssm_access: 'False'\n", "write it without quotes: false"),
        ("alarms: 'false'\n", "write it without quotes: false"),
        ("dashboard: 'true'\n", "write it without quotes: true"),
        ("  volume_size_in_gb: 20.0\n", "write 20"),
        ("  volume_size_in_gb: '20.0'\n", "write 20"),
        ("  volume_size_in_gb: 20.5\n", "write a whole number such as 20 or 21"),
        ("  volume_size_in_gb: '20'\n", "write it without quotes: 20"),
        (f"  volume_size_in_gb: '{'9' * 400}.5'\n", f"write it without quotes: {'9' * 400}.5"),
    ],
)
def test_a_value_that_only_looks_like_another_type_is_written_as_that_type(
    more: str, said: str, tmp_path: Path
) -> None:
    assert fix(tmp_path, SINGLE + more) == said


ENDPOINT = "arn:aws:sagemaker:us-east-1:111122223333:endpoint"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SINGLE.replace(": ranker\n", f": {ENDPOINT}/x\n"), f'`endpoint_name` is an ARN: "{ENDPOINT}/x"'),
        (
            SINGLE.replace(": ranker\n", f": {ENDPOINT}/{'x' * 20}\n"),
            f'`endpoint_name` is an ARN: "{ENDPOINT}/{"x" * 10}…"',
        ),
        (f"{SINGLE}  variant_name: {ENDPOINT}/x\n", f'`variant_name` is an ARN: "{ENDPOINT}/x"'),
        (COMPONENT.replace("  ranker:", f"  {ENDPOINT}/x:"), f"the name `{ENDPOINT}/x` is an ARN"),
    ],
)
def test_an_arn_in_the_place_of_a_name_is_called_one(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text, "utf-8")
    (problem,) = check_file(path)
    assert problem.message == said
    assert problem.fix.startswith("write only the name: x")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "endpoint_config: {async_inference_config: {output_config: {s3_output_path: s3://acme-models/out, "
            "notification_config: {success_topic: done}}}}\n",
            "write an SNS topic's ARN: arn:aws:sns:us-east-1:111122223333:name",
        ),
        (
            "alarms: {actions: ['arn:aws:automate:eu-west-1:ec2:stop']}\n",
            "write the ARN of a topic, function, OpsItem, response plan, investigation group or scaling policy: "
            "arn:aws:sns:us-east-1:111122223333:name",
        ),
        (
            "alarms: {rules: [{metric: ModelLatency, threshold: 1 s, statistic: tm(10%:90%)}]}\n",
            "write Average, Sum, Minimum, Maximum, SampleCount, IQM, one bound after a lowercase prefix (p99, tm90), "
            "or two in parentheses after an uppercase one (TM(10%:90%), TS(150:1000), PR(:300))",
        ),
        ("execution_role: ranker\n", "write a role's ARN: arn:aws:iam::111122223333:role/name"),
        (
            "execution_role: {managed_policy_arns: [Full]}\n",
            "write a managed policy's ARN: arn:aws:iam::aws:policy/name",
        ),
        (
            "execution_role: {kms_key_arns: [alias/mine]}\n",
            "write a KMS key's ARN: arn:aws:kms:us-east-1:111122223333:key/id",
        ),
    ],
)
def test_a_form_is_shown_as_it_looks(more: str, said: str, tmp_path: Path) -> None:
    assert said in fixes(tmp_path, SINGLE + more)


SHOWN = {
    it: meaning.rpartition(": ")[2].strip('"')
    for it, meaning in WHAT_A_PATTERN_MEANS.items()
    if ": " in meaning
}


@pytest.mark.parametrize(("pattern", "shown"), SHOWN.items())
def test_what_is_shown_of_a_form_has_it(pattern: str, shown: str) -> None:
    assert has_form(shown, pattern, None) or shown == "service:Action"


@pytest.mark.parametrize("pattern", WHAT_A_PATTERN_MEANS)
def test_the_format_has_each_form_that_is_put_into_words(pattern: str) -> None:
    assert json.dumps(pattern)[1:-1] in shipped_schema_text() or pattern in shipped_schema_text()


@pytest.mark.parametrize("found", ["70 ms", "'70'", "1.5 s"])
def test_a_time_with_a_unit_is_no_target_either(found: str, tmp_path: Path) -> None:
    policy = f"{{metric: ModelLatency, target_value: {found}}}"
    scaling = f"autoscaling: {{min_capacity: 2, max_capacity: 4, policies: [{policy}]}}\n"
    assert fix(tmp_path, SINGLE + scaling) == (
        "a time cannot be held at a target: use `step_policies` with a threshold such as 200 ms"
    )


@pytest.mark.parametrize(
    ("least", "said"),
    [
        ("min_instance_count: 2", "swap them: `min_instance_count: 0` and `max_instance_count: 2`"),
        ("status: ENABLED", "allowed: 1 or more"),
    ],
)
def test_a_most_of_nothing_is_swapped_with_the_least(least: str, said: str, tmp_path: Path) -> None:
    managed = f"count: 2, managed_instance_scaling: {{{least}, max_instance_count: 0}}}}"
    found = fixes(tmp_path, COMPONENT.replace("count: 2}", managed))
    assert [it for it in found if it.startswith(("swap", "allowed"))] == [said]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("0.5", "write 1"),
        ("1.5", "write a whole number such as 1 or 2"),
        ("-0.5", "write a whole number: 1 or more"),
    ],
)
def test_a_whole_number_is_proposed_that_is_allowed(found: str, said: str, tmp_path: Path) -> None:
    assert (
        fix(tmp_path, SINGLE.replace("initial_instance_count: 2", f"initial_instance_count: {found}")) == said
    )


def test_limits_are_not_swapped_where_that_is_too_little(tmp_path: Path) -> None:
    needs = "{min_memory_required_in_mb: 16384, max_memory_required_in_mb: 60}"
    found = fixes(tmp_path, f"{COMPONENT}      compute_resource_requirements: {needs}\n")
    assert "allowed: 128 or more" in found
    assert not any(it.startswith("swap") for it in found)


def test_quotes_are_no_fix_for_a_value_that_stays_wrong_with_them(tmp_path: Path) -> None:
    scaled = COMPONENT.replace("count: 2}", "count: 2, managed_instance_scaling: {status: true}}")
    assert "allowed: DISABLED or ENABLED" in fixes(tmp_path, scaled)
    assert not any(fix.startswith("quote it") for fix in fixes(tmp_path, scaled))


def test_an_entry_of_a_list_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"{SINGLE}alarms: {{actions: [ml-oncall]}}\n", "utf-8")
    assert [problem.message for problem in check_file(path)] == [
        'an entry of `actions` has the wrong format: "ml-oncall"'
    ]


def test_the_first_word_of_a_key_is_enough_to_know_it(tmp_path: Path) -> None:
    found = fixes(tmp_path, f"{SINGLE}autoscaling: {{min: 2, max: 4}}\n")
    assert [it.partition("?")[0] for it in found] == [
        "did you mean `min_capacity`",
        "did you mean `max_capacity`",
    ]


@pytest.mark.parametrize(
    ("block", "following", "named"),
    [
        (
            "autoscaling:\n",
            "min_capacity: 2\nMaxCapacity: 4\ntags: {a: b}\n",
            "`min_capacity` and `MaxCapacity`",
        ),
        ("  routing_config:\n", "  routing_strategy: RANDOM\n", "`routing_strategy`"),
        ("alarms:\n", "actions: []\n", "`actions`"),
    ],
)
def test_the_keys_of_an_empty_block_that_follow_it_are_to_be_indented(
    block: str, following: str, named: str, tmp_path: Path
) -> None:
    assert f"indent the lines below it: {named}" in fixes(tmp_path, SINGLE + block + following)
    # At the top, `tags` and `env` are keys of their own.
    assert "indent" not in fix(tmp_path, f"{SINGLE}endpoint:\ntags: {{a: b}}\nenv: {{region: us-east-1}}\n")


@pytest.mark.parametrize("title", ["variant", "model", "triton"])
def test_a_block_that_is_refused_when_empty_is_not_offered_so(title: str, tmp_path: Path) -> None:
    empty = re.sub(rf"^{title}:\n( .*\n)*", "", SINGLE, flags=re.MULTILINE) + f"{title}: {{}}\n"
    assert fixes(tmp_path, empty)
    said = fix(tmp_path, empty.replace("{}", "true"))
    assert said.startswith("write keys under it: ")
    assert "{}" not in said


LIMITS = "autoscaling: {min_capacity: 2, max_capacity: 4"
STEPS = (
    "adjustment_type: ChangeInCapacity, StepAdjustments: [{scaling_adjustment: 1}], metric: CPUUtilization"
)
STEPS_DOWN = "adjustment_type: ChangeInCapacity, step_adjustments: [{metric_interval_upper_bound: 0, scaling_adjustment: -1}]"
LOW_ALARM = "metric: CPUUtilization, threshold: 20, comparison_operator: LessThanThreshold"


@pytest.mark.parametrize(
    ("more", "lacks"),
    [
        (f"{LIMITS}, policies: [{{TargetTrackingScalingPolicyConfiguration: {{TargetValue: 70}}}}]}}\n", []),
        (
            f"{LIMITS}, policies: [{{target_tracking_scaling_policy_configuration: {{}}}}]}}\n",
            ["`target_value`"],
        ),
        (
            f"{LIMITS}, step_policies: [{{step_scaling_policy_configuration: {{{STEPS}}}}}]}}\n",
            ["`threshold`"],
        ),
        # Nor is a step below the threshold called one that no alarm reaches: the comparison is in there.
        (
            f"{LIMITS}, step_policies: [{{{STEPS_DOWN}, alarm: {{{LOW_ALARM}}}}}]}}\n",
            [],
        ),
    ],
)
def test_keys_of_a_block_that_is_to_be_unwrapped_are_not_missing(
    more: str, lacks: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SINGLE + more)
    found = check_file(path)
    assert [it.fix for it in found if it.code == "IS101"] == ["write its contents in the policy itself"]
    others = [it for it in found if it.code != "IS101"]
    assert [it.message.rpartition(" ")[2] for it in others] == lacks


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            "accelerator_type: ml.eia2.medium",
            "`accelerator_type` cannot be deployed: AWS ended Elastic Inference in 2024",
        ),
        (
            "accelerator_partition_layouts: []",
            "`accelerator_partition_layouts` cannot be deployed: SageMaker's API has it, but CloudFormation does not yet",
        ),
    ],
)
def test_a_key_that_only_the_api_has_is_said_to_come_or_not(key: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"{SINGLE}  {key}\n")
    (problem,) = check_file(path)
    assert problem.message == said


def test_the_topic_of_alarms_is_written_as_their_action(tmp_path: Path) -> None:
    topic = "arn:aws:sns:us-east-1:111122223333:pager"
    assert fix(tmp_path, f"{SINGLE}alarms: {topic}\n") == f"write `{{actions: [{topic}]}}`"
    assert fixes(tmp_path, f"{SINGLE}alarms: {{actions: [{topic}]}}\n") == []
    assert fix(tmp_path, f"{SINGLE}alarms: pager\n").startswith("write keys under it: ")


def test_of_keys_that_exclude_each_other_those_are_named_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"{SINGLE}triton: {{models: {{net: {{dynamic_batching: {{}}, sequence_batching: {{}}}}}}}}\n"
    )
    (problem,) = (it for it in check_file(path) if it.code == "IS109")
    assert problem.message == "`dynamic_batching` and `sequence_batching` cannot be used together in `net`"
