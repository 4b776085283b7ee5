"""What an editor offers and marks in a spec, according to the language server that most editors run for YAML."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.language_server import LanguageServer, running

from inferstack.check.files import check_files
from inferstack.cli import main
from inferstack.project.answers import KIND_NAMES
from tools.generated_files import ROOT
from tools.schemas import PUBLISHED

CARELESS = ROOT / "docs" / "examples" / "careless.yaml"
SPECS = [*sorted((ROOT / "model_specs").glob("*.yaml")), *sorted((ROOT / "tests" / "shapes").glob("*.yaml"))]
MODELINE = f"# yaml-language-server: $schema={PUBLISHED}\n"
NUMBERS = itertools.count()
BASE = "kind: {kind}\nendpoint_name: x\n"
SINGLE = "kind: single-model\nendpoint_name: x\n"


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageServer]:
    with running() as made:
        yield made


def another(folder: Path) -> Path:
    """A file that the server does not know yet."""
    return folder / f"{next(NUMBERS)}.yaml"


def opened(server: LanguageServer, folder: Path, text: str) -> tuple[Path, int, int]:
    """Opens a text as a spec; the line and column of the `|` in it, which is taken out."""
    before, _, after = text.partition("|")
    file = another(folder)
    server.open(file, f"{MODELINE}{before}{after}")
    return file, before.count("\n") + 2, len(before) - before.rfind("\n")


def offered(server: LanguageServer, folder: Path, text: str) -> list[str]:
    return server.offered(*opened(server, folder, text))


def marked(server: LanguageServer, folder: Path, text: str) -> list[tuple[int, str]]:
    """Line in the text, and message, of each problem."""
    return [(it.line - 1, it.text) for it in server.open(another(folder), MODELINE + text)]


def test_it_marks_each_mistake_where_validate_reports_it(server: LanguageServer, tmp_path: Path) -> None:
    found = server.open(tmp_path / "careless.yaml", MODELINE + CARELESS.read_text("utf-8"))
    reported = [(it.line + 1, it.column) for it in check_files([CARELESS])]
    assert len(reported) == 6
    assert [(it.line, it.column) for it in found] == reported
    for it, word in zip(found, ("26.05", "prefix", "disk", "0 needs", "metric", "500 ms"), strict=True):
        assert word in it.text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kind: |\n", ["single-model", "inference-components"]),
        (SINGLE + "|\n", ["variant", "shadow_variants", "stages"]),
        (SINGLE + "model:\n  image: {framework: |}\n", ["triton", "sagemaker-tritonserver", "pytorch"]),
        (SINGLE + "model:\n  image:\n    framework: |\n", ["triton", "djl-lmi"]),
        (SINGLE + "model:\n  image: {framework: triton, version: |}\n", ['"26.05"']),
        (SINGLE + 'model:\n  image:\n    framework: triton\n    version: "2|"\n', ['"26.05"', '"24.09"']),
        (SINGLE + "autoscaling:\n  policies:\n    - metric: |\n", ["SageMakerVariantInvocationsPerInstance"]),
        (SINGLE + "autoscaling:\n  policies:\n    - {metric: G|, target_value: 60}\n", ["GPUUtilization"]),
        (SINGLE + "autoscaling:\n  step_policies:\n    - metric: |\n", ["ModelLatency"]),
        (SINGLE + "alarms:\n  rules:\n    - metric: |\n", ["ModelLatency", "Invocation5XXErrors"]),
        (SINGLE + "alarms:\n  rules:\n    - statistic: |\n", ["Average", "p99"]),
        (SINGLE + "variant:\n  instance_type: |\n", ["ml.g5.xlarge"]),
        (SINGLE + "variant:\n  instance_pools:\n    - instance_type: |\n", ["ml.g5.xlarge"]),
        (SINGLE + "env:\n  region: |\n", ["eu-central-1"]),
        (SINGLE + "stages:\n  prod:\n    |\n", ["variant", "autoscaling", "endpoint_name"]),
        (SINGLE + "stages:\n  prod:\n    variant:\n      |\n", ["instance_type", "initial_instance_count"]),
        (SINGLE + "stages:\n  prod:\n    variant:\n      instance_type: |\n", ["ml.g5.xlarge", "null"]),
        (SINGLE + "stages:\n  prod:\n    alarms:\n      rules:\n        - metric: |\n", ["ModelLatency"]),
    ],
)
def test_it_offers_what_may_stand_there(
    text: str, wanted: list[str], server: LanguageServer, tmp_path: Path
) -> None:
    found = offered(server, tmp_path, text)
    assert set(wanted) <= set(found)
    assert len(found) == len(set(found)), "nothing is offered twice"


def test_only_versions_of_the_framework_are_offered(server: LanguageServer, tmp_path: Path) -> None:
    found = offered(server, tmp_path, SINGLE + "model:\n  image: {framework: triton, version: |}\n")
    assert found[0] == '"26.05"', "the newest comes first"
    assert all(re.fullmatch(r'"2\d\.\d\d"', it) for it in found)


@pytest.mark.parametrize(
    ("kind", "block", "key", "value"),
    [
        ("single-model", "model", "containers", "[]"),
        ("single-model", "model", "multi_model_config", "{model_cache_setting: Enabled}"),
        ("pipeline", "model", "image", "x"),
        ("pipeline", "variant", "serverless_config", "{memory_size_in_mb: 1024, max_concurrency: 1}"),
        ("multi-model", "variant", "serverless_config", "{memory_size_in_mb: 1024, max_concurrency: 1}"),
        ("ensemble", "variant", "managed_instance_scaling", "{status: ENABLED}"),
        ("ensemble", "endpoint_config", "vpc_config", "{subnets: [subnet-1], security_group_ids: [sg-1]}"),
        ("inference-components", "variant", "model_name", "x"),
    ],
)
def test_keys_depend_on_the_kind(
    kind: str, block: str, key: str, value: str, server: LanguageServer, tmp_path: Path
) -> None:
    for indent, before in (("", ""), ("    ", "stages:\n  prod:\n")):
        text = f"{BASE.format(kind=kind)}{before}{indent}{block}:\n{indent}  "
        assert key not in offered(server, tmp_path, f"{text}|\n")
        assert (
            f"Property {key} is not allowed."
            in dict(marked(server, tmp_path, f"{text}{key}: {value}\n")).values()
        )


def test_a_stage_is_a_spec_of_which_nothing_is_required(server: LanguageServer, tmp_path: Path) -> None:
    text = (ROOT / "model_specs" / "resnet-mme.yaml").read_text("utf-8")
    stage = """stages:
  test: {}
  prod:
    endpoint_name: resnet-mme-${stage}
    model: {image: {version: "25.09"}}
    variant: {instance_type: ml.m5.large, volume_size_in_gb: null}
    autoscaling: {max_capacity: 9}
    alarms: null
    dashboard: false
