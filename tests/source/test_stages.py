"""One spec for several stages."""

from pathlib import Path
from typing import Any

import pytest
from support.archiving import MODEL, lay_out
from support.checking import check_file

from inferstack.check.load import check_document, load_spec
from inferstack.problems import Problem, SpecError, file_codes
from inferstack.source.document import Document, read_document
from inferstack.source.stages import at_stage, stage_names, uses_stage

TEXT = """\
kind: single-model
endpoint_name: bert-${stage}
variant:
  instance_type: ml.g5.xlarge
  initial_instance_count: 1
  volume_size_in_gb: 30
alarms:
  rules: [{metric: ModelLatency}, {metric: Invocations}]
stages:
  dev: {}
  prod:
    variant:
      initial_instance_count: 4
      volume_size_in_gb: null
    alarms:
      rules: [{metric: GPUUtilization}]
    tags: {team: "${stage}-team", owner: null}
"""


@pytest.fixture
def document(tmp_path: Path) -> Document:
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT)
    return read_document(path)


def staged(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    return at_stage(Document.from_data({**base, "stages": {"prod": override}}), "prod").data


def problems(data: dict[str, Any], stage: str | None) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as caught:
        at_stage(Document.from_data(data), stage)
    return caught.value.problems


# ---------------------------------------------------------------- merging


def test_a_stage_overrides_the_base_and_disappears(document: Document) -> None:
    assert at_stage(document, "prod").data == {
        "kind": "single-model",
        "endpoint_name": "bert-prod",
        "variant": {"instance_type": "ml.g5.xlarge", "initial_instance_count": 4},
        "alarms": {"rules": [{"metric": "GPUUtilization"}]},
        "tags": {"team": "prod-team"},
    }


def test_an_empty_stage_changes_only_the_name(document: Document) -> None:
    data = at_stage(document, "dev").data
    assert data["endpoint_name"] == "bert-dev"
    assert data["variant"] == document.data["variant"]
    assert "stages" not in data


@pytest.mark.parametrize(
    ("base", "override", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 9}}}, {"a": {"b": {"c": 9, "d": 2}}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [1, 2]}, {"a": []}, {"a": []}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": 0}, {"a": 0}),
        ({"a": 1}, {"a": {"b": 0}}, {"a": {"b": 0}}),
        ({"a": 1}, {"a": False}, {"a": False}),
        ({"a": 1}, {"a": ""}, {"a": ""}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": 1}, {"z": None}, {"a": 1}),
        ({"a": {"b": 1}}, {"a": {"b": None}}, {"a": {}}),
        ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": None}, {"b": 1}, {"a": None, "b": 1}),
        ({}, {"a": [None]}, {"a": [None]}),
    ],
)
def test_mappings_merge_everything_else_replaces_and_null_removes(
    base: dict[str, Any], override: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert staged(base, override) == expected


def test_the_base_keeps_its_order_and_new_keys_come_last() -> None:
    data = staged({"b": 1, "a": {"y": 1, "x": 2}}, {"c": 1, "a": {"w": 3, "y": 9}, "b": 2})
    assert list(data) == ["b", "a", "c"]
    assert list(data["a"]) == ["y", "x", "w"]


def test_choosing_a_stage_leaves_the_document_alone(document: Document) -> None:
    at_stage(document, "prod")
    assert document.data["variant"]["initial_instance_count"] == 1
    assert document.data["endpoint_name"] == "bert-${stage}"


def test_overrides_stand_in_the_stage_and_the_rest_in_the_base(document: Document) -> None:
    prod = at_stage(document, "prod")
    assert prod.position(("variant", "initial_instance_count")) == (13, 31)
    assert prod.position(("variant", "initial_instance_count"), key=True) == (13, 7)
    assert prod.position(("alarms", "rules", 0, "metric")) == (16, 24)
    assert prod.position(("tags",)) == (17, 5)
    assert prod.position(("tags", "team")) == (17, 18)
    assert prod.position(("variant",)) == (3, 1)
    assert prod.position(("variant", "instance_type")) == (4, 18)
    assert prod.position(("endpoint_name",)) == (2, 16)
    assert prod.file == document.file


def test_an_alias_into_the_base_can_be_overridden_in_one_place(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("a: &a {x: 1, y: '${stage}'}\nb: *a\nstages: {prod: {b: {x: 2}}}\n")
    data = at_stage(read_document(path), "prod").data
    assert data == {"a": {"x": 1, "y": "prod"}, "b": {"x": 2, "y": "prod"}}


# ---------------------------------------------------------------- ${stage}


def test_the_name_is_put_into_values_and_into_keys() -> None:
    document = Document.from_data({"${stage}": ["${stage}", {"a-${stage}": "x-${stage}-${stage}"}], "n": 1})
    assert at_stage(document, "prod").data == {"prod": ["prod", {"a-prod": "x-prod-prod"}], "n": 1}


@pytest.mark.parametrize("key", ["chat-${stage}", "chat-prod"])
def test_a_stage_overrides_what_has_its_name_in_the_key_however_it_is_written(key: str) -> None:
    base = {"c": {"chat-${stage}": {"x": 1, "y": 2}}}
    assert staged(base, {"c": {key: {"x": 3}}}) == {"c": {"chat-prod": {"x": 3, "y": 2}}}
    assert staged(base, {"c": {key: None}}) == {"c": {}}


def test_keys_that_a_stage_makes_the_same_are_said_at_that_stage(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        "a:\n  x-prod: 1\n  x-${stage}: 2\nstages: {prod: {}, dev: {b: {'${stage}': 1, dev: 2}}}\n"
    )
    document = read_document(path)
    for stage, at in (("prod", (3, 3)), ("dev", (4, 30))):
        with pytest.raises(SpecError) as caught:
            at_stage(document, stage)
        found = [(problem.code, problem.line, problem.column) for problem in caught.value.problems]
        assert found == [(file_codes.DUPLICATE_KEY, *at)]
        assert f"are the same key at the stage `{stage}`" in caught.value.problems[0].message


def test_other_placeholders_stay() -> None:
    document = Document.from_data({"a": "${AWS::Region}-${stage}-${stages}-$stage"})
    assert at_stage(document, "dev").data == {"a": "${AWS::Region}-dev-${stages}-$stage"}


def test_placeholders_without_a_stage_are_one_error_at_the_first_of_them(
    document: Document, tmp_path: Path
) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("a: x-${stage}\nb: [1, '${stage}']\nstages: {prod: {a: '${stage}'}}\n")
    with pytest.raises(SpecError) as caught:
        at_stage(read_document(path), None)
    found = [(problem.code, problem.line, problem.column, problem.path) for problem in caught.value.problems]
    assert found == [(file_codes.STAGE_NEEDED, 1, 4, ("a",))]
    assert "as 1 more does" in caught.value.problems[0].message
    assert caught.value.problems[0].fix == "choose `prod`"


def test_the_stages_to_choose_from_are_named(document: Document) -> None:
    with pytest.raises(SpecError) as found:
        at_stage(document, None)
    assert [it.fix for it in found.value.problems] == ["choose `dev` or `prod`"]


def test_without_a_stage_the_base_stands_alone() -> None:
    data = {"a": 1, "stages": {"prod": {"a": 2, "b": "${stage}"}}}
    assert at_stage(Document.from_data(data), None).data == {"a": 1}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"a": "${stage}"}, True),
        ({"a": [{"b": "x${stage}"}]}, True),
        ({"a": "${AWS::Region}"}, False),
        ({"a": {"${stage}": 1}}, True),
        ({"a": [{"x-${stage}": {}}]}, True),
        ({"stages": {"prod": {"${stage}": 1}}}, False),
        ({"stages": {"prod": {"a": "${stage}"}}}, False),
        ({}, False),
    ],
)
def test_a_spec_uses_the_stage_when_its_base_names_it(data: dict[str, Any], expected: bool) -> None:
    assert uses_stage(Document.from_data(data)) is expected


