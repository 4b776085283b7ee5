"""The project's file: defaults under each spec, at the place where they are written; rules over each spec."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from support.pages import assert_printed, code_blocks, commands, files

from inferstack.check.every_code import every_code
from inferstack.check.files import check_files, load_specs, spec_files
from inferstack.check.load import load_spec
from inferstack.check.project_file import spec_of_text
from inferstack.check.rules.company import COMPANY
from inferstack.cli import main
from inferstack.problems import Severity, SpecError
from inferstack.resolve.template import template_of

SINGLE = """\
kind: single-model
endpoint_name: churn
model:
  image: 763104351884.dkr.ecr.eu-west-1.amazonaws.com/sagemaker-scikit-learn:1.4-2-cpu-py3
  model_data_url: s3://models/churn/model.tar.gz
variant: {instance_type: ml.m6g.large, initial_instance_count: 2}
"""
SERVERLESS = SINGLE.replace(
    "{instance_type: ml.m6g.large, initial_instance_count: 2}",
    "{serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}}",
)
COMPONENTS = """\
kind: inference-components
endpoint_name: chat
variant: {instance_type: ml.g5.xlarge, initial_instance_count: 1}
inference_components:
  small:
    specification:
      container: {image: 111122223333.dkr.ecr.eu-west-1.amazonaws.com/chat:1}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}
    runtime_config: {copy_count: 1}