"""
    assert marked(server, tmp_path, text + stage) == []
    wrong = """stages:
  test: null
  prod:
    kind: ensemble
    autoscaling:
      max_capacty: 9
      policies:
        - metric: GPUUtilisation
    variant: {instance_type: ml.g4dn.huge}
"""
    found = marked(server, tmp_path, text + wrong)
    start = text.count("\n")
    assert [(line - start, word) for line, word in found] == [
        (2, 'Incorrect type. Expected "MultiModelSpec".'),
        (4, "Property kind is not allowed."),
        (6, "Property max_capacty is not allowed."),
        (8, 'Missing property "target_value".'),
        (8, "AWS has no metric of this name; completion lists the existing ones."),
        (9, "Not one of the 277 values that are allowed here; completion lists them."),
    ]


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_it_marks_nothing_in_what_is_right(spec: Path, server: LanguageServer, tmp_path: Path) -> None:
    assert server.open(tmp_path / spec.name, MODELINE + spec.read_text("utf-8")) == []


def test_the_examples_lead_to_the_schema(server: LanguageServer) -> None:
    spec = ROOT / "model_specs" / "passage-ranker.yaml"
    text = spec.read_text("utf-8")
    assert server.open(spec, text) == []
    line = text.splitlines().index("variant:") + 1
    assert "fleet of instances" in server.hover(spec, line, 1)


@pytest.mark.parametrize("value", ["${stage}", "{{resolve:ssm:/type}}"])
def test_a_placeholder_may_stand_instead(value: str, server: LanguageServer, tmp_path: Path) -> None:
    text = f'{SINGLE}model:\n  image: {{framework: triton, version: "{value}"}}\nvariant:\n  instance_type: "{value}"\n'
    assert marked(server, tmp_path, text) == []


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_a_new_project_has_the_schema_where_its_spec_says(
    kind: str, server: LanguageServer, tmp_path: Path
) -> None:
    assert main(["init", str(tmp_path), "--kind", kind, "--yes"]) == 0
    (spec,) = (tmp_path / "model_specs").iterdir()
    text = spec.read_text("utf-8")
    assert server.open(spec, text) == []
    wrong = spec.with_name("wrong.yaml")
    assert [it.text for it in server.open(wrong, f"{text}instance_tpe: x\n")] == [
        "Property instance_tpe is not allowed."
    ]


PROJECT = f"# yaml-language-server: $schema={PUBLISHED}#/$defs/Project\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("|\n", {"defaults", "rules"}),
        ("defaults:\n  |\n", {"execution_role", "tags", "stages"}),
        ("defaults:\n  env:\n    region: |\n", {"eu-central-1"}),
        ("defaults:\n  stages:\n    prod:\n      |\n", {"env", "execution_role"}),
        ("rules:\n  |\n", {"allowed", "required", "at_most"}),
        ("rules:\n  required:\n    |\n", {"vpc_config", "alarm_actions"}),
    ],
)
def test_it_offers_what_a_project_can_have(
    text: str, wanted: set[str], server: LanguageServer, tmp_path: Path
) -> None:
    before, _, after = text.partition("|")
    file = another(tmp_path)
    server.open(file, f"{PROJECT}{before}{after}")
    found = server.offered(file, before.count("\n") + 2, len(before) - before.rfind("\n"))
    assert wanted <= set(found)
    assert not {"kind", "endpoint_name", "variant"} & set(found)


def test_it_marks_what_a_project_cannot_have(server: LanguageServer, tmp_path: Path) -> None:
    text = "defaults:\n  endpoint_config: {data_capture_config: {enable_capture: false}}\n  variant: {}\n"
    text += "rules: {alowed: {}}\n"
    found = [(it.line - 1, it.text) for it in server.open(another(tmp_path), PROJECT + text)]
    assert found == [(3, "Property variant is not allowed."), (4, "Property alowed is not allowed.")]