# ---------------------------------------------------------------- which stages there are


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({"stages": {"prod": {}, "dev": {}}}, ("prod", "dev")),
        ({"stages": {}}, ()),
        ({}, ()),
        ({"stages": None}, ()),
        ({"stages": ["prod"]}, ()),
    ],
)
def test_stage_names_come_in_the_order_of_the_file(data: dict[str, Any], names: tuple[str, ...]) -> None:
    assert stage_names(Document.from_data(data)) == names


def test_an_unlisted_stage_names_the_nearest(document: Document) -> None:
    with pytest.raises(SpecError) as caught:
        at_stage(document, "prd")
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == (file_codes.UNKNOWN_STAGE, 9, 1)
    assert "did you mean `prod`?" in problem.fix
    assert "`dev` and `prod`" in problem.fix


def test_an_empty_list_of_stages_allows_none() -> None:
    (problem,) = problems({"stages": {}}, "prod")
    assert problem.code == file_codes.UNKNOWN_STAGE
    assert "`prod: {}`" in problem.fix


@pytest.mark.parametrize("stage", ["prod", "PR-123", "1"])
def test_a_spec_without_stages_takes_any_name(stage: str) -> None:
    assert at_stage(Document.from_data({"a": "${stage}"}), stage).data == {"a": stage}