"""
OF_MODEL = (
    COMPONENTS.replace("container: {image:", "model_name: a").replace(
        " 111122223333.dkr.ecr.eu-west-1.amazonaws.com/chat:1}", ""
    )
    + "models: {a: {image: '111122223333.dkr.ecr.eu-west-1.amazonaws.com/chat:1'}}\n"
)
NETWORK = "{subnets: [subnet-0a1b2c3d], security_group_ids: [sg-0a1b2c3d]}"
BOUNDARY = "arn:aws:iam::111122223333:policy/ml-boundary"
DEFAULTS = f"""\
defaults:
  env: {{account: "111122223333", region: eu-west-1}}
  execution_role:
    path: /ml/
    permissions_boundary: {BOUNDARY}
  invokers:
    path: /ml/
    role: {{path: /ml/, permissions_boundary: {BOUNDARY}}}
  model: {{vpc_config: {NETWORK}}}
  endpoint_config:
    vpc_config: {NETWORK}
    kms_key_id: arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555
  alarms: {{actions: ["arn:aws:sns:eu-west-1:111122223333:ops"]}}
  tags: {{team: search, stage: none}}
  stages:
    prod: {{tags: {{stage: "${{stage}}"}}, dashboard: false}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model_specs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(text: str, project: str | None = None, name: str = "churn") -> Path:
    if project is not None:
        Path("inferstack.yaml").write_text(dedent(project))
    path = Path("model_specs") / f"{name}.yaml"
    path.write_text(text)
    return path


def problems(*files: Path, stage: str | None = None) -> list[str]:
    return [str(it) for it in check_files(files, stage=stage)]


# ---------------------------------------------------------------- defaults


def test_a_spec_gets_them_and_the_template_says_from_where() -> None:
    resources = template_of(load_spec(written(SINGLE, DEFAULTS)))["Resources"]
    role, model = resources["ExecutionRole"], resources["Model"]
    assert role["Properties"]["PermissionsBoundary"] == BOUNDARY
    assert role["Properties"]["Path"] == "/ml/"
    assert role["Metadata"] == {"inferstack:source": "inferstack.yaml: defaults.execution_role"}
    assert model["Properties"]["VpcConfig"]["Subnets"] == ["subnet-0a1b2c3d"]
    assert model["Metadata"] == {"inferstack:source": "model_specs/churn.yaml: model"}
    assert {"Key": "team", "Value": "search"} in model["Properties"]["Tags"]


def test_the_spec_comes_first_then_its_stage() -> None:
    own = (
        SINGLE + "tags: {team: risk, stage: null}\nstages: {prod: {tags: {team: null, cost: a}}, test: {}}\n"
    )
    path = written(own, DEFAULTS)
    found = {stage: load_spec(path, stage=stage).spec for stage in (None, "test", "prod")}
    assert {stage: spec.tags for stage, spec in found.items()} == {
        None: {"team": "risk"},
        "test": {"team": "risk"},
        "prod": {"cost": "a"},
    }
    assert [spec.dashboard for spec in found.values()] == [None, None, False]


def test_its_stages_are_stages_of_each_spec() -> None:
    path = written(SINGLE, DEFAULTS)
    assert load_spec(path, stage="prod").spec.tags == {"team": "search", "stage": "prod"}
    with pytest.raises(SpecError, match='the spec has no stage "tset"; listed: `prod`'):
        load_spec(path, stage="tset")


@pytest.mark.parametrize(
    ("spec", "has"),
    [
        (SINGLE, {"model.vpc_config", "endpoint_config.kms_key_id"}),
        # A serverless endpoint cannot be in a VPC, and a key encrypts nothing on local disks.
        (SERVERLESS, {"endpoint_config.kms_key_id"}),
        (COMPONENTS, {"endpoint_config.vpc_config"}),
        (OF_MODEL, {"endpoint_config.vpc_config", "models.a.vpc_config"}),
        (SINGLE.replace("model:", "models:\n  a:").replace("\n  image", "\n    image")
         .replace("\n  model_data", "\n    model_data").replace("variant: {", "variant: {model_name: a, "),
         {"models.a.vpc_config", "endpoint_config.kms_key_id"}),
    ],
    ids=["single", "serverless", "components", "models of components", "by name"],
)  # fmt: skip
def test_what_a_spec_cannot_have_it_does_not_get(spec: str, has: set[str]) -> None:
    loaded = load_spec(written(spec, DEFAULTS))
    keys = (
        "model.vpc_config",
        "models.a.vpc_config",
        "endpoint_config.vpc_config",
        "endpoint_config.kms_key_id",
    )
    data = loaded.document.data
    assert {key for key in keys if at(data, key) is not None} == has
    assert data.get("invokers") is None
    assert not [it for it in loaded.warnings if it.file == "inferstack.yaml"]


def at(data: object, key: str) -> object:
    for step in key.split("."):
        data = data.get(step) if isinstance(data, dict) else None
    return data


def test_invokers_of_a_spec_get_path_and_boundary() -> None:
    spec = load_spec(written(SINGLE + "invokers: {role: {trusted: [lambda.amazonaws.com]}}\n", DEFAULTS)).spec
    assert spec.invokers is not None
    assert spec.invokers.role is not None
    assert (spec.invokers.path, spec.invokers.role.path, spec.invokers.role.permissions_boundary) == (
        "/ml/", "/ml/", BOUNDARY,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("defaults: {ignore: [IS999]}", ["inferstack.yaml:1:21: IS"]),
        ("defaults: {tags: {team: 7}}", ['inferstack.yaml:1:25: IS103: `team` must be a string']),
        ("defaults: {tag: {team: a}}", ["inferstack.yaml:1:12: IS101: unknown key `tag` in `defaults`; did you mean `tags`?"]),
        ("defaults: {variant: {}}", ["inferstack.yaml:1:12: IS101: unknown key `variant` in `defaults`; remove it: it is not for"]),
        ("tags: {team: a}", ["inferstack.yaml:1:1: IS101: unknown key `tags` in the spec; write it under `defaults`"]),
        ("defaults:\n  stages: {prod: {tgas: {}}}", ["inferstack.yaml:2:19: IS101: unknown key `tgas` in `defaults`"]),
        ("defaults: [a]", ["inferstack.yaml:1:1: IS103: `defaults` must be a mapping"]),
        ("rules: {required: {vpc_config: }}", ["inferstack.yaml:1:"]),
        ("rules: {allowed: {regions: {values: [eu-west-1]}}}", ["inferstack.yaml:1:19: IS102: `regions` is missing `reason`"]),
        ("", ["inferstack.yaml:1:1: IS008: the file holds no project's file"]),
        ("- a", ["inferstack.yaml:1:1: IS011: a project's file must be a mapping"]),
        ("a: [", ["inferstack.yaml:"]),
    ],
)  # fmt: skip
def test_mistakes_in_it_are_reported_once_at_its_lines(project: str, said: list[str]) -> None:
    first, second = written(SINGLE, project), written(COMPONENTS, name="chat")
    found = problems(first, second)
    assert len(found) == len(said)
    for one, wanted in zip(found, said, strict=True):
        assert one.startswith(wanted)


def test_what_only_some_specs_have_names_them() -> None:
    here = written(SINGLE, DEFAULTS)
    there = written(SINGLE.replace("churn", "fraud") + "env: {region: eu-central-1}\n", name="fraud")
    assert [it for it in problems(here, there) if "IS810" in it] == [
        "inferstack.yaml:13:22: IS810: the topic is in eu-west-1, but the stack is in eu-central-1"
        " (in `model_specs/fraud.yaml`); use a topic in eu-central-1"
    ]
    # Nothing to tell apart, with one spec or where all have it.
    assert "(in " not in "".join(problems(there))


def test_where_it_is_looked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(SINGLE, "defaults: {tags: {from: top}}").absolute()
    assert load_spec(path).spec.tags == {"from": "top"}
    Path("model_specs/inferstack.yaml").write_text("defaults: {tags: {from: nearest}}")
    assert load_spec(path).spec.tags == {"from": "nearest"}
    assert spec_files("model_specs") == (Path("model_specs/churn.yaml"),)
    deep = folder / "a/b/c.yaml"
    deep.parent.mkdir(parents=True)
    deep.write_text(SINGLE)
    assert load_spec(deep).spec.tags == {"from": "top"}
    elsewhere = folder / "model_specs/x"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load_spec(deep).spec.tags is None, "only the folder above is searched outside of a project"
    (folder / ".git").mkdir()
    assert load_spec(deep).spec.tags == {"from": "top"}


def test_another_name_is_not_overlooked() -> None:
    Path("inferstack.yml").write_text("rules: {}")
    assert problems(written(SINGLE)) == [
        "inferstack.yml:1:1: IS049: this name is not read, so the file has no effect; rename it to `inferstack.yaml`"
    ]


def test_a_link_out_of_the_project_is_not_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.yaml"
    secret.write_text("password: hunter2")
    Path("inferstack.yaml").symlink_to(secret)
    (found,) = problems(written(SINGLE))
    assert "IS037" in found
    assert "hunter2" not in found
    assert "password" not in found


def test_it_is_no_spec() -> None:
    written(SINGLE, DEFAULTS)
    (found,) = check_files([Path("inferstack.yaml")])
    assert found.code == "IS056"


def test_an_edit_goes_into_the_spec_and_is_checked_with_the_project() -> None:
    """`size --write` and others check the edited text as the file itself would be."""
    assert spec_of_text(str(written(SINGLE, DEFAULTS)), SINGLE).defaults is not None


# ---------------------------------------------------------------- rules

RULES = {
    "IS022": "allowed: {accounts: {values: ['111122223333'], reason: R}}",
    "IS023": "allowed: {regions: {values: [eu-west-1], reason: R}}",
    "IS024": "allowed: {instance_types: {values: [ml.m6*], reason: R}}",
    "IS025": f"allowed: {{permissions_boundaries: {{values: ['{BOUNDARY}'], reason: R}}}}",
    "IS026": "allowed: {role_paths: {values: [/ml/], reason: R}}",
    "IS028": "required: {vpc_config: R}",
    "IS029": "required: {enable_network_isolation: R}",
    "IS038": "required: {kms_key_id: R}",
    "IS039": "required: {alarm_actions: R}",
    "IS046": "required: {tags: {keys: [team], reason: R}}",
    "IS047": "at_most: {instances: {value: 4, reason: R}}",
    "IS048": "at_most: {cost_per_hour: {value: 1.5, reason: R}}",
}
KEY = "arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"
ROLE = f"execution_role: {{path: /ml/, permissions_boundary: '{BOUNDARY}'}}\n"
OF_SPEC = SINGLE.replace(
    "model:\n", f"model:\n  enable_network_isolation: true\n  vpc_config: {NETWORK}\n"
) + (
    f"env: {{account: '111122223333', region: eu-west-1}}\n{ROLE}tags: {{team: a}}\n"
    f"endpoint_config: {{kms_key_id: '{KEY}'}}\n"
    "alarms: {actions: ['arn:aws:sns:eu-west-1:111122223333:ops']}\n"
)
CAPTURED = (
    "data_capture_config: {destination_s3_uri: 's3://b/c', initial_sampling_percentage: 1, "
    "capture_options: [{capture_mode: Input}]}"
)
TOPIC = "actions: ['arn:aws:sns:eu-west-1:111122223333:ops']"