@pytest.mark.parametrize("stage", ["", "a b", "a_b", "a/b", "${stage}", "prod\n", "é"])
def test_a_stage_name_has_letters_digits_and_hyphens(stage: str) -> None:
    assert [problem.code for problem in problems({"a": 1}, stage)] == [file_codes.STAGE_NAME]
    assert [problem.code for problem in problems({"stages": {stage: {}}}, stage)] == [file_codes.STAGE_NAME]


@pytest.mark.parametrize("stage", [None, "prod"])
@pytest.mark.parametrize(
    "stages", [None, [], ["prod"], "prod", 0, {"prod": None}, {"prod": [1]}, {"prod": 0}]
)
def test_stages_must_be_a_mapping_of_mappings(stages: Any, stage: str | None) -> None:
    assert [problem.code for problem in problems({"stages": stages}, stage)] == [file_codes.STAGES_FORM]


@pytest.mark.parametrize("stage", [None, "dev"])
@pytest.mark.parametrize("key", ["kind", "stages"])
def test_a_stage_cannot_change_the_kind_or_hold_stages(key: str, stage: str | None) -> None:
    (problem,) = problems({"stages": {"prod": {key: None}, "dev": {}}}, stage)
    assert problem.code == file_codes.STAGE_KEY
    assert problem.path == ("stages", "prod", key)


def test_what_a_stage_cannot_change_is_said_in_its_order() -> None:
    same = ["stages", "kind"]
    found = problems({"stages": {"prod": dict.fromkeys(same, "x")}}, "prod")
    assert [problem.path[-1] for problem in found] == same


def test_keys_of_those_names_are_free_deeper_down() -> None:
    assert staged({}, {"a": {"kind": 1, "stages": 2}}) == {"a": {"kind": 1, "stages": 2}}


def test_all_problems_of_stages_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("a: '${stage}'\nstages:\n  a_b: {kind: x}\n  c: 1\n")
    with pytest.raises(SpecError) as caught:
        at_stage(read_document(path), None)
    assert [(problem.code, problem.line, problem.column) for problem in caught.value.problems] == [
        (file_codes.STAGE_NEEDED, 1, 4),
        (file_codes.STAGE_NAME, 3, 3),
        (file_codes.STAGE_KEY, 3, 9),
        (file_codes.STAGES_FORM, 4, 6),
    ]


def of_stages(count: int) -> Document:
    listed = {f"s{number}": {} for number in range(count)}
    return Document.from_data({"kind": "single-model", "stages": listed})