def changed(*pairs: tuple[str, str]) -> str:
    text = OF_SPEC
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("code", "spec", "place"),
    [
        ("IS022", changed(("account: '111122223333', ", "")), "env"),
        ("IS022", changed(("account: '111122223333'", "account: '444455556666'")), "env.account"),
        ("IS023", changed((", region: eu-west-1}", "}")), "env"),
        ("IS024", changed(("ml.m6g.large", "ml.c7g.large")), "variant.instance_type"),
        ("IS024", changed(("ml.m6g.large", "ml.c7i.large")) + (
            "shadow_variants: [{variant_name: s, instance_type: ml.p4d.24xlarge, initial_instance_count: 1}]\n"
        ), "variant.instance_type shadow_variants.0.instance_type"),
        ("IS025", changed((ROLE, "")), "execution_role"),
        ("IS025", changed((BOUNDARY, "arn:aws:iam::111122223333:policy/other")), "execution_role.permissions_boundary"),
        ("IS025", OF_SPEC + "invokers: {path: /ml/, role: {trusted: [lambda.amazonaws.com], path: /ml/}}\n", "invokers.role"),
        ("IS026", changed(("path: /ml/, ", "")), "execution_role.path"),
        ("IS026", OF_SPEC + "invokers: {roles: [a]}\n", "invokers.path"),
        ("IS028", changed((f"  vpc_config: {NETWORK}\n", "")), "model"),
        ("IS028", changed((f"  vpc_config: {NETWORK}\n", ""), ("  enable_network_isolation: true\n", ""), (
            "{instance_type: ml.m6g.large, initial_instance_count: 2}",
            "{serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}}")), "model"),
        ("IS029", changed(("enable_network_isolation: true", "enable_network_isolation: false")), "model"),
        ("IS038", changed((f"kms_key_id: '{KEY}'", "metrics_config: {enable_enhanced_metrics: false}")), "endpoint_config"),
        ("IS038", changed((f"kms_key_id: '{KEY}'", f"kms_key_id: '{KEY}', {CAPTURED}")), "endpoint_config.data_capture_config"),
        ("IS039", changed((TOPIC, "actions: []")), "alarms"),
        ("IS039", changed((f"alarms: {{{TOPIC}}}", "alarms: false")), "alarms"),
        ("IS039", changed((TOPIC, f"{TOPIC}, actions_enabled: false")), "alarms"),
        ("IS046", changed(("team: a", "cost: a")), "tags"),
        ("IS046", changed(("team: a", 'team: ""')), "tags"),
        ("IS047", changed(("initial_instance_count: 2", "initial_instance_count: 5")), "variant"),
        ("IS047", OF_SPEC + "autoscaling: {min_capacity: 2, max_capacity: 9, policies: [{metric: CPUUtilization, target_value: 60}]}\n", "variant"),
        ("IS048", changed(("initial_instance_count: 2", "initial_instance_count: 4")), "variant"),
        ("IS048", changed(("ml.m6g.large", "ml.m6g.xlarge")), "variant"),
    ],
)  # fmt: skip
def test_a_rule_of_the_company(code: str, spec: str, place: str) -> None:
    regions = {
        "eu-west-1": {
            "currency": "USD",
            "read": "2026-11-01",
            "source": "x",
            "hosting": {"ml.m6g.large": "0.5"},
        }
    }
    Path("inferstack-prices.json").write_text(json.dumps({"regions": regions}))
    path = written(spec, f"rules: {{{RULES[code]}}}")
    found = [it for it in check_files([path]) if it.code == code]
    assert [".".join(map(str, it.path)) for it in found] == place.split()
    assert all(it.severity is Severity.ERROR and ": R" in it.message and it.fix for it in found)


@pytest.mark.parametrize("code", RULES)
def test_a_spec_that_follows_a_rule(code: str) -> None:
    test_prices = {"currency": "USD", "read": "2026-11-01", "source": "x", "hosting": {"ml.m6g.large": "0.5"}}
    Path("inferstack-prices.json").write_text(json.dumps({"regions": {"eu-west-1": test_prices}}))
    assert code not in {it.code for it in check_files([written(OF_SPEC, f"rules: {{{RULES[code]}}}")])}


def test_each_rule_is_tried() -> None:
    assert RULES.keys() == COMPANY.keys() <= every_code().keys()


def test_what_only_the_deployment_knows_is_refused() -> None:
    boundary = "arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/ml-boundary"
    spec = changed((BOUNDARY, boundary))
    assert "known only at deployment" in problems(written(spec, f"rules: {{{RULES['IS025']}}}"))[0]
    as_written = RULES["IS025"].replace(BOUNDARY, boundary)
    assert not problems(written(spec, f"rules: {{{as_written}}}"))


def test_rules_hold_for_all_that_is_made_of_a_spec(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(changed(("ml.m6g.large", "ml.c7i.large")), f"rules: {{{RULES['IS024']}}}")
    for command in ("validate", "render", "list", "review"):
        assert main([command, str(path)]) == 1, command
        printed = capsys.readouterr()
        assert "the project's rules do not allow ml.c7i.large" in " ".join(
            (printed.out + printed.err).split()
        )
    with pytest.raises(SpecError, match="IS024"):
        load_specs("model_specs")
    ignoring = changed(("ml.m6g.large", "ml.c7i.large")) + "ignore: [IS024]\n"
    found = problems(written(ignoring))
    assert any("IS024: the project's rules" in it for it in found)


# ---------------------------------------------------------------- the page

PAGE = Path(__file__).parents[2] / "docs" / "project-file.md"


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in files(PAGE).items():
        Path(name).write_text(content)
    (session,) = code_blocks(PAGE, "console")
    ((command, output),) = commands(session)
    assert main(command.split()[1:]) == 1
    printed = capsys.readouterr()
    assert_printed(printed.out + printed.err, output)


def test_the_page_lists_each_rule() -> None:
    page = PAGE.read_text("utf-8")
    assert [code for code in COMPANY if code not in page] == []