def test_what_is_wrong_at_some_stages_outside_of_them_names_those(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("""
        kind: single-model
        endpoint_name: film
        model: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/film:1", model_data_url: s3://films/m.tar.gz}
        variant: {instance_type: ml.m5.large, initial_instance_count: 2}
        endpoint:
          deployment_config:
            blue_green_update_policy: {traffic_routing_configuration: {type: ALL_AT_ONCE, wait_interval_in_seconds: 600}}
            auto_rollback_configuration: {alarms: own}
        stages:
          dev: {alarms: false}
          test: {alarms: false, variant: {volume_size_in_gb: 0}}
          prod: {}
    """)
    found = {it.code: str(it).partition("s.yaml:")[2] for it in check_file(tmp_path / "s.yaml")}
    assert found.keys() == {"IS106", "IS624"}
    fix = "remove `alarms: false`, or `auto_rollback_configuration` as well"
    assert (
        found["IS624"]
        == f"9:51: IS624: the spec has no alarms of this endpoint (at stages `dev` and `test`); {fix}"
    )
    assert "at stage" not in found["IS106"]


def test_what_an_alias_repeats_is_wrong_once_whichever_use_of_it_a_stage_removes(tmp_path: Path) -> None:
    model = (
        'image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/film:1", model_data_url: s3://films/m.tar.gz'
    )
    variant = "instance_type: ml.m5.large, initial_instance_count: 2, initial_variant_weight: 1"
    (tmp_path / "s.yaml").write_text(f"""
        kind: single-model
        endpoint_name: film
        models:
          old: {{{model}, environment: &shared {{LEVEL: 1}}}}
          new: {{{model}, environment: *shared}}
        variants:
          - {{variant_name: A, model_name: old, {variant}}}
          - {{variant_name: B, model_name: new, {variant}}}
        stages:
          prod: {{models: {{old: {{environment: null}}}}}}
    """)
    (problem,) = check_file(tmp_path / "s.yaml")
    assert (problem.code, problem.line) == ("IS103", 5)
    assert "at stage" not in problem.message
    with pytest.raises(SpecError) as caught:
        load_spec(tmp_path / "s.yaml")
    assert len(caught.value.problems) == 1


def test_what_is_wrong_with_a_models_own_files_at_some_stages_names_those(tmp_path: Path) -> None:
    config = {
        **MODEL,
        "net/config.pbtxt": f"{MODEL['net/config.pbtxt']}instance_group {{ kind: KIND_GPU }}\n",
    }
    lay_out(tmp_path / "models", config)
    (tmp_path / "s.yaml").write_text("""
        kind: single-model
        endpoint_name: film-${stage}
        model: {image: {framework: triton, version: "24.05"}, model_data_url: s3://films/m.tar.gz}
        variant: {instance_type: ml.g5.xlarge, initial_instance_count: 2}
        triton: {repository: models}
        stages:
          dev: {variant: {instance_type: ml.m5.large}}
          prod: {}
    """)
    (problem,) = (it for it in check_file(tmp_path / "s.yaml") if it.code == "IS931")
    assert problem.file.endswith("models/net/config.pbtxt")
    assert problem.message.endswith(" its container has none (at stage `dev`)")


def test_a_file_lists_fifty_stages_at_most() -> None:
    assert len(stage_names(of_stages(50))) == 50
    assert at_stage(of_stages(50), "s49").data == {"kind": "single-model"}
    for stage in (None, "s0", "unknown"):
        [problem] = problems(of_stages(51).data, stage)
        assert problem.code == file_codes.TOO_MANY_STAGES
        assert problem.path == ("stages",)
        assert "51 stages" in problem.message
        assert "50" in problem.message


def test_too_many_stages_are_one_problem_and_none_of_them_is_checked() -> None:
    specs, found = check_document(of_stages(4000))
    assert specs == []
    assert [problem.code for problem in found] == [file_codes.TOO_MANY_STAGES]
